internal import Testing

@testable internal import PushSimulator

/// The session without any socket: frames written by hand, frames read back.
@Suite struct H2SessionTests {
    /// One frame, as RFC 9113 section 4.1 lays it out.
    struct Frame: Equatable {
        var type: UInt8
        var flags: UInt8 = 0
        var stream: UInt32 = 0
        var payload: [UInt8] = []

        var bytes: [UInt8] {
            let length = self.payload.count
            return [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), self.type, self.flags]
                + Self.word(self.stream) + self.payload
        }

        static func word(_ value: UInt32) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
        }

        static func all(in bytes: [UInt8]) -> [Frame] {
            var frames: [Frame] = []
            var rest = bytes[...]
            while rest.count >= 9 {
                let head = Array(rest.prefix(9))
                let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
                let stream = head[5...8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                let payload = Array(rest.dropFirst(9).prefix(length))
                frames.append(Frame(type: head[3], flags: head[4], stream: stream, payload: payload))
                rest = rest.dropFirst(9 + length)
            }
            return frames
        }

        /// The value of a setting, in a SETTINGS frame that is no acknowledgement.
        func setting(_ number: UInt8) -> UInt32? {
            guard self.type == 4, self.flags == 0 else { return nil }
            for start in stride(from: 0, to: self.payload.count, by: 6) where self.payload[start + 1] == number {
                return self.payload[start + 2..<start + 6].reduce(0) { $0 << 8 | UInt32($1) }
            }
            return nil
        }

        /// The last word of a RST_STREAM.
        var resetCode: UInt32? { self.type == 3 ? self.payload.reduce(0) { $0 << 8 | UInt32($1) } : nil }
        /// Code and debug data of a GOAWAY.
        var goaway: String? {
            guard self.type == 7 else { return nil }
            return "\(self.payload[4..<8].reduce(0) { $0 << 8 | Int($1) }) "
                + String(decoding: self.payload[8...], as: UTF8.self)
        }
    }

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Frame(type: 4).bytes

    /// POST https://x/ without a body: three entries of HPACK's static table, then `:authority: x` spelled out.
    private static func post(_ stream: UInt32, more: [UInt8] = []) -> [UInt8] {
        Frame(type: 1, flags: 5, stream: stream, payload: [0x83, 0x87, 0x84, 0x01, 0x01, 0x78] + more).bytes
    }

    private static func session(
        _ change: (inout H2ConnectionOptions) -> Void = { _ in }
    ) throws -> H2Session {
        var options = H2ConnectionOptions(maxConcurrentStreams: 1)
        change(&options)
        let session = try #require(H2Session(connection: 1, listener: 2, options: options))
        #expect(Self.preface.withUnsafeBytes { session.receive($0) })
        return session
    }

    private static func receive(_ session: H2Session, _ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { session.receive($0) }
    }

    private static func output(_ session: H2Session) -> [Frame] {
        var bytes: [UInt8] = []
        #expect(session.nextBytes(&bytes, limit: 1 << 20))
        return Frame.all(in: bytes)
    }

    @Test func `a request becomes a value`() throws {
        let session = try Self.session()
        #expect(Self.receive(session, Self.post(1)))
        let request = try #require(session.takeRequests().first)
        #expect(request.connection == 1)
        #expect(request.listener == 2)
        #expect(request.stream == 1)
        #expect(request.request.method == "POST")
        #expect(request.request.path == "/")
        #expect(request.request.authority == "x")
        #expect(request.request.headers.isEmpty)
        #expect(session.takeRequests().isEmpty)
    }

    @Test func `a stream above the advertised limit is refused, not the connection`() throws {
        let session = try Self.session()
        #expect(Self.output(session).first?.setting(3) == 1)
        // The client has acknowledged the limit and breaks it all the same.
        #expect(Self.receive(session, Frame(type: 4, flags: 1).bytes + Self.post(1) + Self.post(3)))
        #expect(session.takeRequests().map(\.stream) == [1])
        let frames = Self.output(session)
        #expect(frames.filter { $0.type == 3 }.map(\.stream) == [3])
        #expect(frames.compactMap(\.resetCode) == [7])
        #expect(frames.allSatisfy { $0.type != 7 })
        // An answer makes room again.
        session.answer(H2Answer(status: 200), stream: 1)
        #expect(Self.output(session).map(\.type) == [1])
        #expect(Self.receive(session, Self.post(5)))
        #expect(session.takeRequests().map(\.stream) == [5])
    }

    @Test func `a raised limit is told and holds`() throws {
        let session = try Self.session()
        session.setStreamLimit(3)
        #expect(Self.output(session).compactMap { $0.setting(3) } == [1, 3])
        #expect(Self.receive(session, Self.post(1) + Self.post(3) + Self.post(5) + Self.post(7)))
        #expect(session.takeRequests().map(\.stream) == [1, 3, 5])
    }

    @Test func `who never minds the limit is sent away`() throws {
        let session = try Self.session()
        for index in 0...100 { #expect(Self.receive(session, Self.post(UInt32(2 * index + 1)))) }
        #expect(Self.output(session).compactMap(\.goaway) == ["7 maximum active streams violated"])
    }

    @Test func `three PINGs without a request are too many for Google, and fine for Apple`() throws {
        let ping = Frame(type: 6, payload: [UInt8](repeating: 0, count: 8)).bytes
        let google = try Self.session { $0.maxPings = 3 }
        #expect(Self.receive(google, ping + ping + Self.post(1) + ping + ping))
        #expect(Self.output(google).compactMap(\.goaway).isEmpty)
        #expect(Self.receive(google, ping))
        #expect(Self.output(google).compactMap(\.goaway) == ["11 too_many_pings"])
        let apple = try Self.session()
        #expect(Self.receive(apple, ping + ping + ping + ping))
        let frames = Self.output(apple)
        #expect(frames.compactMap(\.goaway).isEmpty)
        #expect(frames.count { $0.type == 6 && $0.flags == 1 } == 4)
    }

    @Test func `resets are counted only where that is asked for`() throws {
        func goaways(limitsResets: Bool) throws -> Int {
            let session = try Self.session { $0.limitsResets = limitsResets }
            for index in 0..<2000 {
                let stream = UInt32(2 * index + 1)
                _ = Self.receive(
                    session, Self.post(stream) + Frame(type: 3, stream: stream, payload: Frame.word(8)).bytes)
            }
            return Self.output(session).compactMap(\.goaway).count
        }
        #expect(try goaways(limitsResets: false) == 0)
        #expect(try goaways(limitsResets: true) == 1)
    }

    @Test func `a header list over the limit is marked`() throws {
        let session = try Self.session { $0.maxHeaderListBytes = 200 }
        // A literal header: name "a", 100 times "b".
        let header: [UInt8] = [0x00, 0x01, 0x61, 100] + [UInt8](repeating: 0x62, count: 100)
        #expect(Self.receive(session, Self.post(1, more: header)))
        #expect(session.takeRequests().first?.request.headersTooLarge == true)
    }

    @Test func `anything but HTTP 2 ends the session`() throws {
        let session = try #require(
            H2Session(connection: 1, listener: 0, options: H2ConnectionOptions(maxConcurrentStreams: 1)))
        #expect(!Self.receive(session, Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)))
    }

    @Test func `streams above a GOAWAY's last are not heard`() throws {
        let session = try Self.session { $0.maxConcurrentStreams = 10 }
        #expect(Self.receive(session, Self.post(1)))
        session.goaway(H2Goaway(lastStream: 1, code: 0, debugData: "bye"))
        #expect(Self.output(session).compactMap(\.goaway) == ["0 bye"])
        #expect(Self.receive(session, Self.post(3)))
        #expect(session.takeRequests().map(\.stream) == [1])
        session.answer(H2Answer(status: 200, body: [0x7B, 0x7D]), stream: 1)
        let frames = Self.output(session)
        #expect(frames.map(\.type) == [1, 0])
        #expect(frames.last?.flags == 1)
        #expect(session.isFinished)
    }
}
