private import HTTPTransport
import Testing

/// What servers and networks do to connections, against a scripted server.
@Suite(.timeLimit(.minutes(6)))
struct CurlTransportFaultTests {
    // MARK: - No connection

    @Test func `nobody listens`() async throws {
        let transport = try CurlTransport.forTests()
        let exchanges = await transport.exchange(0..<500, url: "https://localhost:\(try freePort())/")
        #expect(
            exchanges.failures == Array(repeating: HTTPFailure(fate: .notSent, reason: "connect_failed"), count: 500))
        #expect(transport.statistics.requestsSent == 0)
    }

    @Test(arguments: [
        ("https://no-such-host.invalid/", "name_not_resolved"), ("http://localhost:1/", "invalid_url"),
        ("nonsense://localhost/", "invalid_url"),
    ])
    func `the address is no good`(url: String, reason: String) async throws {
        let transport = try CurlTransport.forTests()
        let exchanges = await transport.exchange(0..<3, url: url)
        #expect(exchanges.failures == Array(repeating: HTTPFailure(fate: .notSent, reason: reason), count: 3))
    }

    @Test(arguments: [true, false])
    func `a bad address among good ones fails alone`(probes: Bool) async throws {
        let server = try FaultServer("plain")
        let transport = try CurlTransport.forTests { $0.probesFreshConnections = probes }
        let requests = (0..<30).map { id in
            HTTPRequest(id: id, url: id % 10 == 0 ? "http://localhost/" : server.url, headers: [], body: [])
        }
        var failed: Set<Int> = []
        for await exchanges in transport.send(requests) {
            for exchange in exchanges where (try? exchange.result.get()) == nil { failed.insert(exchange.id) }
        }
        #expect(failed == [0, 10, 20])
        await transport.shutdown()
        try server.process.finish()
        #expect(server.process.lines.count { $0.hasPrefix("request") } == 27)
        #expect(server.process.lines.count { $0.hasPrefix("connection") } == 1)
    }

    @Test func `the certificate is of an unknown authority`() async throws {
        let server = try FaultServer("plain")
        let other = try TestCertificates.shared.get().otherAuthority
        let transport = try CurlTransport.forTests { $0.caFile = other }
        let exchanges = await transport.exchange(0..<10, url: server.url)
        let expected = HTTPFailure(fate: .notSent, reason: "certificate_refused")
        #expect(exchanges.failures == Array(repeating: expected, count: 10))
        #expect(try server.count("request") == 0)
    }

    @Test func `the certificate is for another name`() async throws {
        let server = try FaultServer("plain")
        let transport = try CurlTransport.forTests()
        let exchanges = await transport.exchange(0..<2, url: "https://127.0.0.1:\(server.port)/")
        let expected = HTTPFailure(fate: .notSent, reason: "certificate_refused")
        #expect(exchanges.failures == [expected, expected])
        #expect(try server.count("request") == 0)
    }

    @Test func `a server that never says a word holds nobody up for long`() async throws {
        let listener = try SilentListener()
        let transport = try CurlTransport.forTests { $0.connectTimeout = .milliseconds(300) }
        let exchanges = await transport.exchange(0..<100, url: "https://localhost:\(listener.port)/")
        let expected = HTTPFailure(fate: .notSent, reason: "connect_timed_out")
        #expect(exchanges.failures == Array(repeating: expected, count: 100))
    }

    @Test func `the authorities' file is missing`() async throws {
        let server = try FaultServer("plain")
        let transport = try CurlTransport.forTests { $0.caFile = "/no/such/file.pem" }
        let exchanges = await transport.exchange(0..<2, url: server.url)
        let expected = HTTPFailure(fate: .notSent, reason: "ca_file_unusable")
        #expect(exchanges.failures == [expected, expected])
    }

    @Test(arguments: ["http1", "no-alpn"])
    func `a server without HTTP2 receives nothing`(scenario: String) async throws {
        let server = try FaultServer(scenario)
        let transport = try CurlTransport.forTests()
        let exchanges = await transport.exchange(0..<20, url: server.url)
        let expected = HTTPFailure(fate: .notSent, reason: "http1_refused")
        #expect(exchanges.failures == Array(repeating: expected, count: 20))
        await transport.shutdown()
        try server.process.line { $0 == "received 0 bytes" }
    }

    @Test func `the server goes away before its settings`() async throws {
        let server = try FaultServer("go-away-at-once")
        let transport = try CurlTransport.forTests { $0.probesFreshConnections = true }
        let exchanges = await transport.exchange(0..<50, url: server.url)
        #expect(exchanges.failures.count == 50)
        // Only the probe can have been sent.
        #expect(exchanges.failures.count { $0.fate == .unknown } <= 1)
        #expect(transport.statistics.requestsSent <= 1)
    }

    // MARK: - A connection ends

    @Test func `a used connection is reset after it took a request, which is sent once`() async throws {
        let server = try FaultServer("answer-then-reset")
        let transport = try CurlTransport.forTests()
        #expect(await transport.exchange(0..<1, url: server.url).count(status: 200) == 1)
        let lost = await transport.exchange(1..<2, url: server.url)
        #expect(lost.failures.map(\.fate) == [.unknown])
        // The next one goes out on a new connection.
        #expect(await transport.exchange(2..<3, url: server.url).count(status: 200) == 1)
        await transport.shutdown()
        #expect(transport.statistics.requestsSent == 3)
        #expect(try server.count("request") == 3)
    }

    @Test func `a connection closed by the server while idle costs nothing`() async throws {
        let server = try FaultServer("close-after-answer")
        let transport = try CurlTransport.forTests { $0.probesFreshConnections = true }
        for id in 0..<5 {
            #expect(await transport.exchange(id..<(id + 1), url: server.url).count(status: 200) == 1)
            try server.process.line { $0.hasPrefix("left") }
        }
        await transport.shutdown()
        #expect(try server.count("request") == 5)
    }

    @Test func `a 200 whose body is cut off is an answer`() async throws {
        let server = try FaultServer("cut-off-200")
        let transport = try CurlTransport.forTests()
        #expect(await transport.exchange(0..<1, url: server.url).count(status: 200) == 1)
    }

    @Test func `another status whose body is cut off is none`() async throws {
        let server = try FaultServer("cut-off-400")
        let transport = try CurlTransport.forTests()
        #expect(await transport.exchange(0..<1, url: server.url).failures.map(\.fate) == [.unknown])
    }

    @Test func `what a leaving server did not answer is sent again elsewhere`() async throws {
        let server = try FaultServer("go-away")
        let transport = try CurlTransport.forTests { $0.probesFreshConnections = true }
        let exchanges = await transport.exchange(0..<10, url: server.url)
        #expect(exchanges.count(status: 200) >= 5)
        let missing = 10 - exchanges.answers.count
        #expect(await transport.exchange(0..<missing, url: server.url).count(status: 200) == missing)
        await transport.shutdown()
        // Every request that came back as unknown was seen once, none twice.
        let seen = try server.count("request")
        #expect(seen == transport.statistics.requestsSent)
    }

    // MARK: - One stream

    @Test func `a request without an answer times out alone`() async throws {
        let server = try FaultServer("silent-once")
        let transport = try CurlTransport.forTests { $0.requestTimeout = .seconds(2) }
        let exchanges = await transport.exchange(0..<20, url: server.url)
        #expect(exchanges.count(status: 200) == 19)
        #expect(exchanges.failures == [HTTPFailure(fate: .unknown, reason: "timed_out")])
        for exchange in exchanges.values {
            let isSilent = (try? exchange.result.get()) == nil
            #expect(isSilent == (exchange.duration >= .seconds(2)))
        }
        // The connection is not trusted any more, and its end is the stream's.
        try server.process.line("the connection's end") { $0 == "closed 1" }
        #expect(await transport.exchange(0..<1, url: server.url).count(status: 200) == 1)
        await transport.shutdown()
        #expect(try server.count("connection") == 2)
    }

    @Test func `a reset stream leaves the connection to the others`() async throws {
        let server = try FaultServer("reset-stream")
        let transport = try CurlTransport.forTests()
        let exchanges = await transport.exchange(0..<20, url: server.url)
        #expect(exchanges.count(status: 200) == 19)
        #expect(exchanges.failures == [HTTPFailure(fate: .unknown, reason: "stream_reset")])
        #expect(await transport.exchange(0..<20, url: server.url).count(status: 200) == 20)
        await transport.shutdown()
        #expect(try server.count("connection") == 1)
    }

    @Test func `a refused stream is not sent again behind our back`() async throws {
        let server = try FaultServer("refuse-stream")
        let transport = try CurlTransport.forTests()
        let exchanges = await transport.exchange(0..<20, url: server.url)
        #expect(exchanges.count(status: 200) == 19)
        #expect(exchanges.failures == [HTTPFailure(fate: .unknown, reason: "resend_refused")])
        await transport.shutdown()
        #expect(try server.count("request") == 20)
    }

    // MARK: - The probe

    @Test func `one request is answered before the window opens`() async throws {
        let server = try FaultServer("one-stream-first")
        let transport = try CurlTransport.forTests { $0.probesFreshConnections = true }
        #expect(await transport.exchange(0..<300, url: server.url).count(status: 200) == 300)
        await transport.shutdown()
        try server.process.finish()
        #expect(!server.process.lines.contains("violation"))
        #expect(server.process.lines.count { $0.hasPrefix("connection") } == 1)
    }

    @Test func `the requests in flight grow although the greater limit comes late`() async throws {
        let server = try FaultServer("one-stream-for-long")
        let transport = try CurlTransport.forTests { $0.probesFreshConnections = true }
        #expect(await transport.exchange(0..<300, url: server.url).count(status: 200) == 300)
        await transport.shutdown()
        try server.process.finish()
        let most = server.process.lines.filter { $0.hasPrefix("open") }.compactMap { Int($0.dropFirst(5)) }.max() ?? 0
        #expect(most > 30)
        #expect(server.process.lines.count { $0.hasPrefix("connection") } == 1)
    }

    @Test func `a server that names no limit of streams is held to our own`() async throws {
        let server = try FaultServer("no-limit")
        let transport = try CurlTransport.forTests { $0.window = 50 }
        #expect(await transport.exchange(0..<300, url: server.url).count(status: 200) == 300)
        await transport.shutdown()
        #expect(try server.count("connection") == 1)
    }

    @Test func `a refusal of the credential keeps the window shut`() async throws {
        let server = try FaultServer("three-refusals-first")
        let transport = try CurlTransport.forTests { $0.probesFreshConnections = true }
        let exchanges = await transport.exchange(0..<100, url: server.url)
        #expect(exchanges.count(status: 403) == 3)
        #expect(exchanges.count(status: 200) == 97)
        await transport.shutdown()
        #expect(try server.count("violation") == 0)
    }

    @Test func `without the probe the window opens with the connection`() async throws {
        let server = try FaultServer("gather-20")
        let transport = try CurlTransport.forTests()
        // Answers come only when twenty requests are there.
        #expect(await transport.exchange(0..<20, url: server.url).count(status: 200) == 20)
    }

    // MARK: - The answer

    @Test func `a long body is cut at 64 KiB`() async throws {
        let server = try FaultServer("long-body")
        let transport = try CurlTransport.forTests()
        let exchanges = await transport.exchange(0..<3, url: server.url)
        #expect(exchanges.answers.map(\.status) == [500, 500, 500])
        #expect(exchanges.answers.allSatisfy { $0.body.count == 65536 })
    }
}
