package import PushModel

package import struct FoundationEssentials.UUID

/// What is to be done about one notification: a decision, and an end or a send for each device that has none yet.
package struct FanoutPlan: Equatable, Sendable {
    package var notificationID: UUID
    package var decision: FanoutDecision
    /// False where the decision was recorded before, by whoever held the notification then.
    package var decisionIsNew: Bool
    /// To be sent.
    package var deliveries: [Delivery]
    /// Discarded without a try: the stored token cannot be used.
    package var refused: [RefusedDelivery]
    /// Not wanted any more: left over from an earlier fan-out, whose notification has since been read, ignored, …
    package var cancelled: [CancelledDelivery]

    package init(
        notificationID: UUID, decision: FanoutDecision, decisionIsNew: Bool = true, deliveries: [Delivery] = [],
        refused: [RefusedDelivery] = [], cancelled: [CancelledDelivery] = []
    ) {
        self.notificationID = notificationID
        self.decision = decision
        self.decisionIsNew = decisionIsNew
        self.deliveries = deliveries
        self.refused = refused
        self.cancelled = cancelled
    }
}

/// A device that cannot be pushed to as it is stored.
package struct RefusedDelivery: Equatable, Sendable {
    package var id: UUID
    package var device: Device
    package var cause: Cause

    package enum Cause: Equatable, Sendable {
        case malformed(DeviceToken.Malformed)
        /// Another device of the account has the same token and registered it later.
        case duplicateToken
    }

    package init(id: UUID, device: Device, cause: Cause) {
        self.id = id
        self.device = device
        self.cause = cause
    }

    /// The word for `push.attempts.reason`.
    package var reason: String {
        switch self.cause {
        case .malformed(let fault): fault.rawValue
        case .duplicateToken: DeliveryReason.duplicateToken.rawValue
        }
    }
}

/// A delivery that ends without a further try.
package struct CancelledDelivery: Equatable, Sendable {
    package var id: UUID
    package var device: Device
    /// Its final state is ``DeliveryReason/state``.
    package var reason: DeliveryReason

    package init(id: UUID, device: Device, reason: DeliveryReason) {
        self.id = id
        self.device = device
        self.reason = reason
    }
}
