import FoundationEssentials
package import PushModel

/// The body of a push to an Android phone: data alone, id and kind; the phone makes the text itself.
///
/// There is no `notification` object anywhere, or Android would show it by itself, in whatever language.
package struct FCMPayload: Encodable, Equatable {
    package var message: Message
    /// True: FCM checks the message and delivers nothing.
    package var validateOnly: Bool?

    package struct Message: Encodable, Equatable {
        package var android: Android?
        package var data: Content?
        /// One of the two is set.
        package var token: String?
        package var fid: String?
    }

    package struct Android: Encodable, Equatable {
        package var priority = "HIGH"
        /// Seconds with an `s`, at most 28 days.
        package var ttl: String
    }

    package struct Content: Encodable, Equatable {
        package var id: String
        package var kind: String
    }

    enum CodingKeys: String, CodingKey {
        case message
        case validateOnly = "validate_only"
    }

    /// The longest a message may be stored, in seconds: 28 days.
    package static let longestLifetime: Int64 = 2_419_200

    package init(delivery: Delivery) {
        let lifetime = delivery.expiresAt.timeIntervalSince(delivery.notification.createdAt)
        self.message = Message(
            android: Android(ttl: Self.ttl(lifetime)),
            data: Content(id: delivery.notification.id.text, kind: delivery.kind.name),
            token: delivery.device.pushTarget == .token ? delivery.token.text : nil,
            fid: delivery.device.pushTarget == .fid ? delivery.token.text : nil)
    }

    /// The least that asks FCM whether an address is one: no data that could be refused in its stead.
    package init(validating delivery: Delivery) {
        self.init(delivery: delivery)
        self.message.android = nil
        self.message.data = nil
        self.validateOnly = true
    }

    /// The whole lifetime, not what is left of it: every try of a delivery has the same bytes, and a phone that comes
    /// back late finds the row read or gone.
    static func ttl(_ lifetime: Double) -> String {
        "\(Int64(min(max(0, lifetime), Double(self.longestLifetime))))s"
    }

    /// Sorted keys and plain slashes, so that one payload has one form.
    package func encoded() -> [UInt8] {
        // Strings and a truth value alone cannot fail to encode.
        return (try? Self.encoder.encode(self)).map { Array($0) } ?? []
    }

    /// Set up once, for it costs as much as an encoding, and only read from then on.
    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
}
