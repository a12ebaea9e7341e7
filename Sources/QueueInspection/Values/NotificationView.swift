package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// A notification as the queue sees it: what was decided, and for every phone of the account why it did or did not buzz.
package struct NotificationView: Sendable {
    package var id: UUID
    /// Nil when the app's row is gone.
    package var row: NotificationRow?
    package var outbox: OutboxRecord?
    package var batch: BatchRecord?
    /// Nil while there is none, or when its partition was pruned.
    package var decision: DecisionRecord?
    /// Those that got a delivery, then the account's other devices; at most 200.
    package var devices: [DeviceVerdict]
    /// Oldest first; the latest 100.
    package var audit: [AuditEntry]
    /// In one sentence.
    package var summary: String
    /// Whether cancelling it would do something: it is in the outbox, or a delivery of it waits.
    package var mayCancel: Bool

    package init(
        id: UUID, row: NotificationRow?, outbox: OutboxRecord?, batch: BatchRecord?, decision: DecisionRecord?,
        devices: [DeviceVerdict], audit: [AuditEntry], summary: String, mayCancel: Bool
    ) {
        self.id = id
        self.row = row
        self.outbox = outbox
        self.batch = batch
        self.decision = decision
        self.devices = devices
        self.audit = audit
        self.summary = summary
        self.mayCancel = mayCancel
    }
}

/// What the app's row says, without anybody's name or text.
package struct NotificationRow: Hashable, Sendable {
    package var accountID: UUID
    package var kind: String
    package var connectionID: UUID?
    package var createdAt: Date
    package var readAt: Date?
    package var ignoredAt: Date?

    package init(
        accountID: UUID, kind: String, connectionID: UUID?, createdAt: Date, readAt: Date?, ignoredAt: Date?
    ) {
        self.accountID = accountID
        self.kind = kind
        self.connectionID = connectionID
        self.createdAt = createdAt
        self.readAt = readAt
        self.ignoredAt = ignoredAt
    }
}

/// Its row of the outbox.
package struct OutboxRecord: Hashable, Sendable {
    package var lane: Int
    package var origin: String
    package var enqueuedAt: Date
    package var rescues: Int

    package init(lane: Int, origin: String, enqueuedAt: Date, rescues: Int) {
        self.lane = lane
        self.origin = origin
        self.enqueuedAt = enqueuedAt
        self.rescues = rescues
    }
}

/// Whether one phone got the notification, and why or why not.
package struct DeviceVerdict: Sendable {
    package var deviceID: UUID
    /// Nil when the app's row of the device is gone.
    package var device: DeviceRow?
    /// Nil when there was no delivery for it.
    package var delivery: DeliveryRow?
    package var buzzed: Answer
    /// A sentence that begins with a capital and ends without a full stop.
    package var explanation: String

    package enum Answer: String, Hashable, Sendable {
        /// The provider accepted it; what the phone did with it, nobody tells.
        case yes
        case no
        /// It waits or runs.
        case notYet = "not_yet"
    }

    package init(deviceID: UUID, device: DeviceRow?, delivery: DeliveryRow?, buzzed: Answer, explanation: String) {
        self.deviceID = deviceID
        self.device = device
        self.delivery = delivery
        self.buzzed = buzzed
        self.explanation = explanation
    }
}

/// What the app's row of a device says, without its token.
package struct DeviceRow: Hashable, Sendable {
    package var platform: String
    package var hasToken: Bool
    package var locale: String
    /// `production` or `development`; of no meaning for Android.
    package var environment: String
    package var tokenUpdatedAt: Date?
    package var tokenInvalidatedAt: Date?
    package var tokenInvalidReason: String?

    package init(
        platform: String, hasToken: Bool, locale: String, environment: String, tokenUpdatedAt: Date?,
        tokenInvalidatedAt: Date?, tokenInvalidReason: String?
    ) {
        self.platform = platform
        self.hasToken = hasToken
        self.locale = locale
        self.environment = environment
        self.tokenUpdatedAt = tokenUpdatedAt
        self.tokenInvalidatedAt = tokenInvalidatedAt
        self.tokenInvalidReason = tokenInvalidReason
    }
}
