/// Why there is no access token. Texts of the answer are shortened and cleaned; nothing secret is in them.
package enum AccessTokenError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The token endpoint says no, and will say so again: a fault of key, account, address or clock.
    ///
    /// `error` and `description` are those of the answer (RFC 6749, section 5.2); `error` is `http_404` and the like
    /// when there is none. `clockSkew` is this machine's time less the endpoint's, when the endpoint complains of the
    /// time frame and says what time it is.
    case rejected(error: String, description: String, clockSkew: Duration?)
    /// No usable answer: another try may well succeed.
    case unavailable(reason: String)

    package var description: String {
        switch self {
        case .rejected(let error, let description, _):
            let text = description.isEmpty ? "" : " (\(description))"
            return "no access token for FCM: \(error)\(text). \(self.fix)"
        case .unavailable(let reason):
            return "no access token for FCM: \(reason). \(self.fix)"
        }
    }

    /// What a person can do about it, one sentence or two.
    package var fix: String {
        switch self {
        case .unavailable: return "It is tried again by itself."
        case .rejected(_, _, let skew?): return Self.clock(skew)
        case .rejected("invalid_grant", let description, nil):
            return Self.grant(description.lowercased())
        case .rejected("invalid_scope", _, _), .rejected("unauthorized_client", _, _),
            .rejected("access_denied", _, _):
            return "The service account may not ask for messaging: use one of the Firebase project, with the role"
                + " Firebase Cloud Messaging API Admin."
        case .rejected(let error, _, _) where error.hasPrefix("http_"):
            return "Check token_uri in the key file; Google's is https://oauth2.googleapis.com/token."
        case .rejected:
            return "Check that client_email, private_key and token_uri come from one key file."
        }
    }

    private static func clock(_ skew: Duration) -> String {
        let seconds = skew.components.seconds
        guard abs(seconds) >= 30 else {
            return "This machine's clock agrees with the endpoint's, so check that private_key and client_email belong"
                + " together."
        }
        return "This machine's clock is \(abs(seconds)) seconds \(seconds > 0 ? "ahead of" : "behind") the endpoint's:"
            + " set it, and keep it right with NTP."
    }

    private static func grant(_ description: String) -> String {
        if Self.isAboutTime(description) { return "Check this machine's clock, and keep it right with NTP." }
        if description.contains("account not found") {
            return "The service account was deleted or disabled: enable it, or use the key file of another one."
        }
        return "The key was revoked or belongs to another account: generate a new private key in the Firebase console."
    }

    /// Whether the description of an `invalid_grant` complains of `iat` and `exp`.
    static func isAboutTime(_ description: String) -> Bool {
        let text = description.lowercased()
        return ["timeframe", "time frame", "iat and exp", "short-lived", "clock"].contains { text.contains($0) }
    }
}
