import DeliveryQueue
import Fanout
import Observability
import PushModel

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// Sends what is pending for one endpoint: takes permits, reads stale facts again, sends, and hands each outcome to the
/// recorder. One slice waits for its answers while the next is under way.
struct EndpointPipeline: Sendable {
    let endpoint: ProviderEndpoint
    let sender: any ProviderSender
    let window: InFlightWindow
    let context: DeliveryContext

    /// Deliveries handed to the sender at once.
    private static let sliceSize = 256

    /// An endpoint that frees no permit for so long is not answering: it rests, so that what is meant for it does not
    /// fill the worker and keep it from claiming for the others.
    private static let congestionLimit = Duration.seconds(5)

    /// Sends `items`, all for this endpoint.
    ///
    /// - Parameter handedOver: called once, when the last of them is on its way or put aside.
    /// - Returns: what was not sent because the worker stops or the lease is over; everything else has been given to the
    ///   recorder.
    func deliver(_ items: [PendingDelivery], handedOver: () -> Void) async -> [PendingDelivery] {
        var rest = items[...]
        var lapsed: [PendingDelivery] = []
        return await withTaskGroup(of: [PendingDelivery].self) { group in
            while !rest.isEmpty {
                let (allowed, over) = self.underLease(rest)
                rest = allowed[...]
                lapsed += over
                if rest.isEmpty { break }
                if let remaining = self.context.pauses.remaining(self.endpoint) {
                    self.park(rest, for: remaining)
                    rest = []
                    break
                }
                let isProbe = self.context.pauses.needsProbe(self.endpoint)
                let most = isProbe ? 1 : min(rest.count, Self.sliceSize)
                guard let granted = await self.window.take(upTo: most, within: Self.congestionLimit) else {
                    self.context.pause(self.endpoint, for: Self.congestionLimit, .noAnswers)
                    continue
                }
                guard granted > 0 else { break }
                let slice = Array(rest.prefix(granted))
                rest = rest.dropFirst(granted)
                group.addTask { await self.send(slice) }
                // A probe goes alone: its answer decides about the rest.
                if isProbe, let unsent = await group.next() { rest = unsent + rest }
            }
            handedOver()
            var unsent = lapsed + rest
            for await more in group { unsent += more }
            return unsent
        }
    }

    /// What may still be sent, and what is under a lease that is over, so that another worker may have it by now. The
    /// latter counts as unsent: it is given back under that lease, which does nothing if another has it, and is all that
    /// keeps it from being lost if the database never got to give it to one.
    private func underLease(_ items: some Sequence<PendingDelivery>) -> (
        allowed: [PendingDelivery], over: [PendingDelivery]
    ) {
        var allowed: [PendingDelivery] = []
        var over: [PendingDelivery] = []
        for item in items {
            if self.context.held.allows(item) { allowed.append(item) } else { over.append(item) }
        }
        return (allowed, over)
    }

    /// Sends a slice whose permits are taken, and gives every permit back.
    private func send(_ slice: [PendingDelivery]) async -> [PendingDelivery] {
        var checked = await self.recheck(slice)
        // Reading facts may have taken longer than the lease.
        let (allowed, over) = self.underLease(checked.ready)
        checked.ready = allowed
        checked.unsent += over
        self.window.give(back: slice.count - checked.ready.count)
        guard !checked.ready.isEmpty else { return checked.unsent }
        var open = Set(checked.ready.indices)
        await self.sender.send(checked.ready.compactMap(\.delivery)) { results in
            var record = QueueRecord()
            let ended = results.filter { open.remove($0.index) != nil }
            for result in ended {
                record.append(self.context.resolve(checked.ready[result.index], result, at: self.endpoint))
            }
            self.context.count(ended, of: checked.ready, repeated: record.parked.count, at: self.endpoint)
            self.context.recorder.add(record)
            self.window.give(back: ended.count)
        }
        // Only a cancelled send leaves any: what became of them is not known, they are sent again with the same ids.
        self.window.give(back: open.count)
        return checked.unsent + open.sorted().map { checked.ready[$0] }
    }

    private struct Checked {
        var ready: [PendingDelivery] = []
        var unsent: [PendingDelivery] = []
    }

    /// The last look before a send: what was read, ignored, deleted, switched off or re-registered meanwhile is
    /// cancelled, and the badge is counted anew. Facts that are only just read serve as they are.
    private func recheck(_ slice: [PendingDelivery]) async -> Checked {
        var checked = Checked()
        let now = ContinuousClock.now
        let isStale = slice.contains { item in
            item.readAt.map { $0.duration(to: now) > self.context.settings.factsFreshness } ?? true
        }
        guard isStale else {
            checked.ready = slice
            return checked
        }
        let ids = Array(Set(slice.map(\.reference.notificationID)))
        guard let facts = await self.context.readFacts(ids) else {
            checked.unsent = slice
            return checked
        }
        var record = QueueRecord()
        for var item in slice {
            let id = item.reference.notificationID
            let decision = Recheck.decide(
                id: item.reference.deliveryID, deviceID: item.reference.deviceID, token: item.delivery?.token,
                expiresAt: item.expiresAt,
                facts: facts[id] ?? NotificationFacts(notificationID: id, notification: nil, account: nil), now: Date())
            switch decision {
            case .send(let delivery):
                item.delivery = delivery
                item.readAt = now
                checked.ready.append(item)
            case .cancel(let reason):
                record.append(self.context.ended(item, state: reason.state, reason: reason.rawValue))
            case .expired:
                let reason = DeliveryReason.expired
                record.append(self.context.ended(item, state: reason.state, reason: reason.rawValue))
            }
        }
        self.context.recorder.add(record)
        return checked
    }

    /// Puts deliveries aside while the endpoint is paused; no attempt is charged.
    private func park(_ items: ArraySlice<PendingDelivery>, for wait: Duration) {
        var record = QueueRecord()
        for item in items {
            record.parked.append(
                ParkedEntry(
                    delivery: item.reference, endpoint: self.endpoint, attempts: item.attempts,
                    reason: item.waitedFor ?? "provider_paused", wait: wait, expiresAt: item.expiresAt))
        }
        self.context.recorder.add(record)
    }
}
