import Locking
package import PushModel

/// When an endpoint is to rest because nothing gets through, or because everything is refused as our fault: a
/// circuit breaker. One failed delivery says nothing; many in a row, with no other answer between, do.
package struct EndpointBreaker: Sendable {
    /// Failures in a row that open it; one is enough right after a rest.
    package static let failures = 10
    /// Refusals for one and the same reason in a row that open it: a fault of ours in every request would burn them all.
    package static let refusals = 50
    /// The first rest, doubled with each that follows without an answer between.
    package static let firstRest = Duration.seconds(1)
    package static let longestRest = Duration.seconds(60)
    package static let fixForOutage =
        "it is tried again by itself; if it lasts, check the network and the provider's status page"

    package struct Rest: Equatable, Sendable {
        package var duration: Duration
        package var reason: String
        package var fix: String
    }

    private var failuresInARow = 0
    private var rests = 0
    private var refused: (reason: String, count: Int)?

    package init() {}

    /// Takes in what one try came to; a rest, if it is time for one.
    package mutating func note(_ outcome: SendOutcome) -> Rest? {
        switch outcome {
        case .accepted:
            self = EndpointBreaker()
            return nil
        case .rejected(let reason):
            self.answered()
            return self.refusal(reason)
        case .retry(let retry) where retry.scope != .device:
            return self.failure(retry.reason)
        case .unknown(let reason):
            return self.failure(reason)
        case .retry, .deviceDead, .badDeviceToken, .misconfigured:
            // An answer about something else: the host is there. A misconfiguration has its own pause.
            self.answered()
            return nil
        }
    }

    private mutating func answered() {
        self.failuresInARow = 0
        self.rests = 0
    }

    private mutating func failure(_ reason: String) -> Rest? {
        self.failuresInARow += 1
        guard self.failuresInARow >= (self.rests == 0 ? Self.failures : 1) else { return nil }
        self.failuresInARow = 0
        defer { self.rests = min(self.rests + 1, 16) }
        return Rest(
            duration: min(Self.firstRest * (1 << self.rests), Self.longestRest), reason: reason,
            fix: Self.fixForOutage)
    }

    private mutating func refusal(_ reason: String) -> Rest? {
        let count = self.refused.map { $0.reason == reason ? $0.count + 1 : 1 } ?? 1
        self.refused = (reason, count)
        guard count >= Self.refusals else { return nil }
        self.refused = nil
        return Rest(
            duration: Self.longestRest, reason: reason,
            fix:
                "every request is refused for the same reason: check the configuration, or report it as a fault of push-fanout"
        )
    }
}

/// The breakers of all endpoints.
package final class EndpointBreakers: Sendable {
    private let breakers = Locked<[ProviderEndpoint: EndpointBreaker]>([:])

    package init() {}

    package func note(_ outcome: SendOutcome, at endpoint: ProviderEndpoint) -> EndpointBreaker.Rest? {
        self.breakers.withLock { $0[endpoint, default: EndpointBreaker()].note(outcome) }
    }
}
