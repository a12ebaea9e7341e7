import HTTPServer
import Locking
import TestSupport
import Testing

/// Answers that go on, and how a server ends.
struct StreamAndStopTests {
    private static let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

    /// Serves streams, and keeps hold of them.
    private static func streaming(
        limit: Int = 64 * 1024, configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: (HTTPServer, Locked<[EventStream]>) async throws -> Void
    ) async throws {
        let streams = Locked<[EventStream]>([])
        let handler = TestHandler(responding: { _ in
            let stream = EventStream(limit: limit)
            streams.withLock { $0.append(stream) }
            return Response(events: stream)
        })
        try await serving(handler, configure: configure) { try await body($0, streams) }
        #expect(streams.withLock { $0.allSatisfy { !$0.isOpen } })
    }

    @Test func `fifty streams get every event, and end with the server`() async throws {
        let clients = Locked<[RawClient]>([])
        try await Self.streaming { server, streams in
            for _ in 0..<50 {
                let client = try RawClient(port: server.port)
                client.send(Self.request)
                clients.withLock { $0.append(client) }
            }
            try await eventually { server.statistics.eventStreams == 50 }
            for number in 1...20 {
                for stream in streams.withLock({ $0 }) { stream.send(event: "patch", data: "{\"n\":\(number)}\nline") }
            }
            for client in clients.withLock({ $0 }) {
                let (text, isClosed) = try await client.read { $0.contains("{\"n\":20}\ndata: line\n\n") }
                #expect(text.contains("Content-Type: text/event-stream"))
                #expect(!isClosed)
                #expect(text.split(separator: "event: patch\n").count == 21)
            }
        }
        for client in clients.withLock({ $0 }) { _ = try await client.readToEnd(within: .seconds(1)) }
    }

    @Test func `a stream whose client leaves is closed, though nothing is sent`() async throws {
        try await Self.streaming { server, streams in
            do {
                let client = try RawClient(port: server.port)
                client.send(Self.request)
                _ = try await client.read { $0.contains("\r\n\r\n") }
            }
            try await eventually { streams.withLock { $0.allSatisfy { !$0.isOpen } } }
            try await eventually { server.statistics.connections == 0 }
        }
    }

    @Test func `a silent stream sends comments`() async throws {
        try await Self.streaming(configure: { $0.keepAliveInterval = .milliseconds(300) }) { server, _ in
            let client = try RawClient(port: server.port)
            client.send(Self.request)
            _ = try await client.read { $0.split(separator: ":\n\n").count > 3 }
        }
    }

    @Test func `a reader that is too slow is cut off`() async throws {
        try await Self.streaming { server, streams in
            let client = try RawClient(port: server.port)
            client.send(Self.request)
            try await eventually { server.statistics.eventStreams == 1 }
            let stream = try #require(streams.withLock { $0.first })
            let data = String(repeating: "x", count: 10_000)
            var sent = 0
            while stream.isOpen, sent < 100_000 {
                stream.send(event: "patch", data: data)
                sent += 1
            }
            #expect(stream.overflowed)
            try await eventually { server.statistics.connections == 0 }
            #expect(server.statistics.cutOff == 1)
            withExtendedLifetime(client) {}
        }
    }

    @Test func `HEAD of a stream ends`() async throws {
        try await Self.streaming { server, _ in
            let client = try RawClient(port: server.port)
            client.send("HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            #expect(try await client.readToEnd(within: .seconds(5)).hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func `a stop lets what runs finish, and takes nothing new`() async throws {
        let gate = Gate()
        let handler = TestHandler(responding: { _ in
            await gate.wait()
            return Response(status: 200, text: "done")
        })
        var configuration = ServerConfiguration(address: try #require(ListenAddress("127.0.0.1:0")))
        configuration.requestLimit = .seconds(60)
        let server = try HTTPServer.start(configuration, handler: handler)
        let idle = try RawClient(port: server.port)
        let running = try RawClient(port: server.port)
        running.send(Self.request)
        try await eventually { server.statistics.running == 1 && server.statistics.connections == 2 }
        async let stopped: Void = server.stop(within: .seconds(20))
        #expect(try await idle.readToEnd(within: .seconds(5)).isEmpty)
        #expect(throws: NotInTime.self) { _ = try RawClient(port: server.port) }
        gate.open()
        #expect(try await running.answer().body == "done")
        await stopped
        #expect(server.statistics.connections == 0)
        await server.stop(within: .seconds(1))
    }

    @Test func `what does not finish in time is answered with 503 at the stop`() async throws {
        let wasCancelled = Locked(false)
        let handler = TestHandler(responding: { _ in
            try? await Task.sleep(for: .seconds(60))
            wasCancelled.withLock { $0 = Task.isCancelled }
            return Response(status: 200)
        })
        let server = try HTTPServer.start(
            ServerConfiguration(address: try #require(ListenAddress("127.0.0.1:0"))), handler: handler)
        let clients = try (0..<20).map { _ in try RawClient(port: server.port) }
        for client in clients { client.send(Self.request) }
        try await eventually { server.statistics.running == 20 }
        let clock = ContinuousClock.now
        await server.stop(within: .milliseconds(200))
        #expect(.now - clock < .seconds(5))
        for client in clients { #expect(try await client.answer().status == 503) }
        try await eventually { wasCancelled.withLock { $0 } }
    }

    @Test func `a port somebody listens on is told in a line`() async throws {
        try await serving { server in
            let taken = try #require(ListenAddress("127.0.0.1:\(server.port)"))
            let error = #expect(throws: ListenError.self) {
                _ = try HTTPServer.start(ServerConfiguration(address: taken), handler: TestHandler())
            }
            #expect(error?.description == "cannot listen on 127.0.0.1:\(server.port): another program listens there")
        }
    }

    @Test func `many connections at once are all answered`() async throws {
        try await serving { server in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        let client = try RawClient(port: server.port)
                        for turn in 0..<50 {
                            client.send("POST /\(number)/\(turn) HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")
                            #expect(try await client.answer().body == "post /\(number)/\(turn) [] abc")
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(server.statistics.requests == 800)
        }
    }
}

/// Lets those who wait go on, all at once.
private final class Gate: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (self.stream, self.continuation) = AsyncStream.makeStream() }

    func wait() async { for await _ in self.stream {} }
    func open() { self.continuation.finish() }
}
