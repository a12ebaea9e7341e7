package import struct FoundationEssentials.Date

/// What APNs remembers of one connection.
package struct APNSConnectionState: Equatable, Sendable {
    /// Team and keys that the first valid token fixed.
    package internal(set) var binding: Binding?
    /// An expired token was seen: nothing but `ExpiredProviderToken` comes from here any more.
    package internal(set) var hasSeenExpiredToken = false
    /// Until when every request is answered `TooManyProviderTokenUpdates`.
    package internal(set) var churnedUntil: Date?
    /// Rejections since the last acceptance, 410 not counted.
    private var errors = 0
    private var badDeviceTokens = 0

    package struct Binding: Equatable, Sendable {
        package var teamID: String
        package var relation: String
        package var token: String
        /// When this connection first saw ``token``.
        package var tokenSince: Date
    }

    /// Streams before and after the first valid token, as observed.
    package static let streamsBeforeToken = 1
    package static let streamsAfterToken = 1000
    /// A new provider token sooner than this on one connection is too many.
    package static let shortestTokenLife: Double = 20 * 60
    /// Rejections in a row after which a punished connection ends; the real numbers are not known.
    static let mostErrors = 50
    static let mostBadDeviceTokens = 20

    package init() {}

    /// SETTINGS_MAX_CONCURRENT_STREAMS as it should now be.
    package func streamLimit(punishingErrors: Bool) -> Int {
        guard self.binding != nil else { return Self.streamsBeforeToken }
        guard punishingErrors else { return Self.streamsAfterToken }
        return max(1, Self.streamsAfterToken >> min(self.errors, 10))
    }

    /// Whether the connection has had so many rejections that it is ended.
    package var deservesGoaway: Bool {
        self.errors >= Self.mostErrors || self.badDeviceTokens >= Self.mostBadDeviceTokens
    }

    /// Takes note of an answer, also of one that was injected as a fault: some make a connection useless.
    package mutating func note(status: Int, reason: String?, now: Date) {
        switch reason {
        case "ExpiredProviderToken": self.hasSeenExpiredToken = true
        case "TooManyProviderTokenUpdates":
            self.churnedUntil = self.churnedUntil ?? now.addingTimeInterval(Self.shortestTokenLife)
        default: break
        }
        if status == 200 {
            self.errors = 0
            self.badDeviceTokens = 0
        } else if (400..<500).contains(status), status != 410 {
            self.errors += 1
            if reason == "BadDeviceToken" { self.badDeviceTokens += 1 }
        }
    }
}

/// What APNs remembers beyond one connection.
package struct APNSState: Sendable {
    /// Tokens whose signature was verified, by their text; a signature costs far more than all the rest.
    var verified: [String: ProviderToken] = [:]
    var rates = MinuteRates()
    static let maxVerified = 1000

    struct ProviderToken: Sendable {
        var key: APNSKey
        var issuedAt: Int64
    }

    package init() {}
}
