package import HTTPTransport
package import JSONWebToken
internal import Locking

/// The OAuth access token of one service account, renewed 5 minutes before it ends.
///
/// An actor, since callers have to wait while an exchange is under way; it is asked once per batch of pushes, so the
/// hop costs nothing that shows.
package actor AccessTokenSource {
    /// Whose tokens these are.
    package nonisolated let account: ServiceAccount
    private let exchange: OAuthExchange
    private let transport: any HTTPTransport
    private let time: TimeSource
    /// Between 0 and 1, for back-off.
    private let random: @Sendable () -> Double

    private var schedule = AccessTokenSchedule()
    /// When the present token was asked for; apart from the actor, so that a gauge need not wait for an exchange.
    private nonisolated let born = Locked<Moment?>(nil)
    private var underWay: Task<Result<AccessToken, AccessTokenError>, Never>?

    package init(
        account: ServiceAccount,
        transport: any HTTPTransport,
        time: TimeSource = .system,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) {
        self.account = account
        self.exchange = OAuthExchange(account: account)
        self.transport = transport
        self.time = time
        self.random = random
    }

    /// The token to send with.
    ///
    /// While the present one holds, it is returned at once, and renewed in the background when it is due: whatever
    /// becomes of the renewal, no push waits for it. Without one, all callers wait for the same exchange, as long as
    /// the transport's time limit at most. Soon after a failure, the failure is thrown at once: back-off, 30 seconds
    /// at most.
    package func token() async throws(AccessTokenError) -> AccessToken {
        switch self.schedule.step(at: self.time.now()) {
        case .use(let token): return token
        case .useAndRenew(let token):
            _ = self.start()
            return token
        case .wait(let error): throw error
        case .exchange: return try await self.start().value.get()
        }
    }

    /// A push that was sent with `token` was answered with 401.
    /// - Returns: whether another try makes sense: there is a newer token, or one will be asked for. False when a
    ///   token was given up less than 30 seconds ago and its successor is refused too; the token is not at fault then.
    package func invalidate(_ token: AccessToken) -> Bool {
        self.schedule.invalidate(token, at: self.time.now())
    }

    /// Why the last exchange failed, nil when it did not: for readiness, since a token that still holds hides it.
    package var lastFailure: AccessTokenError? { self.schedule.lastFailure }

    /// How long ago the present token was asked for; nil when there was none yet.
    package nonisolated var age: Duration? {
        self.born.withLock { $0 }.map { self.time.now().elapsed(since: $0) }
    }

    /// Returns when no exchange is under way.
    package func settle() async {
        _ = await self.underWay?.value
    }

    private func start() -> Task<Result<AccessToken, AccessTokenError>, Never> {
        if let underWay { return underWay }
        // A task of its own: the exchange is for all callers, and goes on when the one that began it is cancelled. The
        // transport limits its time.
        let task = Task { await self.renew() }
        self.underWay = task
        return task
    }

    private func renew() async -> Result<AccessToken, AccessTokenError> {
        // Taken before the request is sent: the token's life begins no later than this.
        let begun = self.time.now()
        let result = await self.ask(begun)
        self.underWay = nil
        switch result {
        case .success(let grant):
            self.born.withLock { $0 = begun }
            return .success(self.schedule.adopt(grant, from: begun))
        case .failure(let error):
            self.schedule.failed(error, at: self.time.now(), random: self.random())
            return .failure(error)
        }
    }

    private func ask(_ begun: Moment) async -> Result<OAuthExchange.Grant, AccessTokenError> {
        let request: HTTPRequest
        do {
            request = try self.exchange.request(now: begun.seconds)
        } catch {
            return .failure(.unavailable(reason: "the service account's key \(error)"))
        }
        for await exchanges in self.transport.send([request]) {
            guard let exchange = exchanges.first else { continue }
            switch exchange.result {
            case .success(let answer): return OAuthExchange.read(answer, now: self.time.now().seconds)
            case .failure(let failure):
                return .failure(.unavailable(reason: "the token endpoint was not reached (\(failure.reason))"))
            }
        }
        return .failure(.unavailable(reason: "the token endpoint gave no answer"))
    }
}

/// An access token, ready to send.
package struct AccessToken: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// Value of the header `authorization`: secret for an hour.
    package let authorization: String
    /// Counts the tokens of this source.
    package let generation: Int

    /// Without the token.
    package var description: String { "access token \(self.generation)" }
    package var debugDescription: String { self.description }
}
