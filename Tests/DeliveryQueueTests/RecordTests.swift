internal import DeliveryQueue
internal import Postgres
internal import PushModel
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.Date
internal import struct FoundationEssentials.UUID

@Suite(.serialized) struct RecordTests {
    /// How many rows each table has.
    private static func counts(_ queue: QueueDatabase) async throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for table in ["fanouts", "attempts", "waiting", "batches", "outbox", "providers"] {
            counts[table] = try await queue.number("select count(*) from push.\(identifier: table)")
        }
        return counts
    }

    /// I5: the counters say what stands in the tables.
    private static func expectTrueCounters(_ queue: QueueDatabase) async throws {
        let difference = try await queue.text(
            """
            with counted as (
                select name, labels, sum(value)::bigint as value from push.counters group by name, labels
            ), stored as (
                select 'decisions' as name, coalesce(k.name, 'other') || ' ' || decision as labels, count(*) as value
                from push.fanouts f left join push.kinds k on k.name = f.kind group by 1, 2
                union all
                select 'attempts', case platform when 'ios' then 'apns' else 'fcm' end || ' ' || outcome || ' ' || state,
                    count(*)
                from push.attempts group by 1, 2
            )
            select string_agg(coalesce(c::text, 'nothing') || ' counted, stored ' || coalesce(s::text, 'nothing'), '; ')
            from counted c full join stored s using (name, labels) where c.value is distinct from s.value
            """)
        #expect(difference == nil)
    }

    @Test func `one statement writes everything`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let devices = [
                try await queue.device(of: account, token: "aa00"), try await queue.device(of: account, token: "bb00"),
                try await queue.device(of: account, platform: .android, token: "cc00"),
            ]
            let id = try await queue.notification(to: account)
            let left = try await queue.notification(to: account, kind: "system")
            let calls = try await QueueCalls(queue)
            let finished = try #require(try await calls.claim(1))
            let unfinished = try #require(try await calls.claim(1))
            let deliveries = devices.enumerated().map { index, device in
                DeliveryReference.make(
                    notification: id, device: device, account: account, platform: index == 2 ? .android : .ios)
            }
            let old = DeliveryReference.make()
            let snoozed = DeliveryReference.make()
            try await calls.record(QueueRecord(parked: [.make(old), .make(snoozed)]))
            let due = try await calls.claimWaiting([.apnsProduction])
            let lease = try #require(due.first { $0.reference == snoozed }).lease

            var record = QueueRecord()
            record.decisions = [.fannedOut(deliveries), .other(left, .tooOld)]
            record.attempts = [.accepted(deliveries[0]), .retried(deliveries[1])]
            record.attempts.append(
                AttemptEntry(
                    delivery: deliveries[2], number: 1, state: .discarded, outcome: "device_dead", status: 404,
                    reason: "UNREGISTERED", providerID: nil, duration: .milliseconds(7)))
            record.parked = [.make(deliveries[1], wait: .seconds(30))]
            record.settled = [old.deliveryID]
            record.snoozed = [SnoozeEntry(lease: lease, wait: .seconds(60))]
            record.deadTokens = [
                DeadTokenEntry(deviceID: devices[2], storedToken: "cc00", reason: "UNREGISTERED", since: nil)
            ]
            record.environments = [
                EnvironmentEntry(deviceID: devices[0], storedToken: "aa00", environment: .development)
            ]
            record.pauses = [PauseEntry(endpoint: .fcm, duration: .seconds(60), reason: "quota", fix: "wait")]
            record.closed = [finished.lease]
            record.released = [ReleaseEntry(lease: unfinished.lease, notificationIDs: [left])]
            #expect(try await calls.record(record) == 2)

            #expect(
                try await Self.counts(queue) == [
                    "fanouts": 2, "attempts": 3, "waiting": 2, "batches": 0, "outbox": 1, "providers": 1,
                ])
            let attempt = try await queue.owner.query(
                """
                select notification_id, device_id, account_id, platform, kind, number, state, outcome, status, reason,
                    provider_id, milliseconds, worker_id
                from push.attempts where delivery_id = \(deliveries[2].deliveryID)
                """
            ).single()
            #expect(try [attempt.uuid(0), attempt.uuid(1), attempt.uuid(2)] == [id, devices[2], account])
            #expect(try [attempt.text(3), attempt.text(4)] == ["android", "invitation_received"])
            #expect(try [attempt.int(5), attempt.int(8), attempt.int(11)] == [1, 404, 7])
            #expect(
                try [attempt.text(6), attempt.text(7), attempt.text(9)] == ["discarded", "device_dead", "UNREGISTERED"])
            #expect(try attempt.isNull(10))
            #expect(try attempt.uuid(12) == calls.worker.id)
            let decision = try await queue.owner.query(
                "select decision, origin, delivery_ids, device_ids, kind from push.fanouts where notification_id = \(id)"
            ).single()
            #expect(try [decision.text(0), decision.text(1)] == ["fanned_out", "trigger"])
            #expect(try decision.uuidArray(2) == deliveries.map(\.deliveryID))
            #expect(try decision.uuidArray(3) == devices)
            #expect(
                try await queue.text("select push_token_invalid_reason from devices where id = \(devices[2])")
                    == "UNREGISTERED")
            #expect(
                try await queue.text("select apns_environment from devices where id = \(devices[0])") == "development")
            #expect(
                try await queue.number(
                    "select count(*) from push.waiting where scheduled_at > now() and lease_token is null")
                    == 2)
            #expect(try await queue.text("select fix from push.providers where endpoint = 'fcm'") == "wait")
            try await Self.expectTrueCounters(queue)
        }
    }

    @Test func `an empty record writes nothing`() async throws {
        try await QueueDatabase.with { queue in
            try await QueueCalls(queue).record(QueueRecord())
            #expect(try await Self.counts(queue).values.allSatisfy { $0 == 0 })
            #expect(try await queue.number("select count(*) from push.counters") == 0)
        }
    }

    @Test func `a record written again writes nothing twice`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let id = try await queue.notification(to: account)
            let calls = try await QueueCalls(queue)
            let batch = try #require(try await calls.claim())
            let first = DeliveryReference.make(notification: id, account: account)
            let second = DeliveryReference.make(notification: id, account: account)
            var record = QueueRecord(
                decisions: [.fannedOut([first, second])], attempts: [.accepted(first), .retried(second)],
                parked: [.make(second, wait: .seconds(60))], closed: [batch.lease])
            record.pauses = [PauseEntry(endpoint: .fcm, duration: .seconds(60), reason: "quota", fix: nil)]
            try await calls.record(record)
            let counts = try await Self.counts(queue)
            for _ in 1...2 {
                try await calls.record(record, repeated: true)
                #expect(try await Self.counts(queue) == counts)
                try await Self.expectTrueCounters(queue)
            }
            // What was not there is written in full, also by a repetition.
            let third = DeliveryReference.make()
            try await calls.record(
                QueueRecord(decisions: [.fannedOut([third])], attempts: [.accepted(third)]), repeated: true)
            #expect(try await queue.number("select count(*) from push.attempts") == 3)
            try await Self.expectTrueCounters(queue)
        }
    }

    /// A try that did not count keeps its number: the next one under it is another try.
    @Test func `two tries of one number are told apart`() async throws {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            let delivery = DeliveryReference.make()
            var attempt = AttemptEntry.retried(delivery)
            try await calls.record(QueueRecord(attempts: [attempt]))
            attempt.duration = .milliseconds(77)
            try await calls.record(QueueRecord(attempts: [attempt]), repeated: true)
            #expect(try await queue.number("select count(*) from push.attempts") == 2)
        }
    }

    @Test func `attempts are kept also when the lease was lost, but a batch is closed with its own token only`()
        async throws
    {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let id = try await queue.notification(to: account)
            let stale = try await QueueCalls(queue)
            let lost = try #require(try await stale.claim())
            try await queue.owner.query("update push.batches set leased_until = now() - interval '1 second'")
            let owner = try await QueueCalls(queue)
            #expect(try await owner.rescue() == 1)
            let batch = try #require(try await owner.claim())
            let delivery = DeliveryReference.make(notification: id, account: account)
            // The same id with another token, and the old token with the new id.
            let forged = [
                lost.lease, BatchLease(id: batch.lease.id, token: lost.lease.token),
                BatchLease(id: batch.lease.id, token: UUID()), BatchLease(id: lost.lease.id, token: batch.lease.token),
            ]
            #expect(try await stale.record(QueueRecord(attempts: [.accepted(delivery)], closed: forged)) == 0)
            let release = forged.map { ReleaseEntry(lease: $0, notificationIDs: [id]) }
            #expect(try await stale.record(QueueRecord(released: release)) == 0)
            #expect(try await queue.number("select count(*) from push.attempts where state = 'accepted'") == 1)
            #expect(try await queue.number("select count(*) from push.batches") == 1)
            #expect(try await queue.number("select count(*) from push.outbox") == 0)
            #expect(try await owner.record(QueueRecord(closed: [batch.lease])) == 1)
        }
    }

    @Test func `a decision is written once, whoever comes second`() async throws {
        try await QueueDatabase.with { queue in
            let (one, two) = (try await QueueCalls(queue), try await QueueCalls(queue))
            let delivery = DeliveryReference.make()
            try await one.record(QueueRecord(decisions: [.fannedOut([delivery])]))
            try await two.record(QueueRecord(decisions: [.other(delivery.notificationID, .alreadyRead)]))
            #expect(try await queue.text("select string_agg(decision, ',') from push.fanouts") == "fanned_out")
            try await Self.expectTrueCounters(queue)
        }
    }

    @Test func `what was accepted never waits again`() async throws {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            let delivery = DeliveryReference.make()
            try await calls.record(QueueRecord(attempts: [.accepted(delivery)]))
            try await calls.record(QueueRecord(attempts: [.retried(delivery)], parked: [.make(delivery)]))
            #expect(try await queue.number("select count(*) from push.waiting") == 0)
        }
    }

    /// Both copies of a delivery, of a lease lost and won again, may end in one record.
    @Test(arguments: [true, false])
    func `a delivery parked twice in one record waits once, and not at all if it is final there`(_ isFinal: Bool)
        async throws
    {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            let delivery = DeliveryReference.make()
            var record = QueueRecord(parked: [
                .make(delivery, attempts: 1, wait: .seconds(10)), .make(delivery, attempts: 2, wait: .seconds(20)),
            ])
            if isFinal {
                record.attempts = [.accepted(delivery)]
                record.settled = [delivery.deliveryID]
            }
            try await calls.record(record)
            let attempts = try await queue.owner.query("select attempts from push.waiting")
            #expect(try attempts.map { try $0.int(0) } == (isFinal ? [] : [2]))
        }
    }

    /// Another worker took the batch over, and the delivery came to an end; then its first worker comes with a 503.
    @Test(arguments: [DeliveryState.cancelled, .discarded])
    func `what has ended is not parked by a worker that comes late, and stays what it is`(
        _ state: DeliveryState
    ) async throws {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            let delivery = DeliveryReference.make()
            let end = AttemptEntry(delivery: delivery, number: 1, state: state, outcome: state.rawValue, reason: "x")
            try await calls.record(
                QueueRecord(
                    decisions: [.fannedOut([delivery])], attempts: [.retried(delivery)], parked: [.make(delivery)])
            )
            try await calls.record(QueueRecord(attempts: [end], settled: [delivery.deliveryID]))
            let late = QueueRecord(attempts: [.retried(delivery)], parked: [.make(delivery)])
            try await calls.record(late)
            #expect(try await queue.number("select count(*) from push.waiting") == 0)
            // The try was made, so it is written down; it changes nothing of where the delivery stands.
            #expect(try await queue.number("select count(*) from push.attempts") == 3)
            #expect(
                try await queue.text("select state from push.deliveries where id = \(delivery.deliveryID)")
                    == state.rawValue)

            // What an operator has put back since waits as ever.
            try await queue.owner.query(
                """
                insert into push.waiting (delivery_id, notification_id, device_id, account_id, platform, kind, endpoint,
                    attempts, reason, expires_at, scheduled_at)
                values (\(delivery.deliveryID), \(delivery.notificationID), \(delivery.deviceID), \(delivery.accountID),
                    'ios', 'invitation_received', 'apns:production', 1, 'operator', now() + interval '1 day', now())
                """)
            _ = try await calls.claimWaiting([.apnsProduction])
            try await calls.record(late)
            #expect(
                try await queue.number(
                    "select count(*) from push.waiting where lease_token is null and reason = 'status_503'")
                    == 1)
        }
    }

    @Test func `a delivery parked again loses its lease and keeps one row`() async throws {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            let delivery = DeliveryReference.make()
            try await calls.record(QueueRecord(parked: [.make(delivery)]))
            let due = try await calls.claimWaiting([.apnsProduction])
            #expect(due.count == 1)
            try await calls.record(
                QueueRecord(parked: [.make(delivery, endpoint: .apnsDevelopment, attempts: 3, wait: .zero)]))
            let again = try await calls.claimWaiting([.apnsProduction, .apnsDevelopment])
            #expect(again.map(\.endpoint) == [.apnsDevelopment])
            #expect(again.first?.attempts == 3)
            #expect(again.first?.leaseToken != due.first?.leaseToken)
        }
    }

    @Test(arguments: [
        "say \"hi\" \\ back'slash", "{a,b}", "NULL", "null", "", " ", "😀👩‍👩‍👧 \u{202E}abc", "tab\tline\nend\r",
        "a\u{0}b", "$1 %s \\N", String(repeating: "x", count: 100_000),
    ])
    func `any text is stored as it is, less U+0000`(_ text: String) async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let device = try await queue.device(of: account, token: "aa00")
            let calls = try await QueueCalls(queue)
            var record = QueueRecord()
            var attempt = AttemptEntry.retried(.make(), reason: text)
            attempt.providerID = text
            record.attempts = [attempt]
            record.pauses = [PauseEntry(endpoint: .fcm, duration: .seconds(1), reason: text, fix: text)]
            record.deadTokens = [DeadTokenEntry(deviceID: device, storedToken: "aa00", reason: "x", since: nil)]
            try await calls.record(record)
            let stored = text.replacing("\u{0}", with: "")
            #expect(try await queue.text("select reason from push.attempts") == stored)
            #expect(try await queue.text("select provider_id from push.attempts") == stored)
            #expect(try await queue.text("select reason from push.providers") == stored)
            #expect(try await queue.text("select fix from push.providers") == stored)
        }
    }

    @Test func `a release gives back what is named, with its lane, and nothing that is not in the batch`() async throws
    {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let urgent = try await queue.notification(to: account)
            let normal = try await queue.notification(to: account, kind: "circle_changed", connection: UUID())
            let bulk = try await queue.notification(to: account, kind: "system")
            let calls = try await QueueCalls(queue)
            let batch = try #require(try await calls.claim())
            let release = ReleaseEntry(lease: batch.lease, notificationIDs: [bulk, UUID(), urgent])
            #expect(try await calls.record(QueueRecord(released: [release])) == 1)
            let rows = try await queue.owner.query(
                "select notification_id, lane, origin from push.outbox order by lane")
            #expect(try rows.map { try $0.uuid(0) } == [urgent, bulk])
            #expect(try rows.map { try $0.int(1) } == [0, 2])
            #expect(try rows.map { try $0.text(2) } == ["rescue", "rescue"])
            #expect(try await queue.number("select count(*) from push.outbox where notification_id = \(normal)") == 0)
        }
    }

    @Test func `a pause that is ended makes due at once what waits for the endpoint, and nothing else`() async throws {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            let (mine, other, leased, new) = (
                DeliveryReference.make(), DeliveryReference.make(), DeliveryReference.make(), DeliveryReference.make()
            )
            try await calls.record(QueueRecord(parked: [.make(leased, endpoint: .fcm, wait: .zero)]))
            #expect(try await calls.claimWaiting([.fcm]).count == 1)
            var record = QueueRecord(parked: [
                .make(mine, endpoint: .fcm, wait: .seconds(60)),
                .make(other, endpoint: .apnsProduction, wait: .seconds(60)),
            ])
            record.pauses = [PauseEntry(endpoint: .fcm, duration: .seconds(60), reason: "r", fix: nil)]
            try await calls.record(record)
            #expect(try await calls.claimWaiting([.fcm]).isEmpty)

            var resumed = QueueRecord(parked: [.make(new, endpoint: .fcm, wait: .seconds(60))])
            resumed.resumed = [.fcm]
            try await calls.record(resumed)
            let due = try await calls.claimWaiting([.fcm, .apnsProduction])
            #expect(due.map(\.reference.deliveryID) == [mine.deliveryID])
            let pause = try #require(try await calls.heartbeat().pauses[.fcm])
            #expect(pause.remaining == nil)
            #expect(pause.resumes == 1)
        }
    }

    @Test func `an operator's pause stays the operator's, whatever workers meet or read anew`() async throws {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            try await calls.connection.query(ProviderPause.pause([.fcm], reason: "quota", by: "operator"))
            var record = QueueRecord(parked: [.make(.make(), endpoint: .fcm, wait: .seconds(60))])
            record.pauses = [PauseEntry(endpoint: .fcm, duration: .seconds(60), reason: "r", fix: nil)]
            try await calls.record(record)
            var anew = QueueRecord()
            anew.resumed = [.fcm]
            try await calls.record(anew)
            #expect(try await queue.text("select reason from push.providers") == "quota")
            #expect(try await queue.text("select paused_by from push.providers") == "operator")
            #expect(try await queue.number("select count(*) from push.providers where paused_until = 'infinity'") == 1)
            #expect(try await calls.claimWaiting([.fcm]).isEmpty)
        }
    }

    /// A worker parks for a pause until it hears, with its next heartbeat, that somebody has ended it.
    @Test func `what was parked for a pause after its end is made due, what waits for a try is not`() async throws {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            try await calls.connection.query(ProviderPause.pause([.fcm, .apnsProduction], reason: "r", by: "p"))
            try await calls.connection.query(ProviderPause.resume([.fcm]))
            let (late, tried, old, paused) = (
                DeliveryReference.make(), DeliveryReference.make(), DeliveryReference.make(), DeliveryReference.make()
            )
            try await calls.record(
                QueueRecord(parked: [
                    .make(late, endpoint: .fcm, reason: "provider_paused", wait: .seconds(86_400)),
                    .make(old, endpoint: .fcm, reason: "TooManyRequests", wait: .seconds(86_400)),
                    .make(tried, endpoint: .fcm, reason: "status_503", wait: .seconds(900)),
                    .make(paused, endpoint: .apnsProduction, reason: "provider_paused", wait: .seconds(86_400)),
                ]))
            #expect(try await calls.claimWaiting([.fcm, .apnsProduction]).isEmpty)
            try await calls.connection.query(ProviderPause.hasten([.fcm, .apnsProduction]))
            let due = try await calls.claimWaiting([.fcm, .apnsProduction])
            #expect(Set(due.map(\.reference.deliveryID)) == [late.deliveryID, old.deliveryID])
        }
    }

    @Test func `a pause keeps the later end, whoever comes last`() async throws {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            func pause(_ seconds: Int...) async throws -> Int {
                var record = QueueRecord()
                record.pauses = seconds.map {
                    PauseEntry(endpoint: .fcm, duration: .seconds($0), reason: "r\($0)", fix: nil)
                }
                try await calls.record(record)
                return try await queue.number(
                    "select round(extract(epoch from paused_until - now()))::integer from push.providers")
            }
            #expect((99...100).contains(try await pause(30, 100, 20)))
            #expect((98...100).contains(try await pause(10)))
            #expect((299...300).contains(try await pause(300)))
            #expect(try await queue.number("select count(*) from push.providers") == 1)
        }
    }
}

@Suite(.serialized) struct CounterRollupTests {
    @Test func `what flushes counted becomes one row a minute, and the sums stay`() async throws {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            try await queue.owner.query(
                """
                insert into push.counters (minute, name, labels, value)
                select date_trunc('minute', now()) - interval '1 minute' * (i % 3), 'attempts', 'apns accepted accepted', i
                from generate_series(1, 300) i
                """)
            try await calls.connection.query(CounterRollup.query)
            #expect(try await queue.number("select sum(value)::bigint from push.counters") == 300 * 301 / 2)
            // The minute that is not over is left as it is.
            #expect(try await queue.number("select count(*) from push.counters where not is_sum") == 100)
            #expect(try await queue.number("select count(*) from push.counters where is_sum") == 2)
            try await calls.connection.query(CounterRollup.query)
            #expect(try await queue.number("select count(*) from push.counters where is_sum") == 2)
        }
    }
}
