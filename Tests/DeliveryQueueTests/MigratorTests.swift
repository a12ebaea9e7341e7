internal import DeliveryQueue
internal import Postgres
internal import PushModel
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.Data
internal import class FoundationEssentials.FileManager
internal import struct FoundationEssentials.URL
internal import struct FoundationEssentials.UUID

@Suite(.serialized) struct MigratorTests {
    private static let source = "public"

    /// A database with the app's tables in `schema`, and a superuser's session in it.
    private static func withTables(
        in schema: String = source, _ body: (TestDatabase, PostgresConnection) async throws -> Void
    ) async throws {
        try await PrivatePostgres.shared().withDatabase { database in
            let connection = try await database.connect()
            try await QueueDatabase.applyReferenceSchema(on: connection, schema: schema)
            try await body(database, connection)
            await connection.close()
        }
    }

    /// Tables, columns, indexes, functions, triggers, constraints and grants: everything a migration makes.
    private static func fingerprint(_ connection: PostgresConnection) async throws -> [String] {
        let rows = try await connection.query(
            """
            select 'column ' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' '
                || coalesce(column_default, '')
            from information_schema.columns where table_schema = 'push'
            union all select 'index ' || indexdef from pg_indexes where schemaname = 'push'
            union all select 'function ' || pg_get_functiondef(oid) from pg_proc where pronamespace = 'push'::regnamespace
            union all select 'trigger ' || pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
            union all select 'grants ' || relname || ' ' || coalesce(relacl::text, '') from pg_class
            where relnamespace in ('push'::regnamespace, 'public'::regnamespace)
            union all select 'comment ' || c.relname || ' ' || obj_description(c.oid, 'pg_class') from pg_class c
            where c.relnamespace = 'push'::regnamespace
            union all select 'kind ' || name || ' ' || lane || ' ' || coalesces from push.kinds
            union all select 'migration ' || version || ' ' || name || ' ' || checksum from push.migrations
            """)
        return try rows.map { try $0.optionalText(0) ?? "" }.sorted()
    }

    @Test func `a second migration changes nothing`() async throws {
        try await Self.withTables { _, connection in
            let migrator = Migrator(source: try SourceSchema("public"))
            #expect(try await migrator.status(on: connection).allSatisfy { !$0.isApplied })
            #expect(try await migrator.migrate(on: connection).map(\.version) == Migration.all.map(\.version))
            let first = try await Self.fingerprint(connection)
            #expect(first.count > 100)
            #expect(try await migrator.migrate(on: connection).isEmpty)
            #expect(try await Self.fingerprint(connection) == first)
            #expect(try await migrator.status(on: connection).allSatisfy(\.isApplied))
        }
    }

    @Test func `two at once apply each migration once`() async throws {
        try await Self.withTables { database, _ in
            let applied = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let connection = try await database.connect()
                        let applied = try await Migrator(source: SourceSchema("public")).migrate(on: connection)
                        await connection.close()
                        return applied.count
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(applied == Migration.all.count)
        }
    }

