internal import Cryptography
package import HTTPTransport
internal import JSONWebToken
internal import PushModel

internal import struct FoundationEssentials.Date

/// The exchange of a signed claim for an access token (RFC 7523, as Google wants it from service accounts): what is
/// sent, and what the answer means. A value; nothing is sent here.
package struct OAuthExchange {
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    /// How far `iat` lies back, so that a clock slightly ahead of Google's does not matter.
    static let backdating: Int64 = 10

    let account: ServiceAccount

    /// - Parameter now: seconds since 1970.
    func request(now: Int64) throws(KeyError) -> HTTPRequest {
        let issuedAt = now - Self.backdating
        let assertion = try JSONWebToken.sign(
            header: ["typ": "JWT", "kid": .string(self.account.keyID)],
            claims: [
                "iss": .string(self.account.clientEmail), "scope": .string(Self.scope),
                "aud": .string(self.account.tokenURL), "iat": .integer(issuedAt), "exp": .integer(issuedAt + 3600),
            ],
            key: self.account.key,
            algorithm: .rs256
        )
        // The characters of a JWT need no escaping in a form.
        let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
        return HTTPRequest(
            id: 0,
            url: self.account.tokenURL,
            headers: [("content-type", "application/x-www-form-urlencoded")],
            body: Array(form.utf8)
        )
    }

    // MARK: - The answer

    package struct Grant: Equatable {
        package var token: String
        package var lifetime: Duration
    }

    /// - Parameter now: seconds since 1970, to compare with the answer's `date`.
    package static func read(_ answer: HTTPAnswer, now: Int64) -> Result<Grant, AccessTokenError> {
        let members = JSONValue(json: answer.body)?.object ?? [:]
        switch answer.status {
        case 200: return self.grant(members)
        case 408, 425, 429: return .failure(.unavailable(reason: "the token endpoint answered \(answer.status)"))
        case 300..<500: return .failure(self.refusal(answer, members, now: now))
        default: return .failure(.unavailable(reason: "the token endpoint answered \(answer.status)"))
        }
    }

    private static func grant(_ members: [String: JSONValue]) -> Result<Grant, AccessTokenError> {
        guard let token = members["access_token"]?.string, self.isToken(token) else {
            return .failure(.unavailable(reason: "the token endpoint answered 200 without an access token"))
        }
        if let type = members["token_type"]?.string, type.lowercased() != "bearer" {
            return .failure(.unavailable(reason: "the token endpoint gave a token of another type than Bearer"))
        }
        let lifetime = self.lifetime(members["expires_in"])
        guard lifetime > .zero else {
            return .failure(.unavailable(reason: "the token endpoint gave a token that has expired already"))
        }
        return .success(Grant(token: token, lifetime: lifetime))
    }

    /// The characters of RFC 6750, section 2.1, so that no answer can add a header to our requests.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 8192 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Seconds, as a number or in quotes; never more than the hour that Google gives. Ten minutes when it is missing
    /// or unreadable, since RFC 6749 allows to leave it out.
    private static func lifetime(_ value: JSONValue?) -> Duration {
        switch value {
        case .integer(let seconds)?: .seconds(min(seconds, 3600))
        case .number(let seconds)?: .seconds(Int64(min(max(seconds, 0), 3600)))
        case .string(let text)?: .seconds(min(Int64(text) ?? 600, 3600))
        default: .seconds(600)
        }
    }

    private static func refusal(
        _ answer: HTTPAnswer,
        _ members: [String: JSONValue],
        now: Int64
    ) -> AccessTokenError {
        // RFC 6749 has a string here; Google's other services an object.
        let nested = members["error"]?.object
        let error = members["error"]?.string ?? nested?["status"]?.string ?? "http_\(answer.status)"
        let description = members["error_description"]?.string ?? nested?["message"]?.string ?? ""
        guard !["temporarily_unavailable", "server_error", "internal_failure", "UNAVAILABLE"].contains(error) else {
            return .unavailable(reason: "the token endpoint answered \(answer.status) \(error)")
        }
        var skew: Duration?
        if error == "invalid_grant", AccessTokenError.isAboutTime(description),
            let theirs = answer.headers["date"].flatMap({
                HTTPDate.parse($0, now: Date(timeIntervalSince1970: Double(now)))
            })
        {
            skew = .seconds(now - Int64(theirs.timeIntervalSince1970))
        }
        let word = self.clean(error)
        return .rejected(
            error: word.isEmpty ? "http_\(answer.status)" : word, description: self.clean(description), clockSkew: skew)
    }

    /// Makes a text of the answer fit for a log: one line, at most 200 characters, no word long enough to be a token.
    private static func clean(_ text: String) -> String {
        let words = text.prefix(1000).split { $0.isWhitespace }.map { word in
            word.unicodeScalars.count > 60
                ? "…"
                : String(String.UnicodeScalarView(word.unicodeScalars.filter { $0.value >= 0x20 && $0.value < 0x7F }))
        }
        return String(words.joined(separator: " ").prefix(200))
    }
}
