internal import DeliveryQueue
internal import Postgres
internal import PushModel
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.Date
internal import struct FoundationEssentials.UUID

@Suite(.serialized) struct WaitingTests {
    @Test func `what is due is leased, the longest due first, for the endpoints asked for`() async throws {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            var parked: [ParkedEntry] = []
            for index in 0..<6 {
                parked.append(.make(.make(), attempts: index, wait: .seconds(-10 * (index + 1))))
            }
            let future = ParkedEntry.make(.make(), wait: .seconds(60))
            let fcm = ParkedEntry.make(.make(platform: .android), endpoint: .fcm, wait: .seconds(-5))
            try await calls.record(QueueRecord(parked: parked + [future, fcm]))

            let first = try await calls.claimWaiting([.apnsProduction, .apnsDevelopment], limit: 2)
            #expect(Set(first.map(\.attempts)) == [5, 4])
            let second = try await calls.claimWaiting([.apnsProduction], limit: 100)
            #expect(Set(second.map(\.attempts)) == [0, 1, 2, 3])
            let third = try await calls.claimWaiting([.fcm, .apnsProduction])
            #expect(third.map(\.reference) == [fcm.delivery])
            #expect(try await calls.claimWaiting([]).isEmpty)

            let entry = try #require(second.first { $0.attempts == 3 })
            #expect(entry.reference == parked[3].delivery)
            #expect(entry.endpoint == .apnsProduction)
            #expect(entry.reason == "status_503")
            #expect(abs(entry.expiresAt.timeIntervalSince(parked[3].expiresAt)) < 0.001)
            #expect(Set((first + second + third).map(\.leaseToken)).count == 7)
            // The lease moved the time: not due again before it ends.
            #expect(
                try await queue.number("select count(*) from push.waiting where scheduled_at > now() + interval '50 s'")
                    == 8)
        }
    }

    @Test func `a lost lease is due again by itself`() async throws {
        try await QueueDatabase.with { queue in
            var calls = try await QueueCalls(queue)
            calls.lease = .milliseconds(100)
            try await calls.record(QueueRecord(parked: [.make(.make())]))
            let first = try await calls.claimWaiting([.apnsProduction])
            #expect(first.count == 1)
            let other = try await QueueCalls(queue)
            var again: [WaitingDelivery] = []
            try await eventually {
                again = try await other.claimWaiting([.apnsProduction])
                return !again.isEmpty
            }
            #expect(again.map(\.reference) == first.map(\.reference))
            #expect(again.first?.leaseToken != first.first?.leaseToken)
        }
    }

    @Test func `concurrent claimers of what waits share nothing`() async throws {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            try await calls.record(QueueRecord(parked: (0..<2000).map { _ in .make(.make(), wait: .seconds(-1)) }))
            let ids = try await withThrowingTaskGroup(of: [UUID].self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let calls = try await QueueCalls(queue)
                        var mine: [UUID] = []
                        while true {
                            let due = try await calls.claimWaiting([.apnsProduction], limit: 100)
                            if due.isEmpty { return mine }
                            mine += due.map(\.reference.deliveryID)
                        }
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(ids.count == 2000)
            #expect(Set(ids).count == 2000)
        }
    }

    @Test func `a delivery is put back only by who holds its lease, its tries unchanged`() async throws {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            try await calls.record(QueueRecord(parked: [.make(.make(), attempts: 4)]))
            let due = try #require(try await calls.claimWaiting([.apnsProduction]).first)
            var record = QueueRecord()
            record.snoozed = [
                SnoozeEntry(lease: WaitingLease(deliveryID: due.reference.deliveryID, token: UUID()), wait: .zero)
            ]
            try await calls.record(record)
            #expect(try await calls.claimWaiting([.apnsProduction]).isEmpty)
            record.snoozed[0].lease = due.lease
            try await calls.record(record)
            let again = try #require(try await calls.claimWaiting([.apnsProduction]).first)
            #expect(again.attempts == 4)
            // The old lease is worth nothing now.
            try await calls.record(record)
            #expect(try await calls.claimWaiting([.apnsProduction]).isEmpty)
        }
    }
}

