internal import DeliveryQueue
internal import Postgres
internal import PushModel
internal import QueueInspection
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.Date
internal import struct FoundationEssentials.UUID

@Suite struct ActionTests {
    @Test func `a retry puts a discarded delivery back, counts on and keeps the history`() async throws {
        try await InspectedQueue.with { queue in
            let made = try await queue.delivery(.discarded, reason: "exhausted", platform: .android, number: 30)
            let result = try await queue.actions.retry([made.id], actor: "cli:anna@host", note: "FCM is back")
            #expect(result.items == [.init(id: made.id, isChanged: true, message: "put back, to be sent now")])
            let row = try await queue.queue.owner.query(
                """
                select endpoint, attempts, reason, scheduled_at <= now(), expires_at - n.created_at = interval '28 days',
                    w.device_id, lease_token is null
                from push.waiting w join notifications n on n.id = w.notification_id
                """
            ).single()
            #expect(try row.text(0) == "fcm")
            #expect(try row.int(1) == 30)
            #expect(try row.text(2) == "operator")
            #expect(try row.bool(3))
            #expect(try row.bool(4))
            #expect(try row.uuid(5) == made.device)
            #expect(try row.bool(6))

            let timeline = try #require(try await queue.reader.timeline(of: made.id))
            #expect(timeline.row.state == .available)
            #expect(timeline.attempts.map(\.outcome) == ["discarded", "retried"])
            #expect(timeline.audit.map(\.actor) == ["cli:anna@host"])
            #expect(timeline.audit.first?.note == "FCM is back")
            #expect(timeline.attempts.last?.workerID == timeline.audit.first?.id)
            #expect(timeline.may == PermittedActions(retry: true, cancel: true))
        }
    }

    @Test(arguments: [
        ("update devices set push_token_invalidated_at = now()", "marked dead"),
        ("update devices set push_token = null", "no token"), ("delete from devices", "device is gone"),
        ("delete from notifications", "notification is gone"),
        ("update notifications set read_at = now()", "been read"),
        ("update notifications set ignored_at = now()", "been ignored"),
        ("update notifications set kind = 'contact_removed'", "none that is pushed"),
        ("update notifications set created_at = now() - interval '29 days'", "lifetime ended"),
        ("update push.attempts set state = 'accepted'", "twice"),
    ])
    func `a retry that could not help is refused with the reason`(sql: String, reason: String) async throws {
        try await InspectedQueue.with { queue in
            let made = try await queue.delivery(.discarded, reason: "exhausted")
            try await queue.queue.owner.query(PostgresQuery(unescaped: sql))
            let result = try await queue.actions.retry([made.id], actor: "test")
            #expect(result.items.count == 1)
            #expect(result.changed == 0)
            #expect(result.items.first?.message.contains(reason) == true, "\(result.items)")
            #expect(try await queue.queue.number("select count(*) from push.waiting") == 0)
            #expect(try await queue.queue.number("select count(*) from push.attempts") == 1)
            let audit = try await queue.reader.audit().entries
            #expect(audit.map(\.changed) == [0])
            #expect(audit.first?.note == result.items.first?.message)
        }
    }

