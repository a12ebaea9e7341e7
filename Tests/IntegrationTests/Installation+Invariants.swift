import FoundationEssentials
import Postgres
import PushSimulator
import TestSupport
import Testing

/// What a test allows for when the invariants are checked.
struct Expectations {
    /// Sends beyond those that are recorded: what a worker that was killed had sent and not written down.
    var unrecordedSends = 0
    /// Whether nothing may be left to do.
    var isDrained = true
    /// How long after its mark a dead token may still be sent to: by what was on its way then.
    var graceAfterMark: TimeInterval = 1
}

/// The invariants at the head of `cases-queue.md`, for any installation at any time.
extension Installation {
    func checkInvariants(
        _ expectations: Expectations = Expectations(), sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var broken = try await self.lost()
        broken += try await self.wrongSends(expectations)
        broken += try await self.wrongStates()
        broken += try await self.sendsToDeadTokens(expectations)
        if expectations.isDrained { broken += try await self.leftOver() }
        broken += try await self.wrongCounters()
        #expect(broken == [], sourceLocation: sourceLocation)
    }

    private func texts(_ query: PostgresQuery) async throws -> [String] {
        try await self.admin.query(query, deadline: .seconds(60)).map { row throws(PostgresError) in try row.text(0) }
    }

    // MARK: - I1: nothing is lost

    /// Every notification is decided, or in the outbox or in a batch; every delivery is final, or waits, or its
    /// notification is in the outbox or in a batch.
    func lost() async throws -> [String] {
        try await self.texts(
            """
            with held as materialized (
                select unnest(notification_ids) as id from push.batches union all select notification_id from push.outbox
            ), decided as materialized (select notification_id from push.fanouts)
            select 'I1: nobody has notification ' || n.id from notifications n
            where n.id not in (select notification_id from decided) and n.id not in (select id from held)
            union all
            select 'I1: nobody has delivery ' || d.id || ' of ' || d.notification_id || ', ' || d.state
            from push.deliveries d
            where d.state not in ('accepted', 'discarded', 'cancelled')
                and not exists (select from push.waiting w where w.delivery_id = d.id)
                and d.notification_id not in (select id from held)
            union all
            select 'I1: decided twice: ' || notification_id from push.fanouts group by notification_id having count(*) > 1
            limit 20
            """)
    }

    // MARK: - I2: duplicates are few, and the same to the phone

    private func wrongSends(_ expectations: Expectations) async throws -> [String] {
        let received = self.simulator.received()
        // By what the phone goes by: APNs the delivery's own id, FCM the address and the notification.
        let recorded = try await self.admin.query(
            """
            select case when a.platform = 'ios' then a.delivery_id::text
                else max(d.push_token) || ' ' || a.notification_id::text end, count(*)
            from push.attempts a join devices d on d.id = a.device_id
            where a.number > 0 and a.outcome not in ('cancelled', 'discarded', 'refused')
            group by a.platform, a.delivery_id, a.notification_id
            """, deadline: .seconds(60))
        var tries: [String: Int] = [:]
        for row in recorded { tries[try row.text(0), default: 0] += try row.int(1) }
        var broken: [String] = []
        var unrecorded = 0
        for (identity, pushes) in Dictionary(grouping: received, by: { $0.identity ?? "" }) {
            unrecorded += max(0, pushes.count - (tries[identity] ?? 0))
            if Set(pushes.map { Self.withoutBadge($0.body) }).count > 1 {
                broken.append("I2: different bodies for \(identity)")
            }
        }
        if unrecorded > expectations.unrecordedSends {
            broken.append("I2: \(unrecorded) sends without a record, \(expectations.unrecordedSends) allowed")
        }
        for (delivery, pushes) in Dictionary(grouping: received, by: \.addressee) {
            let ids = Set(pushes.map { "\($0.headers["apns-id"] ?? "") \($0.headers["apns-collapse-id"] ?? "")" })
            if ids.count > 1 { broken.append("I2: \(delivery) came with different ids: \(ids.sorted())") }
        }
        return broken
    }

