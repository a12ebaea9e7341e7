import Cryptography
package import HTTPTransport
package import Localization
package import PushModel

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// One push as APNs wants it, complete but for the host and the provider token.
package struct APNSRequest: Sendable {
    package var path: String
    /// In the order in which they are sent.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(delivery: Delivery, text: RenderedText, topic: String, sound: String?) {
        self.path = "/3/device/\(delivery.token.text)"
        self.headers = [
            ("apns-topic", topic),
            // An alert that also carries content-available is of type alert: `protocol.md` A.14.
            ("apns-push-type", "alert"),
            ("apns-priority", "10"),
            ("apns-id", delivery.id.text),
            ("apns-expiration", Self.unixSeconds(delivery.expiresAt)),
            ("apns-collapse-id", Self.collapseID(delivery.notification, kind: delivery.kind)),
            ("content-type", "application/json"),
        ]
        self.body = APNSPayload(
            text: text, badge: delivery.badge, sound: sound, kind: delivery.kind,
            notificationID: delivery.notification.id
        ).encoded()
    }

    /// For the transport. `baseURL`: scheme and host, `https://api.push.apple.com`; `authorization`: `bearer <token>`.
    package func httpRequest(id: Int, baseURL: String, authorization: String) -> HTTPRequest {
        HTTPRequest(
            id: id, url: (baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL) + self.path,
            headers: self.headers + [("authorization", authorization)], body: self.body)
    }

    // MARK: - Values

    /// What a newer banner replaces: for a kind that coalesces, the last one about the same connection; else only
    /// itself, should it arrive twice.
    static func collapseID(_ notification: Notification, kind: NotificationKind) -> String {
        guard kind.coalesces, let connection = notification.connectionID else { return notification.id.text }
        return self.collapseID(kindName: kind.name, connection: connection)
    }

    /// APNs allows 64 bytes. A name too long for them goes into the UUID.
    static func collapseID(kindName: String, connection: UUID) -> String {
        let id = "\(kindName):\(connection.text)"
        guard id.utf8.count > 64 else { return id }
        return UUID.version5(namespace: connection, name: Array(kindName.utf8)).text
    }

    /// A date of a row may be anything, and 0 would mean "never stored": from 1 to the year 9999.
    static func unixSeconds(_ date: Date) -> String {
        String(Int64(min(max(1, date.timeIntervalSince1970), 253_402_300_799)))
    }
}
