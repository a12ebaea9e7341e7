import Fanout
import FoundationEssentials
import PushModel
import TestSupport
import Testing

/// SplitMix64: chance that is the same in every run.
private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        self.state = seed
    }

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

@Suite struct RetryPolicyTests {
    private static let retry = SendOutcome.retry(.init(reason: "ServiceUnavailable"))
    private static let farEnd = Sample.now + 28 * 86_400

    /// The waits drawn for one try, a thousand times.
    private func waits(
        attempt: Int, outcome: SendOutcome = retry, provider: Provider, policy: RetryPolicy = RetryPolicy()
    ) throws -> [Duration] {
        var generator = SeededGenerator(seed: UInt64(attempt))
        return try (0..<1000).map { _ in
            let step = policy.next(
                attempt: attempt, outcome: outcome, provider: provider, now: Sample.now, expiresAt: Self.farEnd,
                using: &generator)
            guard case .again(let wait) = step else { throw DeliveryReasonError(step: step) }
            return wait
        }
    }

    private struct DeliveryReasonError: Error {
        var step: RetryPolicy.Step
    }

    @Test(arguments: [
        (1, Provider.apns, 1, 6), (2, .apns, 1, 11), (3, .apns, 1, 21), (8, .apns, 1, 641), (9, .apns, 1, 901),
        (29, .apns, 1, 901),
        (1, .fcm, 10, 20), (2, .fcm, 10, 30), (3, .fcm, 10, 50), (7, .fcm, 10, 650), (8, .fcm, 10, 910),
        (29, .fcm, 10, 910),
    ])
    func waitsGrowToTheCapAndSpread(_ attempt: Int, _ provider: Provider, _ least: Int, _ most: Int) throws {
        let waits = try self.waits(attempt: attempt, provider: provider)
        #expect(waits.allSatisfy { $0 >= .seconds(least) && $0 <= .seconds(most) })
        // Full jitter: from end to end, not around the middle.
        let tenth = Duration.seconds(most - least) / 10
        #expect(waits.contains { $0 < .seconds(least) + tenth } && waits.contains { $0 > .seconds(most) - tenth })
    }

    @Test(arguments: Provider.allCases)
    func retryAfterIsAFloorAndStillSpreads(_ provider: Provider) throws {
        let outcome = SendOutcome.retry(.init(reason: "QUOTA_EXCEEDED", floor: .seconds(120)))
        let waits = try self.waits(attempt: 1, outcome: outcome, provider: provider)
        #expect(waits.allSatisfy { $0 >= .seconds(120) && $0 <= .seconds(130) })
        #expect(Set(waits).count > 100)
    }

    @Test func fcmIsNeverAskedAgainWithinTenSeconds() throws {
        let outcome = SendOutcome.retry(.init(reason: "QUOTA_EXCEEDED", floor: .zero))
        #expect(try self.waits(attempt: 1, outcome: outcome, provider: .fcm).allSatisfy { $0 >= .seconds(10) })
    }

    @Test func sameSeedSameWait() throws {
        #expect(
            try self.waits(attempt: 4, provider: .apns) == self.waits(attempt: 4, provider: .apns))
    }

    private func step(
        attempt: Int, charged: Int? = nil, _ outcome: SendOutcome = retry, expiresAt: Date = farEnd,
        policy: RetryPolicy = RetryPolicy()
    ) -> RetryPolicy.Step {
        var generator = SeededGenerator(seed: 1)
        return policy.next(
            attempt: attempt, charged: charged, outcome: outcome, provider: .apns, now: Sample.now,
            expiresAt: expiresAt, using: &generator)
    }

    private func isAgain(_ step: RetryPolicy.Step) -> Bool {
        if case .again = step { true } else { false }
    }

    @Test func triesAreCountedToTheEnd() {
        let policy = RetryPolicy(maxAttempts: 3)
        #expect(self.isAgain(self.step(attempt: 2, policy: policy)))
        #expect(self.step(attempt: 3, policy: policy) == .discard(.exhausted))
        #expect(self.step(attempt: 3, .unknown(reason: "timeout"), policy: policy) == .discard(.exhausted))
        #expect(self.isAgain(self.step(attempt: 9, charged: 2, policy: policy)))
        #expect(self.step(attempt: 9, charged: 3, policy: policy) == .discard(.exhausted))
    }

    @Test func whatDoesNotCountIsTriedToTheEndOfItsLifetime() {
        let uncounted = SendOutcome.retry(.init(reason: "ExpiredProviderToken", countsAsAttempt: false))
        #expect(self.isAgain(self.step(attempt: 1_000_000, uncounted)))
        let paused = SendOutcome.misconfigured(reason: "BadTopic", fix: "", scope: .provider)
        #expect(self.isAgain(self.step(attempt: 1_000_000, paused)))
    }

    @Test func noTryBeginsAfterTheLifetime() {
        let floor = SendOutcome.retry(.init(reason: "x", floor: .seconds(3600)))
        #expect(self.step(attempt: 1, floor, expiresAt: Sample.now + 3600) == .discard(.expired))
        #expect(self.isAgain(self.step(attempt: 1, floor, expiresAt: Sample.now + 3606)))
        #expect(self.step(attempt: 1, expiresAt: Sample.now - 1) == .discard(.expired))
    }

    @Test func whatIsFinalIsNotRetried() {
        let final: [SendOutcome] = [
            .accepted(providerID: nil), .deviceDead(reason: "Unregistered", since: nil),
            .badDeviceToken(reason: "BadDeviceToken"), .rejected(reason: "PayloadTooLarge"),
            .misconfigured(reason: "THIRD_PARTY_AUTH_ERROR", fix: "", scope: .device),
        ]
        for outcome in final {
            #expect(self.step(attempt: 1, outcome) == .final, "\(outcome)")
        }
    }

    @Test(arguments: [Int.min, -1, 0, Int.max])
    func anyNumberOfATryIsFine(_ attempt: Int) {
        _ = self.step(attempt: attempt, .retry(.init(reason: "x", countsAsAttempt: false)))
    }
}
