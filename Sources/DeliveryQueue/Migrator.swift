package import Postgres
internal import PushModel

/// Creates and upgrades the schema `push`.
package struct Migrator: Sendable {
    package var source: SourceSchema

    package init(source: SourceSchema) {
        self.source = source
    }

    /// What stands in the way of a migration; each says what to do.
    package enum Refusal: Error, Equatable, CustomStringConvertible {
        case edited(version: Int, name: String)
        case newerSchema(version: Int)
        case missingSource(String)

        package var description: String {
            switch self {
            case .edited(let version, let name):
                "migration \(version) (\(name)) was applied with another text than this program has: "
                    + "use the program that applied it, or restore its file"
            case .newerSchema(let version):
                "the database is at migration \(version), which this program does not know: use a newer push-fanout"
            case .missingSource(let table):
                "there is no \(table): create the app's tables first, or set PUSH_SOURCE_SCHEMA, for example public"
            }
        }
    }

    package struct Status: Equatable, Sendable {
        package var version: Int
        package var name: String
        package var isApplied: Bool
    }

    /// Applies what is missing and attaches the app's tables, all in one transaction under an advisory lock: twice, or
    /// from two processes at once, does it once.
    ///
    /// - Returns: the migrations applied by this call.
    package func migrate(on connection: PostgresConnection) async throws -> [Migration] {
        try await connection.run(script: "begin; " + Self.lockSQL + "; " + Self.bookSQL)
        do {
            try await self.requireSourceTables(on: connection)
            let applied = try await self.appliedVersions(on: connection)
            let missing = Migration.all.filter { applied[$0.version] == nil }
            for migration in missing {
                try await connection.run(script: migration.sql)
                _ = try await connection.query(
                    """
                    insert into push.migrations (version, name, checksum)
                    values (\(migration.version)::integer, \(migration.name), \(migration.checksum))
                    """)
            }
            try await connection.run(script: Migration.attachment(to: self.source))
            try await connection.run(script: Self.kindsSQL)
            try await connection.run(script: "commit")
            return missing
        } catch {
            // The first error is the one to show; a lost connection rolls back by itself.
            try? await connection.run(script: "rollback")
            throw error
        }
    }

    /// Which migrations the database has. Changes nothing.
    package func status(on connection: PostgresConnection) async throws -> [Status] {
        let exists = try await connection.query("select to_regclass('push.migrations') is not null")
        let applied = try exists.first?.bool(0) == true ? await self.appliedVersions(on: connection) : [:]
        return Migration.all.map { migration in
            Status(version: migration.version, name: migration.name, isApplied: applied[migration.version] != nil)
        }
    }

    /// What `migrate` would do, as one script in one transaction, for those who apply SQL by hand.
    ///
    /// - Parameter applied: the versions that the database has already.
    package func script(applied: Set<Int>) -> String {
        var parts = ["begin;", Self.lockSQL + ";", Self.bookSQL + ";"]
        for migration in Migration.all where !applied.contains(migration.version) {
            parts.append(
                """
                -- migration \(migration.version): \(migration.name)
                \(migration.sql)
                insert into push.migrations (version, name, checksum)
                values (\(migration.version), '\(migration.name)', '\(migration.checksum)');
                """)
        }
        parts += [Migration.attachment(to: self.source), Self.kindsSQL + ";", "commit;", ""]
        return parts.joined(separator: "\n")
    }

    private static let lockSQL = "select pg_advisory_xact_lock(1347769160, 1)"

    private static let bookSQL = """
        create schema if not exists push;
        create table if not exists push.migrations (
            version integer primary key,
            name text not null,
            checksum text not null,
            applied_at timestamptz not null default now()
        )
        """

    /// The kinds, from the one list in the code.
    private static var kindsSQL: String {
        let rows = NotificationKind.all.map { "('\($0.name)', \($0.lane.rawValue), \($0.coalesces))" }
        return """
            insert into push.kinds (name, lane, coalesces) values
            \(rows.joined(separator: ",\n"))
            on conflict (name) do update set lane = excluded.lane, coalesces = excluded.coalesces
            """
    }

    private func requireSourceTables(on connection: PostgresConnection) async throws {
        for table in ["notifications", "accounts", "devices"] {
            let name = "\(self.source.identifier).\(table)"
            let rows = try await connection.query("select to_regclass(\(name)) is not null")
            guard try rows.first?.bool(0) == true else { throw Refusal.missingSource("\(self.source.name).\(table)") }
        }
    }

    private func appliedVersions(on connection: PostgresConnection) async throws -> [Int: String] {
        let rows = try await connection.query("select version, name, checksum from push.migrations order by version")
        var applied: [Int: String] = [:]
        for row in rows {
            let version = try row.int(0)
            let checksum = try row.text(2)
            guard let known = Migration.all.first(where: { $0.version == version }) else {
                throw Refusal.newerSchema(version: version)
            }
            guard known.checksum == checksum else {
                throw Refusal.edited(version: version, name: try row.text(1))
            }
            applied[version] = checksum
        }
        return applied
    }
}
