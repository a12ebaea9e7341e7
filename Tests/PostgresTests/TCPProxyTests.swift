import Postgres
import TestSupport
import Testing

/// The proxy that breaks connections, seen by a client of PostgreSQL behind it.
struct TCPProxyTests {
    private func make() async throws -> (TCPProxy, PostgresConfiguration) {
        let proxy = try TCPProxy(to: .socket(path: "\(try await Server.host())/.s.PGSQL.\(try await Server.port())"))
        let url = try await Server.url(["host": "127.0.0.1", "port": "\(proxy.port)", "connect_timeout": "5"])
        var configuration = try PostgresConfiguration(url)
        configuration.queryDeadline = .seconds(5)
        return (proxy, configuration)
    }

    @Test func `passes everything on, also much of it, and the end`() async throws {
        let (proxy, configuration) = try await self.make()
        let connection = try await PostgresConnection.connect(configuration)
        let text = String(repeating: "0123456789abcdef", count: 300_000)
        #expect(try await connection.query("select \(text) || '!'").single().text(0) == text + "!")
        #expect(proxy.connectionCount == 1)
        await connection.close()
        try await eventually { proxy.connectionCount == 0 }
        proxy.stop()
        await #expect(throws: PostgresError.self) { try await PostgresConnection.connect(configuration) }
    }

    @Test func `cuts what is open and takes new connections`() async throws {
        let (proxy, configuration) = try await self.make()
        let connection = try await PostgresConnection.connect(configuration)
        let session = try #require(await connection.backendPID)
        proxy.cut()
        await #expect(throws: PostgresError.self) { try await connection.query("select 1") }
        let next = try await PostgresConnection.connect(configuration)
        // What is cut is cut for the server too.
        try await eventually {
            try await next.query("select count(*) from pg_stat_activity where pid = \(session)").single().int(0) == 0
        }
        await next.close()
        proxy.stop()
    }

    @Test func `refuses, and takes connections again at the same port`() async throws {
        let (proxy, configuration) = try await self.make()
        let connection = try await PostgresConnection.connect(configuration)
        proxy.refuse()
        await #expect(throws: PostgresError.self) { try await PostgresConnection.connect(configuration) }
        #expect(await connection.isAlive(within: .seconds(90)))
        proxy.restore()
        #expect(await (try PostgresConnection.connect(configuration)).isAlive(within: .seconds(90)))
        proxy.stop()
    }

    @Test func `delays each way`() async throws {
        let (proxy, configuration) = try await self.make()
        let connection = try await PostgresConnection.connect(configuration)
        proxy.delay(.milliseconds(150))
        let time = try await ContinuousClock().measure { try await connection.query("select 1") }
        #expect(time >= .milliseconds(300))
        proxy.restore()
        proxy.stop()
    }

    @Test func `a black hole takes connections, answers nothing and keeps what it caught`() async throws {
        let (proxy, configuration) = try await self.make()
        let connection = try await PostgresConnection.connect(configuration)
        proxy.blackhole()
        var hasty = configuration
        hasty.connectTimeout = .milliseconds(200)
        let failure = await #expect(throws: PostgresError.self) { try await PostgresConnection.connect(hasty) }
        #expect(failure?.code == .timedOut)
        proxy.restore()
        // The old one is dead for good, a new one lives.
        let lost = await #expect(throws: PostgresError.self) {
            try await connection.query("select 1", deadline: .milliseconds(200))
        }
        #expect(lost?.code == .timedOut)
        #expect(await (try PostgresConnection.connect(configuration)).isAlive(within: .seconds(90)))
        proxy.stop()
    }
}
