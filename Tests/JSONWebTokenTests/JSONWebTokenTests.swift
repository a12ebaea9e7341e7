internal import Cryptography
internal import JSONWebToken
internal import TestSupport
internal import Testing

@Suite struct JSONWebTokenTests {
    /// The vector of the protocol notes: RFC 7515's public key, signed once, written down in both ways.
    private enum Vector {
        static let input =
            "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNzkwMDAwMDAwfQ"
        static let raw = "3EzBiIWpJcjqPkm59-DmhwLQX-CW686RFiaMw0SVFxbhSiyNvp2a2EUjYq_Q-VXN90rwCU6WkXU1MjUgYof2tw"
        static let der =
            "MEYCIQDcTMGIhaklyOo-Sbn34OaHAtBf4JbrzpEWJozDRJUXFgIhAOFKLI2-nZrYRSNir9D5Vc33SvAJTpaRdTUyNSBih_a3"

        static func key() throws -> PublicKey {
            let x = try #require(Base64URL.decode(TestKeys.rfc7515X))
            let y = try #require(Base64URL.decode(TestKeys.rfc7515Y))
            return try PublicKey(p256X: x, y: y)
        }
    }

    @Test func `the raw signature of the vector is accepted, the same one in DER is not`() throws {
        let key = try Vector.key()
        let good = try JSONWebToken(compact: "\(Vector.input).\(Vector.raw)")
        #expect(good.verifyES256(with: key))
        #expect(!good.verifyES256(with: TestKeys.p256.publicKey))
        #expect(good.keyID == "ABC123DEFG")
        #expect(good.issuer == "DEF123GHIJ")
        #expect(good.issuedAt == .seconds(1_790_000_000))
        #expect(good.expiresAt == .missing)

        let bad = try JSONWebToken(compact: "\(Vector.input).\(Vector.der)")
        #expect(!bad.verifyES256(with: key))
        #expect(try ECDSASignature(der: bad.signature).raw == good.signature)
    }

    @Test func `what is signed is written as in the vector`() throws {
        let text = try JSONWebToken.sign(
            header: ["kid": "ABC123DEFG"],
            claims: ["iss": "DEF123GHIJ", "iat": 1_790_000_000],
            key: TestKeys.p256,
            algorithm: .es256
        )
        #expect(text.hasPrefix(Vector.input + "."))
        #expect(text.count == Vector.input.count + 1 + 86)
        #expect(try JSONWebToken(compact: text).verifyES256(with: TestKeys.p256.publicKey))
    }

    @Test func `RS256 is signed and verified`() throws {
        let text = try JSONWebToken.sign(
            header: ["typ": "JWT", "kid": "k"],
            claims: ["iss": "a@b", "aud": "https://example.com/token", "iat": 1, "exp": 3601],
            key: TestKeys.rsa,
            algorithm: .rs256
        )
        let token = try JSONWebToken(compact: text)
        #expect(token.verifyRS256(with: TestKeys.rsa.publicKey))
        #expect(!token.verifyRS256(with: TestKeys.otherRSA.publicKey))
        #expect(!token.verifyES256(with: TestKeys.p256.publicKey))
        #expect(token.header == ["alg": "RS256", "typ": "JWT", "kid": "k"])
        #expect(token.claims["aud"] == "https://example.com/token")
        #expect(token.expiresAt == .seconds(3601))
    }

