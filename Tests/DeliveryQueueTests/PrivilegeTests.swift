internal import DeliveryQueue
internal import Postgres
internal import TestSupport
internal import Testing

@Suite(.serialized) struct PrivilegeTests {
    /// What a worker has no business with: were its credentials stolen, this is what they are not good for.
    @Test(arguments: [
        "update notifications set read_at = now()", "delete from notifications",
        "insert into notifications (account_id, kind) select id, 'system' from accounts", "truncate notifications",
        "update accounts set notify_invitations = false", "delete from accounts",
        "insert into accounts default values", "delete from devices", "truncate devices",
        "update devices set push_token = 'x'", "update devices set account_id = gen_random_uuid()",
        "update devices set locale = 'nl'", "update devices set push_token_updated_at = now()",
        "update devices set apns_environment = 'production', platform = 'ios'",
        "insert into devices (account_id, platform) select id, 'ios' from accounts",
        "select insert_notification(gen_random_uuid(), 'system')",
        "select register_device(gen_random_uuid(), 'ios', 'aa')", "select mark_all_read(gen_random_uuid())",
        "update push.fanouts set decision = 'gone'", "delete from push.fanouts",
        "update push.attempts set state = 'accepted'", "delete from push.attempts", "truncate push.attempts",
        "update push.audit set actor = 'somebody'", "delete from push.audit", "delete from push.bulk_actions",
        "drop table push.attempts",
        "truncate push.outbox", "update push.kinds set lane = 0", "delete from push.kinds",
        "insert into push.kinds values ('x', 0, false)", "insert into push.migrations values (2, 'x', 'x')",
        "delete from push.migrations", "drop table push.outbox", "drop view push.deliveries", "drop schema push",
        "create table push.mine (id integer)", "create table public.mine (id integer)",
        "alter table push.outbox add column x integer", "create index on push.outbox (origin)",
        "create function push.mine() returns integer language sql as 'select 1'",
        "create or replace function push.enqueue() returns trigger language plpgsql as 'begin return null; end'",
        "alter table notifications disable trigger push_enqueue", "drop trigger push_enqueue on notifications",
        "create trigger mine after insert on notifications execute function push.enqueue()",
        "create role another", "grant push_worker to push_operator",
        "copy notifications to program 'cat'", "select pg_read_file('/etc/passwd')",
    ])
    func `the worker's role may not`(_ statement: String) async throws {
        try await QueueDatabase.with { queue in
            try await queue.account()
            let worker = try await queue.connectWorker()
            let error = await #expect(throws: PostgresError.self) {
                try await worker.query(PostgresQuery(unescaped: statement))
            }
            #expect(error?.sqlState == "42501", "\(error?.message ?? "")")
            await worker.close()
        }
    }

    @Test func `an operator's role may write a message, and read and work the queue, and nothing else`() async throws {
        try await QueueDatabase.withOwn { queue in
            let account = try await queue.account()
            let role = try await queue.database.server.createRole(options: "login in role push_operator")
            let session = try await queue.database.connect(role: role)
            try await session.query(
                "insert into notifications (id, account_id, kind, title, body) select gen_random_uuid(), id, 'system', 't', 'b' from accounts"
            )
            #expect(try await queue.number("select count(*) from push.outbox") == 1)
            try await session.query("select * from push.deliveries")
            for statement in [
                "select * from notifications", "select actor_name from notifications", "select body from notifications",
                "select notify_invitations from accounts", "select * from devices", "select push_token from devices",
                "insert into notifications (account_id, kind, read_at) values ('\(account)', 'system', now())",
                "insert into push.outbox (notification_id, lane, origin) values (gen_random_uuid(), 0, 'operator')",
                "delete from push.batches", "update push.attempts set state = 'accepted'", "delete from push.attempts",
                "delete from push.fanouts", "update push.audit set actor = 'somebody'", "delete from push.audit",
                "update devices set push_token_invalidated_at = null", "update accounts set id = id",
            ] {
                let error = await #expect(throws: PostgresError.self) {
                    try await session.query(PostgresQuery(unescaped: statement))
                }
                #expect(error?.sqlState == "42501", "\(statement)")
            }
            await session.close()
        }
    }

    @Test func `nobody else may read the queue`() async throws {
        try await QueueDatabase.with { queue in
            let open = try await queue.owner.query(
                """
                select c.relname from pg_class c, lateral aclexplode(c.relacl) a
                where c.relnamespace = 'push'::regnamespace
                    and a.grantee not in (c.relowner, 'push_worker'::regrole::oid, 'push_operator'::regrole::oid)
                """)
            #expect(try open.map { try $0.text(0) } == [])
            #expect(
                try await queue.number(
                    "select count(*) from pg_proc p, lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where p.pronamespace = 'push'::regnamespace and a.grantee = 0"
                )
                    == 0)
        }
    }

    @Test func `row-level security lets the two roles through after a migration, and only for their work`() async throws
    {
        try await QueueDatabase.withOwn { queue in
            try await queue.device(of: try await queue.account())
            for table in ["notifications", "accounts", "devices"] {
                try await queue.owner.run(script: "alter table \(table) enable row level security")
            }
            let worker = try await queue.connectWorker()
            func seen(_ session: PostgresConnection) async throws -> Int {
                try await session.query("select count(*)::integer from devices").single().int(0)
            }
            #expect(try await seen(worker) == 0)
            for _ in 0..<2 { _ = try await Migrator(source: try SourceSchema("public")).migrate(on: queue.owner) }
            #expect(try await seen(worker) == 1)
            let marked = try await worker.query("update devices set push_token_invalidated_at = now()")
            #expect(marked.affected == 1)
            await worker.close()

            let operatorRole = try await queue.database.server.createRole(options: "login in role push_operator")
            let session = try await queue.database.connect(role: operatorRole)
            let insert = "insert into notifications (id, account_id, kind) select gen_random_uuid(), id, "
            #expect(try await session.query(PostgresQuery(unescaped: insert + "'system' from accounts")).affected == 1)
            let error = await #expect(throws: PostgresError.self) {
                try await session.query(PostgresQuery(unescaped: insert + "'invitation_received' from accounts"))
            }
            #expect(error?.sqlState == "42501")
            await session.close()
        }
    }
}
