import APNS
import Dashboard
import DeliveryQueue
import FCM
import Localization
import PushModel
import QueueInspection

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// Builds the request of a delivery anew from the app's rows, for the page of the delivery: rendered texts are never
/// stored. No push token enters it: it is built for a made-up one.
struct RequestRebuilder: Sendable {
    /// What stands in requests beside the rows.
    let identity: ProviderIdentity
    let queue: QueueAccess
    let languages: @Sendable () -> LanguageCatalog
    let lifetime: @Sendable (NotificationKind) -> Duration

    /// - Parameter showsNames: whether people's names stand in it; otherwise a mark does.
    func request(of row: DeliveryRow, showsNames: Bool) async throws -> RebuiltRequest {
        let facts = try await self.facts(row.notificationID)
        guard var notification = facts?.notification else {
            return RebuiltRequest(
                text: nil, note: "The app has deleted the notification, so its request cannot be built.")
        }
        guard let device = facts?.devices.first(where: { $0.id == row.deviceID }) else {
            return RebuiltRequest(
                text: nil, note: "The device is gone, or has no valid token any more, so the request cannot be built.")
        }
        guard let kind = NotificationKind(named: notification.kindName) else {
            return RebuiltRequest(text: nil, note: "This program does not know the kind \(notification.kindName).")
        }
        if !showsNames, notification.actorName != nil { notification.actorName = "•••" }
        guard let token = try? DeviceToken(stored: Self.madeUp(device.platform), platform: device.platform) else {
            return RebuiltRequest(text: nil)
        }
        let delivery = Delivery(
            id: row.id, notification: notification, kind: kind, device: device, token: token,
            badge: facts?.unreadCount ?? 0,
            expiresAt: notification.createdAt.addingTimeInterval(Double(self.lifetime(kind).components.seconds)))
        return RebuiltRequest(text: self.text(delivery))
    }

    /// The name in a notification's row.
    func actorName(of notification: UUID) async throws -> String? {
        try await self.facts(notification)?.notification?.actorName
    }

    private func facts(_ id: UUID) async throws -> NotificationFacts? {
        let reading = FactsReading(source: self.queue.source)
        return try reading.decode(try await self.queue.query(reading.query(notificationIDs: [id])))[id]
    }

    private func text(_ delivery: Delivery) -> String {
        let path: String
        var headers: [(name: String, value: String)]
        let body: [UInt8]
        switch delivery.device.platform {
        case .ios:
            let words = self.languages()
                .render(delivery.notification, kind: delivery.kind, locale: delivery.device.locale)
            let request = APNSRequest(
                delivery: delivery, text: words, topic: self.identity.apnsTopic ?? "<topic>",
                sound: self.identity.apnsSound)
            (path, headers, body) = (request.path, request.headers, request.body)
            headers.append(("authorization", "bearer <masked>"))
        case .android:
            let request = FCMRequest(delivery: delivery, project: self.identity.fcmProject ?? "<project>")
            (path, headers, body) = (request.path, request.headers, request.body)
            headers.append(("authorization", "Bearer <masked>"))
        }
        let lines = ["POST \(path)"] + headers.map { "\($0.name): \($0.value)" }
        let text = lines.joined(separator: "\n") + "\n\n" + String(decoding: body, as: UTF8.self)
        return text.replacing(Self.madeUp(delivery.device.platform), with: "<masked>")
    }

    /// Of a token's form, and nobody's.
    private static func madeUp(_ platform: Platform) -> String {
        platform == .ios ? String(repeating: "0", count: 64) : "masked-registration-token"
    }
}
