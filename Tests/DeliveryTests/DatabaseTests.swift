internal import DeliveryQueue
internal import Fanout
internal import Locking
internal import Observability
internal import Postgres
internal import PushModel
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.UUID

@testable internal import Delivery

@Suite(.serialized) struct DatabaseSessionTests {
    @Test func `many callers share one connection, made once`() async throws {
        try await QueueDatabase.with { queue in
            let prepared = Locked(0)
            let session = DatabaseSession(try PostgresConfiguration(queue.workerURL)) { _ in
                prepared.withLock { $0 += 1 }
            }
            let pids = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<40 {
                    group.addTask { try await session.query("select pg_backend_pid()").single().int(0) }
                }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            #expect(pids.count == 1)
            #expect(prepared.withLock { $0 } == 1)
            await session.close()
        }
    }

    @Test func `after its session was ended it makes and prepares a new one`() async throws {
        try await QueueDatabase.with { queue in
            let prepared = Locked(0)
            let session = DatabaseSession(try PostgresConfiguration(queue.workerURL)) { _ in
                prepared.withLock { $0 += 1 }
            }
            let first = try await session.query("select pg_backend_pid()").single().int(0)
            try await queue.owner.query("select pg_terminate_backend(\(first)::integer, 5000)")
            let error = await #expect(throws: PostgresError.self) { try await session.query("select 1") }
            #expect(error?.isConnectionLoss == true)
            let second = try await session.query("select pg_backend_pid()").single().int(0)
            #expect(second != first)
            #expect(prepared.withLock { $0 } == 2)
            // A statement that failed costs no connection.
            await #expect(throws: PostgresError.self) { try await session.query("select 1 / 0") }
            #expect(try await session.query("select pg_backend_pid()").single().int(0) == second)
            await session.close()
            #expect(try await session.query("select 1").single().int(0) == 1)
            await session.close()
        }
    }

    @Test func `a connection that cannot be prepared is closed, and the next call tries anew`() async throws {
        try await QueueDatabase.with { queue in
            let tries = Locked(0)
            let session = DatabaseSession(try PostgresConfiguration(queue.workerURL)) { connection in
                let number = tries.withLock { tries in
                    tries += 1
                    return tries
                }
                if number < 3 { try await connection.query("select 1 / 0") }
            }
            for _ in 1...2 {
                let error = await #expect(throws: PostgresError.self) { try await session.query("select 1") }
                #expect(error?.sqlState == "22012")
            }
            #expect(try await session.query("select 1").single().int(0) == 1)
            try await eventually {
                try await queue.number(
                    "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
                )
                    == 1
            }
            await session.close()
        }
    }

    @Test func `a server that takes no writes any more is left`() async throws {
        try await QueueDatabase.with { queue in
            let session = DatabaseSession(try PostgresConfiguration(queue.workerURL))
            let first = try await session.query("select pg_backend_pid()").single().int(0)
            _ = try await session.query("set default_transaction_read_only = on")
            let error = await #expect(throws: PostgresError.self) { try await session.query("delete from push.outbox") }
            #expect(error?.isReadOnly == true)
            #expect(try await session.query("select pg_backend_pid()").single().int(0) != first)
            _ = try await session.query("delete from push.outbox")
            await session.close()
        }
    }
}

@Suite(.serialized) struct RecordWriterTests {
    private static func context(_ queue: QueueDatabase, log: Log = Log(level: .error, write: { _ in })) throws
        -> DeliveryContext
    {
        let settings = DeliverySettings(source: queue.source) { _ in .seconds(86_400) }
        let recorder = Recorder()
        return DeliveryContext(
            worker: WorkerIdentity(id: UUID(), lockKey: nil), settings: settings,
            planner: Planner { _ in .seconds(86_400) },
            resolution: Resolution(policy: RetryPolicy(), pauseForMisconfiguration: .seconds(60), endpoints: []),
            recorder: recorder, pauses: EndpointPauses(), pruneGuard: PruneGuard(), breakers: EndpointBreakers(),
            held: HeldLeases(lease: settings.lease),
            facts: DatabaseSession(try PostgresConfiguration(queue.workerURL)), log: log, stopping: Locked(false),
            metrics: WorkerMetrics.registry(),
            health: WorkerHealth(endpoints: [], largestBacklog: 1000, recorder: recorder))
    }

