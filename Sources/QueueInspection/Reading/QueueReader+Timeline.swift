internal import Postgres
internal import PushModel

package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

extension QueueReader {
    private static let mostAttempts = 200

    /// Everything about one delivery; nil when there is none of that id.
    package func timeline(of delivery: UUID) async throws -> DeliveryTimeline? {
        guard let row = try await self.states(of: [delivery]).first else { return nil }
        let attempts = try await self.attempts(of: delivery)
        let waiting = try await self.waiting(delivery)
        let decision = try await self.decision(of: row.notificationID)?.record
        let batch = try await self.batch(of: row.notificationID)
        let operators = attempts.filter { $0.reason == DeliveryReason.operator.rawValue }.map(\.workerID)
        let audit = try await self.audit(targets: [delivery, row.notificationID], ids: operators)
        let now = try await self.now()
        var summary = Explanation.delivery(row, now: now)
        if row.state == .available, let waiting,
            let state = try await self.providers().first(where: { $0.endpoint == waiting.endpoint }),
            let pause = state.pause
        {
            summary = Explanation.paused(pause, at: waiting.endpoint)
        }
        return DeliveryTimeline(
            row: row, decision: decision, attempts: attempts, waiting: waiting, batch: batch, audit: audit,
            summary: summary,
            may: PermittedActions(
                retry: row.state == .discarded || row.state == .cancelled
                    || (row.state == .available && waiting != nil),
                cancel: row.state == .available && waiting != nil))
    }

    /// The latest 200 tries and ends of a delivery, oldest first.
    private func attempts(of delivery: UUID) async throws -> [AttemptRecord] {
        let rows = try await self.run(
            """
            select number, state, outcome, status, reason, provider_id, milliseconds, finished_at, worker_id
            from push.attempts where delivery_id = \(delivery)::uuid
            order by finished_at desc, number desc
            limit \(unescaped: String(Self.mostAttempts))
            """)
        var attempts: [AttemptRecord] = []
        for row in rows.reversed() {
            let state = DeliveryState(rawValue: try row.text(1)) ?? .running
            let outcome = try row.text(2)
            let status = try row.optionalInt(3)
            let reason = try row.optionalText(4)
            attempts.append(
                AttemptRecord(
                    number: try row.int(0), state: state, outcome: outcome, status: status, reason: reason,
                    providerID: try row.optionalText(5), milliseconds: try row.optionalInt(6),
                    finishedAt: try row.date(7), workerID: try row.uuid(8),
                    explanation: Explanation.attempt(outcome, state: state, status: status, reason: reason)))
        }
        return attempts
    }

    private func waiting(_ delivery: UUID) async throws -> WaitingRecord? {
        let rows = try await self.run(
            """
            select endpoint, reason, scheduled_at, expires_at, parked_at, lease_token is not null and scheduled_at > now(),
                worker_id
            from push.waiting where delivery_id = \(delivery)::uuid
            """)
        guard let row = rows.first, let endpoint = ProviderEndpoint(rawValue: try row.text(0)) else { return nil }
        return WaitingRecord(
            endpoint: endpoint, reason: try row.text(1), scheduledAt: try row.date(2), expiresAt: try row.date(3),
            parkedAt: try row.date(4), isLeased: try row.bool(5), workerID: try row.optionalUUID(6))
    }

    // MARK: - Shared with the notification's view

    struct Decision {
        var record: DecisionRecord
        var accountID: UUID?
        var kind: String?
        var deliveries: [(delivery: UUID, device: UUID)]
    }

    func decision(of notification: UUID) async throws -> Decision? {
        let rows = try await self.run(
            """
            select account_id, kind, decision, origin, delivery_ids, device_ids, worker_id, decided_at
            from push.fanouts where notification_id = \(notification)::uuid
            order by decided_at limit 1
            """)
        guard let row = rows.first else { return nil }
        let kind = try row.optionalText(1)
        let decision = try row.text(2)
        let deliveries = try row.uuidArray(4)
        return Decision(
            record: DecisionRecord(
                decision: decision, origin: try row.text(3), decidedAt: try row.date(7), workerID: try row.uuid(6),
                deliveries: deliveries.count, explanation: Explanation.decision(decision, kind: kind)),
            accountID: try row.optionalUUID(0), kind: kind,
            deliveries: Array(zip(deliveries, try row.uuidArray(5))).map { (delivery: $0.0, device: $0.1) })
    }

    /// A scan of `push.batches`, which has a row per open batch.
    func batch(of notification: UUID) async throws -> BatchRecord? {
        let rows = try await self.run(
            """
            select id, worker_id, opened_at, leased_until, rescues from push.batches
            where \(notification)::uuid = any (notification_ids) limit 1
            """)
        guard let row = rows.first else { return nil }
        return BatchRecord(
            id: try row.int(0), workerID: try row.uuid(1), openedAt: try row.date(2), leasedUntil: try row.date(3),
            rescues: try row.int(4))
    }

    func now() async throws -> Date { try await self.run("select now()").single().date(0) }
}
