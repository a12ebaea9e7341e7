import DeliveryQueue
import Locking

import struct FoundationEssentials.UUID

/// The leases this worker holds: what the heartbeat extends, and whether a send may still be started under one.
///
/// A lease ends for us when the heartbeat finds it gone, and, by our own clock, when no heartbeat has extended it for as
/// long as it lasts. What is in flight then goes on; nothing new is started, for another worker may have it by now.
final class HeldLeases: Sendable {
    private struct State {
        var batches: [BatchLease: ContinuousClock.Instant] = [:]
        /// Those whose end is being written.
        var ending: Set<BatchLease> = []
        var waiting: [WaitingLease: ContinuousClock.Instant] = [:]
    }

    private let lease: Duration
    private let state = Locked(State())

    init(lease: Duration) {
        self.lease = lease
    }

    /// - Parameter asked: when the claim was sent: the lease cannot have begun earlier.
    func open(_ batch: BatchLease, asked: ContinuousClock.Instant) {
        self.state.withLock { $0.batches[batch] = asked + self.lease }
    }

    /// Its end is on the way to the database; it is extended until that is written.
    func ending(_ batch: BatchLease) {
        self.state.withLock { _ = $0.ending.insert(batch) }
    }

    func close(_ batches: [BatchLease]) {
        self.state.withLock { state in
            for batch in batches { state.batches[batch] = nil }
            state.ending.subtract(batches)
        }
    }

    func lease(_ due: [WaitingDelivery], asked: ContinuousClock.Instant) {
        self.state.withLock { state in
            for delivery in due { state.waiting[delivery.lease] = asked + self.lease }
        }
    }

    func unlease(_ due: [WaitingDelivery]) {
        self.state.withLock { state in
            for delivery in due { state.waiting[delivery.lease] = nil }
        }
    }

    /// How many there are.
    var counts: (batches: Int, waiting: Int) {
        self.state.withLock { state in (state.batches.count, state.waiting.count) }
    }

    /// What a heartbeat asks to extend.
    var asked: (batches: [BatchLease], waiting: [WaitingLease]) {
        self.state.withLock { state in (Array(state.batches.keys), Array(state.waiting.keys)) }
    }

    /// Takes over a heartbeat's answer: what was extended holds anew from when it was asked, the rest is lost.
    ///
    /// - Returns: how many batches were lost.
    func extended(
        _ asked: (batches: [BatchLease], waiting: [WaitingLease]), batches: Set<Int>, waiting: Set<UUID>,
        at time: ContinuousClock.Instant
    ) -> Int {
        self.state.withLock { state in
            var lost = 0
            for batch in asked.batches where state.batches[batch] != nil {
                if batches.contains(batch.id) {
                    state.batches[batch] = time + self.lease
                } else if !state.ending.contains(batch) {
                    state.batches[batch] = nil
                    lost += 1
                }
            }
            for lease in asked.waiting where state.waiting[lease] != nil {
                state.waiting[lease] = waiting.contains(lease.token) ? time + self.lease : nil
            }
            return lost
        }
    }

    /// Whether a send may be started under the item's lease.
    func allows(_ item: PendingDelivery) -> Bool {
        let end = self.state.withLock { state in
            if let lease = item.waitingLease { return state.waiting[lease] }
            return item.batch.flatMap { state.batches[$0] }
        }
        return end.map { $0 > .now } ?? false
    }
}
