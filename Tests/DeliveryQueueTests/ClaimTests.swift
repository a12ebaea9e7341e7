internal import DeliveryQueue
internal import Locking
internal import Postgres
internal import PushModel
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.UUID

@Suite(.serialized) struct ClaimTests {
    /// Case 30: the form of the statement, not the plan, must keep the limit.
    @Test func `no plan claims more than the limit`() async throws {
        let switches = [
            "enable_seqscan", "enable_indexscan", "enable_bitmapscan", "enable_sort", "enable_nestloop",
            "enable_hashjoin", "enable_mergejoin", "enable_material", "enable_hashagg", "enable_indexonlyscan",
        ]
        try await QueueDatabase.withOwn { queue in
            let account = try await queue.account()
            try await queue.device(of: account)
            try await queue.notifications(700, to: account)
            let calls = try await QueueCalls(queue)
            // Every single one off, every pair off, and all but one.
            var combinations: [Set<String>] = [[], Set(switches)]
            for (index, name) in switches.enumerated() {
                combinations.append([name])
                combinations.append(Set(switches).subtracting([name]))
                for other in switches[(index + 1)...] { combinations.append([name, other]) }
            }
            for off in combinations {
                for name in switches {
                    try await calls.connection.query(
                        "select set_config(\(name), \(off.contains(name) ? "off" : "on"), false)")
                }
                let before = try await queue.number("select count(*) from push.outbox")
                let batch = try #require(try await calls.claim(10), "\(off)")
                #expect(batch.facts.count == 10, "\(off)")
                #expect(try await queue.number("select count(*) from push.outbox") == before - 10, "\(off)")
            }
        }
    }

    @Test func `lanes are emptied in order, and within a lane the oldest first`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            for kind in ["system", "contact_updated", "invitation_received", "other", "circle_changed"] {
                try await queue.notification(to: account, kind: kind, connection: UUID())
                try await queue.notification(to: account, kind: kind, connection: UUID())
            }
            let calls = try await QueueCalls(queue)
            var kinds: [String] = []
            while let batch = try await calls.claim(3) { kinds += batch.facts.compactMap { $0.notification?.kindName } }
            #expect(
                kinds == [
                    "invitation_received", "invitation_received", "contact_updated", "contact_updated", "other",
                    "other", "circle_changed", "circle_changed", "system", "system",
                ])
            #expect(try await queue.number("select count(*) from push.batches") == 4)
        }
    }

    @Test func `an empty outbox opens no batch`() async throws {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            #expect(try await calls.claim() == nil)
            #expect(try await queue.number("select count(*) from push.batches") == 0)
        }
    }

    @Test func `a batch holds what was claimed, with its lanes, for the worker and the lease`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let bulk = try await queue.notification(to: account, kind: "system")
            let urgent = try await queue.notification(to: account, kind: "invitation_received")
            var calls = try await QueueCalls(queue)
            calls.worker.lockKey = 77
            let batch = try #require(try await calls.claim())
            let row = try await queue.owner.query(
                """
                select id, token, worker_id, lock_key, notification_ids, lanes,
                    extract(epoch from leased_until - opened_at)::integer
                from push.batches
                """
            ).single()
            #expect(try row.int(0) == batch.lease.id)
            #expect(try row.uuid(1) == batch.lease.token)
            #expect(try row.uuid(2) == calls.worker.id)
            #expect(try row.int(3) == 77)
            #expect(try row.uuidArray(4) == [urgent, bulk])
            #expect(try row.intArray(5) == [0, 2])
            #expect(try row.int(6) == 60)
        }
    }

    /// F2 and case 2: four claimers with the settings of a claim session.
    @Test func `concurrent claimers neither share a row nor block each other`() async throws {
        try await QueueDatabase.withOwn { queue in
            let account = try await queue.account()
            let total = 20_000
            try await queue.notifications(
                total, to: account, kinds: ["invitation_received", "circle_changed", "system"])
            let claimed = Locked<[UUID]>([])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let calls = try await QueueCalls(
                            queue,
                            settings: [("enable_sort", "off"), ("enable_seqscan", "off"), ("enable_bitmapscan", "off")])
                        while let batch = try await calls.claim(500) {
                            claimed.withLock { $0 += batch.facts.map(\.notificationID) }
                        }
                        await calls.connection.close()
                    }
                }
                try await group.waitForAll()
            }
            let ids = claimed.withLock { $0 }
            #expect(ids.count == total)
            #expect(Set(ids).count == total)
            #expect(try await queue.number("select count(*) from push.outbox") == 0)
            #expect(try await queue.number("select sum(cardinality(notification_ids)) from push.batches") == total)
            #expect(
                try await queue.number("select deadlocks from pg_stat_database where datname = current_database()")
                    == 0)
        }
    }
}

