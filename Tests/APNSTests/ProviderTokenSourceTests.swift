internal import APNS
internal import Cryptography
internal import JSONWebToken
internal import Locking
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.Date

/// A clock that stands where the test puts it.
private final class HandClock: Sendable {
    private let moment: Locked<Moment>

    init(seconds: Int64) {
        self.moment = Locked(Moment(wall: Date(timeIntervalSince1970: Double(seconds)), monotonic: .now))
    }

    func advance(minutes: Double) {
        self.moment.withLock { moment in
            moment.wall.addTimeInterval(minutes * 60)
            moment.monotonic = moment.monotonic.advanced(by: .seconds(minutes * 60))
        }
    }

    var time: TimeSource { TimeSource { self.moment.withLock { $0 } } }
}

@Suite struct ProviderTokenSourceTests {
    /// The start of a half hour.
    private static let slot: Int64 = 1_789_999_200

    private static func credentials(_ key: PrivateKey = TestKeys.p256) throws -> APNSCredentials {
        try APNSCredentials(key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
    }

    @Test func `the token is what Apple asks for`() throws {
        let clock = HandClock(seconds: Self.slot + 1000)
        let token = try ProviderTokenSource(credentials: Self.credentials(), time: clock.time).token()
        #expect(token.authorization.hasPrefix("bearer "))
        let jwt = try JSONWebToken(compact: String(token.authorization.dropFirst("bearer ".count)))
        #expect(jwt.header == ["alg": "ES256", "kid": "ABC123DEFG"])
        #expect(jwt.claims == ["iss": "DEF123GHIJ", "iat": .integer(Self.slot)])
        #expect(jwt.issuedAt == .seconds(Self.slot))
        #expect(jwt.signature.count == 64)
        #expect(jwt.verifyES256(with: TestKeys.p256.publicKey))
        #expect(!"\(token) \(String(reflecting: token))".contains("ey"))
    }

    @Test func `many callers get one token`() async throws {
        let source = ProviderTokenSource(
            credentials: try Self.credentials(),
            time: HandClock(seconds: Self.slot).time
        )
        let tokens = await withTaskGroup(of: ProviderToken?.self) { group in
            for _ in 0..<200 {
                group.addTask { try? source.token() }
            }
            return await group.reduce(into: [ProviderToken?]()) { $0.append($1) }
        }
        let first = try source.token()
        #expect(tokens.count == 200)
        #expect(tokens.allSatisfy { $0 == first })
    }

    @Test func `a token serves until it is 50 minutes old`() throws {
        let clock = HandClock(seconds: Self.slot)
        let source = ProviderTokenSource(credentials: try Self.credentials(), time: clock.time)
        let first = try source.token()
        clock.advance(minutes: 49)
        #expect(try source.token() == first)
        clock.advance(minutes: 1)
        let second = try source.token()
        #expect(second.generation == first.generation + 1)
        #expect(second.issuedAt == Self.slot + 1800)
    }

    @Test func `many answers about one expired token make one new token`() throws {
        let clock = HandClock(seconds: Self.slot)
        let source = ProviderTokenSource(credentials: try Self.credentials(), time: clock.time)
        let first = try source.token()
        clock.advance(minutes: 10)
        #expect(source.expired(first) == .kept)
        #expect(try source.token() == first)

        clock.advance(minutes: 15)
        for _ in 0..<100 {
            #expect(source.expired(first) == .renewed)
        }
        let second = try source.token()
        #expect(second.generation == first.generation + 1)
        #expect(second.issuedAt == Self.slot + 25 * 60)
        #expect(source.expired(second) == .kept)
        #expect(try source.token() == second)
    }

    @Test func `too many updates make no new token`() throws {
        let clock = HandClock(seconds: Self.slot)
        let source = ProviderTokenSource(credentials: try Self.credentials(), time: clock.time)
        let first = try source.token()
        clock.advance(minutes: 45)
        source.tooManyUpdates()
        clock.advance(minutes: 10)
        #expect(try source.token() == first)
    }

    @Test func `a key read anew signs the next token, the same key changes nothing`() throws {
        let source = ProviderTokenSource(
            credentials: try Self.credentials(),
            time: HandClock(seconds: Self.slot).time
        )
        let first = try source.token()
        let same = try PrivateKey(pem: TestKeys.p256.traditionalPEM)
        #expect(!source.replace(credentials: try Self.credentials(same)))
        #expect(try source.token() == first)

        #expect(source.replace(credentials: try Self.credentials(TestKeys.otherP256)))
        let second = try source.token()
        #expect(second.generation > first.generation)
        let jwt = try JSONWebToken(compact: String(second.authorization.dropFirst("bearer ".count)))
        #expect(jwt.verifyES256(with: TestKeys.otherP256.publicKey))
        #expect(source.expired(first) == .renewed)
        #expect(try source.token() == second)
    }
}

@Suite struct APNSCredentialsTests {
    @Test func `ids are taken with white space around them`() throws {
        let credentials = try APNSCredentials(
            pem: TestKeys.p256.pem,
            keyID: " ABC123DEFG\r\n",
            teamID: "DEF123GHIJ\n"
        )
        #expect(credentials.keyID == "ABC123DEFG")
        #expect(credentials.teamID == "DEF123GHIJ")
        #expect("\(credentials)" == "key ABC123DEFG of team DEF123GHIJ")
    }

    @Test(arguments: [
        ("", "is empty"),
        (" \n", "is empty"),
        ("ABC", "has 3 characters instead of 10"),
        ("ABC123DEFGH", "has 11 characters instead of 10"),
        ("ABC 123DEF", "has characters other than A-Z and 0-9"),
        ("abc123defg", "has lower-case letters; Apple's ids have none"),
        ("ABC-23DEFG", "has characters other than A-Z and 0-9"),
        ("ÄBC123DEFG", "has characters other than A-Z and 0-9"),
    ])
    func `a wrong id is named with its variable, fault and an example`(_ text: String, _ fault: String) throws {
        let keyID = try #require(throws: APNSCredentialsError.self) {
            try APNSCredentials(key: TestKeys.p256, keyID: text, teamID: "DEF123GHIJ")
        }
        #expect(keyID.description.hasPrefix("APNS_KEY_ID \(fault). Example: APNS_KEY_ID=ABC123DEFG"))
        let teamID = try #require(throws: APNSCredentialsError.self) {
            try APNSCredentials(key: TestKeys.p256, keyID: "ABC123DEFG", teamID: text)
        }
        #expect(teamID.description.hasPrefix("APNS_TEAM_ID \(fault). Example: APNS_TEAM_ID=DEF123GHIJ"))
    }

    @Test(arguments: [
        (try TestKeys.rsa.pem, "APNS_KEY needs an EC P-256 key (.p8 from Apple); this is RSA 2048. Example: "),
        (try TestKeys.p384.pem, "APNS_KEY needs an EC P-256 key (.p8 from Apple); this is EC P-384. Example: "),
        (try TestKeys.p256.publicKey.pem, "APNS_KEY is a public key; the private key is needed. Example: "),
        ("", "APNS_KEY is empty. Example: "),
    ])
    func `a wrong key is named`(_ pem: String, _ prefix: String) throws {
        let error = try #require(throws: APNSCredentialsError.self) {
            try APNSCredentials(pem: pem, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        }
        #expect(error.description.hasPrefix(prefix), "\(error)")
    }
}
