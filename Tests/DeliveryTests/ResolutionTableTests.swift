internal import Delivery
internal import DeliveryQueue
internal import Fanout
internal import PushModel
internal import Testing

internal import struct FoundationEssentials.Date

@Suite struct ResolutionTableTests {
    private static let pause = Duration.seconds(60)

    private static func resolve(
        _ item: PendingDelivery, _ outcome: SendOutcome, at endpoint: ProviderEndpoint? = nil, mayMarkDead: Bool = true,
        endpoints: Set<ProviderEndpoint> = Set(ProviderEndpoint.allCases), maxAttempts: Int = 30
    ) -> QueueRecord {
        var generator = NoJitter()
        let resolution = Resolution(
            policy: RetryPolicy(maxAttempts: maxAttempts), pauseForMisconfiguration: Self.pause, endpoints: endpoints)
        return resolution.resolve(
            item, SendResult(index: 0, outcome: outcome, status: 418, duration: .milliseconds(9)),
            at: endpoint ?? item.endpoint, now: Make.now, weigh: { _, _ in mayMarkDead ? .mark : .keep },
            using: &generator)
    }

    // MARK: - Ends

    /// What each outcome makes of a first try and of a retry, where nothing else is at play.
    struct End: CustomTestStringConvertible, Sendable {
        var outcome: SendOutcome
        var platform = Platform.ios
        var state: DeliveryState
        var isMarked = false
        var testDescription: String { "\(self.platform) \(self.outcome)" }
    }

