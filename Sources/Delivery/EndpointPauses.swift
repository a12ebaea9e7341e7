package import DeliveryQueue
import Locking
package import PushModel

/// Which endpoints are paused, as far as this worker knows: what it found out itself, at once, and what others wrote
/// into `push.providers`, with the heartbeat. After a pause one delivery goes alone, as a probe, until one is accepted.
package final class EndpointPauses: Sendable {
    /// Until when an endpoint rests. The entry stays after that, until an acceptance proves the fault gone.
    private let ends = Locked<[ProviderEndpoint: ContinuousClock.Instant]>([:])
    /// How often an operator had ended a pause of an endpoint when we last looked.
    private let resumes = Locked<[ProviderEndpoint: Int]>([:])

    package init() {}

    /// Pauses an endpoint, or makes its pause longer.
    package func pause(_ endpoint: ProviderEndpoint, for duration: Duration) {
        let until = ContinuousClock.now + duration
        self.ends.withLock { $0[endpoint] = max($0[endpoint] ?? until, until) }
    }

    /// Takes over what the database says: pauses of others begin here, and when an operator has ended one, ours ends.
    package func adopt(_ pauses: [ProviderEndpoint: LeaseKeeping.Heartbeat.Pause]) {
        for (endpoint, pause) in pauses {
            let before = self.resumes.withLock { resumes in
                defer { resumes[endpoint] = pause.resumes }
                // None seen yet: our own pause may have come first, and have been ended before the first look.
                return resumes[endpoint] ?? 0
            }
            if before != pause.resumes {
                self.ends.withLock { ends in
                    if ends[endpoint] != nil { ends[endpoint] = .now }
                }
            }
            if let remaining = pause.remaining, remaining > .zero { self.pause(endpoint, for: remaining) }
        }
    }

    /// How long an endpoint still rests; nil when it may be used.
    package func remaining(_ endpoint: ProviderEndpoint) -> Duration? {
        guard let end = self.ends.withLock({ $0[endpoint] }) else { return nil }
        let remaining = ContinuousClock.now.duration(to: end)
        return remaining > .zero ? remaining : nil
    }

    /// Whether the endpoint was paused and nothing was accepted since.
    package func needsProbe(_ endpoint: ProviderEndpoint) -> Bool {
        self.ends.withLock { $0[endpoint] != nil }
    }

    /// An acceptance proves that the fault is gone, unless it was for a request from before the pause.
    package func proven(_ endpoint: ProviderEndpoint) {
        self.ends.withLock { ends in
            guard let end = ends[endpoint], end <= ContinuousClock.now else { return }
            ends[endpoint] = nil
        }
    }
}
