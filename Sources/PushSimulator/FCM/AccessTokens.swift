internal import Cryptography

package import struct FoundationEssentials.Date

/// The access tokens Google's token endpoint has given out.
package struct AccessTokens: Sendable {
    private var expiry: [String: Date] = [:]
    private static let maxTokens = 10_000
    /// What FCM makes of a token.
    package enum Standing: Equatable, Sendable {
        case valid, expired, unknown
    }

    package init() {}

    /// A new token, about as long as a real one, so that nobody's buffer is too small in production only.
    package mutating func issue(seconds: Int, now: Date) -> String {
        if self.expiry.count >= Self.maxTokens { self.expiry = self.expiry.filter { $0.value > now } }
        let token = "ya29.c." + Base64URL.encode(randomBytes(760))
        self.expiry[token] = now.addingTimeInterval(Double(seconds))
        return token
    }

    package func standing(_ token: String, now: Date) -> Standing {
        guard let expiry = self.expiry[token] else { return .unknown }
        return now < expiry ? .valid : .expired
    }
}