    @Test func `what waits is hastened or cancelled, what a worker holds is left to it`() async throws {
        try await InspectedQueue.with { queue in
            let hastened = try await queue.delivery(.available)
            let cancelled = try await queue.delivery(.available)
            let leased = try await queue.delivery(.available)
            let lapsed = try await queue.delivery(.available)
            let runs = try await queue.delivery(.running)
            try await queue.queue.owner.query(
                """
                update push.waiting set lease_token = gen_random_uuid(),
                    scheduled_at = now() + case when delivery_id = \(leased.id) then interval '30 s' else interval '-30 s' end
                where delivery_id in (\(leased.id), \(lapsed.id))
                """)
            #expect(try await queue.actions.retry([hastened.id], actor: "test").changed == 1)
            #expect(
                try await queue.queue.number(
                    "select count(*) from push.waiting where scheduled_at <= now() and lease_token is null") == 1)
            let result = try await queue.actions.cancel(
                [cancelled.id, leased.id, lapsed.id, runs.id, UUID()], actor: "test")
            #expect(result.items.map(\.isChanged) == [true, false, false, false, false])
            #expect(result.items.dropFirst().prefix(3).allSatisfy { $0.message.contains("a worker holds it") })
            #expect(result.items.last?.message.contains("there is no delivery") == true)
            for held in [leased, runs] {
                let retried = try await queue.actions.retry([held.id], actor: "test")
                #expect(retried.items.first?.message.contains("worker") == true)
                #expect(retried.changed == 0)
            }
            let row = try #require(try await queue.reader.states(of: [cancelled.id]).first)
            #expect(row.state == .cancelled)
            #expect(row.reason == DeliveryReason.operator.rawValue)
            #expect(try await queue.state(leased) == .running)
            // What was cancelled may be wanted after all.
            #expect(try await queue.actions.retry([cancelled.id], actor: "test").changed == 1)
            #expect(try await queue.state(cancelled) == .available)
        }
    }

    @Test func `a notification nobody has claimed is cancelled before it is sent`() async throws {
        try await InspectedQueue.with { queue in
            let account = try await queue.queue.account()
            try await queue.queue.device(of: account)
            let id = try await queue.queue.notification(to: account)
            let rescued = try await queue.queue.notification(to: account)
            try await queue.queue.owner.query(
                "update push.outbox set origin = 'rescue' where notification_id = \(rescued)")
            #expect(try await queue.reader.notification(id)?.mayCancel == true)
            let result = try await queue.actions.cancel([id, rescued], actor: "test")
            #expect(result.items.map(\.isChanged) == [true, false])
            #expect(try await queue.queue.number("select count(*) from push.outbox") == 1)
            let view = try #require(try await queue.reader.notification(id))
            #expect(view.decision?.decision == FanoutDecision.cancelled.rawValue)
            #expect(view.summary == "An operator cancelled it before it was sent")
            #expect(view.audit.count == 1)
            #expect(view.devices.map(\.buzzed) == [.no])
        }
    }

    @Test func `an id of a notification means all its deliveries`() async throws {
        try await InspectedQueue.with { queue in
            let made = try await queue.delivery(.discarded, reason: "exhausted")
            #expect(try await queue.actions.retry([made.notification], actor: "test").changed == 1)
            #expect(try await queue.actions.cancel([made.notification], actor: "test").changed == 1)
            #expect(try await queue.state(made) == .cancelled)
        }
    }

    /// Case 40: whoever takes the row first has it.
    @Test func `a cancel and a claim at the same time never both have it`() async throws {
        try await InspectedQueue.with { queue in
            var made: [InspectedQueue.Made] = []
            for _ in 0..<30 { made.append(try await queue.delivery(.available)) }
            try await queue.queue.owner.query("update push.waiting set scheduled_at = now()")
            let claim = WaitingClaim(lease: .seconds(60))
            let ids = made.map(\.id)
            let (claimed, cancelled) = try await withThrowingTaskGroup(of: (Bool, Set<UUID>).self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        let worker = try await queue.queue.connectWorker()
                        var taken: Set<UUID> = []
                        for _ in 0..<10 {
                            let rows = try await worker.query(
                                claim.query(limits: [.apnsProduction: 3], workerID: UUID()))
                            taken.formUnion(try claim.decode(rows).map(\.reference.deliveryID))
                        }
                        await worker.close()
                        return (true, taken)
                    }
                    group.addTask {
                        var taken: Set<UUID> = []
                        for id in ids.shuffled() {
                            let result = try await queue.actions.cancel([id], actor: "test")
                            if result.changed == 1 { taken.insert(id) }
                        }
                        return (false, taken)
                    }
                }
                var claimed: [UUID] = []
                var cancelled: [UUID] = []
                for try await (isClaim, ids) in group {
                    if isClaim { claimed += ids } else { cancelled += ids }
                }
                return (claimed, cancelled)
            }
            #expect(Set(claimed).intersection(cancelled).isEmpty)
            #expect(claimed.count == Set(claimed).count)
            #expect(cancelled.count == Set(cancelled).count)
            #expect(Set(claimed).union(cancelled) == Set(ids))
        }
    }

    @Test func `two retries at the same time put it back once`() async throws {
        try await InspectedQueue.with { queue in
            let made = try await queue.delivery(.discarded, reason: "exhausted")
            let changed = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let result = try await queue.actions.retry([made.id], actor: "test")
                        return result.items.first?.message == "put back, to be sent now" ? 1 : 0
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(changed == 1)
            #expect(try await queue.queue.number("select count(*) from push.waiting") == 1)
        }
    }

    @Test func `a pause says who and why, and a resume makes due what waited`() async throws {
        try await InspectedQueue.with { queue in
            let made = try await queue.delivery(.available)
            try await queue.actions.pause([.apnsProduction], reason: "certificates", actor: "cli:anna@host")
            let paused = try #require(
                try await queue.reader.providers().first { $0.endpoint == .apnsProduction }?.pause)
            #expect(paused.by == .person("cli:anna@host"))
            #expect(paused.reason == "certificates")
            #expect(paused.until == nil)
            #expect(try await queue.reader.timeline(of: made.id)?.summary.contains("paused until an operator") == true)
            try await queue.actions.resume([.apnsProduction], actor: "cli:anna@host")
            #expect(try await queue.reader.providers().allSatisfy { !$0.isPaused })
            #expect(try await queue.queue.number("select count(*) from push.waiting where scheduled_at <= now()") == 1)
            #expect(
                try await queue.reader.audit(endpoint: "apns:production").map(\.action) == [.resume, .pause])
        }
    }

    @Test func `counters tell what operators did`() async throws {
        try await InspectedQueue.with { queue in
            let made = try await queue.delivery(.discarded, reason: "exhausted")
            _ = try await queue.actions.retry([made.id], actor: "test")
            _ = try await queue.actions.cancel([made.id], actor: "test")
            let rows = try await queue.queue.owner.query("select labels, value from push.counters order by labels")
            #expect(try rows.map { try $0.text(0) } == ["apns cancelled cancelled", "apns retried available"])
            let minute = try #require(try await queue.reader.overview().series.minutes.last { $0.cancelled > 0 })
            #expect(minute.cancelled == 1)
            #expect(minute.retries == 0)
        }
    }
}
