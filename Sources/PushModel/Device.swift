package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// One installation of the app.
package struct Device: Equatable, Sendable {
    package var id: UUID
    package var platform: Platform
    /// The address as stored, before it is checked; see ``DeviceToken``.
    package var pushToken: String?
    package var pushTarget: PushTarget
    /// A BCP 47 tag as the phone told it; may be empty or nonsense.
    package var locale: String
    package var apnsEnvironment: APNSEnvironment
    package var pushTokenUpdatedAt: Date?

    package init(
        id: UUID, platform: Platform, pushToken: String?, pushTarget: PushTarget = .token, locale: String = "en",
        apnsEnvironment: APNSEnvironment = .production, pushTokenUpdatedAt: Date? = nil
    ) {
        self.id = id
        self.platform = platform
        self.pushToken = pushToken
        self.pushTarget = pushTarget
        self.locale = locale
        self.apnsEnvironment = apnsEnvironment
        self.pushTokenUpdatedAt = pushTokenUpdatedAt
    }
}

package enum Platform: String, CaseIterable, Hashable, Sendable {
    case ios, android

    /// The provider that reaches this platform.
    package var provider: Provider { self == .ios ? .apns : .fcm }
}

package enum Provider: String, CaseIterable, Hashable, Sendable {
    case apns, fcm
}

/// What an Android address is: FCM is moving from registration tokens to installation ids.
package enum PushTarget: String, CaseIterable, Hashable, Sendable {
    case token, fid
}

package enum APNSEnvironment: String, CaseIterable, Hashable, Sendable {
    case production, development

    package var other: APNSEnvironment { self == .production ? .development : .production }
}
