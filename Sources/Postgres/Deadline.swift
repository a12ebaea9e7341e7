private import Glibc

/// The moment a wait ends, whatever happens.
struct Deadline {
    let limit: Duration
    private let instant: ContinuousClock.Instant

    /// Longer than a day is a day: no wait here is meant to last longer, and the arithmetic cannot overflow.
    init(after limit: Duration) {
        self.limit = min(max(limit, .zero), .seconds(86_400))
        self.instant = ContinuousClock.now.advanced(by: self.limit)
    }

    /// What is left, in whole milliseconds for `poll`; rounded up, so that a wait is never a busy loop.
    private var milliseconds: Int32 {
        let left = ContinuousClock.now.duration(to: self.instant)
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    enum Readiness {
        case ready, interrupted, passed
    }

    /// Waits until `socket` is ready for `events`, or `interrupter` was called, or the moment has come.
    func wait(for events: Int32, on socket: Int32, orInterruptionOf interrupter: Interrupter? = nil) -> Readiness {
        // libpq has given its socket up and says so at the next call; `poll` would skip it and wait.
        guard socket >= 0 else { return .ready }
        var descriptors = [pollfd(fd: socket, events: Int16(events), revents: 0)]
        if let interrupter {
            descriptors.append(pollfd(fd: interrupter.descriptor, events: Int16(POLLIN), revents: 0))
        }
        while true {
            let limit = self.milliseconds
            let count = poll(&descriptors, nfds_t(descriptors.count), limit)
            if count > 0 {
                // The socket first: what has arrived is taken before a stop is heeded.
                if descriptors[0].revents != 0 { return .ready }
                interrupter?.clear()
                return .interrupted
            }
            // A negative count is a signal (EINTR), or memory short in the kernel; both pass.
            if limit == 0 { return .passed }
        }
    }
}
