package import FoundationEssentials
package import Localization
package import PushModel

/// The body of a push to an iPhone: one alert that also wakes the app, and the row's id and kind beside it.
///
/// `protocol.md` A.13; custom keys inside `aps` would be ignored, so ours are siblings.
package struct APNSPayload: Encodable, Equatable {
    package var aps: APS
    package var id: String
    package var kind: String

    package struct APS: Encodable, Equatable {
        package var alert: Alert
        /// Absolute; 0 removes the badge, so it is always sent.
        package var badge: Int
        package var contentAvailable = 1
        package var sound: String?
        package var threadID: String

        enum CodingKeys: String, CodingKey {
            case alert, badge, sound
            case contentAvailable = "content-available"
            case threadID = "thread-id"
        }
    }

    package struct Alert: Encodable, Equatable {
        package var title: String
        package var body: String?
    }

    /// The most bytes of an alert that APNs accepts, counted on the encoded JSON.
    package static let longest = 4096

    /// `sound`: nil or empty: a silent banner.
    package init(text: RenderedText, badge: Int, sound: String?, kind: NotificationKind, notificationID: UUID) {
        self.aps = APS(
            alert: Alert(title: text.title, body: text.body), badge: badge,
            sound: sound.flatMap { $0.isEmpty ? nil : $0 }, threadID: kind.name)
        self.id = notificationID.text
        self.kind = kind.name
    }

    /// The JSON that is sent, at most ``longest`` bytes: where the text is too long its body is cut at a grapheme,
    /// then, with the body gone, its title.
    package func encoded() -> [UInt8] {
        var payload = self
        var bytes = payload.encodedWhole()
        if bytes.count > Self.longest, let body = payload.aps.alert.body {
            payload.aps.alert.body = JSONText.cut(body, by: bytes.count - Self.longest)
            bytes = payload.encodedWhole()
        }
        if bytes.count > Self.longest {
            payload.aps.alert.title = JSONText.cut(payload.aps.alert.title, by: bytes.count - Self.longest) ?? "…"
            bytes = payload.encodedWhole()
        }
        return bytes
    }

    /// Sorted keys and plain slashes, so that one payload has one form. The encoder writes UTF-8 as it is and escapes
    /// what JSON demands: quotes, backslashes, controls.
    private func encodedWhole() -> [UInt8] {
        // Strings and integers alone cannot fail to encode.
        return (try? Self.encoder.encode(self)).map { Array($0) } ?? []
    }

    /// Set up once, for it costs as much as an encoding, and only read from then on.
    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
}
