private import Dispatch
private import Glibc

/// A socket to a server on loopback, which says exactly what a test wants it to say.
package final class RawClient: Sendable {
    private let descriptor: Int32

    package init(port: UInt16) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            throw NotInTime("no connection to port \(port): \(String(cString: strerror(errno)))")
        }
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }

    /// Sends all of it; false when the server has hung up.
    @discardableResult
    package func send(_ text: String) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }

    /// Tells the server that nothing more comes.
    package func finishSending() {
        shutdown(self.descriptor, Int32(SHUT_WR))
    }

    /// What comes until `isEnough` of it has come, or the server hangs up. Fails after `limit`.
    ///
    /// Waits on a queue: the shared pool is for the server under test.
    package func read(within limit: Duration = .seconds(20), until isEnough: @escaping @Sendable (String) -> Bool)
        async throws
        -> (text: String, isClosed: Bool)
    {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "raw-client").async {
                continuation.resume(with: Result { try self.readNow(limit, isEnough) })
            }
        }
    }

    private func readNow(_ limit: Duration, _ isEnough: (String) -> Bool) throws -> (text: String, isClosed: Bool) {
        let end = ContinuousClock.now + limit
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while !isEnough(String(decoding: bytes, as: UTF8.self)) {
            let (seconds, attoseconds) = max(Duration.zero, ContinuousClock.now.duration(to: end)).components
            var ready = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
            let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
            guard poll(&ready, 1, Int32(milliseconds)) > 0 else {
                throw NotInTime("only this came within \(limit): \(String(decoding: bytes, as: UTF8.self).suffix(600))")
            }
            let count = recv(self.descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { return (String(decoding: bytes, as: UTF8.self), true) }
            bytes += chunk[..<count]
        }
        return (String(decoding: bytes, as: UTF8.self), false)
    }

    /// Until the server hangs up.
    package func readToEnd(within limit: Duration = .seconds(20)) async throws -> String {
        try await self.read(within: limit) { _ in false }.text
    }

    /// One answer with its body, as Content-Length says.
    package func answer(within limit: Duration = .seconds(20)) async throws -> Answer {
        let text = try await self.read(within: limit) { Answer($0) != nil }.text
        guard let answer = Answer(text) else { throw NotInTime("no whole answer: \(text.prefix(400))") }
        return answer
    }
}

extension RawClient {
    /// What has come of a body that is sent in chunks, without head and chunk sizes.
    package static func chunkedBody(_ text: String) -> String {
        guard let end = text.firstRange(of: "\r\n\r\n") else { return "" }
        var rest = Array(text[end.upperBound...].utf8)[...]
        var body: [UInt8] = []
        while let line = rest.firstRange(of: Array("\r\n".utf8)),
            let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16)
        {
            body += rest[line.upperBound...].prefix(size)
            rest = rest[line.upperBound...].dropFirst(size + 2)
        }
        return String(decoding: body, as: UTF8.self)
    }
}

/// An answer taken apart, if it is all there.
package struct Answer: Sendable {
    package let status: Int
    package let head: String
    package let body: String
    /// What came behind it.
    package let rest: String

    package init?(_ text: String) {
        guard let end = text.firstRange(of: "\r\n\r\n"), let status = Int(text.dropFirst(9).prefix(3)) else {
            return nil
        }
        self.status = status
        self.head = String(text[..<end.lowerBound])
        let lengths = self.head.split(separator: "\r\n").filter { $0.lowercased().hasPrefix("content-length:") }
        let length = lengths.first.flatMap { Int($0.dropFirst("content-length:".count).drop { $0 == " " }) } ?? 0
        let body = text[end.upperBound...].utf8
        guard body.count >= length else { return nil }
        self.body = String(decoding: body.prefix(length), as: UTF8.self)
        self.rest = String(decoding: body.dropFirst(length), as: UTF8.self)
    }

    /// Every value of a header.
    package func headers(_ name: String) -> [String] {
        self.head.split(separator: "\r\n").dropFirst().compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == name.lowercased() else { return nil }
            return String(parts[1].drop { $0 == " " })
        }
    }
}
