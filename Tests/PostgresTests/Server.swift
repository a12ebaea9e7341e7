import Postgres
import TestSupport

/// The database most tests here share: they bring their own values, or tables of their session.
enum Server {
    private static let database = Task { try await PrivatePostgres.shared().createDatabase() }

    static func url(_ parameters: KeyValuePairs<String, String> = [:]) async throws -> String {
        try await self.database.value.url(parameters: parameters)
    }

    /// The folder of its socket, which libpq takes for a host.
    static func host() async throws -> String {
        let row = try await self.connect().query("show unix_socket_directories").single()
        return try row.text(0).split(separator: ",").first.map(String.init) ?? ""
    }

    static func port() async throws -> String { try await self.connect().query("show port").single().text(0) }

    static func connect(
        _ change: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> PostgresConnection {
        var configuration = try PostgresConfiguration(try await self.url())
        change(&configuration)
        return try await PostgresConnection.connect(configuration)
    }
}
