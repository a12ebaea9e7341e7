package import DeliveryQueue
package import PushModel

package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// A delivery on its way through the pipeline: a first try, or one that waited.
package struct PendingDelivery: Sendable {
    package var reference: DeliveryReference
    package var endpoint: ProviderEndpoint
    /// Tries so far that count against the maximum.
    package var attempts: Int
    /// Why it waited; nil for a first try.
    package var waitedFor: String?
    /// The batch it came with; nil for a retry.
    package var batch: BatchLease?
    /// The lease of its row in `push.waiting`; nil for a first try.
    package var waitingLease: WaitingLease?
    package var expiresAt: Date
    /// What to send, and when the facts behind it were read. Nil: not read yet.
    package var delivery: Delivery?
    package var readAt: ContinuousClock.Instant?

    /// A first try, planned from facts read at `readAt`.
    package init(_ delivery: Delivery, batch: BatchLease?, readAt: ContinuousClock.Instant) {
        self.reference = DeliveryReference(delivery)
        self.endpoint = ProviderEndpoint(device: delivery.device)
        self.attempts = 0
        self.expiresAt = delivery.expiresAt
        self.delivery = delivery
        self.batch = batch
        self.readAt = readAt
    }

    /// A retry: its facts are read again before the send.
    package init(_ waiting: WaitingDelivery) {
        self.reference = waiting.reference
        self.endpoint = waiting.endpoint
        self.attempts = waiting.attempts
        self.waitedFor = waiting.reason
        self.waitingLease = waiting.lease
        self.expiresAt = waiting.expiresAt
    }
}

extension DeliveryReference {
    package init(_ delivery: Delivery) {
        self.init(
            deliveryID: delivery.id, notificationID: delivery.notification.id, deviceID: delivery.device.id,
            accountID: delivery.notification.accountID, platform: delivery.device.platform,
            kindName: delivery.kind.name)
    }
}
