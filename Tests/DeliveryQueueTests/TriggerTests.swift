internal import DeliveryQueue
internal import Postgres
internal import PushModel
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.UUID

@Suite(.serialized) struct TriggerTests {
    /// How many notifications arrive on a listening session until its own mark does.
    private static func arrived(
        on listener: PostgresConnection, _ queue: QueueDatabase
    ) async throws -> [PostgresNotification] {
        try await listener.listen(to: "mark")
        try await queue.owner.query("notify mark")
        var seen: [PostgresNotification] = []
        while let notification = try await listener.nextNotification(within: .seconds(90)) {
            if notification.channel == "mark" { return seen }
            seen.append(notification)
        }
        throw NotInTime("the mark did not arrive")
    }

    @Test(arguments: [1, 1000])
    func `an insert fills the outbox, each kind in its lane`(_ count: Int) async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let kinds = NotificationKind.all.map(\.name) + ["contact_removed", ""]
            try await queue.notifications(count, to: account, kinds: kinds)
            let wrong = try await queue.number(
                """
                select count(*) from notifications n left join push.outbox o on o.notification_id = n.id
                where o.lane is distinct from coalesce((select lane from push.kinds k where k.name = n.kind), 1)
                    or o.origin is distinct from 'trigger' or o.rescues is distinct from 0
                """)
            #expect(wrong == 0)
            #expect(try await queue.number("select count(*) from push.outbox") == count)
            for kind in NotificationKind.all {
                #expect(
                    try await queue.number("select lane from push.kinds where name = \(kind.name)")
                        == kind.lane.rawValue)
            }
        }
    }

    @Test func `the app's role needs no right on the schema push`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let app = try await queue.connectApp()
            try await app.query("insert into notifications (account_id, kind) values (\(account), 'system')")
            try await app.query("select insert_notification(\(account), 'invitation_received')")
            #expect(try await queue.number("select count(*) from push.outbox") == 2)
            for statement in ["select * from push.outbox", "select push.ensure_partitions()", "select push.enqueue()"] {
                let error = await #expect(throws: PostgresError.self) {
                    try await app.query(PostgresQuery(unescaped: statement))
                }
                #expect(error?.sqlState == "42501", "\(statement)")
            }
        }
    }

    /// F17, case 34.
    @Test func `a rolled back insert leaves no row and no wake`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let listener = try await queue.connectWorker()
            try await listener.listen(to: "push_outbox")
            let app = try await queue.connectApp()
            try await app.query("begin")
            try await app.query("insert into notifications (account_id, kind) values (\(account), 'system')")
            try await app.query("rollback")
            #expect(try await queue.number("select count(*) from push.outbox") == 0)
            #expect(try await Self.arrived(on: listener, queue).isEmpty)
        }
    }

    @Test func `a commit wakes with an empty payload, once for many statements`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let listener = try await queue.connectWorker()
            try await listener.listen(to: "push_outbox")
            let app = try await queue.connectApp()
            try await app.query("begin")
            for _ in 0..<20 {
                try await app.query("insert into notifications (account_id, kind) values (\(account), 'system')")
            }
            #expect(try await listener.nextNotification(within: .milliseconds(50)) == nil)
            try await app.query("commit")
            let seen = try await Self.arrived(on: listener, queue)
            #expect(seen.map(\.channel) == ["push_outbox"])
            #expect(seen.map(\.payload) == [""])
        }
    }

    @Test func `while one transaction is about to notify, others do not, and wait for nothing`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let listener = try await queue.connectWorker()
            try await listener.listen(to: "push_outbox")
            let first = try await queue.connectApp()
            try await first.query("begin")
            try await first.query("insert into notifications (account_id, kind) values (\(account), 'system')")
            let others = try await queue.connectApp()
            for _ in 0..<20 {
                try await others.query(
                    "insert into notifications (account_id, kind) values (\(account), 'system')", deadline: .seconds(5))
            }
            #expect(try await Self.arrived(on: listener, queue).isEmpty)
            try await first.query("commit")
            #expect(try await Self.arrived(on: listener, queue).count == 1)
            #expect(try await queue.number("select count(*) from push.outbox") == 21)
        }
    }

    @Test func `concurrent producers are heard at least once, and every row is there`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let listener = try await queue.connectWorker()
            try await listener.listen(to: "push_outbox")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let app = try await queue.connectApp()
                        for _ in 0..<50 {
                            try await app.query(
                                "insert into notifications (account_id, kind) values (\(account), 'system')")
                        }
                        await app.close()
                    }
                }
                try await group.waitForAll()
            }
            let seen = try await Self.arrived(on: listener, queue)
            #expect(!seen.isEmpty && seen.count <= 400)
            #expect(try await queue.number("select count(*) from push.outbox") == 400)
        }
    }

    /// F8: a payload with the row in it would fail the app's own transaction.
    @Test func `a row of a megabyte is inserted and claimed`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let text = String(repeating: "é", count: 500_000)
            try await queue.owner.query(
                "insert into notifications (account_id, kind, title) values (\(account), 'system', \(text))")
            #expect(try await QueueCalls(queue).claimOne().notification?.title == text)
        }
    }

    @Test func `a row that is in the outbox already does not fail the app's insert`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let id = UUID()
            try await queue.owner.query(
                "insert into push.outbox (notification_id, lane, origin) values (\(id), 1, 'webhook')")
            try await queue.notification(to: account, id: id)
            #expect(try await queue.number("select count(*) from push.outbox") == 1)
        }
    }

    @Test func `an update puts nothing into the outbox`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            try await queue.notifications(10, to: account)
            try await queue.owner.query("delete from push.outbox")
            try await queue.owner.query("update notifications set read_at = now()")
            #expect(try await queue.number("select count(*) from push.outbox") == 0)
        }
    }
}
