package import Cryptography
package import JSONWebToken
internal import Locking

/// The provider token of one key: one ES256 JWT for the whole process, replaced as `ProviderTokenSchedule` says.
package final class ProviderTokenSource: Sendable {
    private struct State {
        var credentials: APNSCredentials
        var schedule = ProviderTokenSchedule()
        var token: ProviderToken?
        var generation = 0
    }

    private let state: Locked<State>
    private let time: TimeSource

    package init(credentials: APNSCredentials, time: TimeSource = .system) {
        self.state = Locked(State(credentials: credentials))
        self.time = time
    }

    /// The token to send with, the same until it has to be replaced. Ask once per batch of requests.
    ///
    /// When the `generation` differs from that of the last batch, open new connections before sending: APNs counts
    /// changes of token per connection, and a connection that never sees two tokens cannot be blamed for one.
    /// - Throws: `KeyError` when OpenSSL does not sign, and there is no earlier token that still holds.
    package func token() throws(KeyError) -> ProviderToken {
        // Signing with the lock held takes about 25 µs twice an hour; without it, two callers would make two tokens.
        try self.state.withLock { (state) throws(KeyError) in
            let now = self.time.now()
            guard case .mint(let issuedAt) = state.schedule.step(at: now) else {
                if let token = state.token { return token }
                throw KeyError(.failed, "cannot sign: no provider token was made")
            }
            do throws(KeyError) {
                return try Self.mint(&state, issuedAt: issuedAt, at: now)
            } catch {
                guard let token = state.token, state.schedule.isUsable(at: now) else { throw error }
                return token
            }
        }
    }

    package enum Reaction: Equatable, Sendable {
        /// There is a newer token: try again, on a new connection, since the old one will not recover.
        case renewed
        /// Nothing better can be made now. The clock is most likely wrong; compare it with the answer's `date`.
        case kept
    }

    /// A push that was sent with `token` was answered with 403 `ExpiredProviderToken`. Many answers about one token
    /// make one new token.
    package func expired(_ token: ProviderToken) -> Reaction {
        self.state.withLock { state in
            let now = self.time.now()
            switch state.schedule.expired(generation: token.generation, at: now) {
            case .alreadyReplaced: return .renewed
            case .tooYoung: return .kept
            case .mint(let issuedAt):
                return (try? Self.mint(&state, issuedAt: issuedAt, at: now)) == nil ? .kept : .renewed
            }
        }
    }

    /// A push was answered with 429 `TooManyProviderTokenUpdates`. Making another token would make it worse: the
    /// present one is kept, for 20 minutes at least.
    package func tooManyUpdates() {
        let now = self.time.now()
        self.state.withLock { $0.schedule.tooManyUpdates(at: now) }
    }

    /// Takes over a key read anew. The next token is signed with it; nothing happens when it is the same key.
    /// - Returns: whether anything changed, and so whether new connections are needed.
    package func replace(credentials: APNSCredentials) -> Bool {
        self.state.withLock { state in
            guard credentials != state.credentials else { return false }
            state.credentials = credentials
            state.schedule = ProviderTokenSchedule()
            state.token = nil
            return true
        }
    }

    /// Age of the token in use, since its `iat`; nil when none was made yet.
    package var age: Duration? {
        self.state.withLock { $0.schedule.age(at: self.time.now()) }
    }

    private static func mint(_ state: inout State, issuedAt: Int64, at now: Moment) throws(KeyError) -> ProviderToken {
        let jwt = try JSONWebToken.sign(
            header: ["kid": .string(state.credentials.keyID)],
            claims: ["iss": .string(state.credentials.teamID), "iat": .integer(issuedAt)],
            key: state.credentials.key,
            algorithm: .es256
        )
        state.generation += 1
        let token = ProviderToken(authorization: "bearer \(jwt)", generation: state.generation, issuedAt: issuedAt)
        state.schedule.adopt(generation: token.generation, issuedAt: issuedAt, at: now)
        state.token = token
        return token
    }
}

/// A provider token, ready to send.
package struct ProviderToken: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// Value of the header `authorization`: secret for an hour.
    package let authorization: String
    /// Counts the tokens of this source.
    package let generation: Int
    /// `iat`, seconds since 1970.
    package let issuedAt: Int64

    /// Without the token.
    package var description: String { "provider token \(self.generation), issued at \(self.issuedAt)" }
    package var debugDescription: String { self.description }
}