@Suite(.serialized) struct HeartbeatTests {
    @Test func `a heartbeat extends its own batches, those it names, and only those`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let (mine, other) = (try await QueueCalls(queue), try await QueueCalls(queue))
            var leases: [BatchLease] = []
            for calls in [mine, mine, other] {
                try await queue.notification(to: account)
                leases.append(try #require(try await calls.claim()).lease)
            }
            try await queue.owner.query("update push.batches set leased_until = now() + interval '1 second'")
            let heartbeat = try await mine.heartbeat(
                batches: [leases[0], leases[2], BatchLease(id: 999_999, token: UUID())])
            #expect(heartbeat.batchIDs == [leases[0].id])
            let extended = try await queue.owner.query(
                "select id from push.batches where leased_until > now() + interval '30 s'")
            #expect(try extended.map { try $0.int(0) } == [leases[0].id])
        }
    }

    @Test func `a heartbeat extends its own waiting leases`() async throws {
        try await QueueDatabase.with { queue in
            let (mine, other) = (try await QueueCalls(queue), try await QueueCalls(queue))
            let deliveries = (0..<4).map { _ in DeliveryReference.make() }
            try await mine.record(QueueRecord(parked: deliveries.prefix(2).map { .make($0) }))
            var claimed = try await mine.claimWaiting([.apnsProduction])
            #expect(claimed.count == 2)
            try await mine.record(QueueRecord(parked: [.make(deliveries[2])]))
            #expect(try await other.claimWaiting([.apnsProduction]).count == 1)
            // Named and not leased, as it was parked again.
            try await mine.record(QueueRecord(parked: [.make(deliveries[3], wait: .seconds(1))]))
            try await queue.owner.query("update push.waiting set scheduled_at = now() + interval '1 second'")
            claimed.removeAll { $0.reference == deliveries[1] }
            let stale = [2, 3].map { WaitingLease(deliveryID: deliveries[$0].deliveryID, token: UUID()) }
            let heartbeat = try await mine.heartbeat(waiting: claimed.map(\.lease) + stale)
            #expect(heartbeat.waitingTokens == Set(claimed.map(\.leaseToken)))
            let extended = try await queue.owner.query(
                "select delivery_id from push.waiting where scheduled_at > now() + interval '30 s'")
            #expect(try extended.map { try $0.uuid(0) } == [deliveries[0].deliveryID])
        }
    }

    @Test func `pauses are read with what is left of them, negative for past ones, a day for endless ones`()
        async throws
    {
        try await QueueDatabase.with { queue in
            try await queue.owner.query(
                """
                insert into push.providers (endpoint, paused_until) values
                    ('fcm', now() + interval '90 seconds'), ('apns:production', 'infinity'),
                    ('apns:development', now() - interval '1 second'), ('unknown', now() + interval '1 hour')
                """)
            let pauses = try await QueueCalls(queue).heartbeat().pauses
            #expect(Set(pauses.keys) == [.fcm, .apnsProduction, .apnsDevelopment])
            let left = try #require(pauses[.fcm]?.remaining)
            #expect(left > .seconds(85) && left <= .seconds(90))
            #expect(pauses[.apnsProduction]?.remaining == .seconds(86_400))
            #expect(try #require(pauses[.apnsDevelopment]?.remaining) < .zero)
            try await queue.owner.query("update push.providers set paused_until = null")
            let ended = try await QueueCalls(queue).heartbeat().pauses
            #expect(ended.count == 3)
            #expect(ended.values.allSatisfy { $0.remaining == nil })
        }
    }

    @Test func `a heartbeat tells who works, and a farewell that nobody does`() async throws {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            try await calls.heartbeat()
            try await calls.heartbeat()
            #expect(
                try await queue.number("select count(*) from push.workers where listening and stopped_at is null") == 1)
            try await calls.connection.query(LeaseKeeping(lease: .seconds(1)).farewell(worker: calls.worker))
            #expect(
                try await queue.number(
                    "select count(*) from push.workers where not listening and stopped_at is not null")
                    == 1)
        }
    }

    /// A record that ends batches in one order must not meet a heartbeat that extends them in another.
    @Test func `heartbeats and records of the same rows do not deadlock`() async throws {
        try await QueueDatabase.withOwn { queue in
            let calls = try await QueueCalls(queue)
            var beating = try await QueueCalls(queue)
            beating.worker = calls.worker
            let heart = beating
            let deliveries = (0..<60).map { _ in DeliveryReference.make() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for round in 0..<60 {
                        try await calls.record(QueueRecord(parked: deliveries.shuffled().map { .make($0) }))
                        _ = try await calls.claimWaiting([.apnsProduction])
                        let settled = deliveries.shuffled().prefix(round % 30).map(\.deliveryID)
                        try await calls.record(QueueRecord(settled: settled))
                    }
                }
                group.addTask {
                    for _ in 0..<120 {
                        let leased = try await queue.owner.query(
                            "select delivery_id, lease_token from push.waiting where lease_token is not null")
                        let leases = try leased.map {
                            WaitingLease(deliveryID: try $0.uuid(0), token: try $0.uuid(1))
                        }
                        try await heart.heartbeat(waiting: leases.shuffled())
                    }
                }
                try await group.waitForAll()
            }
            #expect(
                try await queue.number("select deadlocks from pg_stat_database where datname = current_database()")
                    == 0)
        }
    }
}

