internal import Cryptography
internal import FoundationEssentials
internal import JSONWebToken
internal import TestSupport
internal import Testing

@testable internal import PushSimulator

/// One connection to one host, asked again and again.
private struct Host {
    var validator: APNSValidator
    var connection = APNSConnectionState()
    var state = APNSState()
    var devices: DeviceRegistry
    var now = Sample.now

    init(
        _ environment: APNSEnvironment = .production, keys: [APNSKey] = [Sample.key],
        rules: SimulatorRules = SimulatorRules(),
        devices: [SimulatedDevice] = [
            SimulatedDevice(platform: .ios, token: Sample.deviceToken),
            SimulatedDevice(platform: .ios, token: Sample.deviceToken, environment: .development),
        ]
    ) {
        self.validator = APNSValidator(environment: environment, keys: keys, rules: rules)
        self.devices = DeviceRegistry(devices)
    }

    mutating func ask(_ request: SimulatedRequest) -> SimulatedAnswer {
        self.validator.answer(
            to: request, connection: &self.connection, state: &self.state, devices: self.devices, now: self.now)
    }

    mutating func ask(token: String) -> SimulatedAnswer {
        self.ask(Sample.push.with("authorization", "bearer \(token)"))
    }
}

@Suite struct APNSValidatorTests {
    @Test func `a right push is accepted with its id and an empty body`() {
        var host = Host()
        let answer = host.ask(Sample.push)
        #expect(answer.status == 200)
        #expect(answer.reason == nil)
        #expect(answer.body.isEmpty)
        #expect(answer.header("apns-id") == "5d5f3c9e-6c52-4e6a-8a58-11f64c1d5e33")
        #expect(answer.header("apns-unique-id") == nil)
    }

    @Test func `the development host adds its own id`() {
        var host = Host(.development)
        let answer = host.ask(Sample.push)
        #expect(answer.status == 200)
        #expect(answer.header("apns-unique-id")?.count == 36)
    }

    @Test func `an id is made where none is given, in upper case`() throws {
        var host = Host()
        let id = try #require(host.ask(Sample.push.with("apns-id", nil)).header("apns-id"))
        #expect(UUID(uuidString: id) != nil)
        #expect(id == id.uppercased())
    }

    struct Row: CustomTestStringConvertible, Sendable {
        var number: Int
        var request: SimulatedRequest
        var status: Int
        var reason: String

        init(_ number: Int, _ request: SimulatedRequest, _ status: Int, _ reason: String) {
            self.number = number
            self.request = request
            self.status = status
            self.reason = reason
        }

        var testDescription: String { "row \(self.number): \(self.reason)" }
    }

