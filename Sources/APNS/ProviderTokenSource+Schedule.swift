package import JSONWebToken

/// When a provider token is replaced, and which `iat` the next one carries: a value, without clock, key or lock.
///
/// Apple refuses a token whose `iat` is older than 60 minutes, and refuses a sender that changes its token more often
/// than every 20 minutes, connection by connection or over all of them (Apple's pages disagree). So:
///
/// - `iat` is the start of the current half hour, not the present second: workers that start together, or one that
///   restarts again and again, claim the same.
/// - A token is replaced when its `iat` is 50 minutes old. A token born at the very end of its half hour is 30 minutes
///   old then and serves 20; the next ones are born 20 minutes old and serve 30.
/// - After a push was answered with `ExpiredProviderToken` the grid is of no help (it may give the same `iat` again), and
///   the next token carries the present second.
package struct ProviderTokenSchedule: Equatable, Sendable {
    /// Width of the grid for `iat`, in seconds since 1970.
    package static let slot: Int64 = 30 * 60
    /// Age of `iat` at which a token is replaced.
    package static let renewal: Duration = .seconds(50 * 60)
    /// A younger token is not replaced, nor one that was in use for less.
    package static let youngest: Duration = .seconds(20 * 60)
    /// Whatever stands against a renewal ends here, two minutes before Apple's hour.
    package static let oldest: Duration = .seconds(58 * 60)
    /// How far the clock may be set back behind `iat` before the token counts as one from the future.
    package static let future: Int64 = 60

    /// The token in use.
    private struct Current: Equatable {
        var generation: Int
        var issuedAt: Int64
        var adopted: Moment

        /// Age of `iat`, by the clock that saw more time pass since.
        func age(at now: Moment) -> Duration {
            let whenAdopted = Duration.seconds(self.adopted.seconds - self.issuedAt)
            return max(.seconds(now.seconds - self.issuedAt), whenAdopted + self.inUse(at: now))
        }

        func inUse(at now: Moment) -> Duration {
            self.adopted.monotonic.duration(to: now.monotonic)
        }
    }

    private var current: Current?
    /// Set by `TooManyProviderTokenUpdates`: no renewal before, unless the token ends first.
    private var heldUntil: ContinuousClock.Instant?

    package init() {}

    package enum Step: Equatable, Sendable {
        case keep
        case mint(issuedAt: Int64)
    }

    /// What to do before the next request.
    package func step(at now: Moment) -> Step {
        let next = Step.mint(issuedAt: Self.slotStart(now.seconds))
        guard let current = self.current else { return next }
        // The clock was set back. Apple takes no `iat` from the future, so this is no change of a token that works.
        guard now.seconds >= current.issuedAt - Self.future else { return next }
        let age = current.age(at: now)
        guard age >= Self.renewal else { return .keep }
        let mayNotYet = current.inUse(at: now) < Self.youngest || self.heldUntil.map { now.monotonic < $0 } ?? false
        return mayNotYet && age < Self.oldest ? .keep : next
    }

    package enum Verdict: Equatable, Sendable {
        /// The answer is about a token that is no longer in use.
        case alreadyReplaced
        /// The token is younger than 20 minutes: this clock and Apple's disagree, or the connection has gone bad.
        case tooYoung
        case mint(issuedAt: Int64)
    }

    /// A push with the token `generation` was answered with 403 `ExpiredProviderToken`.
    package func expired(generation: Int, at now: Moment) -> Verdict {
        guard let current = self.current, current.generation == generation else { return .alreadyReplaced }
        guard current.age(at: now) >= Self.youngest else { return .tooYoung }
        return .mint(issuedAt: now.seconds)
    }

    /// A push was answered with 429 `TooManyProviderTokenUpdates`: the token stays, for 20 minutes at least.
    package mutating func tooManyUpdates(at now: Moment) {
        self.heldUntil = now.monotonic.advanced(by: Self.youngest)
    }

    /// A token was made and is in use from now on.
    package mutating func adopt(generation: Int, issuedAt: Int64, at now: Moment) {
        self.current = Current(generation: generation, issuedAt: issuedAt, adopted: now)
        self.heldUntil = nil
    }

    /// Age of the token in use, since its `iat`.
    package func age(at now: Moment) -> Duration? { self.current?.age(at: now) }

    /// Whether the token in use is still one that Apple can accept: the last resort when no new one can be made.
    package func isUsable(at now: Moment) -> Bool {
        guard let age = self.current?.age(at: now) else { return false }
        return age < .seconds(60 * 60)
    }

    private static func slotStart(_ seconds: Int64) -> Int64 {
        let rest = seconds % self.slot
        return seconds - (rest < 0 ? rest + self.slot : rest)
    }
}
