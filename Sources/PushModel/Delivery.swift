package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// One message to one device: what a payload is made from.
package struct Delivery: Equatable, Sendable {
    /// UUIDv5 of (notification, device): the same after a crash, before anything about it was stored.
    package var id: UUID
    package var notification: Notification
    package var kind: NotificationKind
    package var device: Device
    package var token: DeviceToken
    /// The unread count of the account, read with the facts.
    package var badge: Int
    /// When the provider and we give it up: creation plus lifetime.
    package var expiresAt: Date

    package init(
        id: UUID, notification: Notification, kind: NotificationKind, device: Device, token: DeviceToken, badge: Int,
        expiresAt: Date
    ) {
        self.id = id
        self.notification = notification
        self.kind = kind
        self.device = device
        self.token = token
        self.badge = badge
        self.expiresAt = expiresAt
    }
}

/// Why a delivery was given up or not wanted, apart from what a provider says: `push.attempts.reason`.
package enum DeliveryReason: String, CaseIterable, Sendable {
    // cancelled
    case alreadyRead = "already_read"
    case ignored
    case gone
    case switchedOff = "switched_off"
    case tokenChanged = "token_changed"
    /// The row became one of a kind this worker does not know.
    case unknownKind = "unknown_kind"
    /// A person called it off.
    case `operator`
    // discarded
    case expired
    case exhausted
    case providerNotConfigured = "provider_not_configured"
    case duplicateToken = "duplicate_token"
    /// Worker after worker died with it, and with it alone.
    case workersLost = "workers_lost"

    /// The final state that goes with the reason.
    package var state: DeliveryState {
        switch self {
        case .alreadyRead, .ignored, .gone, .switchedOff, .tokenChanged, .unknownKind, .operator: .cancelled
        case .expired, .exhausted, .providerNotConfigured, .duplicateToken, .workersLost: .discarded
        }
    }
}
