import Delivery
import FoundationEssentials
import HTTPTransport
import PushModel
import PushSimulator
import Testing

/// What the senders make of answers, one by one: whose fault it is, and who has to wait.
@Suite(.serialized) struct AnswerTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var platform: Platform
        var answer: FaultRule.Answer
        var expected: @Sendable (SendOutcome) -> Bool
        var testDescription: String { self.name }
    }

    private static func isPause(_ reason: String, _ scope: SendOutcome.Scope, naming text: String = "")
        -> @Sendable (SendOutcome) -> Bool
    {
        { outcome in
            guard case .misconfigured(reason, let fix, scope) = outcome else { return false }
            return text.isEmpty || fix.contains(text)
        }
    }

    private static func isRetry(_ scope: SendOutcome.Scope, floor: ClosedRange<Double>?)
        -> @Sendable (SendOutcome) -> Bool
    {
        { outcome in
            guard case .retry(let retry) = outcome, retry.scope == scope else { return false }
            guard let floor else { return retry.floor == nil }
            return retry.floor.map { floor.contains($0 / .seconds(1)) } ?? false
        }
    }

    private static var inHalfAnHour: String {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let parts = Calendar(identifier: .gregorian).dateComponents(in: .gmt, from: Date() + 1800)
        let time = [parts.hour, parts.minute, parts.second].map { ($0 ?? 0) < 10 ? "0\($0 ?? 0)" : "\($0 ?? 0)" }
        let month = months[(parts.month ?? 1) - 1]
        // The day's name is of no account.
        return "Mon, \(parts.day ?? 1) \(month) \(parts.year ?? 1970) \(time.joined(separator: ":")) GMT"
    }

    private static let cases: [Case] = [
        Case(
            name: "D9: an HTML page instead of FCM", platform: .android,
            answer: .init(status: 404, body: "<html><title>Error 404 (Not Found)</title>"),
            expected: Self.isPause("status_404", .provider, naming: "<html><title>Error 404")),
        Case(
            name: "D10: a payload FCM does not take", platform: .android,
            answer: .init(status: 400, reason: "INVALID_ARGUMENT"), expected: { $0.name == "rejected" }),
        Case(
            name: "D13: a permission that is missing", platform: .android, answer: .init(status: 403, reason: nil),
            expected: { if case .misconfigured(_, _, .provider) = $0 { true } else { false } }),
        Case(
            name: "D14: Firebase's own credential for another platform", platform: .android,
            answer: .init(status: 401, reason: "THIRD_PARTY_AUTH_ERROR"),
            expected: Self.isPause("THIRD_PARTY_AUTH_ERROR", .device)),
        Case(
            name: "E1: Retry-After as a date", platform: .android,
            answer: .init(status: 503, reason: "UNAVAILABLE", retryAfter: Self.inHalfAnHour),
            expected: Self.isRetry(.host, floor: 900...1801)),
        Case(
            name: "E2: Retry-After in seconds", platform: .ios,
            answer: .init(status: 503, reason: "ServiceUnavailable", retryAfter: "30"),
            expected: Self.isRetry(.host, floor: 30...30)),
        Case(
            name: "E5: FCM's quota", platform: .android,
            answer: .init(status: 429, reason: "QUOTA_EXCEEDED", retryAfter: "17"),
            expected: Self.isRetry(.host, floor: 17...17)),
        Case(
            name: "E5: FCM's quota without a time", platform: .android,
            answer: .init(status: 429, reason: "QUOTA_EXCEEDED"), expected: Self.isRetry(.host, floor: 60...60)),
        Case(
            name: "E6: one device has too many", platform: .ios,
            answer: .init(status: 429, reason: "TooManyRequests"), expected: Self.isRetry(.device, floor: nil)),
        Case(
            name: "E14: FCM's own fault", platform: .android, answer: .init(status: 500, reason: "INTERNAL"),
            expected: Self.isRetry(.host, floor: nil)),
        Case(
            name: "an unknown word of APNs", platform: .ios, answer: .init(status: 400, reason: "BrandNew"),
            expected: { $0 == .rejected(reason: "BrandNew") }),
        Case(
            name: "no words at all", platform: .ios, answer: .init(status: 502),
            expected: Self.isRetry(.host, floor: nil)
        ),
    ]

    @Test(arguments: Self.cases) func `an answer is taken for what it is`(_ sample: Case) async throws {
        try await ProviderBench.run { bench in
            let provider: FaultRule.Provider = sample.platform == .ios ? .apns : .fcm
            bench.simulator.setFaults(FaultPlan([FaultRule(provider, count: 1, answer: sample.answer)]))
            let transport = sample.platform == .ios ? bench.apnsTransport() : bench.fcmTransport()
            let sender: any ProviderSender =
                sample.platform == .ios ? try bench.apns(transport) : try bench.fcm(transport)
            let outcomes = await sender.outcomes(of: try bench.deliveries(1, sample.platform))
            #expect(outcomes.allSatisfy(sample.expected), "\(outcomes)")
            // No answer about a push makes another access token, but a plain 401.
            #expect(bench.simulator.tokenExchanges().issued == (sample.platform == .ios ? 0 : 1))
            await transport.shutdown()
        }
    }

    @Test func `an FCM address called invalid is asked about once more, and only then is dead`() async throws {
        try await ProviderBench.run { bench in
            let transport = bench.fcmTransport()
            let sender = try bench.fcm(transport)
            let malformed = try ProviderBench.delivery(token: "not/a/registration/token", .android)
            let outcomes = await sender.outcomes(of: [malformed] + (try bench.deliveries(3, .android)))
            #expect(outcomes.first == .deviceDead(reason: "INVALID_ARGUMENT", since: nil))
            #expect(outcomes.accepted == 3)
            let asked = bench.simulator.received().filter { $0.deviceToken == malformed.token.text }
            #expect(asked.count == 2)
            #expect(asked.count { $0.body.contains("\"validate_only\":true") } == 1)
            await transport.shutdown()
        }
    }

    @Test func `of five phones the dead ones are told apart from the living`() async throws {
        try await ProviderBench.run { bench in
            let transport = bench.apnsTransport()
            let sender = try bench.apns(transport)
            let states: [SimulatedDevice.State] = [.active, .unregistered, .active, .expired, .otherTopic]
            let deliveries = try states.flatMap { try bench.deliveries(1, state: $0) }
            let outcomes = await sender.outcomes(of: deliveries)
            #expect(outcomes.map(\.name) == ["accepted", "device_dead", "accepted", "device_dead", "device_dead"])
            #expect(outcomes.compactMap(\.reason) == ["Unregistered", "ExpiredToken", "DeviceTokenNotForTopic"])
            await transport.shutdown()
        }
    }
}
