import FoundationEssentials
import Glibc
import Postgres
import TestSupport
import Testing

struct ConnectionTests {
    // MARK: - Deadlines

    @Test
    func `a wait ends at its deadline, and with it the connection`() async throws {
        let connection = try await Server.connect { $0.settings = [("client_connection_check_interval", "50ms")] }
        let process = try #require(await connection.backendPID)
        let error = await #expect(throws: PostgresError.self) {
            try await connection.query("select pg_sleep(600)", deadline: .milliseconds(200))
        }
        #expect(error?.code == .timedOut)
        #expect(error?.isRetryable == true)
        #expect(await connection.isOpen == false)
        let later = await #expect(throws: PostgresError.self) { try await connection.query("select 1") }
        #expect(later?.code == .closed)
        #expect(later?.description.contains("no answer within 0.2 seconds") == true)
        let other = try await Server.connect()
        try await eventually { try await other.query("select from pg_stat_activity where pid = \(process)").isEmpty }
    }

    @Test
    func `the server's own limit leaves the connection open`() async throws {
        let connection = try await Server.connect { $0.settings = [("statement_timeout", "50ms"), ("jit", "off")] }
        let error = await #expect(throws: PostgresError.self) { try await connection.query("select pg_sleep(60)") }
        #expect(error?.code == .server(sqlState: "57014"))
        #expect(try await connection.query("show jit").single().text(0) == "off")
    }

    @Test
    func `a peer that takes no more bytes cannot hold a sender up`() async throws {
        let connection = try await Server.connect()
        let process = try #require(await connection.backendPID)
        // Like a network that swallows packets: neither an answer nor an end of the stream.
        #expect(kill(pid_t(process), SIGSTOP) == 0)
        defer { kill(pid_t(process), SIGCONT) }
        let text = String(repeating: "x", count: 20_000_000)
        let error = await #expect(throws: PostgresError.self) {
            try await connection.query("select \(text)", deadline: .milliseconds(300))
        }
        #expect(error?.code == .timedOut)
    }

    @Test
    func `life is what answers in time`() async throws {
        let connection = try await Server.connect()
        #expect(await connection.isAlive(within: .seconds(90)))
        try await connection.query("begin")
        await #expect(throws: PostgresError.self) { try await connection.query("select 1 / 0") }
        // An aborted transaction refuses everything, but it answers.
        #expect(await connection.isAlive(within: .seconds(90)))
        #expect(await connection.isInTransaction)
        let process = try #require(await connection.backendPID)
        #expect(kill(pid_t(process), SIGSTOP) == 0)
        defer { kill(pid_t(process), SIGCONT) }
        #expect(await connection.isAlive(within: .milliseconds(200)) == false)
        #expect(await connection.isOpen == false)
    }

    // MARK: - Losses

    @Test
    func `a session ended by the server is a lost connection, and the next one works`() async throws {
        let connection = try await Server.connect()
        let other = try await Server.connect()
        let process = try #require(await connection.backendPID)
        try await other.query("select pg_terminate_backend(\(process)::int, 10000)")
        let error = await #expect(throws: PostgresError.self) { try await connection.query("select 1") }
        #expect(error?.code == .connection)
        #expect(error?.sqlState == "57P01")
        #expect(error?.isRetryable == true)
        #expect(await connection.isOpen == false)
        #expect(await connection.backendPID == nil)
        await connection.close()
        await connection.close()
        #expect(try await Server.connect().query("select 1").single().int(0) == 1)
    }

    @Test
    func `a session ended during a statement is a lost connection`() async throws {
        let connection = try await Server.connect()
        let other = try await Server.connect()
        let process = try #require(await connection.backendPID)
        async let failure = #expect(throws: PostgresError.self) { try await connection.query("select pg_sleep(60)") }
        try await eventually {
            try await other.query("select from pg_stat_activity where pid = \(process) and wait_event = 'PgSleep'")
                .count == 1
        }
        try await other.query("select pg_terminate_backend(\(process)::int)")
        #expect(await failure?.code == .connection)
        #expect(await connection.isOpen == false)
    }

    @Test
    func `closing is final and may be repeated`() async throws {
        let connection = try await Server.connect()
        let rows = try await connection.query("select 'kept'")
        await connection.close()
        await connection.close()
        let error = await #expect(throws: PostgresError.self) { try await connection.query("select 1") }
        #expect(error?.code == .closed)
        #expect(await connection.isAlive(within: .seconds(1)) == false)
        #expect(await connection.serverVersion == nil)
        // Rows live on their own.
        #expect(try rows.single().text(0) == "kept")
    }

    @Test
    func `a COPY is refused`() async throws {
        let connection = try await Server.connect()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.query("copy (select 1) to stdout")
        }
        #expect(error?.code == .connection)
        #expect(await connection.isOpen == false)
    }

    @Test
    func `a server that crashes and comes back is seen as both`() async throws {
        let server = try await PrivatePostgres.start()
        let database = try await server.createDatabase()
        let connection = try await database.connect()
        try await server.stop(.immediate)
        let lost = await #expect(throws: PostgresError.self) { try await connection.query("select 1") }
        #expect(lost?.code == .connection)
        let refused = await #expect(throws: PostgresError.self) { try await database.connect() }
        #expect(refused?.code == .connection)
        #expect(refused?.isRetryable == true)
        try await server.resume()
        #expect(try await database.connect().query("select 1").single().int(0) == 1)
        try await server.stop()
    }

    // MARK: - Connecting

    @Test
    func `the first host that answers is taken`() async throws {
        let (host, port) = (try await Server.host(), try await Server.port())
        for dead in ["/nonexistent", "127.0.0.1"] {
            let url = try await Server.url([
                "host": "\(dead),\(host)", "port": "1,\(port)", "target_session_attrs": "read-write",
            ])
            let connection = try await PostgresConnection.connect(try PostgresConfiguration(url))
            #expect(try await connection.query("select 1").single().int(0) == 1)
        }
    }

    @Test
    func `a first host that swallows everything does not keep the second from being tried`() async throws {
        let hole = try SilentListener()
        let (host, port) = (try await Server.host(), try await Server.port())
        let url = try await Server.url([
            "host": "127.0.0.1,\(host)", "port": "\(hole.port),\(port)", "connect_timeout": "1",
        ])
        let configuration = try PostgresConfiguration(url)
        #expect(configuration.connectTimeout == .seconds(1))
        let connection = try await PostgresConnection.connect(configuration)
        #expect(await connection.isOpen)
    }

    @Test
    func `connecting ends by its limit, and when the task is cancelled`() async throws {
        let hole = try SilentListener()
        var configuration = try PostgresConfiguration("postgresql://push@127.0.0.1:\(hole.port)/db")
        configuration.connectTimeout = .milliseconds(200)
        let error = await #expect(throws: PostgresError.self) { try await PostgresConnection.connect(configuration) }
        #expect(error?.code == .timedOut)

        configuration.connectTimeout = .seconds(600)
        let patient = configuration
        let attempt = Task { try await PostgresConnection.connect(patient) }
        attempt.cancel()
        await #expect(throws: PostgresError.self) { try await attempt.value }
    }

    @Test
    func `a session that may not write is not taken for one that may`() async throws {
        try await PrivatePostgres.shared().withDatabase { database in
            try await database.server.run(
                "alter database \(identifier: database.name) set default_transaction_read_only = on"
            )
            let url = database.url(parameters: ["target_session_attrs": "read-write"])
            let error = await #expect(throws: PostgresError.self) {
                try await PostgresConnection.connect(try PostgresConfiguration(url))
            }
            #expect(error?.code == .connection)
            #expect(error?.description.contains("read-only") == true)
        }
    }

    @Test
    func `defaults are there and the connection string overrides them`() async throws {
        let plain = try await Server.connect { $0.settings = [("default_transaction_isolation", "read committed")] }
        let query: PostgresQuery = "select current_setting('application_name'), current_setting('client_encoding')"
        #expect(try await plain.query(query).single().text(0) == "push-fanout")
        let configuration = try PostgresConfiguration(
            try await Server.url(["application_name": "mine", "client_encoding": "LATIN1"]), applicationName: "other"
        )
        let connection = try await PostgresConnection.connect(configuration)
        let row = try await connection.query(query).single()
        #expect(try row.text(0) == "mine")
        #expect(try row.text(1) == "UTF8")
        #expect(await connection.parameterStatus("TimeZone") == "UTC")
        #expect(await connection.parameterStatus("no such setting") == nil)
        #expect(try #require(await connection.serverVersion) >= 150_000)
    }

    // MARK: - Concurrency

    @Test
    func `connections work side by side, and calls on one in turn`() async throws {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 {
                let connection = try await Server.connect()
                for number in 0..<50 {
                    group.addTask { try await connection.query("select \(number)::int").single().int(0) }
                }
            }
            var sum = 0
            for try await number in group { sum += number }
            #expect(sum == 2 * 49 * 25)
        }
    }

    @Test
    func `rows are read by several tasks at once`() async throws {
        let rows = try await Server.connect().query("select n, 'text ' || n from generate_series(0, 999) n")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let numbers = try rows.map { try $0.int(0) }
                    let texts = try rows.map { try $0.text(1) }
                    #expect(numbers == Array(0..<1000))
                    #expect(texts == numbers.map { "text \($0)" })
                }
            }
            try await group.waitForAll()
        }
    }
}

/// A port that accepts connections, as the kernel does by itself, and says nothing.
final class SilentListener {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let outcome = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, pointer, &size) == 0
            }
        }
        guard outcome else { throw NotInTime("no listener: \(String(cString: strerror(errno)))") }
        self.descriptor = descriptor
        self.port = UInt16(bigEndian: address.sin_port)
    }

    deinit {
        close(self.descriptor)
    }
}
