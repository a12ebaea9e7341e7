import Postgres
import Testing

struct QueryTests {
    @Test
    func `values become numbered parameters`() {
        let query: PostgresQuery = "select \(1), \("two") from \(identifier: "a \"b\"") \(unescaped: "limit 3") \([4])"
        #expect(query.sql == #"select $1, $2 from "a ""b""" limit 3 $3"#)
        #expect("\(query)" == query.sql)
        var dumped = ""
        dump(query, to: &dumped)
        #expect(!dumped.contains("two"))
    }

    @Test(arguments: [
        "'; drop table kept; --", "\"", "\\", "$1", "$$", "e'\\''", "; select pg_terminate_backend(pg_backend_pid())",
    ])
    func `no text gets out of its place`(text: String) async throws {
        let connection = try await Server.connect()
        try await connection.query("create temporary table kept (name text, \(identifier: text) int)")
        try await connection.query("insert into kept values (\(text), 7)")
        let rows = try await connection.query(
            "select \(identifier: text) from kept where name = \(text) and name = any(\([text, "other"]))"
        )
        #expect(try rows.single().int(0) == 7)
        #expect(rows.columns == [text])
    }

    @Test
    func `one query is one statement`() async throws {
        let connection = try await Server.connect()
        let error = await #expect(throws: PostgresError.self) { try await connection.query("select 1; select 2") }
        #expect(error?.code == .server(sqlState: "42601"))
    }

    @Test
    func `a script is many statements in one transaction`() async throws {
        let connection = try await Server.connect()
        try await connection.run(script: "create temporary table s (n int); insert into s values (1), (2); -- done")
        let error = await #expect(throws: PostgresError.self) {
            try await connection.run(script: "insert into s values (3); insert into s values (1 / 0)")
        }
        #expect(error?.sqlState == "22012")
        #expect(try await connection.query("select count(*) from s").single().int(0) == 2)
        try await connection.run(script: "")
    }

    @Test
    func `rows written are counted`() async throws {
        let connection = try await Server.connect()
        #expect(try await connection.query("create temporary table w (n int)").affected == 0)
        #expect(try await connection.query("insert into w select generate_series(1, 5)").affected == 5)
        #expect(try await connection.query("update w set n = 0 where n > 2").affected == 3)
        let deleted = try await connection.query("delete from w where n = 0 returning n")
        #expect(deleted.affected == 3)
        #expect(deleted.count == 3)
        #expect(try await connection.query("select n from w").affected == 2)
    }

    @Test
    func `a large answer and a large question pass at once`() async throws {
        // Both are larger than the socket's buffers: whoever only wrote, or only read, would wait for ever.
        let connection = try await Server.connect()
        let text = String(repeating: "x", count: 8_000_000)
        let row = try await connection.query("select \(text)::text, length(\(text)::text)").single()
        #expect(try row.text(0) == text)
        #expect(try row.int(1) == 8_000_000)
    }
}
