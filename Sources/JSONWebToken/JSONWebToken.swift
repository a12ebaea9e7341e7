internal import Cryptography

/// A JWT in compact form (RFC 7519, RFC 7515 section 7.1), taken apart but not yet believed: see `verifyES256(with:)`.
package struct JSONWebToken: Sendable {
    package enum Part: String, Sendable {
        case header, claims, signature
    }

    package let header: [String: JSONValue]
    package let claims: [String: JSONValue]
    /// What the signature is over: the first two parts as they were sent.
    package let signingInput: [UInt8]
    package let signature: [UInt8]
    /// `alg` as it was sent.
    package let algorithm: String

    /// Takes `text` apart, strictly: exactly three parts, base64url in its one right spelling, two JSON objects.
    package init(compact text: String) throws(JSONWebTokenError) {
        guard text.utf8.count <= JSONWebTokenError.longest else { throw .tooLong }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .notThreeParts(parts.count) }
        self.header = try Self.object(parts[0], .header)
        self.claims = try Self.object(parts[1], .claims)
        guard let signature = Base64URL.decode(parts[2]) else { throw .notBase64URL(.signature) }
        self.signature = signature
        self.signingInput = Array(text[..<parts[1].endIndex].utf8)
        guard let algorithm = self.header["alg"]?.string else { throw .noAlgorithm }
        self.algorithm = algorithm
    }

    private static func object(_ text: Substring, _ part: Part) throws(JSONWebTokenError) -> [String: JSONValue] {
        guard let bytes = Base64URL.decode(text) else { throw .notBase64URL(part) }
        guard let object = JSONValue(json: bytes)?.object else { throw .notAnObject(part) }
        return object
    }

    // MARK: - Header and claims by name

    /// `kid`, the name of the key that signed.
    package var keyID: String? { self.header["kid"]?.string }
    /// `iss`.
    package var issuer: String? { self.claims["iss"]?.string }
    /// `iat`.
    package var issuedAt: NumericDate { NumericDate(self.claims["iat"]) }
    /// `exp`.
    package var expiresAt: NumericDate { NumericDate(self.claims["exp"]) }

    /// A point in time as RFC 7519 wants it, or what was sent instead.
    package enum NumericDate: Hashable, Sendable {
        case missing
        /// A whole number of seconds since 1970.
        case seconds(Int64)
        /// A whole number too large for seconds of this era (from the year 5138 on): surely milliseconds.
        case milliseconds(Int64)
        /// A string, a fraction, or another type.
        case notAnInteger(JSONValue)

        init(_ value: JSONValue?) {
            switch value {
            case nil: self = .missing
            case .integer(let number)? where number >= 100_000_000_000: self = .milliseconds(number)
            case .integer(let number)?: self = .seconds(number)
            case let other?: self = .notAnInteger(other)
            }
        }
    }
}
