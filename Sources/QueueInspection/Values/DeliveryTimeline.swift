package import PushModel

package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// Everything that is known of one delivery.
package struct DeliveryTimeline: Sendable {
    package var row: DeliveryRow
    /// Nil when its partition was pruned, or the worker died before it was written.
    package var decision: DecisionRecord?
    /// Every try and every end, oldest first; the latest 200.
    package var attempts: [AttemptRecord]
    /// Set while it waits.
    package var waiting: WaitingRecord?
    /// Whether a worker holds its notification in a batch now, and whose.
    package var batch: BatchRecord?
    /// Operators' actions that touched it or its notification, oldest first; the latest 100.
    package var audit: [AuditEntry]
    /// In one sentence: what happened, and if it was not pushed, why.
    package var summary: String
    package var may: PermittedActions

    package init(
        row: DeliveryRow, decision: DecisionRecord?, attempts: [AttemptRecord], waiting: WaitingRecord?,
        batch: BatchRecord?, audit: [AuditEntry], summary: String, may: PermittedActions
    ) {
        self.row = row
        self.decision = decision
        self.attempts = attempts
        self.waiting = waiting
        self.batch = batch
        self.audit = audit
        self.summary = summary
        self.may = may
    }
}

/// What an operator may do with a delivery as it stands; the action itself checks again.
package struct PermittedActions: Hashable, Sendable {
    package var retry: Bool
    package var cancel: Bool

    package init(retry: Bool, cancel: Bool) {
        self.retry = retry
        self.cancel = cancel
    }
}

/// A line of `push.fanouts`.
package struct DecisionRecord: Hashable, Sendable {
    /// A word of `FanoutDecision`, or one that a newer worker wrote.
    package var decision: String
    /// Who put the notification into the outbox: trigger, webhook, sweep, rescue, operator.
    package var origin: String
    package var decidedAt: Date
    package var workerID: UUID
    /// How many deliveries it made.
    package var deliveries: Int
    /// The decision as a sentence a person understands.
    package var explanation: String

    package init(
        decision: String, origin: String, decidedAt: Date, workerID: UUID, deliveries: Int, explanation: String
    ) {
        self.decision = decision
        self.origin = origin
        self.decidedAt = decidedAt
        self.workerID = workerID
        self.deliveries = deliveries
        self.explanation = explanation
    }
}

/// A line of `push.attempts`: a try, an end without one, or an operator's retry.
package struct AttemptRecord: Hashable, Sendable {
    /// Counted from 1; 0 for an end without any try.
    package var number: Int
    /// Where the delivery stood after it.
    package var state: DeliveryState
    /// `accepted`, `retry`, `device_dead`, … for a try; `cancelled`, `discarded`, `refused` for an end without one;
    /// `retried` for an operator's.
    package var outcome: String
    /// HTTP status, if there was an answer.
    package var status: Int?
    package var reason: String?
    /// What the provider calls the message.
    package var providerID: String?
    /// From hand-over to answer; nil when nothing was sent.
    package var milliseconds: Int?
    package var finishedAt: Date
    /// The worker; for an operator's action the id of its entry in the audit.
    package var workerID: UUID
    /// As a sentence a person understands.
    package var explanation: String

    package init(
        number: Int, state: DeliveryState, outcome: String, status: Int?, reason: String?, providerID: String?,
        milliseconds: Int?, finishedAt: Date, workerID: UUID, explanation: String
    ) {
        self.number = number
        self.state = state
        self.outcome = outcome
        self.status = status
        self.reason = reason
        self.providerID = providerID
        self.milliseconds = milliseconds
        self.finishedAt = finishedAt
        self.workerID = workerID
        self.explanation = explanation
    }
}

/// A row of `push.waiting`.
package struct WaitingRecord: Hashable, Sendable {
    package var endpoint: ProviderEndpoint
    package var reason: String
    /// When it is due; while it is leased, when the lease ends.
    package var scheduledAt: Date
    package var expiresAt: Date
    package var parkedAt: Date
    package var isLeased: Bool
    package var workerID: UUID?

    package init(
        endpoint: ProviderEndpoint, reason: String, scheduledAt: Date, expiresAt: Date, parkedAt: Date, isLeased: Bool,
        workerID: UUID?
    ) {
        self.endpoint = endpoint
        self.reason = reason
        self.scheduledAt = scheduledAt
        self.expiresAt = expiresAt
        self.parkedAt = parkedAt
        self.isLeased = isLeased
        self.workerID = workerID
    }
}

/// The open batch that holds a notification.
package struct BatchRecord: Hashable, Sendable {
    package var id: Int
    package var workerID: UUID
    package var openedAt: Date
    package var leasedUntil: Date
    /// How often a worker was lost with it.
    package var rescues: Int

    package init(id: Int, workerID: UUID, openedAt: Date, leasedUntil: Date, rescues: Int) {
        self.id = id
        self.workerID = workerID
        self.openedAt = openedAt
        self.leasedUntil = leasedUntil
        self.rescues = rescues
    }
}
