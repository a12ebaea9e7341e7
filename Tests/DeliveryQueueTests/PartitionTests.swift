internal import DeliveryQueue
internal import Postgres
internal import PushModel
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.UUID

@Suite(.serialized) struct PartitionTests {
    private static func partitions(_ queue: QueueDatabase) async throws -> Int {
        try await queue.number(
            "select count(*) from pg_inherits where inhparent in ('push.fanouts'::regclass, 'push.attempts'::regclass)")
    }

    private static func ensure(_ connection: PostgresConnection) async throws -> Int {
        try await connection.query("select push.ensure_partitions()").single().int(0)
    }

    @Test func `partitions of today and three more days are there, and made once`() async throws {
        try await QueueDatabase.withOwn { queue in
            #expect(try await Self.partitions(queue) == 8)
            let worker = try await queue.connectWorker()
            #expect(try await Self.ensure(worker) == 0)
            try await Self.dropToday(queue)
            #expect(try await Self.ensure(worker) == 2)
            #expect(try await Self.partitions(queue) == 8)
            // With the indexes of the parent.
            #expect(
                try await queue.number(
                    "select count(*) from pg_indexes where tablename = 'attempts_' || to_char(now() at time zone 'UTC', 'YYYYMMDD')"
                )
                    == 4)
        }
    }

    @Test func `many workers at once make each partition once`() async throws {
        try await QueueDatabase.withOwn { queue in
            try await Self.dropToday(queue)
            let made = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await Self.ensure(try await queue.connectWorker()) }
                }
                return try await group.reduce(0, +)
            }
            #expect(made == 2)
        }
    }

    @Test func `a session in another time zone makes the same days`() async throws {
        try await QueueDatabase.withOwn { queue in
            let worker = try await queue.connectWorker(settings: [("TimeZone", "Pacific/Kiritimati")])
            #expect(try await Self.ensure(worker) == 0)
        }
    }

    /// A dump reads for hours. A partition made meanwhile must not wait for it, nor have others wait behind it.
    @Test func `a long transaction that reads and writes holds up no new partition`() async throws {
        try await QueueDatabase.withOwn { queue in
            try await Self.dropToday(queue)
            let long = try await QueueCalls(queue)
            try await long.connection.query("begin")
            try await long.connection.query("select count(*) from push.fanouts")
            try await long.connection.query("select count(*) from push.attempts")
            let worker = try await queue.connectWorker(settings: [("lock_timeout", "1s")])
            #expect(try await Self.ensure(worker) == 2)
            let calls = try await QueueCalls(queue, settings: [("lock_timeout", "1s")])
            let delivery = DeliveryReference.make()
            try await calls.record(QueueRecord(decisions: [.fannedOut([delivery])], attempts: [.accepted(delivery)]))
            try await long.connection.query("commit")
        }
    }

    @Test func `a record without a partition says so, and is written once there is one`() async throws {
        try await QueueDatabase.withOwn { queue in
            try await Self.dropToday(queue, of: ["attempts"])
            let calls = try await QueueCalls(queue)
            let delivery = DeliveryReference.make()
            let record = QueueRecord(decisions: [.fannedOut([delivery])], attempts: [.accepted(delivery)])
            let error = await #expect(throws: PostgresError.self) { try await calls.record(record) }
            #expect(error?.sqlState == "23514")
            #expect(try await Self.ensure(calls.connection) == 1)
            try await calls.record(record, repeated: true)
            #expect(try await queue.number("select count(*) from push.fanouts") == 1)
            #expect(try await queue.number("select count(*) from push.attempts") == 1)
        }
    }

    private static func dropToday(_ queue: QueueDatabase, of tables: [String] = ["fanouts", "attempts"]) async throws {
        let today = try await queue.text("select to_char(now() at time zone 'UTC', 'YYYYMMDD')") ?? ""
        for table in tables { try await queue.owner.query("drop table push.\(identifier: "\(table)_\(today)")") }
    }
}
