internal import JSONWebToken

/// When an access token is used, renewed, given up, and when to try again after a failure: a value, without clock,
/// network or task.
struct AccessTokenSchedule {
    /// How long before its end a token is renewed; half its life when that is shorter.
    static let margin: Duration = .seconds(5 * 60)
    /// A token is not sent any more this long before its end; a quarter of its life when that is shorter.
    static let lastMoments: Duration = .seconds(30)
    static let longestPause = 30.0
    /// Two tokens are not given up within this time.
    static let betweenInvalidations: Duration = .seconds(30)

    private struct Held {
        var token: AccessToken
        var from: Moment
        var lifetime: Duration
    }

    private struct Failure {
        var error: AccessTokenError
        var at: Moment
        var pause: Duration
    }

    private var held: Held?
    private var failure: Failure?
    private var failures = 0
    private var invalidated: Moment?
    private var generation = 0

    enum Step: Equatable {
        case use(AccessToken)
        case useAndRenew(AccessToken)
        /// Nothing to use, and too early for another try.
        case wait(AccessTokenError)
        case exchange
    }

    func step(at now: Moment) -> Step {
        let pausing = self.failure.flatMap { now.elapsed(since: $0.at) < $0.pause ? $0.error : nil }
        if let held {
            let age = now.elapsed(since: held.from)
            if age < held.lifetime - min(Self.margin, held.lifetime / 2) { return .use(held.token) }
            if age < held.lifetime - min(Self.lastMoments, held.lifetime / 4) {
                return pausing == nil ? .useAndRenew(held.token) : .use(held.token)
            }
        }
        return pausing.map { .wait($0) } ?? .exchange
    }

    var lastFailure: AccessTokenError? { self.failure?.error }

    mutating func adopt(_ grant: OAuthExchange.Grant, from moment: Moment) -> AccessToken {
        self.generation += 1
        let token = AccessToken(authorization: "Bearer \(grant.token)", generation: self.generation)
        self.held = Held(token: token, from: moment, lifetime: grant.lifetime)
        self.failure = nil
        self.failures = 0
        return token
    }

    /// The pause doubles from 1 second to 30; `random`, from 0 to 1, takes off up to a half of it.
    mutating func failed(_ error: AccessTokenError, at now: Moment, random: Double) {
        self.failures = min(self.failures + 1, 6)
        let pause = min(Double(1 << (self.failures - 1)), Self.longestPause)
        self.failure = Failure(error: error, at: now, pause: .seconds(pause * (1 - random / 2)))
    }

    mutating func invalidate(_ token: AccessToken, at now: Moment) -> Bool {
        guard let held, held.token == token else { return true }
        if let invalidated, now.elapsed(since: invalidated) < Self.betweenInvalidations { return false }
        self.held = nil
        self.invalidated = now
        return true
    }
}
