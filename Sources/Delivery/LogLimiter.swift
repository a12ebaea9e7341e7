import Locking

/// Keeps a fault that comes again and again from filling the log: its first line is written, then one a minute that says
/// how many there were.
final class LogLimiter: Sendable {
    private struct Entry {
        var writtenAt: ContinuousClock.Instant
        var suppressed = 0
    }

    private static let interval = Duration.seconds(60)
    /// Different faults remembered; beyond, all of them count as one.
    private static let mostKeys = 100

    private let entries = Locked<[String: Entry]>([:])

    /// - Parameter key: what makes two lines the same fault; from a small set.
    /// - Returns: how often it was kept back since the last line, if it is time for one; nil to say nothing.
    func mayWrite(_ key: String, now: ContinuousClock.Instant = .now) -> Int? {
        self.entries.withLock { entries in
            let key = entries[key] == nil && entries.count >= Self.mostKeys ? "" : key
            guard let entry = entries[key], entry.writtenAt.duration(to: now) < Self.interval else {
                let suppressed = entries[key]?.suppressed ?? 0
                entries[key] = Entry(writtenAt: now)
                return suppressed
            }
            entries[key]?.suppressed += 1
            return nil
        }
    }

    /// The fault is over: the next one is news.
    func over(_ key: String) {
        self.entries.withLock { $0[key] = nil }
    }
}
