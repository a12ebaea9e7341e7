import FoundationEssentials
import HTTPTransport
import PushModel
import TestSupport
import Testing

@testable import APNS

@Suite struct APNSOutcomeTests {
    private func read(_ status: Int, _ body: String, headers: [String: String] = [:]) -> SendOutcome {
        APNSOutcome.read(status: status, headers: headers, body: Array(body.utf8), now: Sample.now)
    }

    enum Expected: Sendable {
        case dead, badToken, rejected, misconfigured(SendOutcome.Scope)
        case retry(
            SendOutcome.Scope, floor: Duration? = nil, counts: Bool = true,
            renewal: SendOutcome.Retry.Renewal = .none)

        func matches(_ outcome: SendOutcome, reason: String) -> Bool {
            guard outcome.reason == reason else { return false }
            switch (self, outcome) {
            case (.dead, .deviceDead), (.badToken, .badDeviceToken), (.rejected, .rejected): return true
            case (.misconfigured(let scope), .misconfigured(_, let fix, let actual)):
                return scope == actual && !fix.isEmpty
            case (.retry(let scope, let floor, let counts, let renewal), .retry(let retry)):
                return retry.scope == scope && retry.floor == floor && retry.countsAsAttempt == counts
                    && retry.renewal == renewal
            default: return false
            }
        }
    }

    /// Every row of Apple's table.
    static let rows: [(Int, String, Expected)] = [
        (400, "BadCollapseId", .rejected), (400, "BadDeviceToken", .badToken), (400, "BadExpirationDate", .rejected),
        (400, "BadMessageId", .rejected), (400, "BadPriority", .rejected), (400, "BadTopic", .misconfigured(.provider)),
        (400, "DeviceTokenNotForTopic", .dead), (400, "DuplicateHeaders", .rejected),
        (400, "IdleTimeout", .retry(.device, renewal: .connection)), (400, "InvalidPushType", .rejected),
        (400, "MissingDeviceToken", .rejected), (400, "MissingTopic", .misconfigured(.provider)),
        (400, "PayloadEmpty", .rejected), (400, "TopicDisallowed", .misconfigured(.provider)),
        (403, "BadCertificate", .misconfigured(.provider)), (403, "BadCertificateEnvironment", .misconfigured(.host)),
        (403, "ExpiredProviderToken", .retry(.provider, counts: false, renewal: .credential)),
        (403, "Forbidden", .misconfigured(.provider)), (403, "InvalidProviderToken", .misconfigured(.provider)),
        (403, "MissingProviderToken", .rejected),
        (403, "UnrelatedKeyIdInToken", .retry(.host, counts: false, renewal: .connection)),
        (403, "BadEnvironmentKeyIdInToken", .misconfigured(.host)),
        (403, "BadEnvironmentKeyInToken", .misconfigured(.host)),
        (404, "BadPath", .rejected), (405, "MethodNotAllowed", .rejected), (410, "ExpiredToken", .dead),
        (410, "Unregistered", .dead), (413, "PayloadTooLarge", .rejected),
        (
            429, "TooManyProviderTokenUpdates",
            .retry(.provider, floor: .seconds(1200), counts: false, renewal: .connection)
        ),
        (429, "TooManyRequests", .retry(.device)), (500, "InternalServerError", .retry(.host)),
        (503, "ServiceUnavailable", .retry(.host)), (503, "Shutdown", .retry(.device, renewal: .connection)),
    ]

    @Test(arguments: rows)
    func readsEveryReason(_ status: Int, _ reason: String, _ expected: Expected) {
        let outcome = self.read(status, "{\"reason\":\"\(reason)\"}")
        #expect(expected.matches(outcome, reason: reason), "\(outcome)")
    }

    @Test func theTestsCoverTheTable() {
        #expect(Self.rows.map { "\($0.0) \($0.1)" } == APNSReaction.table.map { "\($0.status) \($0.reason)" })
        #expect(Set(APNSReaction.table.map { "\($0.status) \($0.reason)" }).count == APNSReaction.table.count)
    }

    // MARK: - Acceptance

