private import HTTPTransport
import Testing

@Suite(.timeLimit(.minutes(6)))
struct CurlTransportTests {
    @Test func `thousands of requests are each answered once`() async throws {
        let server = try NGHTTPServer()
        let transport = try CurlTransport.forTests {
            $0.connections = 2
            $0.window = 100
            $0.probesFreshConnections = true
        }
        // This server counts libcurl's needless RST_STREAM frames and goes away after about a thousand: what it did
        // not answer is sent again, here as in the worker.
        var answered = 0
        var missing = 5000
        var rounds = 0
        while missing > 0, rounds < 40 {
            let exchanges = await transport.exchange(0..<missing, url: server.url)
            #expect(exchanges.answers.count == exchanges.count(status: 200))
            #expect(transport.statistics.connections <= 2)
            answered += exchanges.answers.count
            missing -= exchanges.answers.count
            rounds += 1
        }
        #expect(answered == 5000)
        await transport.shutdown()
        #expect(transport.statistics.inFlight == 0)
        #expect(transport.statistics.connections == 0)
        #expect(transport.statistics.requestsSent >= 5000)
    }

    @Test func `several callers share the connections`() async throws {
        let server = try FaultServer("plain")
        let transport = try CurlTransport.forTests { $0.window = 10 }
        let url = server.url
        let answered = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { await transport.exchange(0..<50, url: url).count(status: 200) }
            }
            return await group.reduce(0, +)
        }
        #expect(answered == 400)
        #expect(transport.statistics.connectionsOpened == 1)
        await transport.shutdown()
        #expect(try server.count("request") == 400)
    }

    @Test func `a second connection opens only when the first has no room`() async throws {
        let server = try FaultServer("hold")
        let transport = try CurlTransport.forTests {
            $0.connections = 2
            $0.window = 3
        }
        _ = await transport.exchange(0..<1, url: server.url)
        let three = transport.send(Self.requests(3, server))
        for _ in 0..<3 { try server.process.line { $0.hasPrefix("request 1") } }
        #expect(transport.statistics.connectionsOpened == 1)
        let two = transport.send(Self.requests(2, server))
        try server.process.line { $0.hasPrefix("request 2") }
        await transport.shutdown(grace: .zero)
        var ended = 0
        for await exchanges in three { ended += exchanges.count }
        for await exchanges in two { ended += exchanges.count }
        #expect(ended == 5)
        #expect(transport.statistics.connectionsOpened == 2)
    }

    @Test func `renewing moves later requests to a new connection`() async throws {
        let server = try FaultServer("plain")
        let transport = try CurlTransport.forTests()
        for number in 1...3 {
            #expect(await transport.exchange(0..<5, url: server.url).count(status: 200) == 5)
            #expect(transport.statistics.connectionsOpened == number)
            transport.renewConnections()
        }
        await transport.shutdown()
        #expect(try server.count("connection") == 3)
    }

    @Test func `a connection in use finishes what it has when it is renewed`() async throws {
        let server = try FaultServer("gather-20")
        let transport = try CurlTransport.forTests()
        let first = transport.send(Self.requests(19, server))
        for _ in 0..<19 { try server.process.line { $0.hasPrefix("request 1") } }
        transport.renewConnections()
        // The new connection holds its requests until there are twenty, too.
        #expect(await transport.exchange(0..<20, url: server.url).count(status: 200) == 20)
        #expect(transport.statistics.inFlight == 19)
        await transport.shutdown(grace: .zero)
        for await exchanges in first {
            for exchange in exchanges {
                #expect(throws: HTTPFailure(fate: .unknown, reason: "shut_down")) { try exchange.result.get() }
            }
        }
    }

    @Test func `a connection is retired after its number of requests`() async throws {
        let server = try FaultServer("plain")
        let transport = try CurlTransport.forTests { $0.requestsPerConnection = 10 }
        #expect(await transport.exchange(0..<45, url: server.url).count(status: 200) == 45)
        await transport.shutdown()
        #expect(try server.count("connection") == 5)
    }

    @Test func `a connection is closed when it is idle for too long`() async throws {
        let server = try FaultServer("plain")
        let transport = try CurlTransport.forTests { $0.idleLimit = .milliseconds(100) }
        #expect(await transport.exchange(0..<5, url: server.url).count(status: 200) == 5)
        try server.process.line("a closed connection") { $0 == "closed 1" }
        #expect(await transport.exchange(0..<5, url: server.url).count(status: 200) == 5)
        await transport.shutdown()
        #expect(try server.count("connection") == 2)
    }

    @Test func `shutdown fails what waits and lets the rest finish`() async throws {
        let server = try FaultServer("gather-20")
        let transport = try CurlTransport.forTests { $0.window = 20 }
        let first = transport.send(Self.requests(19, server))
        for _ in 0..<19 { try server.process.line { $0.hasPrefix("request 1") } }
        let second = transport.send(Self.requests(31, server))
        // The twentieth lets the server answer all; the thirty that had no room may be sent or fail, never both.
        await transport.shutdown()
        var answered = 0
        for await exchanges in first {
            for exchange in exchanges where (try? exchange.result.get()) != nil { answered += 1 }
        }
        #expect(answered == 19)
        var ended = 0
        for await exchanges in second { ended += exchanges.count }
        #expect(ended == 31)
        let late = await transport.exchange(0..<3, url: server.url)
        #expect(late.failures == Array(repeating: HTTPFailure(fate: .notSent, reason: "shut_down"), count: 3))
    }

    @Test func `requests without a reader are not sent`() async throws {
        let server = try FaultServer("hold")
        let transport = try CurlTransport.forTests { $0.window = 1 }
        _ = await transport.exchange(0..<1, url: server.url)
        let held = transport.send(Self.requests(1, server))
        try server.process.line { $0.hasPrefix("request 1 3") }
        let abandoned = Task { [stream = transport.send(Self.requests(100, server))] in
            for await _ in stream {}
        }
        #expect(transport.statistics.queued == 100)
        abandoned.cancel()
        await abandoned.value
        #expect(transport.statistics.queued == 0)
        await transport.shutdown(grace: .zero)
        for await _ in held {}
        #expect(try server.count("request") == 2)
    }

    @Test func `letting go of the transport ends what is in flight`() async throws {
        let server = try FaultServer("hold")
        let stream: AsyncStream<[HTTPExchange]>
        do {
            let transport = try CurlTransport.forTests()
            _ = await transport.exchange(0..<1, url: server.url)
            stream = transport.send(Self.requests(4, server))
            for _ in 0..<4 { try server.process.line { $0.hasPrefix("request") } }
        }
        var ended = 0
        for await exchanges in stream { ended += exchanges.count }
        #expect(ended == 4)
    }

    @Test func `sending nothing ends at once`() async throws {
        let transport = try CurlTransport.forTests()
        for await _ in transport.send([]) { Issue.record("an exchange for no request") }
    }

    @Test(arguments: [
        [("bad", "a\r\nb")], [("", "a")], [("bad\nname", "a")],
    ])
    func `a header that would break out of its line is not sent`(headers: [(String, String)]) async throws {
        let server = try FaultServer("plain")
        let transport = try CurlTransport.forTests()
        let exchanges = await transport.exchange(
            0..<1, url: server.url, headers: headers.map { (name: $0.0, value: $0.1) }
        )
        #expect(exchanges.failures == [HTTPFailure(fate: .notSent, reason: "invalid_request")])
        #expect(await transport.exchange(0..<1, url: server.url).count(status: 200) == 1)
        await transport.shutdown()
        #expect(try server.count("request") == 1)
    }

    private static func requests(_ count: Int, _ server: FaultServer) -> [HTTPRequest] {
        (0..<count).map { HTTPRequest(id: $0, url: server.url, headers: [], body: [0x7B, 0x7D]) }
    }
}
