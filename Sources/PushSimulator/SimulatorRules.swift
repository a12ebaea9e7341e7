/// How strict the two providers are, and the numbers that are not known of the real ones.
package struct SimulatorRules: Sendable {
    /// Whether what the product must never send is refused too, with a `Simulator: …` reason, though the real service
    /// would take it: a `notification` object, other data keys, a payload with unknown keys. Default true.
    package var isStrict = true
    /// How far ahead of the clock a provider token's `iat` may be. Default 60 s; the real value is not known.
    package var providerTokenSkewSeconds = 60
    /// The reason for a key of the other environment. Default: the word seen on the wire; the documented one is
    /// `BadEnvironmentKeyIdInToken`.
    package var badEnvironmentReason = "BadEnvironmentKeyInToken"
    /// Pushes one device may get within a minute, for APNs `TooManyRequests` and FCM `QUOTA_EXCEEDED`. Default: any.
    package var pushesPerDevicePerMinute: Int?
    /// Messages the FCM project may send within a minute. Default: any.
    package var messagesPerProjectPerMinute: Int?
    /// How far `iat` and `exp` of an assertion may be off. Default 300 s; the real value is not known.
    package var assertionSkewSeconds = 300
    /// How long an access token is good, and what `expires_in` says. Default 3599 s, as was seen.
    package var accessTokenSeconds = 3599
    /// Whether a malformed FCM token is answered in the older words. Default false.
    package var usesOlderInvalidTokenWords = false
    /// Whether errors make APNs lower a connection's stream limit and in the end close it. Default false.
    package var punishesErrors = false

    package init() {}
}

/// Counts per key within a window of a minute.
struct MinuteRates {
    private var windows: [String: (start: Int, count: Int)] = [:]
    /// More keys than this are forgotten at once: rates are a test's means, not a ledger.
    private static let maxKeys = 100_000

    /// Counts one more; false when that is over `limit`.
    mutating func admit(_ key: String, limit: Int?, atSecond second: Int) -> Bool {
        guard let limit else { return true }
        if self.windows.count >= Self.maxKeys { self.windows.removeAll() }
        var window = self.windows[key] ?? (second, 0)
        if second - window.start >= 60 { window = (second, 0) }
        window.count += 1
        self.windows[key] = window
        return window.count <= limit
    }
}