    @Test func `the key must fit the algorithm`() {
        #expect(throws: KeyError.self) {
            try JSONWebToken.sign(header: [:], claims: [:], key: TestKeys.rsa, algorithm: .es256)
        }
        #expect(throws: KeyError.self) {
            try JSONWebToken.sign(header: [:], claims: [:], key: TestKeys.p256, algorithm: .rs256)
        }
    }

    @Test func `the algorithm of the header counts, not only the signature`() throws {
        for algorithm in ["none", "HS256", "es256", "RS256"] {
            let input = "\(Self.part("{\"alg\":\"\(algorithm)\"}")).\(Self.part("{}"))"
            let signature = Base64URL.encode(try TestKeys.p256.sign(es256: Array(input.utf8)))
            let token = try JSONWebToken(compact: "\(input).\(signature)")
            #expect(!token.verifyES256(with: TestKeys.p256.publicKey))
            #expect(token.algorithm == algorithm)
        }
        let unsigned = try JSONWebToken(compact: "\(Self.part("{\"alg\":\"none\"}")).\(Self.part("{}")).")
        #expect(unsigned.signature.isEmpty)
        #expect(!unsigned.verifyES256(with: TestKeys.p256.publicKey))
    }

    @Test(
        arguments: [
            ("{\"iat\":1790000000}", .seconds(1_790_000_000)),
            ("{\"iat\":1790000000000}", .milliseconds(1_790_000_000_000)),
            ("{\"iat\":\"1790000000\"}", .notAnInteger("1790000000")),
            ("{\"iat\":\"1459143580650\"}", .notAnInteger("1459143580650")),
            ("{\"iat\":1790000000.5}", .notAnInteger(.number(1_790_000_000.5))),
            ("{\"iat\":1e300}", .notAnInteger(.number(1e300))),
            ("{\"iat\":true}", .notAnInteger(true)),
            ("{\"iat\":null}", .notAnInteger(.null)),
            ("{\"iat\":[1790000000]}", .notAnInteger(.array([1_790_000_000]))),
            ("{\"iat\":-5}", .seconds(-5)),
            ("{}", .missing),
        ] as [(String, JSONWebToken.NumericDate)])
    func `iat is whole seconds, or what it is instead`(_ claims: String, _ date: JSONWebToken.NumericDate) throws {
        let token = try JSONWebToken(compact: "\(Self.part("{\"alg\":\"ES256\"}")).\(Self.part(claims)).AAAA")
        #expect(token.issuedAt == date)
    }

    @Test(
        arguments: [
            ("", .notThreeParts(1)),
            ("a", .notThreeParts(1)),
            ("a.b", .notThreeParts(2)),
            ("a.b.c.d", .notThreeParts(4)),
            ("..", .notAnObject(.header)),
            ("a.b.c", .notBase64URL(.header)),
            ("\(part("{}"))=.\(part("{}")).AAAA", .notBase64URL(.header)),
            ("\(part("{}")).\(part("{}")).AAAA", .noAlgorithm),
            ("\(part("{\"alg\":5}")).\(part("{}")).AAAA", .noAlgorithm),
            ("\(part("[]")).\(part("{}")).AAAA", .notAnObject(.header)),
            ("\(part("{\"alg\":\"ES256\"}")).\(part("7")).AAAA", .notAnObject(.claims)),
            ("\(part("{\"alg\":\"ES256\"}")).\(part("{} {}")).AAAA", .notAnObject(.claims)),
            ("\(part("{\"alg\":\"ES256\"}")).\(part("{\"iat\":")).AAAA", .notAnObject(.claims)),
            ("\(part("{\"alg\":\"ES256\"}")).\(part("{}")).AA A", .notBase64URL(.signature)),
            ("\(part("{\"alg\":\"ES256\"}")).\(part("{}")).AAA=", .notBase64URL(.signature)),
            (String(repeating: "A", count: 20_000), .tooLong),
            ("\(part(String(repeating: "[", count: 9_000))).\(part("{}")).AAAA", .notAnObject(.header)),
        ] as [(String, JSONWebTokenError)])
    func `what is no JWT is refused with the part that is wrong`(_ text: String, _ expected: JSONWebTokenError) {
        #expect(throws: expected) { try JSONWebToken(compact: text) }
    }

    @Test func `values are written as JSON`() {
        let value: JSONValue = .object([
            "b": .array([1, true, .null, .number(1.5)]), "a": "https://x/\"\n",
        ])
        #expect(value.json == #"{"a":"https://x/\"\n","b":[1,true,null,1.5]}"#)
        #expect(JSONValue(json: Array(value.json.utf8)) == value)
        #expect(JSONValue(json: [0xFF]) == nil)
        #expect(JSONValue(json: []) == nil)
    }

    /// The decoder needs a second for four kilobytes that are deep enough.
    @Test func `nesting is limited`() {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)).utf8)
        }
        #expect(JSONValue(json: nested(JSONValue.deepest)) != nil)
        #expect(JSONValue(json: nested(JSONValue.deepest + 1)) == nil)
        #expect(JSONValue(json: Array("[1,{\"a\":[2]},[]]".utf8)) != nil)
        // Brackets in a string, also behind a quote that is escaped, are text.
        let brackets = "\"" + String(repeating: "[", count: 100) + "\\\"" + String(repeating: "{", count: 100) + "\""
        #expect(JSONValue(json: Array(brackets.utf8)) != nil)
        // UTF-16 would be read too, and its brackets not be seen.
        #expect(JSONValue(json: Array("[1]".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }) == nil)
    }

    private static func part(_ text: String) -> String {
        Base64URL.encode(Array(text.utf8))
    }
}