@Suite(.serialized) struct RescueTests {
    /// A worker with one open batch, and another that looks after it.
    private static func withBatch(
        lockKey: Int?, _ body: (QueueDatabase, QueueCalls, QueueCalls) async throws -> Void
    ) async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            try await queue.notification(to: account)
            try await queue.notification(to: account, kind: "system")
            var holder = try await QueueCalls(queue)
            holder.worker.lockKey = lockKey
            if lockKey != nil { #expect(try await holder.lock()) }
            try await holder.heartbeat()
            _ = try #require(try await holder.claim())
            try await body(queue, holder, try await QueueCalls(queue))
        }
    }

    private static func makeHeartbeatOld(_ queue: QueueDatabase) async throws {
        try await queue.owner.query("update push.workers set heartbeat_at = now() - interval '6 seconds'")
    }

    private static func expireLease(_ queue: QueueDatabase) async throws {
        try await queue.owner.query("update push.batches set leased_until = now() - interval '1 second'")
    }

    private static var someKey: Int { Int.random(in: 1...Int(Int32.max)) }

    @Test func `a lease that ended returns everything with its lane, also the worker's own`() async throws {
        try await Self.withBatch(lockKey: Self.someKey) { queue, holder, _ in
            try await Self.expireLease(queue)
            #expect(try await holder.rescue() == 2)
            let rows = try await queue.owner.query("select lane, origin, rescues from push.outbox order by lane")
            #expect(try rows.map { try $0.int(0) } == [0, 2])
            #expect(try rows.map { try $0.text(1) } == ["rescue", "rescue"])
            #expect(try rows.map { try $0.int(2) } == [1, 1])
            // The count goes on with the next holder.
            _ = try #require(try await holder.claim())
            try await Self.expireLease(queue)
            #expect(try await holder.rescue() == 2)
            #expect(try await queue.number("select min(rescues) from push.outbox") == 2)
        }
    }

    @Test func `a dead session with a stale heartbeat is rescued before the lease ends`() async throws {
        try await Self.withBatch(lockKey: Self.someKey) { queue, holder, other in
            #expect(try await other.rescue() == 0)
            await holder.connection.close()
            // The server notices in its own time.
            try await eventually {
                try await queue.number(
                    "select count(*) from pg_locks where locktype = 'advisory' and objid = \(holder.worker.lockKey ?? 0)::oid"
                )
                    == 0
            }
            // Only just gone: it may be reconnecting.
            #expect(try await other.rescue() == 0)
            try await Self.makeHeartbeatOld(queue)
            #expect(try await other.rescue() == 2)
            #expect(try await queue.number("select count(*) from push.batches") == 0)
        }
    }

    @Test func `a live session with a late heartbeat keeps its batch`() async throws {
        try await Self.withBatch(lockKey: Self.someKey) { queue, _, other in
            try await Self.makeHeartbeatOld(queue)
            #expect(try await other.rescue() == 0)
        }
    }

    @Test func `the row of the worker is not needed`() async throws {
        try await Self.withBatch(lockKey: Self.someKey) { queue, holder, other in
            try await queue.owner.query("delete from push.workers")
            // Its lock says that it lives.
            #expect(try await other.rescue() == 0)
            await holder.connection.close()
            try await eventually { try await other.rescue() == 2 }
        }
    }

    @Test func `a lock of another database or another kind saves nobody`() async throws {
        let key = Self.someKey
        try await Self.withBatch(lockKey: key) { queue, holder, other in
            await holder.connection.close()
            try await Self.makeHeartbeatOld(queue)
            try await queue.owner.query("select pg_advisory_lock(1, \(key)::integer)")
            try await QueueDatabase.with { elsewhere in
                var twin = try await QueueCalls(elsewhere)
                twin.worker.lockKey = key
                #expect(try await twin.lock())
                try await eventually { try await other.rescue() == 2 }
            }
        }
    }

    @Test func `where sessions do not last, nothing is rescued before its lease ends`() async throws {
        try await Self.withBatch(lockKey: nil) { queue, holder, other in
            await holder.connection.close()
            try await queue.owner.query("delete from push.workers")
            #expect(try await other.rescue() == 0)
            try await Self.expireLease(queue)
            #expect(try await other.rescue() == 2)
        }
    }

    @Test func `of two rescuers one gets it`() async throws {
        try await Self.withBatch(lockKey: nil) { queue, holder, other in
            try await Self.expireLease(queue)
            async let one = holder.rescue()
            async let two = other.rescue()
            let rescued = try await [one, two]
            #expect(rescued.sorted() == [0, 2])
        }
    }
}
