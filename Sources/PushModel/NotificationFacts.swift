package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// All that the rules need to know of one claimed notification, read in one snapshot.
package struct NotificationFacts: Equatable, Sendable {
    package var notificationID: UUID
    package var lane: Lane
    package var origin: OutboxOrigin
    /// Nil when the row is gone.
    package var notification: Notification?
    /// Nil when the account is gone.
    package var account: Account?
    /// Whether an earlier unread notification says the same: same account, kind and connection, and either smaller
    /// by `(created_at, id)` or already decided `fanned_out`.
    package var earlierUnreadExists: Bool
    /// Rows of the account that are unread and not ignored.
    package var unreadCount: Int
    /// Devices that have a token which is not marked dead.
    package var devices: [Device]
    /// What was decided before; only looked up for rows that may come twice.
    package var priorDecision: FanoutDecision?
    /// How often its batch was lost by a worker; known for a notification that was claimed alone.
    package var rescues: Int
    /// Devices whose delivery of this notification is final or waits for its next try already.
    package var settledDeviceIDs: Set<UUID>

    package init(
        notificationID: UUID, lane: Lane = .normal, origin: OutboxOrigin = .trigger, notification: Notification?,
        account: Account?, earlierUnreadExists: Bool = false, unreadCount: Int = 0, devices: [Device] = [],
        priorDecision: FanoutDecision? = nil, rescues: Int = 0, settledDeviceIDs: Set<UUID> = []
    ) {
        self.notificationID = notificationID
        self.lane = lane
        self.origin = origin
        self.notification = notification
        self.account = account
        self.earlierUnreadExists = earlierUnreadExists
        self.unreadCount = unreadCount
        self.devices = devices
        self.priorDecision = priorDecision
        self.rescues = rescues
        self.settledDeviceIDs = settledDeviceIDs
    }
}

/// Who put a notification into the outbox; the raw values stand in `push.outbox.origin`.
package enum OutboxOrigin: String, CaseIterable, Sendable {
    case trigger, webhook, sweep, rescue, `operator`
}