    static let rows: [Row] = [
        Row(1, Sample.push.with(method: "GET"), 405, "MethodNotAllowed"),
        Row(2, Sample.push.with(path: "/4/device/ab"), 404, "BadPath"),
        Row(3, Sample.push.with(path: "/3/device/"), 400, "MissingDeviceToken"),
        Row(4, doubled("apns-id"), 400, "DuplicateHeaders"),
        Row(4, doubled("x-other"), 400, "DuplicateHeaders"),
        Row(5, Sample.push.with("authorization", nil), 403, "MissingProviderToken"),
        Row(5, Sample.push.with("authorization", "basic abc"), 403, "MissingProviderToken"),
        Row(13, Sample.push.with("apns-id", "no-uuid"), 400, "BadMessageId"),
        Row(13, Sample.push.with("apns-id", "5d5f3c9e6c524e6a8a5811f64c1d5e33"), 400, "BadMessageId"),
        Row(14, Sample.push.with("apns-topic", nil), 400, "MissingTopic"),
        Row(15, Sample.push.with("apns-topic", "com example"), 400, "BadTopic"),
        Row(15, Sample.push.with("apns-topic", Sample.topic + ".voip"), 400, "BadTopic"),
        Row(15, Sample.push.with("apns-push-type", "voip"), 400, "BadTopic"),
        Row(16, Sample.push.with("apns-topic", "com.example.other"), 400, "TopicDisallowed"),
        Row(17, Sample.push.with("apns-push-type", "loud"), 400, "InvalidPushType"),
        Row(18, Sample.push.with("apns-priority", "7"), 400, "BadPriority"),
        Row(18, Sample.push.with("apns-push-type", "background"), 400, "BadPriority"),
        Row(19, Sample.push.with("apns-expiration", "-1"), 400, "BadExpirationDate"),
        Row(19, Sample.push.with("apns-expiration", "1790086400.5"), 400, "BadExpirationDate"),
        Row(20, Sample.push.with("apns-collapse-id", String(repeating: "é", count: 33)), 400, "BadCollapseId"),
        Row(21, Sample.push.with(body: ""), 400, "PayloadEmpty"),
        Row(22, Sample.push.with(body: padded(to: 4097)), 413, "PayloadTooLarge"),
        Row(22, Sample.push.with("content-encoding", "gzip"), 413, "PayloadTooLarge"),
        Row(23, Sample.push.with(body: "[]"), 400, "Simulator: the payload is not a JSON object"),
        Row(23, Sample.push.with(body: #"{"id":"1"}"#), 400, "Simulator: the payload has no aps"),
        Row(
            24, Sample.push.with(body: #"{"aps":{"content-available":1}}"#), 400,
            "Simulator: apns-push-type alert without alert, badge or sound"),
        Row(
            24, Sample.push.with("apns-push-type", "background").with("apns-priority", "5"), 400,
            "Simulator: apns-push-type background with aps.alert"),
        Row(25, Sample.push.with(path: "/3/device/xyz0"), 400, "BadDeviceToken"),
        Row(25, Sample.push.with(path: "/3/device/abc"), 400, "BadDeviceToken"),
        Row(25, Sample.push.with(path: "/3/device/" + String(repeating: "0", count: 64)), 400, "BadDeviceToken"),
    ]

    private static func doubled(_ name: String) -> SimulatedRequest {
        var request = Sample.push
        request.headers += [(name, "1"), (name, "2")]
        return request
    }

    /// The sample payload with a body text that makes it `count` bytes.
    static func padded(to count: Int) -> String {
        let frame = #"{"aps":{"alert":{"body":""}}}"#
        return frame.replacing(
            #""body":"""#, with: #""body":"\#(String(repeating: "x", count: count - frame.utf8.count))""#)
    }

    @Test(arguments: rows) func `each fault has its status and reason`(row: Row) {
        var host = Host()
        let answer = host.ask(row.request)
        #expect(answer.status == row.status)
        #expect(answer.reason == row.reason)
        #expect(answer.text == "{\"reason\":\"\(row.reason)\"}")
        #expect(answer.header("content-type") == "application/json")
        #expect(answer.header("apns-id")?.count == 36)
    }

    @Test func `4096 bytes are the most, and voip has 5120`() {
        var host = Host()
        #expect(host.ask(Sample.push.with(body: Self.padded(to: 4096))).status == 200)
        let voip = Sample.push.with("apns-push-type", "voip").with("apns-topic", Sample.topic + ".voip")
        #expect(host.ask(voip.with(body: Self.padded(to: 5120))).status == 200)
        #expect(host.ask(voip.with(body: Self.padded(to: 5121))).reason == "PayloadTooLarge")
    }

    @Test func `headers over 8000 bytes are refused loudly`() {
        var host = Host()
        var request = Sample.push
        request.headersTooLarge = true
        #expect(host.ask(request).status == 431)
    }

    @Test func `an expiration in milliseconds is taken with a warning`() {
        var host = Host()
        let answer = host.ask(Sample.push.with("apns-expiration", "1790086400000"))
        #expect(answer.status == 200)
        #expect(answer.warning == "apns-expiration looks like milliseconds")
        #expect(host.ask(Sample.push).warning == nil)
    }

    @Test func `without strictness the payload is not looked at`() {
        var rules = SimulatorRules()
        rules.isStrict = false
        var host = Host(rules: rules)
        #expect(host.ask(Sample.push.with(body: "not JSON")).status == 200)
    }

    // MARK: - Devices

    @Test(
        arguments: [
            (.unregistered, 410, #"{"reason":"Unregistered","timestamp":1700000000123}"#),
            (.expired, 410, #"{"reason":"ExpiredToken","timestamp":1700000000123}"#),
            (.otherTopic, 400, #"{"reason":"DeviceTokenNotForTopic"}"#),
        ] as [(SimulatedDevice.State, Int, String)])
    func `the state of the device decides`(state: SimulatedDevice.State, status: Int, body: String) {
        var host = Host(devices: [
            SimulatedDevice(platform: .ios, token: Sample.deviceToken, state: state, timestamp: 1_700_000_000_123)
        ])
        let answer = host.ask(Sample.push)
        #expect(answer.status == status)
        #expect(answer.text == body)
    }

    @Test func `a token of another topic or the other host is not for here`() {
        var other = Host(devices: [
            SimulatedDevice(platform: .ios, token: Sample.deviceToken, topic: "com.example.other")
        ])
        #expect(other.ask(Sample.push).reason == "DeviceTokenNotForTopic")
        var elsewhere = Host(devices: [
            SimulatedDevice(platform: .ios, token: Sample.deviceToken, environment: .development)
        ])
        #expect(elsewhere.ask(Sample.push).reason == "BadDeviceToken")
        elsewhere.devices.acceptsAnyToken = true
        #expect(elsewhere.ask(Sample.push).reason == "BadDeviceToken")
        #expect(elsewhere.ask(Sample.push.with(path: "/3/device/0123")).status == 200)
    }

    @Test func `a token in capitals is the same token`() {
        var host = Host()
        #expect(host.ask(Sample.push.with(path: "/3/device/\(Sample.deviceToken.uppercased())")).status == 200)
    }

    @Test func `too many pushes to one device within a minute are refused`() {
        var rules = SimulatorRules()
        rules.pushesPerDevicePerMinute = 2
        var host = Host(rules: rules)
        #expect(host.ask(Sample.push).status == 200)
        #expect(host.ask(Sample.push).status == 200)
        #expect(host.ask(Sample.push).reason == "TooManyRequests")
        host.now += 61
        #expect(host.ask(Sample.push).status == 200)
    }
}

@Suite struct APNSProviderTokenTests {
    @Test func `the vector of RFC 7515's key is accepted raw and refused as DER`() throws {
        let input =
            "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNzkwMDAwMDAwfQ"
        let raw = "3EzBiIWpJcjqPkm59-DmhwLQX-CW686RFiaMw0SVFxbhSiyNvp2a2EUjYq_Q-VXN90rwCU6WkXU1MjUgYof2tw"
        let der =
            "MEYCIQDcTMGIhaklyOo-Sbn34OaHAtBf4JbrzpEWJozDRJUXFgIhAOFKLI2-nZrYRSNir9D5Vc33SvAJTpaRdTUyNSBih_a3"
        let key = APNSKey(
            keyID: "ABC123DEFG", teamID: "DEF123GHIJ",
            publicKey: try PublicKey(
                p256X: try #require(Base64URL.decode(TestKeys.rfc7515X)),
                y: try #require(Base64URL.decode(TestKeys.rfc7515Y))), topics: [Sample.topic])
        var host = Host(keys: [key])
        #expect(host.ask(token: "\(input).\(raw)").status == 200)
        var other = Host(keys: [key])
        #expect(other.ask(token: "\(input).\(der)").reason == "InvalidProviderToken")
    }

    struct BadToken: CustomTestStringConvertible, Sendable {
        var fault: String
        var make: @Sendable () throws -> String

        init(_ fault: String, _ make: @escaping @Sendable () throws -> String) {
            self.fault = fault
            self.make = make
        }

        var testDescription: String { self.fault }
    }

    static let badTokens: [BadToken] = [
        BadToken("another key id") { try Sample.providerToken(keyID: "ZZZ123DEFG") },
        BadToken("another team") { try Sample.providerToken(teamID: "ZZZ123GHIJ") },
        BadToken("another key") { try Sample.providerToken(key: TestKeys.otherP256) },
        BadToken("iat as a string") { try Sample.providerToken(issuedAt: "1790000000") },
        BadToken("iat in milliseconds") { try Sample.providerToken(issuedAt: 1_790_000_000_000) },
        BadToken("iat in the future") { try Sample.providerToken(issuedAt: 1_790_000_061) },
        BadToken("two parts") { "a.b" },
        BadToken("RS256") {
            try JSONWebToken.sign(
                header: ["kid": "ABC123DEFG"], claims: ["iss": "DEF123GHIJ", "iat": 1_790_000_000], key: TestKeys.rsa,
                algorithm: .rs256)
        },
    ]

    @Test(arguments: badTokens) func `a token that does not hold is invalid`(token: BadToken) throws {
        var host = Host()
        let answer = host.ask(token: try token.make())
        #expect(answer.status == 403)
        #expect(answer.reason == "InvalidProviderToken")
        #expect(host.connection.binding == nil)
    }

    @Test func `an hour is the longest, and an expired token spoils the connection`() throws {
        var host = Host()
        #expect(host.ask(token: try Sample.providerToken(issuedAt: 1_789_996_400)).status == 200)
        var late = Host()
        #expect(late.ask(token: try Sample.providerToken(issuedAt: 1_789_996_399)).reason == "ExpiredProviderToken")
        #expect(late.ask(Sample.push).reason == "ExpiredProviderToken")
        late.connection = APNSConnectionState()
        #expect(late.ask(Sample.push).status == 200)
    }

    @Test func `a little ahead of the clock is fine`() throws {
        var host = Host()
        #expect(host.ask(token: try Sample.providerToken(issuedAt: 1_790_000_060)).status == 200)
    }

    @Test func `a key of one environment is refused on the other host`() {
        var key = Sample.key
        key.environments = [.development]
        var host = Host(keys: [key])
        #expect(host.ask(Sample.push).reason == "BadEnvironmentKeyInToken")
        host.validator = APNSValidator(
            environment: .production, keys: [key],
            rules: {
                var rules = SimulatorRules()
                rules.badEnvironmentReason = "BadEnvironmentKeyIdInToken"
                return rules
            }())
        #expect(host.ask(Sample.push).reason == "BadEnvironmentKeyIdInToken")
        var development = Host(.development, keys: [key])
        #expect(development.ask(Sample.push).status == 200)
    }

    @Test func `the first token ties the connection to its team and relation`() throws {
        let otherTeam = APNSKey(
            keyID: "OTHERTEAM1", teamID: "ANOTHER123", publicKey: TestKeys.otherP256.publicKey, topics: [Sample.topic])
        var unrelated = otherTeam
        unrelated.keyID = "UNRELATED1"
        unrelated.teamID = Sample.key.teamID
        unrelated.relation = "other"
        var host = Host(keys: [Sample.key, otherTeam, unrelated])
        #expect(host.ask(Sample.push).status == 200)
        let other = try Sample.providerToken(keyID: "OTHERTEAM1", teamID: "ANOTHER123", key: TestKeys.otherP256)
        #expect(host.ask(token: other).reason == "InvalidProviderToken")
        let foreign = try Sample.providerToken(keyID: "UNRELATED1", key: TestKeys.otherP256)
        #expect(host.ask(token: foreign).reason == "UnrelatedKeyIdInToken")
        #expect(host.ask(Sample.push).status == 200)
    }

    @Test func `a new token within 20 minutes makes the connection useless until they are over`() throws {
        var host = Host()
        #expect(host.ask(Sample.push).status == 200)
        host.now += 1199
        let next = try Sample.providerToken(issuedAt: 1_790_001_199)
        let answer = host.ask(token: next)
        #expect(answer.status == 429)
        #expect(answer.reason == "TooManyProviderTokenUpdates")
        // Also for the old one.
        #expect(host.ask(Sample.push).reason == "TooManyProviderTokenUpdates")
        host.now += 1
        #expect(host.ask(token: next).status == 200)
        #expect(host.ask(token: next).status == 200)
    }

    @Test func `streams are one until a valid token was seen, even if the push itself is wrong`() {
        var host = Host()
        #expect(host.connection.streamLimit(punishingErrors: false) == 1)
        _ = host.ask(Sample.push.with("authorization", "bearer x.y.z"))
        #expect(host.connection.streamLimit(punishingErrors: false) == 1)
        _ = host.ask(Sample.push.with(path: "/3/device/00"))
        #expect(host.connection.streamLimit(punishingErrors: false) == 1000)
    }

    @Test func `rejections lower the limit and in the end close, an acceptance restores it, 410 does not count`() {
        var host = Host(devices: [
            SimulatedDevice(platform: .ios, token: Sample.deviceToken),
            SimulatedDevice(platform: .ios, token: "00ff", state: .unregistered),
        ])
        _ = host.ask(Sample.push)
        for _ in 0..<3 { _ = host.ask(Sample.push.with(path: "/3/device/0000")) }
        #expect(host.connection.streamLimit(punishingErrors: true) == 125)
        _ = host.ask(Sample.push.with(path: "/3/device/00ff"))
        #expect(host.connection.streamLimit(punishingErrors: true) == 125)
        _ = host.ask(Sample.push)
        #expect(host.connection.streamLimit(punishingErrors: true) == 1000)
        for _ in 0..<19 { _ = host.ask(Sample.push.with(path: "/3/device/0000")) }
        #expect(!host.connection.deservesGoaway)
        _ = host.ask(Sample.push.with(path: "/3/device/0000"))
        #expect(host.connection.deservesGoaway)
    }
}

@Suite struct APNSPayloadRulesTests {
    @Test(
        arguments: [
            (#"{"alert":"Hello"}"#, nil),
            (#"{"alert":{"title":"A","body":"B","loc-args":["x"]},"badge":0,"sound":"default"}"#, nil),
            (#"{"alert":{"title-loc-key":"K"},"mutable-content":1,"relevance-score":0.5}"#, nil),
            (#"{"alert":"a","sound":{"critical":1,"name":"n","volume":0.5},"interruption-level":"active"}"#, nil),
            (#"{"alert":"a","alert":"b"}"#, "aps has two members alert"),
            (#"{"alert":1}"#, "aps.alert is neither an object nor a string"),
            (#"{"alert":{}}"#, "aps.alert is empty"),
            (#"{"alert":{"title":1}}"#, "aps.alert.title is not a string"),
            (#"{"alert":{"loc-args":[1]}}"#, "aps.alert.loc-args is not an array of strings"),
            (#"{"alert":{"titel":"x"}}"#, "aps.alert has the member titel, which iOS ignores"),
            (#"{"alert":"a","badge":"3"}"#, "aps.badge is not a whole number from 0 up"),
            (#"{"alert":"a","badge":-1}"#, "aps.badge is not a whole number from 0 up"),
            (#"{"alert":"a","content-available":true}"#, "aps.content-available is not the number 1"),
            (#"{"alert":"a","thread-id":1}"#, "aps.thread-id is not a string"),
            (#"{"alert":"a","sound":{"name":1}}"#, "aps.sound is not made of critical, name and volume"),
            (
                #"{"alert":"a","interruption-level":"loud"}"#,
                "aps.interruption-level is none of passive, active, time-sensitive, critical"
            ),
            (#"{"alert":"a","kind":"x"}"#, "aps has the member kind, which iOS ignores"),
        ] as [(String, String?)])
    func `the parts of aps have their types`(aps: String, fault: String?) {
        #expect(APNSPayloadRules.fault(in: Array(#"{"aps":\#(aps)}"#.utf8), pushType: .alert) == fault)
    }

    @Test func `a background push carries the flag and nothing to show`() {
        func fault(_ aps: String) -> String? {
            APNSPayloadRules.fault(in: Array(#"{"aps":\#(aps)}"#.utf8), pushType: .background)
        }
        #expect(fault(#"{"content-available":1}"#) == nil)
        #expect(fault("{}") == "apns-push-type background without content-available")
        #expect(fault(#"{"content-available":1,"badge":1}"#) == "apns-push-type background with aps.badge")
    }
}
