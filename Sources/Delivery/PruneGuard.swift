import Locking
package import PushModel

/// Keeps a wrong host, topic or project from looking like a thousand dead phones: a token is called dead on such
/// grounds only while the endpoint accepts others.
///
/// An `Unregistered` (410) or `UNREGISTERED` says of this one token that it was good once; only refusals that a wrong
/// configuration would produce for every token are weighed here.
package final class PruneGuard: Sendable {
    private struct Recent {
        /// The latest results, true for accepted.
        var results: [Bool] = []
        var accepted = 0

        mutating func add(_ isAccepted: Bool) {
            self.results.append(isAccepted)
            if isAccepted { self.accepted += 1 }
            guard self.results.count > PruneGuard.span else { return }
            if self.results.removeFirst() { self.accepted -= 1 }
        }
    }

    /// How many results back the guard looks.
    private static let span = 200

    private let recent = Locked<[ProviderEndpoint: Recent]>([:])

    package init() {}

    package func noteAcceptance(at endpoint: ProviderEndpoint) {
        self.recent.withLock { $0[endpoint, default: Recent()].add(true) }
    }

    /// Notes that a token was refused and tells whether it may be marked dead: something was accepted lately, and
    /// refusals are not the most of it.
    package func mayMark(at endpoint: ProviderEndpoint) -> Bool {
        self.recent.withLock { recent in
            recent[endpoint, default: Recent()].add(false)
            guard let seen = recent[endpoint] else { return false }
            return seen.accepted * 2 >= seen.results.count
        }
    }
}
