package import Cryptography
internal import JSONWebToken

package import struct FoundationEssentials.Date

/// A Google service account, as the simulator knows it.
package struct ServiceAccount: Sendable {
    package var email: String
    package var projectID: String
    package var keyID: String
    package var publicKey: PublicKey

    package init(email: String, projectID: String, keyID: String, publicKey: PublicKey) {
        self.email = email
        self.projectID = projectID
        self.keyID = keyID
        self.publicKey = publicKey
    }
}

/// Answers one token exchange as Google's endpoint would: the checks of `protocol.md` F.3, in that order.
package struct TokenEndpointValidator: Sendable {
    package let account: ServiceAccount
    /// The address clients use, which `aud` must repeat.
    package let tokenURI: String
    package let rules: SimulatorRules

    package static let path = "/token"
    private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    private static let scopes: Set<Substring> = [
        "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
    ]

    package init(account: ServiceAccount, tokenURI: String, rules: SimulatorRules = SimulatorRules()) {
        self.account = account
        self.tokenURI = tokenURI
        self.rules = rules
    }

    package func answer(to request: SimulatedRequest, tokens: inout AccessTokens, now: Date) -> SimulatedAnswer {
        do throws(Refusal) {
            try self.check(request, now)
        } catch {
            return error.answer
        }
        let token = tokens.issue(seconds: self.rules.accessTokenSeconds, now: now)
        let body =
            "{\"access_token\":\"\(token)\",\"expires_in\":\(self.rules.accessTokenSeconds),\"token_type\":\"Bearer\"}"
        return SimulatedAnswer(status: 200, headers: Self.headers, body: Array(body.utf8))
    }

    /// An OAuth error (RFC 6749, section 5.2), always with status 400.
    struct Refusal: Error, Equatable {
        var error: String
        var description: String

        var answer: SimulatedAnswer {
            let body =
                "{\"error\":\(OrderedJSON.quoted(self.error)),\"error_description\":\(OrderedJSON.quoted(self.description))}"
            return SimulatedAnswer(
                status: 400, reason: "\(self.error): \(self.description)", headers: TokenEndpointValidator.headers,
                body: Array(body.utf8))
        }
    }

    private static let headers = [H2Header("content-type", "application/json; charset=utf-8")]

    private func check(_ request: SimulatedRequest, _ now: Date) throws(Refusal) {
        let mediaType = request.header("content-type")?.prefix { $0 != ";" }.lowercased()
        guard request.method == "POST", request.path == Self.path, mediaType == "application/x-www-form-urlencoded",
            let form = FormFields(request.body)
        else { throw Refusal(error: "invalid_request", description: "Bad Request") }  // 1
        let grantType = form["grant_type"] ?? ""
        guard grantType == Self.grantType else {
            throw Refusal(error: "unsupported_grant_type", description: "Invalid grant_type: \(grantType)")  // 2
        }
        guard let assertion = form["assertion"] else {
            throw Refusal(error: "invalid_request", description: "Missing required parameter: assertion")
        }
        let token: JSONWebToken
        do { token = try JSONWebToken(compact: assertion) } catch {
            throw Refusal(error: "invalid_grant", description: "Bad Request")
        }
        guard token.issuer == self.account.email else {
            throw Refusal(error: "invalid_grant", description: "Invalid grant: account not found")  // 3
        }
        guard token.keyID ?? self.account.keyID == self.account.keyID, token.verifyRS256(with: self.account.publicKey)
        else { throw Refusal(error: "invalid_grant", description: "Invalid JWT Signature.") }  // 4
        guard self.isShortLived(token, now) else {
            throw Refusal(
                error: "invalid_grant",
                description:
                    "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
                    + "Check your iat and exp values in the JWT claim.")  // 5
        }
        guard token.claims["aud"]?.string == self.tokenURI else {
            throw Refusal(
                error: "invalid_grant",
                description: "Invalid JWT: Failed audience check. The right audience is \(self.tokenURI)"
            )  // 6
        }
        let scopes = token.claims["scope"]?.string?.split(separator: " ") ?? []
        guard !scopes.isEmpty, Self.scopes.isSuperset(of: scopes) else {
            throw Refusal(
                error: "invalid_scope", description: "Invalid OAuth scope or ID token audience provided.")  // 7
        }
    }

    private func isShortLived(_ token: JSONWebToken, _ now: Date) -> Bool {
        guard case .seconds(let issued) = token.issuedAt, case .seconds(let expires) = token.expiresAt else {
            return false
        }
        let second = Int64(now.timeIntervalSince1970), skew = Int64(self.rules.assertionSkewSeconds)
        return expires > issued && expires - issued <= 3600 && issued <= second + skew && expires >= second - skew
            && issued >= second - 3600 - skew
    }
}

/// The fields of `application/x-www-form-urlencoded`.
struct FormFields {
    private var fields: [String: String] = [:]

    /// Nil when the text is not that: a bad percent code, or a name given twice.
    init?(_ body: [UInt8]) {
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = Self.decode(parts[0]), let value = Self.decode(parts[1]),
                self.fields.updateValue(value, forKey: name) == nil
            else { return nil }
        }
    }

    subscript(name: String) -> String? { self.fields[name] }

    private static func decode(_ text: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                else { return nil }
                rest = rest.dropFirst(2)
                bytes.append(value)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