@Suite(.serialized) struct RepeatedNotificationTests {
    @Test(arguments: [OutboxOrigin.webhook, .sweep, .operator])
    func `what was decided before is dropped`(_ origin: OutboxOrigin) async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let id = try await queue.notification(to: account)
            let calls = try await QueueCalls(queue)
            let batch = try #require(try await calls.claim())
            try await calls.record(QueueRecord(decisions: [.other(id, .noDevices)], closed: [batch.lease]))
            try await calls.enqueue(id, origin)
            #expect(try await calls.claim() == nil)
            #expect(try await queue.number("select count(*) from push.outbox") == 0)
        }
    }

    @Test func `what an open batch holds is dropped, also when that batch is somebody else's`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let id = try await queue.notification(to: account)
            let holder = try await QueueCalls(queue)
            _ = try #require(try await holder.claim())
            let calls = try await QueueCalls(queue)
            for origin in [OutboxOrigin.webhook, .sweep, .rescue] {
                try await calls.enqueue(id, origin)
                #expect(try await calls.claim() == nil, "\(origin)")
            }
        }
    }

    @Test func `a webhook for a row that nobody knows is claimed with its origin`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let id = try await queue.notification(to: account)
            try await queue.owner.query("delete from push.outbox")
            let calls = try await QueueCalls(queue)
            try await calls.enqueue(id, .webhook)
            let facts = try await calls.claimOne()
            #expect(facts.notificationID == id)
            #expect(facts.origin == .webhook)
            #expect(facts.priorDecision == nil)
        }
    }

    @Test func `a rescued one keeps its decision, and what is settled stays settled`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            var devices: [UUID] = []
            for _ in 0..<5 { devices.append(try await queue.device(of: account)) }
            let id = try await queue.notification(to: account)
            let calls = try await QueueCalls(queue)
            let batch = try #require(try await calls.claim())
            let deliveries = devices.map { DeliveryReference.make(notification: id, device: $0, account: account) }
            // Accepted, discarded, tried without an end, waiting, and never tried.
            try await calls.record(
                QueueRecord(
                    decisions: [.fannedOut(deliveries)],
                    attempts: [
                        .accepted(deliveries[0]),
                        AttemptEntry(delivery: deliveries[1], number: 1, state: .discarded, outcome: "device_dead"),
                        .retried(deliveries[2]),
                    ],
                    parked: [.make(deliveries[3], wait: .seconds(60))],
                    released: [ReleaseEntry(lease: batch.lease, notificationIDs: [id])]))
            let facts = try await calls.claimOne()
            #expect(facts.origin == .rescue)
            #expect(facts.priorDecision == .fannedOut)
            #expect(facts.settledDeviceIDs == [devices[0], devices[1], devices[3]])
            #expect(Set(facts.devices.map(\.id)) == Set(devices))
        }
    }

    /// The row that a webhook put there must not hide that the notification comes back from a lost batch: as a webhook's
    /// it would be dropped as decided, and what was not sent yet would never be.
    @Test(arguments: [true, false])
    func `a rescue or release is not lost to a webhook that came first`(_ isRelease: Bool) async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let device = try await queue.device(of: account)
            let id = try await queue.notification(to: account)
            let calls = try await QueueCalls(queue)
            let batch = try #require(try await calls.claim())
            let delivery = DeliveryReference.make(notification: id, device: device, account: account)
            try await calls.record(QueueRecord(decisions: [.fannedOut([delivery])]))
            try await calls.enqueue(id, .webhook)
            if isRelease {
                try await calls.record(
                    QueueRecord(released: [ReleaseEntry(lease: batch.lease, notificationIDs: [id])]))
            } else {
                try await queue.owner.query("update push.batches set leased_until = now() - interval '1 second'")
                _ = try await calls.rescue()
            }
            let facts = try await calls.claimOne()
            #expect(facts.origin == .rescue)
            #expect(facts.priorDecision == .fannedOut)
        }
    }

    /// Or a burst of repeated webhooks would end the scan, and what stands behind them would wait for the next poll.
    @Test func `a claim that only dropped rows tells that it took some`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let id = try await queue.notification(to: account)
            let calls = try await QueueCalls(queue)
            _ = try #require(try await calls.claim())
            try await calls.enqueue(id, .webhook)
            let claim = OutboxClaim(source: queue.source, limit: 10, lease: .seconds(60))
            let dropped = try await calls.connection.query(claim.query(worker: calls.worker))
            #expect(try claim.decode(dropped) == nil)
            #expect(try claim.taken(dropped) == 1)
            let nothing = try await calls.connection.query(claim.query(worker: calls.worker))
            #expect(try claim.decode(nothing) == nil)
            #expect(try claim.taken(nothing) == 0)
        }
    }
}

extension QueueCalls {
    func enqueue(_ id: UUID, _ origin: OutboxOrigin, lane: Lane = .normal) async throws {
        try await self.connection.query(
            """
            insert into push.outbox (notification_id, lane, origin)
            values (\(id), \(lane.rawValue)::smallint, \(origin.rawValue))
            on conflict (notification_id) do nothing
            """)
    }
}

@Suite(.serialized) struct SuspectTests {
    @Test func `what was rescued three times is claimed alone, and the rest without it`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            var ids: [UUID] = []
            for _ in 0..<5 { ids.append(try await queue.notification(to: account)) }
            try await queue.owner.query(
                "update push.outbox set rescues = 3, origin = 'rescue' where notification_id = \(ids[2])")
            let calls = try await QueueCalls(queue)
            var claims: [[UUID]] = []
            var rescues: [Int] = []
            while let batch = try await calls.claim() {
                claims.append(batch.facts.map(\.notificationID))
                rescues.append(batch.facts[0].rescues)
            }
            #expect(claims.map(Set.init) == [Set(ids[..<2]), [ids[2]], Set(ids[3...])])
            #expect(rescues == [0, 3, 0])
        }
    }
}
