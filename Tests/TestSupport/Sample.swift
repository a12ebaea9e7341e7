package import FoundationEssentials
package import PushModel

/// Values for tests, complete but for what the test is about.
package enum Sample {
    /// 14 November 2026, 08:00 in Greenwich.
    package static let now = Date(timeIntervalSince1970: 1_794_643_200)

    /// A UUID that ends in a number, `00000000-0000-4000-8000-000000000007`.
    package static func id(_ number: UInt8) -> UUID {
        UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, number))
    }

    package static let account = Account(id: Sample.id(0xA0), switchesOn: Set(AccountSwitch.allCases))

    /// A notification by Anna about the connection 0xC0, except for a `system` one.
    package static func notification(
        _ kind: NotificationKind = .contactUpdated, id: UInt8 = 1, actor: String? = "Anna", pronoun: Pronoun = .neutral,
        categories: [String] = [], title: String? = nil, body: String? = nil,
        translations: [String: Notification.Translation] = [:], createdAt: Date = Sample.now
    ) -> Notification {
        Notification(
            id: Sample.id(id), accountID: self.account.id, kindName: kind.name,
            connectionID: kind == .system ? nil : Sample.id(0xC0), actorName: kind == .system ? nil : actor,
            actorPronoun: pronoun, categories: categories, title: title, body: body, translations: translations,
            createdAt: createdAt)
    }

    package static let hexadecimalToken = String(repeating: "0123456789abcdef", count: 4)
    package static let registrationToken = "cXk3:APA91bH-_example"

    package static func iPhone(_ number: UInt8 = 0xD0, token: String? = Self.hexadecimalToken, updatedAt: Date? = nil)
        -> Device
    {
        Device(id: self.id(number), platform: .ios, pushToken: token, pushTokenUpdatedAt: updatedAt)
    }

    package static func android(
        _ number: UInt8 = 0xD1, token: String? = Self.registrationToken, target: PushTarget = .token,
        updatedAt: Date? = nil
    ) -> Device {
        Device(
            id: self.id(number), platform: .android, pushToken: token, pushTarget: target,
            pushTokenUpdatedAt: updatedAt)
    }

    /// A delivery with the id 0xE0 and a lifetime of 28 days. Throws for a token that is none.
    package static func delivery(
        _ notification: Notification, kind: NotificationKind, device: Device, badge: Int = 3
    ) throws -> Delivery {
        Delivery(
            id: self.id(0xE0), notification: notification, kind: kind, device: device,
            token: try DeviceToken(stored: device.pushToken ?? "", platform: device.platform), badge: badge,
            expiresAt: notification.createdAt + 28 * 86_400)
    }
}