    @Test func `the printed script makes the same schema`() async throws {
        try await Self.withTables { _, one in
            let migrator = Migrator(source: try SourceSchema("public"))
            _ = try await migrator.migrate(on: one)
            let expected = try await Self.fingerprint(one)
            try await Self.withTables { database, other in
                let file = URL(filePath: "/tmp/push-fanout-script-\(database.name).sql")
                try Data(migrator.script(applied: []).utf8).write(to: file)
                defer { try? FileManager.default.removeItem(at: file) }
                try await ChildProcess.run(
                    "/usr/bin/psql", ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file.path, "-d", database.url()])
                #expect(try await Self.fingerprint(other) == expected)
                #expect(try await migrator.status(on: other).allSatisfy(\.isApplied))
                // What is applied is not printed again.
                let rest = migrator.script(applied: Set(Migration.all.map(\.version)))
                #expect(!rest.contains("create table push.outbox"))
                try await other.run(script: rest)
                #expect(try await Self.fingerprint(other) == expected)
            }
        }
    }

    @Test func `an edited migration is refused, and nothing is changed`() async throws {
        try await Self.withTables { _, connection in
            let migrator = Migrator(source: try SourceSchema("public"))
            _ = try await migrator.migrate(on: connection)
            try await connection.query("update push.migrations set checksum = 'another' where version = 1")
            let before = try await Self.fingerprint(connection)
            await #expect(throws: Migrator.Refusal.edited(version: 1, name: "queue")) {
                try await migrator.migrate(on: connection)
            }
            await #expect(throws: Migrator.Refusal.edited(version: 1, name: "queue")) {
                try await migrator.status(on: connection)
            }
            #expect(await !connection.isInTransaction)
            #expect(try await Self.fingerprint(connection) == before)
        }
    }

    @Test func `a schema of a newer program is refused`() async throws {
        try await Self.withTables { _, connection in
            let migrator = Migrator(source: try SourceSchema("public"))
            _ = try await migrator.migrate(on: connection)
            try await connection.query(
                "insert into push.migrations (version, name, checksum) values (99, 'later', 'x')")
            await #expect(throws: Migrator.Refusal.newerSchema(version: 99)) {
                try await migrator.migrate(on: connection)
            }
        }
    }

    @Test(arguments: ["notifications", "accounts", "devices"])
    func `a missing table of the app is named, and nothing is left behind`(_ table: String) async throws {
        try await Self.withTables { _, connection in
            try await connection.query("drop table \(identifier: table) cascade")
            await #expect(throws: Migrator.Refusal.missingSource("public.\(table)")) {
                try await Migrator(source: SourceSchema("public")).migrate(on: connection)
            }
            #expect(await !connection.isInTransaction)
            let rows = try await connection.query("select count(*) from pg_namespace where nspname = 'push'")
            #expect(try rows.single().int(0) == 0)
        }
    }

    @Test(arguments: [
        "My App", "it's", "say \"hi\"", "a.b", "'; drop schema push; --", "we$$ird", "{source}", "'{source}'", "select",
        "a\nb", "\\", "ünïcödé", "e\u{301}", String(repeating: "x", count: 63),
    ])
    func `any name of a schema will do`(_ name: String) async throws {
        try await Self.withTables(in: name) { database, connection in
            let source = try SourceSchema(name)
            let migrator = Migrator(source: source)
            _ = try await migrator.migrate(on: connection)
            // The other way to apply it must quote as well.
            try await connection.run(script: migrator.script(applied: Set(Migration.all.map(\.version))))
            let role = try await database.server.createRole(options: "login in role push_worker")
            let worker = try await database.connect(role: role)
            try await connection.query("insert into \(identifier: name).accounts default values")
            try await connection.query(
                "insert into \(identifier: name).notifications (account_id, kind) select id, 'system' from \(identifier: name).accounts"
            )
            let claim = OutboxClaim(source: source, limit: 10, lease: .seconds(60))
            let identity = WorkerIdentity(id: UUID(), lockKey: nil)
            let batch = try claim.decode(try await worker.query(claim.query(worker: identity)))
            #expect(batch?.facts.first?.account != nil)
            let statement = RecordStatement(source: source, workerID: identity.id)
            var record = QueueRecord()
            record.closed = batch.map { [$0.lease] } ?? []
            #expect(try await worker.query(statement.query(record, repeated: false)).single().int(0) == 1)
            await worker.close()
        }
    }

    @Test(arguments: ["", String(repeating: "x", count: 64), String(repeating: "é", count: 32), "a\0b"])
    func `what cannot be a name of a schema is refused`(_ name: String) {
        #expect(throws: SourceSchema.Invalid.self) { try SourceSchema(name) }
    }

    @Test func `a view in place of the table is served, without a trigger`() async throws {
        try await Self.withTables(in: "app") { database, connection in
            try await connection.run(
                script: """
                    create schema shown;
                    create view shown.accounts as select * from app.accounts;
                    create view shown.devices as select * from app.devices;
                    create view shown.notifications as select * from app.notifications;
                    """)
            _ = try await Migrator(source: SourceSchema("shown")).migrate(on: connection)
            let triggers = try await connection.query("select count(*) from pg_trigger where tgname = 'push_enqueue'")
            #expect(try triggers.single().int(0) == 0)
            let role = try await database.server.createRole(options: "login in role push_worker")
            let worker = try await database.connect(role: role)
            try await connection.query("insert into app.accounts default values")
            try await connection.query(
                "insert into app.devices (account_id, platform, push_token) select id, 'ios', 'aa' from app.accounts")
            let device = try await connection.query("select id from app.devices").single().uuid(0)
            var record = QueueRecord()
            record.deadTokens = [
                DeadTokenEntry(deviceID: device, storedToken: "aa", reason: "Unregistered", since: nil)
            ]
            let statement = RecordStatement(source: try SourceSchema("shown"), workerID: device)
            try await worker.query(statement.query(record, repeated: false))
            let marked = try await connection.query("select push_token_invalid_reason from app.devices").single()
            #expect(try marked.text(0) == "Unregistered")
            await worker.close()
        }
    }
}
