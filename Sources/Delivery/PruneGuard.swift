import Locking
package import PushModel

package import struct FoundationEssentials.UUID

/// Keeps a wrong host, topic or project from looking like a thousand dead phones.
///
/// A wrong configuration refuses every device, so what counts is how many different ones were refused since one was
/// last accepted: as long as those are few, a refusal is believed. A single dead phone is thus marked in the quietest
/// installation, and once too many were refused in a row no token is touched until one is accepted again.
package final class PruneGuard: Sendable {
    /// How sure a refusal is to speak of one token.
    package enum Ground: CaseIterable, Sendable {
        /// The token was good once: `Unregistered`, `ExpiredToken`, `UNREGISTERED`.
        case certain
        /// A wrong host, topic or project says the same of every token: `BadDeviceToken`, `DeviceTokenNotForTopic`,
        /// `SENDER_ID_MISMATCH`.
        case doubtful
    }

    package enum Verdict: Equatable, Sendable {
        /// The token is dead.
        case mark
        /// Give up the delivery, leave the token as it is.
        case keep
        /// It is the configuration that is wrong: keep the delivery too.
        case distrust
    }

    /// Different devices refused in a row that are still believed.
    package static let longestRun = 20
    /// How many results back doubtful refusals are weighed against acceptances.
    private static let span = 200

    private struct Recent {
        /// The latest acceptances and doubtful refusals, true for accepted.
        var results: [Bool] = []
        var accepted = 0
        /// Devices refused since the last acceptance, at most one more than are believed.
        var refused: [Ground: Set<UUID>] = [:]

        mutating func add(_ isAccepted: Bool) {
            self.results.append(isAccepted)
            if isAccepted { self.accepted += 1 }
            guard self.results.count > PruneGuard.span else { return }
            if self.results.removeFirst() { self.accepted -= 1 }
        }

        /// Whether there are too many by now, this one included.
        mutating func isMass(_ device: UUID, _ ground: Ground) -> Bool {
            if self.refused[ground, default: []].count <= PruneGuard.longestRun {
                self.refused[ground, default: []].insert(device)
            }
            return self.refused[ground, default: []].count > PruneGuard.longestRun
        }
    }

    private let recent = Locked<[ProviderEndpoint: Recent]>([:])

    package init() {}

    package func noteAcceptance(at endpoint: ProviderEndpoint) {
        self.recent.withLock { recent in
            recent[endpoint, default: Recent()].add(true)
            recent[endpoint]?.refused = [:]
        }
    }

    /// Takes note of a refusal and says what it is worth.
    ///
    /// On doubtful grounds a token is marked only while acceptances are half of the latest results or more; many such
    /// refusals without any acceptance between are no phones' fault. Many certain ones may well be phones (a message
    /// to accounts long gone), so those stop the marks and nothing else.
    package func weigh(_ ground: Ground, of device: UUID, at endpoint: ProviderEndpoint) -> Verdict {
        self.recent.withLock { recent in
            let isMass = recent[endpoint, default: Recent()].isMass(device, ground)
            guard ground == .doubtful else { return isMass ? .keep : .mark }
            recent[endpoint, default: Recent()].add(false)
            if isMass { return .distrust }
            guard let seen = recent[endpoint] else { return .keep }
            return seen.accepted * 2 >= seen.results.count ? .mark : .keep
        }
    }

    /// Forgets what was accepted: with a new key or project that proves nothing.
    package func forget(_ endpoints: [ProviderEndpoint]) {
        self.recent.withLock { recent in
            for endpoint in endpoints { recent[endpoint] = nil }
        }
    }
}
