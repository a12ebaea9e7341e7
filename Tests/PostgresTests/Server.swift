import Postgres
import TestSupport

/// The database most tests here share: they bring their own values, or tables of their session.
enum Server {
    private static let database = Task { try await PrivatePostgres.shared().createDatabase() }

    static func url() async throws -> String { try await self.database.value.url() }

    static func connect(
        _ change: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> PostgresConnection {
        var configuration = try PostgresConfiguration(try await self.url())
        change(&configuration)
        return try await PostgresConnection.connect(configuration)
    }
}
