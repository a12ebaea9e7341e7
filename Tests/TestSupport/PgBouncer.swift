private import FoundationEssentials
private import Glibc

/// Debian's PgBouncer in front of a PostgreSQL on a Unix socket; itself on one too. Ends with the last reference.
package final class PgBouncer: Sendable {
    package enum Mode: String, Sendable { case session, transaction }

    private let process: ChildProcess
    private let folder: URL
    private let forget: @Sendable () -> Void

    /// What stands in for host and port in a connection string.
    package var parameters: String { "host=\(self.folder.path)&port=\(Self.port)" }

    /// Of the socket's name only.
    private static let port = 6432

    /// - Parameters:
    ///   - server: the directory of the server's socket, which must be on port 5432.
    ///   - users: roles that may come; nobody is asked for a password.
    package static func start(_ mode: Mode, server: String, users: [String]) async throws -> PgBouncer {
        let folder = URL(filePath: "/tmp/push-fanout-pgbouncer-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let forget = CleanUp.shared.add("rm -rf '\(folder.path)'")
        let settings = """
            [databases]
            * = host=\(server) port=5432
            [pgbouncer]
            pool_mode = \(mode.rawValue)
            unix_socket_dir = \(folder.path)
            listen_port = \(self.port)
            auth_type = trust
            auth_file = \(folder.path)/users
            """
        let users = users.map { "\"\($0)\" \"\"\n" }.joined()
        try Data(settings.utf8).write(to: folder.appending(path: "settings"))
        try Data(users.utf8).write(to: folder.appending(path: "users"))
        // It refuses to run as root.
        var command = ["/usr/sbin/pgbouncer", folder.appending(path: "settings").path]
        if geteuid() == 0 {
            try await ChildProcess.run("/bin/chown", ["-R", "postgres:", folder.path])
            command = ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] + command
        }
        let process = try ChildProcess(command[0], arguments: Array(command.dropFirst()))
        try await process.waitForLine(containing: "process up")
        return PgBouncer(process, folder, forget)
    }

    private init(_ process: ChildProcess, _ folder: URL, _ forget: @escaping @Sendable () -> Void) {
        self.process = process
        self.folder = folder
        self.forget = forget
    }

    package func stop() async throws {
        self.process.signal(SIGKILL)
        try await self.process.waitForExit()
        try FileManager.default.removeItem(at: self.folder)
        self.forget()
    }
}
