internal import DeliveryQueue
internal import Postgres
internal import PushModel

package import struct FoundationEssentials.UUID

extension QueueReader {
    private static let mostDevices = 200

    /// One notification and every phone of its account; nil when neither the app nor the queue knows it.
    package func notification(_ id: UUID) async throws -> NotificationView? {
        let row = try await self.notificationRow(id)
        let outbox = try await self.outbox(id)
        let batch = try await self.batch(of: id)
        let decision = try await self.decision(of: id)
        let deliveries = try await self.deliveries(of: id, decided: decision?.deliveries.map(\.delivery) ?? [])
        guard row != nil || outbox != nil || batch != nil || decision != nil || !deliveries.isEmpty else { return nil }

        let account = row?.accountID ?? decision?.accountID ?? deliveries.first?.accountID
        let known = try await self.devices(of: account, and: deliveries.map(\.deviceID))
        let now = try await self.now()
        let kind = row?.kind ?? decision?.kind ?? deliveries.first?.kind
        var verdicts = deliveries.map { delivery in
            DeviceVerdict(
                deviceID: delivery.deviceID, device: known.first { $0.id == delivery.deviceID }?.row,
                delivery: delivery, buzzed: Self.answer(delivery.state),
                explanation: Explanation.delivery(delivery, now: now))
        }
        let isQueued = outbox != nil || batch != nil
        for device in known where !verdicts.contains(where: { $0.deviceID == device.id }) {
            let reachable = device.row.hasToken && device.row.tokenInvalidatedAt == nil
            verdicts.append(
                DeviceVerdict(
                    deviceID: device.id, device: device.row, delivery: nil,
                    buzzed: decision == nil && isQueued && reachable ? .notYet : .no,
                    explanation: Explanation.silent(
                        device.row, decision: decision?.record.decision, kind: kind, isQueued: isQueued)))
        }
        let summary = Self.summary(row: row, decision: decision?.record, outbox: outbox, batch: batch, deliveries)
        let audit = try await self.audit(targets: [id], ids: [])
        return NotificationView(
            id: id, row: row, outbox: outbox, batch: batch, decision: decision?.record, devices: verdicts,
            audit: audit, summary: summary,
            mayCancel: outbox.map { $0.origin != OutboxOrigin.rescue.rawValue } ?? false
                || deliveries.contains { $0.state == .available && $0.scheduledAt != nil })
    }

    private static func answer(_ state: DeliveryState) -> DeviceVerdict.Answer {
        switch state {
        case .accepted: .yes
        case .discarded, .cancelled: .no
        case .available, .running: .notYet
        }
    }

    private static func summary(
        row: NotificationRow?, decision: DecisionRecord?, outbox: OutboxRecord?, batch: BatchRecord?,
        _ deliveries: [DeliveryRow]
    ) -> String {
        if let decision, decision.decision != FanoutDecision.fannedOut.rawValue { return decision.explanation }
        if !deliveries.isEmpty {
            let accepted = deliveries.count { $0.state == .accepted }
            let open = deliveries.count { !$0.state.isFinal }
            let failed = deliveries.count - accepted - open
            let parts = [(accepted, "accepted"), (open, "not yet"), (failed, "not accepted")].filter { $0.0 > 0 }
            return "Of \(deliveries.count) \(deliveries.count == 1 ? "device" : "devices"): "
                + parts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        }
        if decision != nil { return decision?.explanation ?? "" }
        if batch != nil { return "A worker has just claimed it" }
        if outbox != nil { return "It waits in the outbox for a worker" }
        return "It never reached the queue: the trigger was missing when it was written and no sweep has found it, "
            + "or what was decided is pruned"
    }

    private func notificationRow(_ id: UUID) async throws -> NotificationRow? {
        let rows = try await self.run(
            """
            select account_id, kind, connection_id, created_at, read_at, ignored_at
            from \(unescaped: self.source.identifier).notifications where id = \(id)::uuid
            """)
        guard let row = rows.first, let account = try row.optionalUUID(0) else { return nil }
        return NotificationRow(
            accountID: account, kind: try row.optionalText(1) ?? "", connectionID: try row.optionalUUID(2),
            createdAt: try row.date(3), readAt: try row.optionalDate(4), ignoredAt: try row.optionalDate(5))
    }

    private func outbox(_ id: UUID) async throws -> OutboxRecord? {
        let rows = try await self.run(
            "select lane, origin, enqueued_at, rescues from push.outbox where notification_id = \(id)::uuid")
        guard let row = rows.first else { return nil }
        return OutboxRecord(
            lane: try row.int(0), origin: try row.text(1), enqueuedAt: try row.date(2), rescues: try row.int(3))
    }

    /// Those that were decided, and those that came with a later plan. One that was decided and of which nothing else is
    /// known runs, or is in the outbox again.
    private func deliveries(of id: UUID, decided: [UUID]) async throws -> [DeliveryRow] {
        let rows = try await self.run(
            """
            select delivery_id from (
                (select delivery_id from push.attempts where notification_id = \(id)::uuid limit 5000)
                union (select delivery_id from push.waiting where notification_id = \(id)::uuid limit 1000)
            ) d limit \(unescaped: String(Self.mostDevices))
            """)
        var ids: [UUID] = []
        for row in rows { ids.append(try row.uuid(0)) }
        var found = try await self.states(of: Array(Set(ids)))
        let rest = Set(decided).subtracting(found.map(\.id))
        if !rest.isEmpty {
            let filter = DeliveryFilter(notification: id)
            found += try await self.deliveries(matching: filter, limit: Self.mostDevices).rows.filter {
                rest.contains($0.id)
            }
        }
        return found.sorted { $0.id.text < $1.id.text }
    }

    private struct KnownDevice {
        var id: UUID
        var row: DeviceRow
    }

    private func devices(of account: UUID?, and ids: [UUID]) async throws -> [KnownDevice] {
        let rows = try await self.run(
            """
            select d.id, d.platform, coalesce(push.has_token(d.id), false), coalesce(d.locale, ''),
                coalesce(d.apns_environment, 'production'), d.push_token_updated_at, d.push_token_invalidated_at,
                d.push_token_invalid_reason
            from (
                select id from \(unescaped: self.source.identifier).devices where account_id = \(account)::uuid
                union select unnest(\(ids)::uuid[])
            ) i
            cross join lateral (
                select * from (
                    select id, platform, locale, apns_environment, push_token_updated_at, push_token_invalidated_at,
                        push_token_invalid_reason
                    from \(unescaped: self.source.identifier).devices
                ) v where v.id = i.id offset 0
            ) d
            limit \(unescaped: String(Self.mostDevices))
            """)
        var devices: [KnownDevice] = []
        for row in rows {
            devices.append(
                KnownDevice(
                    id: try row.uuid(0),
                    row: DeviceRow(
                        platform: try row.optionalText(1) ?? "", hasToken: try row.bool(2), locale: try row.text(3),
                        environment: try row.text(4), tokenUpdatedAt: try row.optionalDate(5),
                        tokenInvalidatedAt: try row.optionalDate(6), tokenInvalidReason: try row.optionalText(7))))
        }
        return devices
    }
}
