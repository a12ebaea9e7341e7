private import FoundationEssentials
private import Glibc
package import Postgres

/// A PostgreSQL server for tests: in a folder of its own, on a Unix socket only, gone when the test process ends.
package final class PrivatePostgres: Sendable {
    /// How a server is stopped; `immediate` is a crash, as far as its clients can tell.
    package enum StopMode: String, Sendable { case fast, immediate }

    /// A superuser's connection string.
    private let conninfo: String
    /// What belongs to us; `nil` for a cluster somebody else started.
    private let cluster: Cluster?

    private struct Cluster: Sendable {
        /// Data, socket and log.
        let folder: URL
        let binaries: URL

        var data: String { self.folder.appending(path: "data").path }
        var log: String { self.folder.appending(path: "log").path }

        /// As `postgres`, if we are root.
        func command(_ name: String, _ arguments: [String]) -> [String] {
            let prefix = geteuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] : []
            return prefix + [self.binaries.appending(path: name).path] + arguments
        }

        func run(_ name: String, _ arguments: [String]) async throws {
            try await ChildProcess.run("/usr/bin/env", self.command(name, arguments))
        }
    }

    private init(conninfo: String, cluster: Cluster?) {
        self.conninfo = conninfo
        self.cluster = cluster
    }

    // MARK: - Starting

    /// The server all tests of this process share, started on first use; or the one `PUSH_TEST_POSTGRES` names with a
    /// superuser's connection string; its socket or port must be on this machine.
    package static func shared() async throws -> PrivatePostgres {
        try await self.sharedServer.value
    }

    private static let sharedServer = Task {
        if let conninfo = ProcessInfo.processInfo.environment["PUSH_TEST_POSTGRES"], !conninfo.isEmpty {
            return PrivatePostgres(conninfo: conninfo, cluster: nil)
        }
        return try await PrivatePostgres.start()
    }

    /// A server of the caller's own, for tests that stop it.
    package static func start() async throws -> PrivatePostgres {
        let folder = URL(filePath: "/tmp/push-fanout-postgres-\(UUID().uuidString.prefix(8))")
        let cluster = Cluster(folder: folder, binaries: try self.findBinaries())
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        // A server refuses to run as root.
        if geteuid() == 0 { try await ChildProcess.run("/bin/chown", ["postgres:", folder.path]) }
        let stop = cluster.command("pg_ctl", ["stop", "-s", "-m", "immediate", "-D", cluster.data])
        _ = CleanUp.shared.add("cd /; \(stop.joined(separator: " ")) >/dev/null 2>&1; rm -rf '\(folder.path)'")

        let conninfo = "postgresql:///postgres?host=\(folder.path)&user=postgres"
        let server = PrivatePostgres(conninfo: conninfo, cluster: cluster)
        let options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        try await cluster.run("initdb", ["-D", cluster.data] + options)
        try await server.resume()
        return server
    }

    /// The newest version Debian has installed, 15 or later.
    private static func findBinaries() throws -> URL {
        let root = URL(filePath: "/usr/lib/postgresql")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        guard let newest = versions.compactMap(Int.init).max(), newest >= 15 else {
            throw NotInTime("no PostgreSQL 15 or later in \(root.path): apt-get install postgresql")
        }
        return root.appending(path: "\(newest)/bin")
    }

    // MARK: - Stopping

    /// Ends a server made with `start`; its data stay.
    package func stop(_ mode: StopMode = .fast) async throws {
        let cluster = try self.ownCluster()
        try await cluster.run("pg_ctl", ["stop", "-w", "-m", mode.rawValue, "-D", cluster.data])
    }

    /// Starts it again on the same data, at the same address.
    package func resume() async throws {
        let cluster = try self.ownCluster()
        let settings = [
            "listen_addresses=", "unix_socket_directories=\(cluster.folder.path)", "max_connections=200", "fsync=off",
            "full_page_writes=off", "max_wal_size=4GB",
        ]
        let options = settings.map { "-c \($0)" }.joined(separator: " ")
        try await cluster.run("pg_ctl", ["start", "-w", "-l", cluster.log, "-D", cluster.data, "-o", options])
    }

    package func restart(_ mode: StopMode = .fast) async throws {
        try await self.stop(mode)
        try await self.resume()
    }

    private func ownCluster() throws -> Cluster {
        guard let cluster else {
            throw NotInTime("PUSH_TEST_POSTGRES is not ours to stop: use PrivatePostgres.start()")
        }
        return cluster
    }

    // MARK: - Using

    /// A database of its own, empty or a copy of `template`, to which nobody may be connected then.
    package func createDatabase(template: TestDatabase? = nil) async throws -> TestDatabase {
        let name = "test_\(UUID().uuidString.lowercased())"
        // Somebody else's cluster outlives this process; ours goes as a whole.
        var forget: @Sendable () -> Void = {}
        if self.cluster == nil {
            let conninfo = self.conninfo.replacing("'", with: #"'\''"#)
            let drop = "drop database if exists \"\(name)\" with (force)"
            forget = CleanUp.shared.add("psql -qX -d '\(conninfo)' -c '\(drop)' 2>/dev/null")
        }
        let database = TestDatabase(name: name, server: self, forget: forget)
        let source = template?.name ?? "template0"
        try await self.run("create database \(identifier: database.name) template \(identifier: source)")
        return database
    }

    /// A database for the time `body` runs.
    package func withDatabase<Result>(
        template: TestDatabase? = nil, _ body: (TestDatabase) async throws -> Result
    ) async throws -> Result {
        let database = try await self.createDatabase(template: template)
        do {
            let result = try await body(database)
            try await database.drop()
            return result
        } catch {
            try? await database.drop()
            throw error
        }
    }

    /// A role that may log in. Roles belong to the whole server: give it a name no other test uses, or take the result's.
    package func createRole(named name: String? = nil, options: String = "login") async throws -> String {
        let name = name ?? "role_\(UUID().uuidString.lowercased())"
        try await self.run("create role \(identifier: name) \(unescaped: options)")
        return name
    }

    /// Runs one statement as superuser in the database `postgres`.
    package func run(_ query: PostgresQuery) async throws {
        let connection = try await PostgresConnection.connect(try PostgresConfiguration(self.conninfo))
        do {
            try await connection.query(query, deadline: .seconds(60))
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
    }

    /// The connection string of a database, with parameters of libpq; they override what is there already.
    fileprivate func url(_ parameters: [(name: String, value: String)]) -> String {
        parameters.reduce(self.conninfo) { string, parameter in
            guard self.conninfo.contains("://") else {
                let value = parameter.value.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
                return "\(string) \(parameter.name)='\(value)'"
            }
            let value = parameter.value.utf8.reduce(into: "") { text, byte in
                let isPlain =
                    byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || "0123456789-_./,".utf8.contains(byte))
                text += isPlain ? String(Unicode.Scalar(byte)) : "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16))"
            }
            return "\(string)\(string.contains("?") ? "&" : "?")\(parameter.name)=\(value)"
        }
    }
}

/// A database of a test.
package struct TestDatabase: Sendable {
    package let name: String
    package let server: PrivatePostgres
    /// Takes back what would drop it when this process ends.
    fileprivate let forget: @Sendable () -> Void

    /// What `DATABASE_URL` would hold; as superuser, unless a role is given. `parameters` are libpq's, such as
    /// `connect_timeout`.
    package func url(role: String? = nil, parameters: KeyValuePairs<String, String> = [:]) -> String {
        let role = role.map { [(name: "user", value: $0)] } ?? []
        return self.server.url([("dbname", self.name)] + role + parameters.map { ($0.key, $0.value) })
    }

    package func connect(role: String? = nil) async throws(PostgresError) -> PostgresConnection {
        try await PostgresConnection.connect(try PostgresConfiguration(self.url(role: role)))
    }

    /// Ends the sessions in it, then drops it.
    package func drop() async throws {
        try await self.server.run("drop database if exists \(identifier: self.name) with (force)")
        self.forget()
    }
}
