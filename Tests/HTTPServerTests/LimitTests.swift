import HTTPServer
import Locking
import TestSupport
import Testing

/// What a client may take: bytes, time, connections.
struct LimitTests {
    private static let head = "POST / HTTP/1.1\r\nHost: h\r\n"

    @Test func `a body beyond the limit is refused from its length alone`() async throws {
        try await serving { server in
            let tooLong = try await ask(server, Self.head + "Content-Length: 1001\r\n\r\n")
            #expect(tooLong.status == 413)
            let body = String(repeating: "a", count: 1000)
            let longest = try await ask(server, Self.head + "Content-Length: 1000\r\n\r\n" + body)
            #expect(longest.status == 200)
        }
    }

    @Test func `a body without a length is counted as it comes`() async throws {
        try await serving { server in
            let chunked = Self.head + "Transfer-Encoding: chunked\r\n\r\n"
            let chunk = "1F4\r\n" + String(repeating: "a", count: 500) + "\r\n"
            #expect(try await ask(server, chunked + chunk + chunk + "0\r\n\r\n").status == 200)
            #expect(try await ask(server, chunked + chunk + chunk + chunk + "0\r\n\r\n").status == 413)
            // One that goes on and on is cut off.
            let client = try RawClient(port: server.port)
            client.send(chunked)
            var sent = 0
            while sent < 20_000, client.send(chunk) { sent += 1 }
            #expect(sent < 20_000)
        }
    }

    @Test func `ten megabytes are refused and leave nothing behind`() async throws {
        try await serving { server in
            let client = try RawClient(port: server.port)
            client.send(Self.head + "Content-Length: 10000000\r\n\r\n")
            for _ in 0..<100 where !client.send(String(repeating: "a", count: 100_000)) { break }
            let text = try? await client.readToEnd()
            #expect(text == nil || text == "" || text?.hasPrefix("HTTP/1.1 413") == true)
            #expect(try await ask(server, "GET / HTTP/1.1\r\nHost: h\r\n\r\n").status == 200)
        }
    }

    @Test func `what is refused by its head is answered before the body came`() async throws {
        let responded = Locked(0)
        let handler = TestHandler(
            admitting: { _ in .answer(Response(status: 401, text: "no")) },
            responding: { _ in
                responded.withLock { $0 += 1 }
                return Response(status: 200)
            })
        try await serving(handler) { server in
            let client = try RawClient(port: server.port)
            client.send(Self.head + "Content-Length: 500\r\n\r\n")
            let text = try await client.readToEnd()
            #expect(text.hasPrefix("HTTP/1.1 401"))
            #expect(text.contains("Connection: close"))
        }
        #expect(responded.withLock { $0 } == 0)
    }

    @Test func `a head beyond the limit is refused`() async throws {
        try await serving { server in
            let long = String(repeating: "a", count: 40_000)
            let header = try RawClient(port: server.port)
            header.send("GET / HTTP/1.1\r\nHost: h\r\nX: \(long)\r\n\r\n")
            #expect(try await header.readToEnd().hasPrefix("HTTP/1.1 431"))
            let target = try RawClient(port: server.port)
            target.send("GET /\(long) HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await target.readToEnd().hasPrefix("HTTP/1.1 4"))
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: h\r\nX-Slow: " + String(repeating: "a", count: 200),
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 900\r\n\r\n" + String(repeating: "b", count: 900),
    ])
    func `who trickles is cut off, however busily`(text: String) async throws {
        try await serving(configure: { $0.requestLimit = .milliseconds(700) }) { server in
            let client = try RawClient(port: server.port)
            let clock = ContinuousClock.now
            var rest = Array(text)[...]
            while let next = rest.popFirst(), client.send(String(next)) {
                guard .now - clock < .seconds(10) else { break }
                if rest.count < text.count - 60 { try await Task.sleep(for: .milliseconds(20)) }
            }
            #expect(try await client.readToEnd(within: .seconds(1)).isEmpty)
            #expect(.now - clock < .seconds(5))
            #expect(server.statistics.cutOff == 1)
        }
    }

    @Test func `a thousand idle connections keep nobody else out`() async throws {
        try await serving(configure: { $0.requestLimit = .seconds(60) }) { server in
            let idle = try (0..<1000).map { _ in try RawClient(port: server.port) }
            try await eventually { server.statistics.connections == 1000 }
            for _ in 0..<20 { #expect(try await ask(server, "GET / HTTP/1.1\r\nHost: h\r\n\r\n").status == 200) }
            withExtendedLifetime(idle) {}
        }
    }

    @Test func `idle connections are closed in time`() async throws {
        try await serving(configure: {
            $0.requestLimit = .milliseconds(300)
            $0.idleLimit = .seconds(1)
        }) { server in
            let fresh = try RawClient(port: server.port)
            let used = try RawClient(port: server.port)
            used.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await used.answer().status == 200)
            #expect(try await fresh.readToEnd(within: .seconds(5)).isEmpty)
            #expect(try await used.readToEnd(within: .seconds(5)).isEmpty)
            try await eventually { server.statistics.connections == 0 }
        }
    }

    @Test func `one address has a limited number of connections`() async throws {
        try await serving(configure: { $0.connectionLimitPerAddress = 3 }) { server in
            let clients = try (0..<3).map { _ in try RawClient(port: server.port) }
            try await eventually { server.statistics.connections == 3 }
            #expect(try await RawClient(port: server.port).readToEnd().isEmpty)
            withExtendedLifetime(clients) {}
        }
    }

    @Test func `a handler that takes too long is cancelled and answered for`() async throws {
        let wasCancelled = Locked(false)
        let handler = TestHandler(responding: { _ in
            do {
                try await Task.sleep(for: .seconds(60))
            } catch {
                wasCancelled.withLock { $0 = true }
            }
            return Response(status: 200)
        })
        try await serving(handler, configure: { $0.handlerLimit = .milliseconds(300) }) { server in
            #expect(try await ask(server, "GET / HTTP/1.1\r\nHost: h\r\n\r\n").status == 503)
            try await eventually { wasCancelled.withLock { $0 } }
        }
    }

    @Test func `a client that does not read its answer is cut off`() async throws {
        let large = [UInt8](repeating: 65, count: 30_000_000)
        let handler = TestHandler(responding: { _ in Response(status: 200, body: .bytes(large)) })
        try await serving(handler, configure: { $0.answerLimit = .milliseconds(500) }) { server in
            let client = try RawClient(port: server.port)
            client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            try await eventually { server.statistics.cutOff == 1 }
            try await eventually { server.statistics.connections == 0 }
            withExtendedLifetime(client) {}
        }
    }
}