    private static func withoutBadge(_ body: String) -> String {
        guard let start = body.firstRange(of: "\"badge\":") else { return body }
        return String(body[..<start.upperBound] + body[start.upperBound...].drop { $0.isNumber })
    }

    // MARK: - I3: no wrong state

    /// What a provider accepted, and said so, is accepted.
    private func wrongStates() async throws -> [String] {
        let accepted = Set(
            self.simulator.received().filter { $0.provider == .apns && $0.status == 200 && $0.fault == nil }
                .compactMap(\.identity))
        return try await self.admin.query(
            "select id::text, state from push.deliveries where state in ('discarded', 'cancelled')",
            deadline: .seconds(60)
        ).compactMap { row in
            let id = try row.text(0)
            return accepted.contains(id) ? "I3: APNs accepted \(id), which is \(try row.text(1))" : nil
        }
            + self.texts(
                """
                select 'I3: accepted by a try, ' || d.state || ': ' || d.id from push.deliveries d
                where d.state in ('discarded', 'cancelled') and exists (
                    select from push.attempts a where a.delivery_id = d.id and a.state = 'accepted')
                limit 20
                """)
    }

    private func sendsToDeadTokens(_ expectations: Expectations) async throws -> [String] {
        var marked: [String: Date] = [:]
        for row in try await self.admin.query(
            """
            select push_token, push_token_invalidated_at from devices
            where push_token is not null and push_token_invalidated_at is not null
            """)
        {
            marked[try row.text(0)] = try row.date(1)
        }
        return self.simulator.received().compactMap { push in
            guard let token = push.deviceToken, let time = marked[token],
                push.at > time + expectations.graceAfterMark
            else { return nil }
            return "I3: sent to a dead token \(push.at.timeIntervalSince(time)) s after its mark: \(push.path)"
        }
    }

    // MARK: - I4: it drains

    private func leftOver() async throws -> [String] {
        try await self.texts(
            """
            select 'I4: in the outbox: ' || notification_id || ' ' || origin from push.outbox
            union all
            select 'I4: open batch of ' || cardinality(notification_ids) || ' by ' || worker_id from push.batches
            union all
            select 'I4: waits: ' || delivery_id || ' ' || endpoint || ' ' || reason from push.waiting
            limit 20
            """)
    }

    // MARK: - I5: the counters tell the truth

    private func wrongCounters() async throws -> [String] {
        try await self.texts(
            """
            with counted as (
                select name, labels, sum(value) as value from push.counters
                where name in ('decisions', 'attempts') group by name, labels
            ), happened as (
                select 'decisions' as name, coalesce(k.name, 'other') || ' ' || f.decision as labels, count(*) as value
                from push.fanouts f left join push.kinds k on k.name = f.kind
                group by 2
                union all
                select 'attempts',
                    case platform when 'ios' then 'apns' else 'fcm' end || ' ' || outcome || ' ' || state, count(*)
                from push.attempts group by 2
            )
            select 'I5: ' || coalesce(c.name, h.name) || ' "' || coalesce(c.labels, h.labels) || '" counted '
                || coalesce(c.value, 0) || ', happened ' || coalesce(h.value, 0)
            from counted c full join happened h on h.name = c.name and h.labels = c.labels
            where coalesce(c.value, 0) <> coalesce(h.value, 0)
            """)
    }
}

extension ReceivedPush {
    /// Which notification is for which phone, from what the phone is told: `<token> <notification id>`.
    var addressee: String {
        "\(self.deviceToken ?? "") \(self.notificationID ?? "")"
    }

    var notificationID: String? {
        // Quotes inside a text are escaped, so this is the key.
        self.body.firstRange(of: "\"id\":\"").map { String(self.body[$0.upperBound...].prefix(36)) }
    }
}
