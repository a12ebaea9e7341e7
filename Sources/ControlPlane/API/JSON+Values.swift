import Dashboard
import PushModel
import QueueInspection

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

// The values of the queue as JSON: ids as lower-case text, times in ISO 8601, lengths of time in seconds. None holds a push
// token, a secret or a person's name.

extension JSON {
    init(_ id: UUID?) { self = id.map { .string($0.uuidString.lowercased()) } ?? .null }
    init(_ date: Date?) { self = date.map { .string(MomentText.write($0)) } ?? .null }
    init(_ text: String?) { self = text.map(JSON.string) ?? .null }
    init(_ number: Int?) { self = number.map(JSON.int) ?? .null }
    init(seconds: Double?) { self = seconds.map(JSON.double) ?? .null }

    init(_ count: CappedCount) { self = ["value": .int(count.value), "capped": .bool(count.isCapped)] }
    init(_ filter: DeliveryFilter) { self = .object(filter.pairs.map { ($0.name, .string($0.value)) }) }

    // MARK: - Lists

    init(_ row: DeliveryRow) {
        self = [
            "id": JSON(row.id), "notification_id": JSON(row.notificationID), "account_id": JSON(row.accountID),
            "device_id": JSON(row.deviceID), "platform": JSON(row.platform?.rawValue), "kind": JSON(row.kind),
            "state": .string(row.state.rawValue), "reason": JSON(row.reason), "attempt": .int(row.attempt),
            "scheduled_at": JSON(row.scheduledAt), "finished_at": JSON(row.finishedAt), "time": JSON(row.time),
        ]
    }

    init(_ page: DeliveryPage) {
        self = [
            "deliveries": .array(page.rows.map(JSON.init)), "next": JSON(page.next?.description),
            "previous": JSON(page.previous?.description), "stopped_early": .bool(page.stoppedEarly),
        ]
    }

    // MARK: - One delivery, one notification

    init(_ timeline: DeliveryTimeline) {
        self = [
            "summary": .string(timeline.summary), "delivery": JSON(timeline.row),
            "decision": timeline.decision.map(JSON.init) ?? .null,
            "attempts": .array(timeline.attempts.map(JSON.init)),
            "waiting": timeline.waiting.map(JSON.init) ?? .null, "batch": timeline.batch.map(JSON.init) ?? .null,
            "audit": .array(timeline.audit.map(JSON.init)),
            "may": ["retry": .bool(timeline.may.retry), "cancel": .bool(timeline.may.cancel)],
        ]
    }

    init(_ decision: DecisionRecord) {
        self = [
            "decision": .string(decision.decision), "explanation": .string(decision.explanation),
            "origin": .string(decision.origin), "decided_at": JSON(decision.decidedAt),
            "worker_id": JSON(decision.workerID), "deliveries": .int(decision.deliveries),
        ]
    }

    init(_ attempt: AttemptRecord) {
        self = [
            "number": .int(attempt.number), "state": .string(attempt.state.rawValue),
            "outcome": .string(attempt.outcome), "status": JSON(attempt.status), "reason": JSON(attempt.reason),
            "provider_id": JSON(attempt.providerID), "milliseconds": JSON(attempt.milliseconds),
            "finished_at": JSON(attempt.finishedAt), "worker_id": JSON(attempt.workerID),
            "explanation": .string(attempt.explanation),
        ]
    }

    init(_ waiting: WaitingRecord) {
        self = [
            "endpoint": .string(waiting.endpoint.rawValue), "reason": .string(waiting.reason),
            "scheduled_at": JSON(waiting.scheduledAt), "expires_at": JSON(waiting.expiresAt),
            "parked_at": JSON(waiting.parkedAt), "leased": .bool(waiting.isLeased), "worker_id": JSON(waiting.workerID),
        ]
    }

