import Postgres
import Testing

struct ErrorTests {
    @Test(arguments: [
        ("select 1 / 0", "22012", false), ("select * from nowhere", "42P01", false), ("selec", "42601", false),
        ("do $$ begin raise exception sqlstate '40001'; end $$", "40001", true),
        ("do $$ begin raise exception sqlstate '40P01'; end $$", "40P01", true),
        ("do $$ begin raise exception sqlstate '53100'; end $$", "53100", true),
        ("do $$ begin raise exception sqlstate '55P03'; end $$", "55P03", true),
        ("do $$ begin raise exception sqlstate '23505'; end $$", "23505", false),
    ])
    func `a refusal carries its state and leaves the connection usable`(sql: String, state: String, retry: Bool)
        async throws
    {
        let connection = try await Server.connect()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.query(PostgresQuery(unescaped: sql))
        }
        #expect(error?.code == .server(sqlState: state))
        #expect(error?.sqlState == state)
        #expect(error?.isRetryable == retry)
        #expect(error?.isConnectionLoss == false)
        #expect(try await connection.query("select 1").single().int(0) == 1)
    }

    @Test
    func `a description has message and hint, and keeps the row's values back`() async throws {
        let connection = try await Server.connect()
        try await connection.query("create temporary table d (token text primary key)")
        try await connection.query("insert into d values (\("secret-token"))")
        let error = await #expect(throws: PostgresError.self) {
            try await connection.query("insert into d values (\("secret-token"))")
        }
        let failure = try #require(error)
        #expect(failure.sqlState == "23505")
        #expect(failure.description.contains("d_pkey"))
        #expect(!failure.description.contains("secret-token"))
        #expect(failure.debugDescription.contains("secret-token"))

        let hinted = await #expect(throws: PostgresError.self) { try await connection.query("select lenght('a')") }
        #expect(hinted?.description.contains("No function matches") == true)
    }

    @Test(arguments: ["uuid", "int", "uuid[]", "timestamptz", "jsonb"])
    func `a value the server cannot read is not repeated`(type: String) async throws {
        let connection = try await Server.connect()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.query("select \("the \"secret\" value")::\(unescaped: type)")
        }
        #expect(error?.sqlState?.hasPrefix("22") == true)
        #expect(error.map { "\($0)".contains("secret") } == false)
    }

    @Test
    func `a read-only server is recognised`() async throws {
        let connection = try await Server.connect { $0.settings = [("default_transaction_read_only", "on")] }
        let error = await #expect(throws: PostgresError.self) { try await connection.query("create table r ()") }
        #expect(error?.isReadOnly == true)
    }

    @Test(arguments: [
        "postgresql://anna:hunter2hunter2@127.0.0.1:1/db", "postgresql://anna:hunter2hunter2@no-such-host.invalid/db",
        "postgresql://anna:hunter2hunter2@/db?host=/nonexistent", "host=/nonexistent user=anna password=hunter2hunter2",
        "host=/nonexistent password='hunter2hunter2", "host=/nonexistent password=other hunter2hunter2",
        "host=/nonexistent password=other hunter2hunter2=1", "postgresql://anna:hunter2hunter2/x@127.0.0.1/db",
        "postgresql://anna:x@hunter2hunter2@127.0.0.1/db", "postgresql://anna:hunter2hunter2?x@127.0.0.1/db",
        "postgresql://anna:hunter2hunter2%zz@127.0.0.1/db", "postgresql://anna:1?hunter2hunter2@127.0.0.1/db",
        "postgresql://anna:hunter2hunter2:x@127.0.0.1:1/db", "postgresql://anna:[hunter2hunter2@127.0.0.1:1/db",
        "hunter2hunter2", "postgresql://hunter2hunter2:1234/5@127.0.0.1:1/db",
        "host=/nonexistent password=hunter2hunter2 sslmode=hunter2hunter2",
        "host=/nonexistent port=hunter2hunter2 password=hunter2hunter2",
    ])
    func `no error repeats a password`(string: String) async throws {
        var told = ""
        do {
            let configuration = try PostgresConfiguration(string)
            told += "\(configuration) \(String(reflecting: configuration))"
            dump(configuration, to: &told)
            _ = try await PostgresConnection.connect(configuration)
            Issue.record("connected")
        } catch {
            told += "\(error.description) \(error.debugDescription) \(error.message)"
            dump(error, to: &told)
        }
        #expect(!told.contains("hunter2"))
    }

    @Test
    func `a refused connection tells why`() async throws {
        let role = try await Server.url(["user": "nobody of that 'name'"])
        let noRole = await #expect(throws: PostgresError.self) {
            try await PostgresConnection.connect(try PostgresConfiguration(role))
        }
        #expect(noRole?.code == .connection)
        #expect(noRole?.sqlState == "28000")
        #expect(noRole?.isRetryable == false)
        #expect(noRole?.isConnectionLoss == true)
        #expect(noRole?.description.contains("nobody of that 'name'") == true)
        let database = try await Server.url(["dbname": "none_of_that_name"])
        let noDatabase = await #expect(throws: PostgresError.self) {
            try await PostgresConnection.connect(try PostgresConfiguration(database))
        }
        #expect(noDatabase?.sqlState == "3D000")
        #expect(noDatabase?.description.contains("none_of_that_name") == true)
        let setting = await #expect(throws: PostgresError.self) {
            try await Server.connect { $0.settings = [("statement_timeout", "soon")] }
        }
        #expect(setting?.code == .server(sqlState: "22023"))
    }

    @Test
    func `notices go to the handler`() async throws {
        let (notices, continuation) = AsyncStream.makeStream(of: PostgresNotice.self)
        let connection = try await Server.connect { $0.onNotice = { continuation.yield($0) } }
        try await connection.run(script: "do $$ begin raise warning 'careful'; end $$")
        for await notice in notices {
            #expect(notice.severity == "WARNING")
            #expect(notice.sqlState == "01000")
            #expect(notice.message == "careful")
            break
        }
    }
}
