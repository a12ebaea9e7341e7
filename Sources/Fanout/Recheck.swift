package import PushModel

package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// What is to become of one delivery whose turn has come, by facts read just now: before the first try and before
/// every retry.
package enum Recheck: Equatable, Sendable {
    /// Send this: the badge, the device's locale and the row are as they are now, the token is the planned one.
    case send(Delivery)
    case cancel(DeliveryReason)
    case expired

    /// `token`: what the delivery was planned for; nil where only the device is known. A device that is gone, whose
    /// token is dead or another one by now, cancels the delivery: whoever holds the phone now did not ask for it.
    package static func decide(
        id: UUID, deviceID: UUID, token planned: DeviceToken?, expiresAt: Date, facts: NotificationFacts, now: Date
    ) -> Recheck {
        switch Verdict(facts, now: now, expiresAt: { _, _ in expiresAt }) {
        case .unwanted(_, .expired): return .expired
        case .unwanted(_, let reason): return .cancel(reason)
        case .wanted(let notification, let kind, _):
            guard let device = facts.devices.first(where: { $0.id == deviceID }),
                let token = try? DeviceToken(stored: device.pushToken ?? "", platform: device.platform),
                planned == nil || planned == token
            else { return .cancel(.tokenChanged) }
            return .send(
                Delivery(
                    id: id, notification: notification, kind: kind, device: device, token: token,
                    badge: facts.unreadCount, expiresAt: expiresAt))
        }
    }

    /// The same for a delivery at hand.
    package static func decide(_ delivery: Delivery, facts: NotificationFacts, now: Date) -> Recheck {
        Self.decide(
            id: delivery.id, deviceID: delivery.device.id, token: delivery.token, expiresAt: delivery.expiresAt,
            facts: facts, now: now)
    }
}