    private static func record() -> QueueRecord {
        let (notification, device) = (UUID(), UUID())
        let delivery = DeliveryReference(
            deliveryID: UUID(), notificationID: notification, deviceID: device, accountID: UUID(), platform: .ios,
            kindName: "system")
        var record = QueueRecord()
        record.decisions = [
            DecisionEntry(
                notificationID: notification, accountID: delivery.accountID, kindName: "system", decision: .fannedOut,
                origin: .trigger, deliveryIDs: [delivery.deliveryID], deviceIDs: [device])
        ]
        record.attempts = [
            AttemptEntry(delivery: delivery, number: 1, state: .accepted, outcome: "accepted", status: 200)
        ]
        return record
    }

    /// Case 18: a crash of the server while records are being written.
    @Test func `a record outlasts a server that is gone for a while, and is written once`() async throws {
        let server = try await PrivatePostgres.start()
        try await QueueDatabase.with(server: server) { queue in
            let failures = WakeSignal()
            let context = try Self.context(
                queue, log: Log(level: .error, write: { line in if line.contains("recording") { failures.wake() } }))
            let session = DatabaseSession(try PostgresConfiguration(queue.workerURL))
            let writer = RecordWriter(context: context, session: session, wake: WakeSignal())
            await writer.write(Self.record())
            await queue.owner.close()
            try await server.stop(.immediate)
            let writing = Task { await writer.write(Self.record()) }
            var tries = failures.wakes.makeAsyncIterator()
            _ = await tries.next()
            try await server.resume()
            await writing.value
            let check = try await queue.database.connect()
            for table in ["fanouts", "attempts"] {
                #expect(
                    try await check.query("select count(*) from push.\(identifier: table)").single().int(0) == 2)
            }
            #expect(try await check.query("select sum(value) from push.counters").single().int(0) == 4)
            await check.close()
            await session.close()
        }
        try await server.stop()
    }

    @Test func `a missing partition is made and the record written`() async throws {
        try await QueueDatabase.withOwn { queue in
            let today = try #require(try await queue.text("select to_char(now() at time zone 'UTC', 'YYYYMMDD')"))
            try await queue.owner.query("drop table push.\(identifier: "attempts_\(today)")")
            let session = DatabaseSession(try PostgresConfiguration(queue.workerURL))
            let writer = RecordWriter(context: try Self.context(queue), session: session, wake: WakeSignal())
            await writer.write(Self.record())
            #expect(try await queue.number("select count(*) from push.attempts") == 1)
            #expect(try await queue.number("select sum(value) from push.counters") == 2)
            await session.close()
        }
    }

    @Test func `closed batches are no longer held`() async throws {
        try await QueueDatabase.with { queue in
            let context = try Self.context(queue)
            let session = DatabaseSession(try PostgresConfiguration(queue.workerURL))
            let leases = (1...3).map { BatchLease(id: $0, token: UUID()) }
            for lease in leases { context.held.open(lease, asked: .now) }
            var record = QueueRecord()
            record.closed = [leases[0]]
            record.released = [ReleaseEntry(lease: leases[1], notificationIDs: [UUID()])]
            await RecordWriter(context: context, session: session, wake: WakeSignal()).write(record)
            #expect(context.held.asked.batches == [leases[2]])
            await session.close()
        }
    }

    @Test func `a cancelled writer ends also while the database is away`() async throws {
        let server = try await PrivatePostgres.start()
        try await QueueDatabase.with(server: server) { queue in
            let failures = WakeSignal()
            let context = try Self.context(queue, log: Log(level: .error, write: { _ in failures.wake() }))
            let session = DatabaseSession(try PostgresConfiguration(queue.workerURL))
            await queue.owner.close()
            try await server.stop(.immediate)
            let writer = RecordWriter(context: context, session: session, wake: WakeSignal())
            let writing = Task { await writer.write(Self.record()) }
            var tries = failures.wakes.makeAsyncIterator()
            _ = await tries.next()
            writing.cancel()
            await writing.value
        }
    }
}
