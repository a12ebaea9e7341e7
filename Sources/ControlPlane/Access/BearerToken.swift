import HTTPServer

/// Reads credentials out of headers.
enum BearerToken {
    enum Reading: Equatable {
        case none
        case token(String)
        /// More than one, another scheme, or no token behind it.
        case malformed
    }

    /// `Authorization: Bearer …`, whatever the case of the scheme (RFC 7235 section 2.1). More than one header is
    /// refused: whoever stands between might have looked at the other.
    static func read(_ head: RequestHead) -> Reading {
        let values = head.values("authorization")
        guard let value = values.first else { return .none }
        let parts = value.split(separator: " ")
        guard values.count == 1, parts.count == 2, parts[0].lowercased() == "bearer" else { return .malformed }
        return .token(String(parts[1]))
    }
}
