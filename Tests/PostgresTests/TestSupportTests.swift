import FoundationEssentials
import Glibc
import Postgres
import TestSupport
import Testing

/// The test kit's own parts, as other tests rely on them.
struct TestSupportTests {
    @Test
    func `a child's lines and end are awaited`() async throws {
        let child = try ChildProcess("/bin/sh", arguments: ["-c", "echo one; echo two >&2; printf three; exit 7"])
        #expect(try await child.waitForLine(containing: "tw") == "two")
        #expect(try await child.waitForExit() == .code(7))
        #expect(child.text(.output) == "one\nthree\n")
        #expect(child.text(.error) == "two\n")
        await #expect(throws: NotInTime.self) { try await child.waitForLine(containing: "four") }
    }

    @Test
    func `a child gets signals, its own environment, and no input`() async throws {
        let script = "trap 'echo caught; exit 0' TERM; cat; echo $A; while :; do sleep 0.05; done"
        let child = try ChildProcess("/bin/sh", arguments: ["-c", script], environment: ["A": "b=c", "PATH": "/bin"])
        try await child.waitForLine(containing: "b=c")
        child.signal(SIGTERM)
        #expect(try await child.waitForExit() == .code(0))
        #expect(child.text(.output) == "b=c\ncaught\n")
        child.signal(SIGKILL)
        #expect(throws: (any Error).self) { try ChildProcess("/nonexistent") }
    }

    @Test
    func `a child nobody holds is killed`() async throws {
        var child: ChildProcess? = try ChildProcess("/bin/sleep", arguments: ["600"])
        let pid = try #require(child?.pid)
        await #expect(throws: NotInTime.self) { try await child?.waitForExit(within: .milliseconds(50)) }
        #expect(kill(pid, 0) == 0)
        child = nil
        try await eventually { kill(pid, 0) != 0 }
    }

    @Test
    func `the package's executables and files are found`() throws {
        #expect(try BuiltProducts.url("push-fanout").path.hasSuffix("/push-fanout"))
        #expect(throws: BuiltProducts.Missing.self) { try BuiltProducts.url("push-nothing") }
        #expect(Fixtures.url("a/b.json").path.hasSuffix("/Tests/Fixtures/a/b.json"))
    }

    @Test
    func `a database is a copy of its template and gone after use`() async throws {
        let server = try await PrivatePostgres.shared()
        let name = try await server.withDatabase { template in
            let connection = try await template.connect()
            try await connection.query("create table t as select 5 as n")
            await connection.close()
            try await server.withDatabase(template: template) { copy in
                let number = try await copy.connect().query("select n from t").single().int(0)
                #expect(number == 5)
            }
            let role = try await server.createRole()
            #expect(try await template.connect(role: role).query("select current_user").single().text(0) == role)
            return template.name
        }
        let connection = try await Server.connect()
        #expect(try await connection.query("select from pg_database where datname = \(name)").isEmpty)
    }
}
