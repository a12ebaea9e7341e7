internal import Delivery
internal import DeliveryQueue
internal import Fanout
internal import PushModel

internal import struct FoundationEssentials.Date
internal import struct FoundationEssentials.UUID

/// Deliveries for tests.
enum Make {
    static let now = Date(timeIntervalSince1970: 1_790_000_000)

    static func delivery(
        _ platform: Platform = .ios, environment: APNSEnvironment = .production, expiresIn seconds: Double = 86_400
    ) throws -> Delivery {
        let token = "00112233445566778899aabbccddeeff"
        let notification = Notification(
            id: UUID(), accountID: UUID(), kindName: "invitation_received", createdAt: Self.now)
        let device = Device(
            id: UUID(), platform: platform, pushToken: token.uppercased(), apnsEnvironment: environment,
            pushTokenUpdatedAt: Self.now)
        return Delivery(
            id: DeliveryID.make(notification: notification.id, device: device.id), notification: notification,
            kind: .invitationReceived, device: device,
            token: try DeviceToken(stored: token, platform: platform), badge: 1,
            expiresAt: Self.now.addingTimeInterval(seconds))
    }

    /// A first try.
    static func first(
        _ platform: Platform = .ios, environment: APNSEnvironment = .production, expiresIn seconds: Double = 86_400
    ) throws -> PendingDelivery {
        PendingDelivery(
            try self.delivery(platform, environment: environment, expiresIn: seconds), batch: nil, readAt: .now)
    }

    /// One that waited.
    static func retry(
        _ platform: Platform = .ios, environment: APNSEnvironment = .production, at endpoint: ProviderEndpoint? = nil,
        attempts: Int = 1, waitedFor reason: String = "status_503", expiresIn seconds: Double = 86_400
    ) throws -> PendingDelivery {
        let delivery = try self.delivery(platform, environment: environment, expiresIn: seconds)
        var item = PendingDelivery(delivery, batch: nil, readAt: .now)
        if let endpoint { item.endpoint = endpoint }
        item.attempts = attempts
        item.waitedFor = reason
        item.waitingLease = WaitingLease(deliveryID: delivery.id, token: UUID())
        return item
    }
}

/// The least jitter there is. Not 0: `random(in:)` draws again for as long as it gets that. With something stored: the
/// thread sanitizer looks at the address of every inout argument, and that of an empty value is any.
struct NoJitter: RandomNumberGenerator {
    private var value: UInt64 = 1

    mutating func next() -> UInt64 { self.value }
}
