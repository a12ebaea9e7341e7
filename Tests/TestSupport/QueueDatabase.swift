package import DeliveryQueue
private import Locking
package import Postgres
package import PushModel

package import struct FoundationEssentials.Date
package import class FoundationEssentials.FileManager
package import struct FoundationEssentials.URL
package import struct FoundationEssentials.UUID

/// A database with the app's reference tables and the schema `push`, as a deployment has it: made by a superuser, worked
/// on by a login role that is only a member of `push_worker`.
package final class QueueDatabase: Sendable {
    package let database: TestDatabase
    package let source: SourceSchema
    /// A superuser's session, for what the app and the operator would do.
    package let owner: PostgresConnection
    private let roles: Roles

    private struct Roles: Sendable {
        let worker: String
        let app: String
    }

    private init(_ database: TestDatabase, source: SourceSchema, owner: PostgresConnection, roles: Roles) {
        self.database = database
        self.source = source
        self.owner = owner
        self.roles = roles
    }

    /// A migrated database without rows, for the time `body` runs. One that a test used before serves again: to copy one
    /// takes half a second on a busy machine.
    package static func with<Result>(_ body: (QueueDatabase) async throws -> Result) async throws -> Result {
        if let queue = self.idle.withLock({ $0.popLast() }) { return try await self.reusing(queue, body) }
        let (template, roles) = try await self.template.value
        let database = try await template.server.createDatabase(template: template)
        let owner = try await database.connect()
        let queue = QueueDatabase(database, source: try SourceSchema("public"), owner: owner, roles: roles)
        return try await self.reusing(queue, body)
    }

    /// The same for a test that changes the schema or fills it: the database is nobody else's before or after.
    package static func withOwn<Result>(_ body: (QueueDatabase) async throws -> Result) async throws -> Result {
        let (template, roles) = try await self.template.value
        return try await template.server.withDatabase(template: template) { database in
            try await self.opened(database, roles, body)
        }
    }

    private static let idle = Locked<[QueueDatabase]>([])

    private static func reusing<Result>(
        _ queue: QueueDatabase, _ body: (QueueDatabase) async throws -> Result
    ) async throws -> Result {
        do {
            let result = try await body(queue)
            try await queue.empty()
            self.idle.withLock { $0.append(queue) }
            return result
        } catch {
            await queue.owner.close()
            try? await queue.database.drop()
            throw error
        }
    }

    /// Ends every other session and deletes all rows but those of the migration.
    private func empty() async throws {
        try await self.owner.query(
            """
            select pg_terminate_backend(pid, 5000) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()
            """)
        try await self.owner.run(
            script: """
                delete from push.outbox; delete from push.batches; delete from push.waiting; delete from push.workers;
                delete from push.providers; delete from push.counters; delete from push.fanouts;
                delete from push.attempts; delete from push.audit; delete from push.bulk_actions; delete from notifications; delete from devices; delete from accounts;
                """)
    }

    /// The same on a server that the test may stop.
    package static func with<Result>(
        server: PrivatePostgres, _ body: (QueueDatabase) async throws -> Result
    ) async throws -> Result {
        let database = try await server.createDatabase()
        let roles = try await self.prepare(database)
        return try await self.opened(database, roles, body)
    }

    private static func opened<Result>(
        _ database: TestDatabase, _ roles: Roles, _ body: (QueueDatabase) async throws -> Result
    ) async throws -> Result {
        let owner = try await database.connect()
        let queue = QueueDatabase(database, source: try SourceSchema("public"), owner: owner, roles: roles)
        do {
            let result = try await body(queue)
            await owner.close()
            return result
        } catch {
            await owner.close()
            throw error
        }
    }

    private static let template = Task {
        let database = try await PrivatePostgres.shared().createDatabase()
        return (database, try await QueueDatabase.prepare(database))
    }

    private static func prepare(_ database: TestDatabase) async throws -> Roles {
        let connection = try await database.connect()
        try await self.applyReferenceSchema(on: connection)
        _ = try await Migrator(source: try SourceSchema("public")).migrate(on: connection)
        let roles = Roles(
            worker: try await database.server.createRole(options: "login in role push_worker"),
            app: try await database.server.createRole())
        try await connection.run(
            script: """
                grant usage on schema public to "\(roles.app)";
                grant select, insert, update, delete on accounts, devices, notifications to "\(roles.app)";
                grant execute on all functions in schema public to "\(roles.app)";
                """)
        await connection.close()
        return roles
    }

    /// The app's tables and functions, from `deploy/sql/reference`, into a schema.
    package static func applyReferenceSchema(
        on connection: PostgresConnection, schema: String = "public", from file: String = #filePath
    ) async throws {
        var root = URL(filePath: file).deletingLastPathComponent()
        while root.lastPathComponent != "Tests", root.path.count > 1 { root.deleteLastPathComponent() }
        let folder = root.deletingLastPathComponent().appending(path: "deploy/sql/reference")
        try await connection.query("create schema if not exists \(identifier: schema)")
        try await connection.query("set search_path = \(identifier: schema)")
        for name in ["01-tables.sql", "02-notifications.sql", "03-devices.sql", "04-access.sql"] {
            guard let bytes = FileManager.default.contents(atPath: folder.appending(path: name).path) else {
                throw NotInTime("\(folder.path)/\(name) cannot be read")
            }
            try await connection.run(script: String(decoding: bytes, as: UTF8.self))
        }
        try await connection.query("reset search_path")
    }

    // MARK: - Connecting

    /// What `DATABASE_URL` of the worker would hold.
    package var workerURL: String { self.database.url(role: self.roles.worker) }

    /// A session of the login role that is a member of `push_worker` and of nothing else.
    package func connectWorker(
        settings: [(name: String, value: String)] = []
    ) async throws -> PostgresConnection {
        var configuration = try PostgresConfiguration(self.workerURL)
        configuration.settings = settings
        return try await PostgresConnection.connect(configuration)
    }

    /// A session of the app's own role: it may write the app's tables and has no right on schema `push`.
    package func connectApp() async throws -> PostgresConnection {
        try await self.database.connect(role: self.roles.app)
    }

    // MARK: - The app's rows

    @discardableResult
    package func account(
        id: UUID = UUID(), invitations: Bool = true, contactUpdates: Bool = true, circleChanges: Bool = true
    ) async throws -> UUID {
        try await self.owner.query(
            """
            insert into accounts (id, notify_invitations, notify_contact_updates, notify_circle_changes)
            values (\(id), \(invitations), \(contactUpdates), \(circleChanges))
            """)
        return id
    }

    @discardableResult
    package func device(
        of account: UUID, id: UUID = UUID(), platform: Platform = .ios, token: String? = nil, locale: String = "en",
        environment: APNSEnvironment = .production
    ) async throws -> UUID {
        let token = token ?? id.text.replacing("-", with: "")
        try await self.owner.query(
            """
            insert into devices (id, account_id, platform, push_token, locale, apns_environment)
            values (\(id), \(account), \(platform.rawValue), \(token), \(locale), \(environment.rawValue))
            """)
        return id
    }

    @discardableResult
    package func notification(
        to account: UUID, id: UUID = UUID(), kind: String = "invitation_received", connection: UUID? = nil,
        createdAt: Date? = nil
    ) async throws -> UUID {
        try await self.owner.query(
            """
            insert into notifications (id, account_id, kind, connection_id, actor_name, created_at)
            values (\(id), \(account), \(kind), \(connection as UUID?)::uuid, 'Anna', coalesce(\(createdAt as Date?)::timestamptz, now()))
            """)
        return id
    }

    /// Many at once, in one statement; their kinds come in turn.
    package func notifications(_ count: Int, to account: UUID, kinds: [String] = ["invitation_received"]) async throws {
        try await self.owner.query(
            """
            insert into notifications (account_id, kind)
            select \(account), (\(kinds)::text[])[1 + i % array_length(\(kinds)::text[], 1)]
            from generate_series(0, \(count)::integer - 1) i
            """)
    }

    /// The one number a query answers.
    package func number(_ query: PostgresQuery) async throws -> Int {
        try await self.owner.query(query).single().int(0)
    }

    /// The one text a query answers; nil for null.
    package func text(_ query: PostgresQuery) async throws -> String? {
        try await self.owner.query(query).single().optionalText(0)
    }
}
