package import DeliveryQueue
import Locking
package import PushModel

package import struct FoundationEssentials.Date

/// Which endpoints are paused, as far as this worker knows: what it found out itself, at once, and what others wrote
/// into `push.providers`, with the heartbeat. After a pause one delivery goes alone, as a probe, until one is accepted.
package final class EndpointPauses: Sendable {
    /// A pause, from its begin until an acceptance proves that its cause is gone.
    package struct Entry: Sendable {
        package var end: ContinuousClock.Instant
        package var note: PauseNote
        /// When the first of the pauses began that no acceptance has ended since.
        package var since: Date
        /// Whether somebody has ended it by hand, and nothing was tried since.
        package var isResumed = false

        package var isOver: Bool { self.end <= .now }
    }

    /// The entry stays after the pause's end, until an acceptance proves the fault gone.
    private let entries = Locked<[ProviderEndpoint: Entry]>([:])
    /// How often an operator had ended a pause of an endpoint when we last looked.
    private let resumes = Locked<[ProviderEndpoint: Int]>([:])
    /// Endpoints whose pause was ended by hand, of which nobody has taken note yet.
    private let ended = Locked<Set<ProviderEndpoint>>([])

    package init() {}

    /// Pauses an endpoint, or makes its pause longer.
    ///
    /// - Returns: whether that is news: it was in use, or rested for another reason.
    @discardableResult
    package func pause(_ endpoint: ProviderEndpoint, for duration: Duration, _ note: PauseNote) -> Bool {
        let until = ContinuousClock.now + duration
        return self.entries.withLock { entries in
            guard let before = entries[endpoint] else {
                entries[endpoint] = Entry(end: until, note: note, since: Date())
                return true
            }
            // The one that lasts longer is what keeps the endpoint paused.
            if !before.isOver, before.end > until { return false }
            entries[endpoint] = Entry(end: until, note: note, since: before.since)
            return before.note.cause != note.cause || before.note.reason != note.reason
        }
    }

    /// Takes over what the database says: pauses of others begin here, and when an operator has ended one, ours ends.
    ///
    /// - Returns: what began or changed by that.
    @discardableResult
    package func adopt(_ pauses: [ProviderEndpoint: LeaseKeeping.Heartbeat.Pause]) -> [ProviderEndpoint: PauseNote] {
        var news: [ProviderEndpoint: PauseNote] = [:]
        for (endpoint, pause) in pauses {
            let before = self.resumes.withLock { resumes in
                defer { resumes[endpoint] = pause.resumes }
                // None seen yet: our own pause may have come first, and have been ended before the first look.
                return resumes[endpoint] ?? 0
            }
            if before != pause.resumes {
                let isOurs = self.entries.withLock { entries in
                    guard entries[endpoint] != nil else { return false }
                    entries[endpoint]?.end = .now
                    entries[endpoint]?.isResumed = true
                    return true
                }
                if isOurs { self.ended.withLock { _ = $0.insert(endpoint) } }
            }
            if let remaining = pause.remaining, remaining > .zero {
                let note = PauseNote(reason: pause.reason, fix: pause.fix, by: pause.by)
                if self.pause(endpoint, for: remaining, note) { news[endpoint] = note }
            }
        }
        return news
    }

    /// Endpoints whose pause somebody has ended by hand, each told once. Until we heard of it we may have put deliveries
    /// aside for the rest of a pause that was over.
    package func takeEnded() -> Set<ProviderEndpoint> {
        self.ended.withLock { ended in
            defer { ended = [] }
            return ended
        }
    }

    /// How long an endpoint still rests; nil when it may be used.
    package func remaining(_ endpoint: ProviderEndpoint) -> Duration? {
        guard let end = self.entries.withLock({ $0[endpoint]?.end }) else { return nil }
        let remaining = ContinuousClock.now.duration(to: end)
        return remaining > .zero ? remaining : nil
    }

    /// Whether the endpoint was paused and nothing was accepted since.
    package func needsProbe(_ endpoint: ProviderEndpoint) -> Bool {
        self.entries.withLock { $0[endpoint] != nil }
    }

    /// An acceptance proves that the fault is gone, unless it was for a request from before the pause.
    ///
    /// - Returns: what it put an end to; nil where nothing was amiss.
    @discardableResult
    package func proven(_ endpoint: ProviderEndpoint) -> Entry? {
        self.entries.withLock { entries in
            guard let entry = entries[endpoint], entry.isOver else { return nil }
            entries[endpoint] = nil
            return entry
        }
    }

    /// All pauses that no acceptance has ended.
    package var all: [ProviderEndpoint: Entry] { self.entries.withLock { $0 } }
}
