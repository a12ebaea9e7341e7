package import FoundationEssentials
package import PushModel

/// When a try that failed is made again: exponential back-off with full jitter on top of a floor, within the
/// notification's lifetime and a number of tries. Pure; chance is a parameter.
package struct RetryPolicy: Equatable, Sendable {
    /// Before the first jitter is drawn; doubled with every try.
    package var apnsBase: Duration
    /// FCM asks for ten seconds at least before a first retry, so its base is its floor too.
    package var fcmBase: Duration
    /// The widest the jitter gets. Fifteen minutes: what Apple asks for after a 5xx.
    package var cap: Duration
    /// The most tries that count. With the other defaults they span about three hours, so that an outage is
    /// outlasted (while one lasts, pauses keep tries few), and a delivery that hurts somebody ends the same day.
    package var maxAttempts: Int

    package init(
        apnsBase: Duration = .seconds(5), fcmBase: Duration = .seconds(10), cap: Duration = .seconds(15 * 60),
        maxAttempts: Int = 30
    ) {
        self.apnsBase = apnsBase
        self.fcmBase = fcmBase
        self.cap = cap
        self.maxAttempts = maxAttempts
    }

    package enum Step: Equatable, Sendable {
        case again(after: Duration)
        case discard(DeliveryReason)
        /// The outcome is not one to retry.
        case final
    }

    /// What follows a try.
    ///
    /// - Parameters:
    ///   - attempt: the number of the try that just ended, from 1: it sets the width of the jitter.
    ///   - charged: how many tries so far counted, this one included; `attempt` unless the caller tells them apart.
    ///   - expiresAt: the end of the notification's lifetime; a try that would begin after it is not made.
    package func next(
        attempt: Int, charged: Int? = nil, outcome: SendOutcome, provider: Provider, now: Date, expiresAt: Date,
        using generator: inout some RandomNumberGenerator
    ) -> Step {
        let retry: SendOutcome.Retry
        switch outcome {
        case .retry(let described): retry = described
        case .unknown(let reason): retry = SendOutcome.Retry(reason: reason)
        case .misconfigured(_, _, scope: .device): return .final
        // The provider is paused: the pause, not this wait, says when; it only must not end in a tight loop.
        case .misconfigured(let reason, _, let scope):
            retry = SendOutcome.Retry(reason: reason, scope: scope, countsAsAttempt: false)
        case .accepted, .deviceDead, .badDeviceToken, .rejected: return .final
        }
        if retry.countsAsAttempt && (charged ?? attempt) >= self.maxAttempts { return .discard(.exhausted) }
        let wait = self.wait(attempt: attempt, floor: retry.floor, provider: provider, using: &generator)
        return now + wait.inSeconds < expiresAt ? .again(after: wait) : .discard(.expired)
    }

    /// The floor plus a random share of the window: a common `Retry-After` does not bring everybody back at once.
    private func wait(
        attempt: Int, floor: Duration?, provider: Provider, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let base = provider == .apns ? self.apnsBase : self.fcmBase
        let least = provider == .apns ? .seconds(1) : self.fcmBase
        // Twenty doublings of a second pass every cap worth setting.
        let window = min(base * (1 << (min(max(attempt, 1), 21) - 1)), self.cap)
        return max(floor ?? least, least)
            + .milliseconds(Int64.random(in: 0...window.inMilliseconds, using: &generator))
    }
}

extension Duration {
    fileprivate var inMilliseconds: Int64 {
        max(0, Int64(self.inSeconds * 1000))
    }
}
