internal import Cryptography
internal import FoundationEssentials
internal import JSONWebToken
internal import TestSupport
internal import Testing

@testable internal import PushSimulator

@Suite struct TokenEndpointValidatorTests {
    private static let validator = TokenEndpointValidator(account: Sample.account, tokenURI: Sample.tokenURI)

    static func assertion(
        issuer: String = Sample.account.email, scope: String = Sample.scope, audience: String = Sample.tokenURI,
        issuedAt: Int64 = 1_790_000_000, expiresAt: Int64 = 1_790_003_600, keyID: String = "k1",
        key: PrivateKey = TestKeys.rsa
    ) throws -> String {
        try JSONWebToken.sign(
            header: ["typ": "JWT", "kid": .string(keyID)],
            claims: [
                "iss": .string(issuer), "scope": .string(scope), "aud": .string(audience), "iat": .integer(issuedAt),
                "exp": .integer(expiresAt),
            ], key: key, algorithm: .rs256)
    }

    private static func request(_ assertion: String) -> SimulatedRequest {
        SimulatedRequest(
            path: "/token", headers: [("content-type", "application/x-www-form-urlencoded")],
            body: Array("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)".utf8))
    }

    private static func ask(_ request: SimulatedRequest, _ tokens: inout AccessTokens) -> SimulatedAnswer {
        Self.validator.answer(to: request, tokens: &tokens, now: Sample.now)
    }

    @Test func `a right assertion buys a token that FCM knows for its lifetime`() throws {
        var tokens = AccessTokens()
        let answer = Self.ask(Self.request(try Self.assertion()), &tokens)
        #expect(answer.status == 200)
        let body = try #require(OrderedJSON(answer.body))
        #expect(body["token_type"] == "Bearer")
        #expect(body["expires_in"] == 3599)
        let token = try #require(body["access_token"]?.string)
        #expect(token.count > 1000)
        #expect(tokens.standing(token, now: Sample.now) == .valid)
        #expect(tokens.standing(token, now: Sample.now + 3599) == .expired)
        #expect(tokens.standing("x", now: Sample.now) == .unknown)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        var number: Int
        var make: @Sendable () throws -> SimulatedRequest
        var error: String
        var description: String

        init(
            _ number: Int, _ error: String, _ description: String,
            _ make: @escaping @Sendable () throws -> SimulatedRequest
        ) {
            self.number = number
            self.make = make
            self.error = error
            self.description = description
        }

        var testDescription: String { "row \(self.number): \(self.error), \(self.description)" }
    }

    private static let notShort =
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."

    static let rows: [Row] = [
        Row(1, "invalid_request", "Bad Request") { request(try assertion()).with(method: "GET") },
        Row(1, "invalid_request", "Bad Request") { request(try assertion()).with("content-type", "application/json") },
        Row(1, "invalid_request", "Bad Request") { request(try assertion()).with(body: "%zz=1") },
        Row(2, "unsupported_grant_type", "Invalid grant_type: password") {
            request("").with(body: "grant_type=password&assertion=x")
        },
        Row(3, "invalid_grant", "Invalid grant: account not found") { request(try assertion(issuer: "nobody@x")) },
        Row(4, "invalid_grant", "Invalid JWT Signature.") { request(try assertion(key: TestKeys.otherRSA)) },
        Row(4, "invalid_grant", "Invalid JWT Signature.") { request(try assertion(keyID: "revoked")) },
        Row(5, "invalid_grant", notShort) { request(try assertion(expiresAt: 1_790_003_601)) },
        Row(5, "invalid_grant", notShort) {
            request(try assertion(issuedAt: 1_790_000_301, expiresAt: 1_790_003_600))
        },
        Row(5, "invalid_grant", notShort) {
            request(try assertion(issuedAt: 1_789_996_000, expiresAt: 1_789_999_600))
        },
        Row(
            6, "invalid_grant", "Invalid JWT: Failed audience check. The right audience is https://127.0.0.1:1/token"
        ) { request(try assertion(audience: "https://oauth2.googleapis.com/token")) },
        Row(7, "invalid_scope", "Invalid OAuth scope or ID token audience provided.") {
            request(try assertion(scope: "https://www.googleapis.com/auth/drive"))
        },
        Row(7, "invalid_scope", "Invalid OAuth scope or ID token audience provided.") {
            request(try assertion(scope: ""))
        },
    ]

    @Test(arguments: rows) func `each fault has its error`(row: Row) throws {
        var tokens = AccessTokens()
        let answer = Self.ask(try row.make(), &tokens)
        #expect(answer.status == 400)
        #expect(OrderedJSON(answer.body)?["error"]?.string == row.error)
        #expect(OrderedJSON(answer.body)?["error_description"]?.string == row.description)
    }

    @Test func `a form is read with its codes`() {
        let form = FormFields(Array("a=1+2%2B3&b=&%63=%C3%A9".utf8))
        #expect(form?["a"] == "1 2+3")
        #expect(form?["b"] == "")
        #expect(form?["c"] == "é")
        #expect(FormFields(Array("a=1&a=2".utf8)) == nil)
        #expect(FormFields(Array("a=%4".utf8)) == nil)
        #expect(FormFields(Array("a".utf8)) == nil)
    }
}