    init(_ batch: BatchRecord) {
        self = [
            // A bigint: as text, as readers that know only doubles would round it one day.
            "id": .string("\(batch.id)"), "worker_id": JSON(batch.workerID), "opened_at": JSON(batch.openedAt),
            "leased_until": JSON(batch.leasedUntil), "rescues": .int(batch.rescues),
        ]
    }

    init(_ view: NotificationView) {
        self = [
            "id": JSON(view.id), "summary": .string(view.summary), "row": view.row.map(JSON.init) ?? .null,
            "outbox": view.outbox.map(JSON.init) ?? .null, "batch": view.batch.map(JSON.init) ?? .null,
            "decision": view.decision.map(JSON.init) ?? .null, "devices": .array(view.devices.map(JSON.init)),
            "audit": .array(view.audit.map(JSON.init)), "may_cancel": .bool(view.mayCancel),
        ]
    }

    init(_ row: NotificationRow) {
        self = [
            "account_id": JSON(row.accountID), "kind": .string(row.kind), "connection_id": JSON(row.connectionID),
            "created_at": JSON(row.createdAt), "read_at": JSON(row.readAt), "ignored_at": JSON(row.ignoredAt),
        ]
    }

    init(_ outbox: OutboxRecord) {
        self = [
            "lane": .int(outbox.lane), "origin": .string(outbox.origin), "enqueued_at": JSON(outbox.enqueuedAt),
            "rescues": .int(outbox.rescues),
        ]
    }

    init(_ verdict: DeviceVerdict) {
        let device = verdict.device.map { device -> JSON in
            [
                "platform": .string(device.platform), "has_token": .bool(device.hasToken),
                "locale": .string(device.locale), "environment": .string(device.environment),
                "token_updated_at": JSON(device.tokenUpdatedAt),
                "token_invalidated_at": JSON(device.tokenInvalidatedAt),
                "token_invalid_reason": JSON(device.tokenInvalidReason),
            ]
        }
        let buzzed =
            switch verdict.buzzed {
            case .yes: "yes"
            case .no: "no"
            case .notYet: "not_yet"
            }
        self = [
            "device_id": JSON(verdict.deviceID), "buzzed": .string(buzzed), "explanation": .string(verdict.explanation),
            "device": device ?? .null, "delivery": verdict.delivery.map(JSON.init) ?? .null,
        ]
    }

    // MARK: - What operators do

    init(_ entry: AuditEntry) {
        let target: JSON =
            switch entry.target {
            case .delivery(let id): ["delivery": JSON(id)]
            case .notification(let id): ["notification": JSON(id)]
            case .provider(let endpoint): ["provider": .string(endpoint)]
            case .filter(let filter, let bulk): ["filter": JSON(filter), "bulk": JSON(bulk)]
            case .history: ["history": true]
            }
        self = [
            "id": JSON(entry.id), "at": JSON(entry.at), "actor": .string(entry.actor),
            "action": .string(entry.action.rawValue), "target": target, "matched": .int(entry.matched),
            "changed": .int(entry.changed), "note": JSON(entry.note),
        ]
    }

    init(_ page: AuditPage) {
        self = ["audit": .array(page.entries.map(JSON.init)), "next": JSON(page.next?.description)]
    }

    init(_ bulk: BulkAction) {
        self = [
            "id": JSON(bulk.id), "action": .string(bulk.action.rawValue), "filter": JSON(bulk.filter),
            "state": .string(bulk.state.rawValue), "matched": JSON(bulk.matched), "done": .int(bulk.done),
            "changed": .int(bulk.changed), "actor": .string(bulk.actor), "started_at": JSON(bulk.startedAt),
            "updated_at": JSON(bulk.updatedAt), "error": JSON(bulk.error),
        ]
    }

    init(_ result: ActionResult) {
        let items = result.items.map { item -> JSON in
            ["id": JSON(item.id), "changed": .bool(item.isChanged), "message": .string(item.message)]
        }
        self = ["changed": .int(result.changed), "items": .array(items)]
    }
}
