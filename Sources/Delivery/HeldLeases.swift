import DeliveryQueue
import Locking

import struct FoundationEssentials.UUID

/// The leases this worker holds: what the heartbeat extends.
final class HeldLeases: Sendable {
    private struct State {
        var batches: Set<BatchLease> = []
        var waiting: Set<UUID> = []
    }

    private let state = Locked(State())

    init() {}

    func open(_ batch: BatchLease) {
        self.state.withLock { _ = $0.batches.insert(batch) }
    }

    func close(_ batches: [BatchLease]) {
        self.state.withLock { $0.batches.subtract(batches) }
    }

    func lease(_ due: [WaitingDelivery]) {
        self.state.withLock { $0.waiting.formUnion(due.map(\.reference.deliveryID)) }
    }

    func unlease(_ due: [WaitingDelivery]) {
        self.state.withLock { $0.waiting.subtract(due.map(\.reference.deliveryID)) }
    }

    var batchIDs: [Int] { self.state.withLock { $0.batches.map(\.id) } }
    var waitingIDs: [UUID] { self.state.withLock { Array($0.waiting) } }
}
