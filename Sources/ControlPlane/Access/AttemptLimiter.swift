private import Locking

/// Counts wrong tokens by address: after some there is a pause.
final class AttemptLimiter: Sendable {
    /// So many within ``window``.
    static let most = 10
    static let window = Duration.seconds(300)
    /// Addresses remembered; beyond them the oldest is forgotten.
    private static let mostAddresses = 1000

    private struct Failures {
        var count: Int
        var since: ContinuousClock.Instant
    }

    private let failures = Locked<[String: Failures]>([:])

    /// How long an address has to wait; nil when it may try.
    func wait(for address: String, now: ContinuousClock.Instant = .now) -> Duration? {
        self.failures.withLock { failures in
            guard let entry = failures[address] else { return nil }
            let remaining = Self.window - (now - entry.since)
            guard remaining > .zero else {
                failures[address] = nil
                return nil
            }
            return entry.count >= Self.most ? remaining : nil
        }
    }

    func failed(_ address: String, now: ContinuousClock.Instant = .now) {
        self.failures.withLock { failures in
            if let entry = failures[address], now - entry.since < Self.window {
                failures[address]?.count += 1
                return
            }
            if failures.count >= Self.mostAddresses, let oldest = failures.min(by: { $0.value.since < $1.value.since })
            {
                failures[oldest.key] = nil
            }
            failures[address] = Failures(count: 1, since: now)
        }
    }

    func succeeded(_ address: String) {
        self.failures.withLock { $0[address] = nil }
    }
}
