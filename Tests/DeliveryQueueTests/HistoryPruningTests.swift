internal import DeliveryQueue
internal import Postgres
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.UUID

@Suite(.serialized) struct HistoryPruningTests {
    private static let keep = Duration.seconds(30 * 86_400)

    /// Partitions of 40, 35 and 10 days ago, with a notification each.
    private static func old(_ queue: QueueDatabase) async throws -> [Int: UUID] {
        var notifications: [Int: UUID] = [:]
        for days in [40, 35, 10] {
            for table in ["fanouts", "attempts"] {
                try await queue.owner.run(
                    script: """
                        do $$ declare day date := (now() at time zone 'UTC')::date - \(days); begin
                            execute format('create table push.%I partition of push.\(table) for values from (%L) to (%L)',
                                '\(table)_' || to_char(day, 'YYYYMMDD'), day || ' 00:00Z', day + 1 || ' 00:00Z');
                        end $$
                        """)
            }
            let id = UUID()
            notifications[days] = id
            try await queue.owner.query(
                """
                insert into push.fanouts (notification_id, decision, origin, delivery_ids, device_ids, worker_id, decided_at)
                values (\(id), 'fanned_out', 'trigger', '{}', '{}', \(id), now() - \(days)::integer * interval '1 day')
                """)
            try await queue.owner.query(
                """
                insert into push.attempts (delivery_id, notification_id, device_id, platform, kind, number, state, outcome,
                    worker_id, finished_at)
                values (\(id), \(id), \(id), 'ios', 'system', 1, 'accepted', 'accepted', \(id),
                    now() - \(days)::integer * interval '1 day')
                """)
        }
        return notifications
    }

    private static func decided(_ queue: QueueDatabase) async throws -> Set<UUID> {
        Set(try await queue.owner.query("select notification_id from push.fanouts").map { try $0.uuid(0) })
    }

    @Test func `days older than the age are dropped, by a worker's role`() async throws {
        try await QueueDatabase.withOwn { queue in
            let ids = try await Self.old(queue)
            let worker = try await queue.connectWorker()
            let report = try await HistoryPruning(keep: Self.keep).run { try await worker.query($0) }
            #expect(report.partitions.count == 4)
            #expect(!report.wasHeldUp)
            #expect(try await Self.decided(queue) == [try #require(ids[10])])
            let again = try await HistoryPruning(keep: Self.keep).run { try await worker.query($0) }
            #expect(again.isEmpty)
            await worker.close()
        }
    }

    @Test(arguments: ["waiting", "batches", "outbox"])
    func `a day that open work refers to stays, the others go`(table: String) async throws {
        try await QueueDatabase.withOwn { queue in
            let ids = try await Self.old(queue)
            let open = try #require(ids[40])
            switch table {
            case "waiting":
                try await queue.owner.query(
                    """
                    insert into push.waiting (delivery_id, notification_id, device_id, account_id, platform, kind, endpoint,
                        attempts, reason, expires_at, scheduled_at)
                    values (\(open), \(open), \(open), \(open), 'ios', 'system', 'fcm', 1, 'x', now(), now())
                    """)
            case "batches":
                try await queue.owner.query(
                    """
                    insert into push.batches (worker_id, notification_ids, lanes, rescues, leased_until)
                    values (\(open), array[\(open)::uuid], '{0}', 0, now())
                    """)
            default:
                try await queue.owner.query(
                    "insert into push.outbox (notification_id, lane, origin) values (\(open), 0, 'rescue')")
            }
            let report = try await HistoryPruning(keep: Self.keep).run { try await queue.owner.query($0) }
            #expect(report.partitions.count == 2)
            #expect(try await Self.decided(queue) == [open, try #require(ids[10])])
        }
    }

    @Test func `nothing younger than two days goes, whatever is asked for`() async throws {
        try await QueueDatabase.withOwn { queue in
            let today = UUID()
            try await queue.owner.query(
                """
                insert into push.fanouts (notification_id, decision, origin, delivery_ids, device_ids, worker_id)
                values (\(today), 'gone', 'trigger', '{}', '{}', \(today))
                """)
            let report = try await HistoryPruning(keep: .zero).run { try await queue.owner.query($0) }
            #expect(report.isEmpty)
            #expect(try await Self.decided(queue) == [today])
        }
    }

    @Test func `a dump that reads is not waited for, and holds nobody else up`() async throws {
        try await QueueDatabase.withOwn { queue in
            let ids = try await Self.old(queue)
            let dump = try await queue.database.connect()
            try await dump.query("begin")
            try await dump.query("select count(*) from push.fanouts")
            let held = try await HistoryPruning(keep: Self.keep).run { try await queue.owner.query($0) }
            #expect(held.wasHeldUp)
            try await dump.query("commit")
            let report = try await HistoryPruning(keep: Self.keep).run { try await queue.owner.query($0) }
            #expect(!report.wasHeldUp)
            #expect(try await Self.decided(queue) == [try #require(ids[10])])
            await dump.close()
        }
    }

    @Test func `many at once drop each day once`() async throws {
        try await QueueDatabase.withOwn { queue in
            _ = try await Self.old(queue)
            let dropped = try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let worker = try await queue.connectWorker()
                        return try await HistoryPruning(keep: Self.keep).run { try await worker.query($0) }.partitions
                    }
                }
                return try await group.reduce([], +)
            }
            #expect(dropped.count == Set(dropped).count)
            let rest = try await HistoryPruning(keep: Self.keep).run { try await queue.owner.query($0) }.partitions
            #expect(dropped.count + rest.count == 4)
        }
    }

    @Test func `small tables lose what is old, and an audit is kept for 90 days at least`() async throws {
        try await QueueDatabase.withOwn { queue in
            try await queue.owner.run(
                script: """
                    insert into push.counters (minute, name, labels, value)
                    select now() - i * interval '1 day', 'x', 'y', 1 from generate_series(0, 9) i;
                    insert into push.workers (id, name, version, heartbeat_at)
                    select gen_random_uuid(), 'w', '1', now() - i * interval '20 days' from generate_series(0, 3) i;
                    insert into push.audit (actor, action, target_kind, at)
                    select 'a', 'prune', 'history', now() - i * interval '40 days' from generate_series(0, 3) i;
                    """)
            _ = try await HistoryPruning(keep: Self.keep).run { try await queue.owner.query($0) }
            #expect(try await queue.number("select count(*) from push.counters") == 7)
            #expect(try await queue.number("select count(*) from push.workers") == 2)
            #expect(try await queue.number("select count(*) from push.audit") == 3)
        }
    }
}