    @Test(arguments: [
        End(outcome: .accepted(providerID: "p"), state: .accepted),
        End(outcome: .accepted(providerID: nil), platform: .android, state: .accepted),
        End(outcome: .deviceDead(reason: "Unregistered", since: Make.now), state: .discarded, isMarked: true),
        End(outcome: .deviceDead(reason: "ExpiredToken", since: nil), state: .discarded, isMarked: true),
        End(
            outcome: .deviceDead(reason: "UNREGISTERED", since: nil), platform: .android, state: .discarded,
            isMarked: true),
        End(
            outcome: .badDeviceToken(reason: "INVALID_ARGUMENT"), platform: .android, state: .discarded, isMarked: true),
        End(outcome: .rejected(reason: "PayloadTooLarge"), state: .discarded),
        End(
            outcome: .misconfigured(reason: "THIRD_PARTY_AUTH_ERROR", fix: "f", scope: .device), platform: .android,
            state: .discarded),
    ])
    func `an end is recorded, settles what waited, and pauses nothing`(_ end: End) throws {
        for item in [try Make.first(end.platform), try Make.retry(end.platform, attempts: 4)] {
            let record = Self.resolve(item, end.outcome)
            let attempt = try #require(record.attempts.first)
            #expect(record.attempts.count == 1)
            #expect(attempt.state == end.state)
            #expect(attempt.number == item.attempts + 1)
            #expect(attempt.outcome == end.outcome.name)
            #expect(attempt.reason == end.outcome.reason)
            #expect(attempt.status == 418)
            #expect(attempt.duration == .milliseconds(9))
            #expect(attempt.delivery == item.reference)
            let settles = item.waitingLease != nil || end.state == .accepted
            #expect(record.settled == (settles ? [item.reference.deliveryID] : []))
            #expect(record.parked.isEmpty)
            #expect(record.pauses.isEmpty)
            #expect(record.environments.isEmpty)
            #expect(record.deadTokens.map(\.deviceID) == (end.isMarked ? [item.reference.deviceID] : []))
            if case .accepted(let id) = end.outcome { #expect(attempt.providerID == id) }
            if case .deviceDead(let reason, let since) = end.outcome {
                #expect(record.deadTokens.first?.since == since)
                #expect(record.deadTokens.first?.reason == reason)
                // As it stands in the row, not as it was sent.
                #expect(record.deadTokens.first?.storedToken == "00112233445566778899AABBCCDDEEFF")
            }
        }
    }

    @Test(arguments: [
        (SendOutcome.deviceDead(reason: "DeviceTokenNotForTopic", since: nil), Platform.ios),
        (.deviceDead(reason: "SENDER_ID_MISMATCH", since: nil), .android),
        (.badDeviceToken(reason: "INVALID_ARGUMENT"), .android),
        (.deviceDead(reason: "Unregistered", since: nil), .ios),
        (.deviceDead(reason: "ExpiredToken", since: nil), .ios),
        (.deviceDead(reason: "UNREGISTERED", since: nil), .android),
    ])
    func `the prune guard is asked before any token is marked`(
        _ outcome: SendOutcome, _ platform: Platform
    ) throws {
        let item = try Make.first(platform)
        #expect(Self.resolve(item, outcome, mayMarkDead: false).deadTokens.isEmpty)
        #expect(!Self.resolve(item, outcome, mayMarkDead: true).deadTokens.isEmpty)
        #expect(Self.resolve(item, outcome, mayMarkDead: false).attempts.first?.state == .discarded)
    }

    // MARK: - The other environment

    @Test(arguments: APNSEnvironment.allCases)
    func `a bad token has one try at the other environment, at once and uncharged`(_ environment: APNSEnvironment)
        throws
    {
        let other = ProviderEndpoint(environment: environment.other)
        for item in [try Make.first(environment: environment), try Make.retry(environment: environment, attempts: 3)] {
            let record = Self.resolve(item, .badDeviceToken(reason: "BadDeviceToken"))
            #expect(record.attempts.map(\.state) == [.available])
            #expect(record.parked.map(\.endpoint) == [other])
            #expect(record.parked.map(\.attempts) == [item.attempts])
            #expect(record.parked.map(\.wait) == [.zero])
            #expect(record.settled.isEmpty && record.deadTokens.isEmpty)
        }
        // The try there.
        let there = try Make.retry(
            environment: environment, at: other, attempts: 0, waitedFor: "BadDeviceToken")
        let accepted = Self.resolve(there, .accepted(providerID: nil))
        #expect(accepted.environments.map(\.environment) == [environment.other])
        #expect(accepted.environments.map(\.storedToken) == ["00112233445566778899AABBCCDDEEFF"])
        #expect(accepted.settled == [there.reference.deliveryID])

        let refused = Self.resolve(there, .badDeviceToken(reason: "BadDeviceToken"))
        #expect(refused.attempts.map(\.state) == [.discarded])
        #expect(refused.parked.isEmpty && refused.environments.isEmpty)
        #expect(refused.deadTokens.map(\.reason) == ["BadDeviceToken"])
        #expect(Self.resolve(there, .badDeviceToken(reason: "BadDeviceToken"), mayMarkDead: false).deadTokens.isEmpty)

        // The key does not serve it: no reason to pause anything, or to mark the token.
        let misconfigured = Self.resolve(
            there, .misconfigured(reason: "BadEnvironmentKeyIdInToken", fix: "f", scope: .host))
        #expect(misconfigured.attempts.map(\.state) == [.discarded])
        #expect(misconfigured.pauses.isEmpty && misconfigured.parked.isEmpty && misconfigured.deadTokens.isEmpty)

        // Trouble on the way: tried there again.
        let retried = Self.resolve(there, .retry(.init(reason: "status_503", scope: .host)))
        #expect(retried.parked.map(\.endpoint) == [other])
    }

    @Test func `where the other environment is not configured, the first refusal counts`() throws {
        let record = Self.resolve(
            try Make.first(), .badDeviceToken(reason: "BadDeviceToken"), endpoints: [.apnsProduction, .fcm])
        #expect(record.attempts.map(\.state) == [.discarded])
        #expect(record.parked.isEmpty)
        #expect(record.deadTokens.count == 1)
    }

    // MARK: - Retries

    @Test(arguments: [
        (SendOutcome.retry(.init(reason: "status_500")), Platform.ios, Duration.seconds(1)),
        (.retry(.init(reason: "UNAVAILABLE")), .android, .seconds(10)),
        (.retry(.init(reason: "TooManyRequests", floor: .seconds(45))), .ios, .seconds(45)),
        (.retry(.init(reason: "QUOTA_EXCEEDED", floor: .seconds(3))), .android, .seconds(10)),
        (.unknown(reason: "timed_out"), .ios, .seconds(1)),
        (.unknown(reason: "reset"), .android, .seconds(10)),
    ])
    func `a retry waits for its floor at least, and is charged`(
        _ outcome: SendOutcome, _ platform: Platform, _ least: Duration
    ) throws {
        for item in [try Make.first(platform), try Make.retry(platform, attempts: 5)] {
            let record = Self.resolve(item, outcome)
            #expect(record.attempts.map(\.state) == [.available])
            #expect(record.attempts.map(\.number) == [item.attempts + 1])
            #expect(record.parked.map(\.attempts) == [item.attempts + 1])
            #expect(record.parked.map(\.wait) == [least])
            #expect(record.parked.map(\.reason) == [outcome.reason])
            #expect(record.parked.map(\.expiresAt) == [item.expiresAt])
            #expect(record.pauses.isEmpty && record.settled.isEmpty && record.deadTokens.isEmpty)
        }
    }

    @Test func `a try that does not count is not charged`() throws {
        let outcome = SendOutcome.retry(.init(reason: "not_sent", scope: .host, countsAsAttempt: false))
        #expect(Self.resolve(try Make.retry(attempts: 5), outcome).parked.map(\.attempts) == [5])
        // Not even beyond the last one.
        let record = Self.resolve(try Make.retry(attempts: 5), outcome, maxAttempts: 3)
        #expect(record.attempts.map(\.state) == [.available])
    }

    @Test func `the last try is given up, and so is what would come too late`() throws {
        let outcome = SendOutcome.retry(.init(reason: "status_503"))
        let last = Self.resolve(try Make.retry(attempts: 2), outcome, maxAttempts: 3)
        #expect(last.attempts.map(\.state) == [.discarded])
        #expect(last.attempts.map(\.reason) == ["exhausted"])
        #expect(last.settled.count == 1 && last.parked.isEmpty)
        #expect(Self.resolve(try Make.retry(attempts: 1), outcome, maxAttempts: 3).parked.count == 1)

        let late = Self.resolve(try Make.first(expiresIn: 0.9), outcome)
        #expect(late.attempts.map(\.state) == [.discarded])
        #expect(late.attempts.map(\.reason) == ["expired"])
        #expect(Self.resolve(try Make.first(expiresIn: 1.1), outcome).parked.count == 1)
    }

    @Test(
        arguments: [
            (SendOutcome.Scope.device, []), (.host, [ProviderEndpoint.apnsProduction]),
            (.provider, [.apnsProduction, .apnsDevelopment]),
        ] as [(SendOutcome.Scope, [ProviderEndpoint])])
    func `a provider that says how long rests as widely as it says`(
        _ scope: SendOutcome.Scope, _ paused: [ProviderEndpoint]
    ) throws {
        let record = Self.resolve(
            try Make.first(), .retry(.init(reason: "TooMany", floor: .seconds(120), scope: scope)))
        #expect(record.pauses.map(\.endpoint) == paused)
        #expect(record.pauses.allSatisfy { $0.duration == .seconds(120) && $0.fix == nil && $0.reason == "TooMany" })
        // Without a time nobody rests: the deliveries' own waits do.
        #expect(Self.resolve(try Make.first(), .retry(.init(reason: "x", scope: scope))).pauses.isEmpty)
    }

    // MARK: - Configuration

    @Test(
        arguments: [
            (SendOutcome.Scope.host, Platform.ios, [ProviderEndpoint.apnsProduction]),
            (.provider, .ios, [.apnsProduction, .apnsDevelopment]), (.provider, .android, [.fcm]),
            (.host, .android, [.fcm]),
        ] as [(SendOutcome.Scope, Platform, [ProviderEndpoint])])
    func `a fault of configuration pauses its scope, charges nothing and touches no token`(
        _ scope: SendOutcome.Scope, _ platform: Platform, _ paused: [ProviderEndpoint]
    ) throws {
        for item in [try Make.first(platform), try Make.retry(platform, attempts: 7)] {
            let record = Self.resolve(
                item, .misconfigured(reason: "BadTopic", fix: "set it", scope: scope), maxAttempts: 5)
            #expect(record.pauses.map(\.endpoint) == paused)
            #expect(record.pauses.allSatisfy { $0.fix == "set it" && $0.duration == Self.pause })
            #expect(record.attempts.map(\.state) == [.available])
            #expect(record.parked.map(\.attempts) == [item.attempts])
            #expect(record.parked.map(\.wait) == [Self.pause])
            #expect(record.settled.isEmpty && record.deadTokens.isEmpty)
        }
    }

    @Test func `the same refusal after a renewal is a fault of configuration, another one is not`() throws {
        let outcome = SendOutcome.retry(
            .init(
                reason: "ExpiredProviderToken", scope: .provider, countsAsAttempt: false, renewal: .credential,
                fixIfRepeated: "set the clock"))
        let first = Self.resolve(try Make.first(), outcome)
        #expect(first.pauses.isEmpty)
        #expect(first.parked.map(\.reason) == ["ExpiredProviderToken"])
        let other = Self.resolve(try Make.retry(waitedFor: "status_503"), outcome)
        #expect(other.pauses.isEmpty)
        let again = Self.resolve(try Make.retry(waitedFor: "ExpiredProviderToken"), outcome)
        #expect(again.pauses.map(\.fix) == ["set the clock", "set the clock"])
        #expect(again.attempts.map(\.outcome) == ["misconfigured"])
        #expect(again.parked.map(\.attempts) == [1])
        // What says nothing of a renewal may repeat as often as it likes.
        let plain = SendOutcome.retry(.init(reason: "status_503", scope: .host))
        #expect(Self.resolve(try Make.retry(waitedFor: "status_503"), plain).pauses.isEmpty)
    }
}