    @Test func acceptanceNamesTheEntryOfApplesLog() {
        #expect(self.read(200, "") == .accepted(providerID: nil))
        #expect(self.read(200, "", headers: ["apns-id": "ABC-1"]) == .accepted(providerID: "ABC-1"))
        #expect(
            self.read(200, "", headers: ["apns-id": "ABC-1", "apns-unique-id": "u-2"]) == .accepted(providerID: "u-2"))
        #expect(self.read(200, "<html>") == .accepted(providerID: nil))
    }

    // MARK: - What nobody knows

    @Test(arguments: [
        (400, Expected.rejected), (401, .misconfigured(.host)), (402, .rejected), (403, .misconfigured(.host)),
        (404, .misconfigured(.host)), (405, .rejected), (407, .misconfigured(.host)), (408, .retry(.device)),
        (410, .rejected), (413, .rejected), (429, .retry(.device)), (499, .rejected), (500, .retry(.host)),
        (502, .retry(.host)), (503, .retry(.host)), (504, .retry(.host)), (301, .misconfigured(.host)),
        (302, .misconfigured(.host)),
    ])
    func anUnknownReasonIsClassifiedByItsStatus(_ status: Int, _ expected: Expected) {
        let outcome = self.read(status, "{\"reason\":\"BrandNew\"}")
        #expect(expected.matches(outcome, reason: "BrandNew"), "\(outcome)")
        for body in ["", "{}", "{\"reason\":7}", "<html>x</html>"] {
            let outcome = self.read(status, body)
            #expect(expected.matches(outcome, reason: "status_\(status)"), "\(outcome)")
        }
    }

    /// A reason with another status than its own is not that reason: no token dies of it.
    @Test(arguments: [(400, "Unregistered"), (500, "Unregistered"), (403, "BadDeviceToken"), (404, "ExpiredToken")])
    func statusAndReasonAreOnePair(_ status: Int, _ reason: String) {
        switch self.read(status, "{\"reason\":\"\(reason)\"}") {
        case .deviceDead, .badDeviceToken, .accepted: Issue.record("believed")
        default: break
        }
    }

    @Test(arguments: [
        "", " ", "null", "7", "\"reason\"", "[]", "[{\"reason\":\"Unregistered\"}]", "{", "{\"reason\"", "{}",
        "{\"reason\":null}", "{\"reason\":{}}", "{\"reason\":[\"Unregistered\"]}", "{\"Reason\":\"Unregistered\"}",
        "<html><body>502</body></html>", "\u{FEFF}{\"reason\":\"Unregistered\"}x", "{\"reason\":\"\"}",
        "{\"reason\":\"\\ud800\"}", String(repeating: "[", count: 60_000), String(repeating: "{\"a\":", count: 10_000),
    ])
    func garbageNeverKillsAToken(_ body: String) {
        for status in [0, -1, 100, 204, 400, 404, 410, 500, 599, 999, Int.max] {
            switch self.read(status, body) {
            case .deviceDead, .badDeviceToken, .accepted: Issue.record("\(status) believed")
            default: break
            }
        }
        _ = APNSOutcome.read(status: 410, body: [0xFF, 0xFE, 0x00, 0x80], now: Sample.now)
    }

    @Test func anUnknownReasonIsKeptHarmlessAndShort() {
        let long = self.read(400, "{\"reason\":\"<b>\(String(repeating: "x", count: 10_000))\"}")
        #expect(long.reason == "_b_" + String(repeating: "x", count: 37))
    }

    @Test func aStatusThatIsNoneLeavesTheOutcomeOpen() {
        for status in [0, 100, 201, 204, 600] {
            #expect(self.read(status, "") == .unknown(reason: "status_\(status)"))
        }
    }

    // MARK: - 410

    @Test(
        arguments: [
            ("1790000000000", 1_790_000_000.0), ("1790000000123", 1_790_000_000.123), ("1.79e12", 1_790_000_000),
            // Seconds, zero, negative, the future, another type: no time at all.
            ("1790000000", nil), ("0", nil), ("-1790000000000", nil), ("1890000000000", nil),
            ("9223372036854775807", nil),
            ("1e400", nil), ("\"1790000000000\"", nil), ("null", nil), ("{}", nil),
        ] as [(String, Double?)])
    func aTimestampIsMilliseconds(_ timestamp: String, _ seconds: Double?) {
        for reason in ["Unregistered", "ExpiredToken"] {
            let outcome = self.read(410, "{\"reason\":\"\(reason)\",\"timestamp\":\(timestamp)}")
            switch (outcome, seconds) {
            case (.deviceDead(reason, let since?), let seconds?):
                #expect(abs(since.timeIntervalSince1970 - seconds) < 0.001)
            // A number no Double holds makes the whole answer unreadable, which kills nothing.
            case (.deviceDead(reason, nil), nil), (.rejected("status_410"), nil): break
            default: Issue.record("\(outcome)")
            }
        }
    }

    @Test func aTimestampMayBeMissing() {
        #expect(self.read(410, "{\"reason\":\"Unregistered\"}") == .deviceDead(reason: "Unregistered", since: nil))
    }

    // MARK: - Waits and failures

    @Test func aRetryAfterIsAFloorUnderOurOwn() {
        let soon = self.read(503, "{\"reason\":\"ServiceUnavailable\"}", headers: ["retry-after": "90"])
        #expect(Expected.retry(.host, floor: .seconds(90)).matches(soon, reason: "ServiceUnavailable"))
        let late = self.read(
            429, "{\"reason\":\"TooManyProviderTokenUpdates\"}", headers: ["retry-after": "90"])
        guard case .retry(let retry) = late else {
            Issue.record("\(late)")
            return
        }
        #expect(retry.floor == .seconds(1200))
    }

    @Test func aSecondExpiredTokenIsAFaultOfTheClock() {
        let once = self.read(403, "{\"reason\":\"ExpiredProviderToken\"}")
        guard case .misconfigured("ExpiredProviderToken", let fix, .provider) = once.repeatedAfterRenewal else {
            Issue.record("\(once.repeatedAfterRenewal)")
            return
        }
        #expect(fix.contains("clock"))
    }

    @Test func aFailureOfTheTransportIsNotSentOrUnknown() {
        let refused = APNSOutcome.read(.failure(HTTPFailure(fate: .notSent, reason: "connect")), now: Sample.now)
        #expect(refused == .retry(.init(reason: "connect", scope: .host, countsAsAttempt: false)))
        let lost = APNSOutcome.read(.failure(HTTPFailure(fate: .unknown, reason: "timeout")), now: Sample.now)
        #expect(lost == .unknown(reason: "timeout"))
        let answer = HTTPAnswer(status: 200, headers: ["apns-id": "x"])
        #expect(APNSOutcome.read(.success(answer), now: Sample.now) == .accepted(providerID: "x"))
    }
}
