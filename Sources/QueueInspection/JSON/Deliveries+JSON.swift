internal import PushModel

internal import struct FoundationEssentials.UUID

extension DeliveryRow {
    /// The fields that scripts rely on: no more, no fewer, in this order.
    package var json: JSONNode {
        .object([
            ("id", .id(self.id)), ("notification_id", .id(self.notificationID)), ("account_id", .id(self.accountID)),
            ("device_id", .id(self.deviceID)), ("platform", .optional(self.platform?.rawValue)),
            ("kind", .optional(self.kind)), ("state", .text(self.state.rawValue)), ("reason", .optional(self.reason)),
            ("attempt", .integer(self.attempt)), ("scheduled_at", .moment(self.scheduledAt)),
            ("finished_at", .moment(self.finishedAt)),
        ])
    }
}

extension DeliveryPage {
    package var json: JSONNode {
        .object([
            ("deliveries", .array(self.rows.map(\.json))), ("next", .optional(self.next?.description)),
            ("previous", .optional(self.previous?.description)), ("stopped_early", .bool(self.stoppedEarly)),
        ])
    }
}

extension DecisionRecord {
    package var json: JSONNode {
        .object([
            ("decision", .text(self.decision)), ("origin", .text(self.origin)), ("decided_at", .moment(self.decidedAt)),
            ("worker_id", .id(self.workerID)), ("deliveries", .integer(self.deliveries)),
            ("explanation", .text(self.explanation)),
        ])
    }
}

extension AttemptRecord {
    package func json(of delivery: DeliveryRow) -> JSONNode {
        .object([
            ("delivery_id", .id(delivery.id)), ("number", .integer(self.number)), ("state", .text(self.state.rawValue)),
            ("outcome", .text(self.outcome)), ("status", .optional(self.status)), ("reason", .optional(self.reason)),
            ("provider_id", .optional(self.providerID)), ("milliseconds", .optional(self.milliseconds)),
            ("finished_at", .moment(self.finishedAt)), ("worker_id", .id(self.workerID)),
            ("explanation", .text(self.explanation)),
        ])
    }
}

extension WaitingRecord {
    package var json: JSONNode {
        .object([
            ("endpoint", .text(self.endpoint.rawValue)), ("reason", .text(self.reason)),
            ("scheduled_at", .moment(self.scheduledAt)), ("expires_at", .moment(self.expiresAt)),
            ("parked_at", .moment(self.parkedAt)), ("leased", .bool(self.isLeased)), ("worker_id", .id(self.workerID)),
        ])
    }
}

extension DeliveryTimeline {
    /// `decision`, `deliveries` and `attempts` as for a notification, here of the one delivery.
    package var json: JSONNode {
        .object([
            ("summary", .text(self.summary)), ("decision", self.decision?.json ?? .null),
            ("deliveries", .array([self.row.json])),
            ("attempts", .array(self.attempts.map { $0.json(of: self.row) })),
            ("waiting", self.waiting?.json ?? .null), ("audit", .array(self.audit.map(\.json))),
            ("may_retry", .bool(self.may.retry)), ("may_cancel", .bool(self.may.cancel)),
        ])
    }
}

extension NotificationView {
    /// - Parameter timelines: of its deliveries, for their attempts.
    package func json(timelines: [DeliveryTimeline]) -> JSONNode {
        .object([
            ("summary", .text(self.summary)), ("notification", self.row?.json(id: self.id) ?? .null),
            ("decision", self.decision?.json ?? .null),
            ("deliveries", .array(self.devices.compactMap { $0.delivery?.json })),
            ("attempts", .array(timelines.flatMap { line in line.attempts.map { $0.json(of: line.row) } })),
            ("devices", .array(self.devices.map(\.json))), ("audit", .array(self.audit.map(\.json))),
            ("may_cancel", .bool(self.mayCancel)),
        ])
    }
}

extension NotificationRow {
    func json(id: UUID) -> JSONNode {
        .object([
            ("id", .id(id)), ("account_id", .id(self.accountID)), ("kind", .text(self.kind)),
            ("connection_id", .id(self.connectionID)), ("created_at", .moment(self.createdAt)),
            ("read_at", .moment(self.readAt)), ("ignored_at", .moment(self.ignoredAt)),
        ])
    }
}

extension DeviceVerdict {
    package var json: JSONNode {
        .object([
            ("device_id", .id(self.deviceID)), ("platform", .optional(self.device?.platform)),
            ("delivery_id", .id(self.delivery?.id)), ("accepted", .text(self.buzzed.rawValue)),
            ("explanation", .text(self.explanation)),
        ])
    }
}
