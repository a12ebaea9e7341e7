import DeliveryQueue
import Fanout
import Observability
import Postgres
import PushModel

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// Claims batches and due deliveries after each wake, plans them and gives them to the pipelines.
struct ClaimLoop: Sendable {
    let context: DeliveryContext
    let pipelines: [ProviderEndpoint: EndpointPipeline]
    let session: DatabaseSession

    let wake: WakeSignal

    /// How long after a scan that found nothing there is another. A transaction that did not notify, because another was
    /// just doing so, commits within this time or is found by the poll.
    private static let echo = Duration.milliseconds(60)

    /// While the outbox is full, what waits is looked at this often.
    private static let waitingInterval = Duration.milliseconds(250)

    /// Runs until the wakes end, then until every open batch is finished or given back.
    ///
    /// After a wake the outbox is scanned until it is empty, and soon after once more: the echo is a wake like any other,
    /// so that a row that comes meanwhile does not wait for it.
    func run() async {
        await withDiscardingTaskGroup { group in
            let slots = InFlightWindow(capacity: self.context.settings.claimsAhead)
            var quietScans = 0
            for await _ in self.wake.wakes {
                self.context.health.claims(at: .now)
                defer { self.context.health.claims(at: nil) }
                let found = await self.drainOutbox(slots: slots) { work in
                    group.addTask { await work() }
                }
                quietScans = found ? 0 : quietScans + 1
                guard quietScans < 2 else { continue }
                group.addTask {
                    try? await Task.sleep(for: Self.echo)
                    self.wake.wake()
                }
            }
        }
    }

    /// Scans until a scan found nothing; whether any found something.
    ///
    /// A slot is taken for each claim and given back when all of it is on its way or put aside, so that the worker
    /// holds little that is not being sent.
    private func drainOutbox(
        slots: InFlightWindow, start: (sending @escaping @Sendable () async -> Void) -> Void
    ) async -> Bool {
        var hasFound = false
        var waitingSeenAt: ContinuousClock.Instant?
        var backOff = BackOff()
        while !self.context.isStopping {
            self.context.health.claims(at: .now)
            guard self.context.recorder.backlog < self.context.settings.largestBacklog else {
                try? await Task.sleep(for: Self.echo)
                continue
            }
            guard await slots.take(upTo: 1) > 0 else { break }
            do {
                let claimed = try await self.claim(waitingSeenAt: &waitingSeenAt)
                backOff.reset()
                self.context.recovered(.claim)
                if claimed.isEmpty {
                    slots.give(back: 1)
                    // Only repeated rows: what is new stands behind them.
                    guard claimed.taken == 0 else { continue }
                    break
                }
                hasFound = true
                start { await self.process(claimed, handedOver: { slots.give(back: 1) }) }
            } catch {
                slots.give(back: 1)
                self.context.failed(.claim, "claiming failed, trying again", error)
                try? await Task.sleep(for: backOff.next())
            }
        }
        return hasFound
    }

    private struct Claimed: Sendable {
        var batch: ClaimedBatch?
        var due: [WaitingDelivery] = []
        var readAt: ContinuousClock.Instant
        /// How many rows of the outbox were taken, with those that turned out to be known already.
        var taken = 0
        var isEmpty: Bool { self.batch == nil && self.due.isEmpty }
    }

    /// One scan of the outbox and of what waits.
    private func claim(waitingSeenAt: inout ContinuousClock.Instant?) async throws -> Claimed {
        let settings = self.context.settings
        var claimed = Claimed(readAt: .now)
        let outbox = OutboxClaim(source: settings.source, limit: settings.batchSize, lease: settings.lease)
        let rows = try await self.session.query(outbox.query(worker: self.context.worker), for: .claim)
        claimed.taken = try outbox.taken(rows)
        claimed.batch = try outbox.decode(rows)
        if let batch = claimed.batch { self.context.held.open(batch.lease, asked: claimed.readAt) }

        let waiting = WaitingClaim(lease: settings.lease)
        let asked = ContinuousClock.now
        if let seen = waitingSeenAt, claimed.taken > 0, seen.duration(to: asked) < Self.waitingInterval {
            return claimed
        }
        waitingSeenAt = asked
        var limits: [ProviderEndpoint: Int] = [:]
        for endpoint in self.pipelines.keys where self.context.pauses.remaining(endpoint) == nil {
            // After a pause a single delivery is the probe.
            limits[endpoint] = self.context.pauses.needsProbe(endpoint) ? 1 : settings.batchSize
        }
        do {
            claimed.due = try waiting.decode(
                await self.session.query(
                    waiting.query(limits: limits, workerID: self.context.worker.id), for: .waitingClaim))
            self.context.held.lease(claimed.due, asked: asked)
            self.context.recovered(.waitingClaim)
        } catch {
            // What is claimed already must not be lost sight of; the waiting ones are found by the next scan.
            guard claimed.batch != nil else { throw error }
            self.context.failed(.waitingClaim, "claiming what waits failed", error)
        }
        return claimed
    }

    /// Plans, sends, and closes the batch with the last of its outcomes, or gives back what was not sent.
    private func process(_ claimed: Claimed, handedOver: @escaping @Sendable () -> Void) async {
        var items = claimed.due.map { PendingDelivery($0) }
        if let batch = claimed.batch {
            let (record, planned) = self.context.plan(batch, readAt: claimed.readAt)
            self.context.recorder.add(record)
            items += planned
        }
        let unsent = await self.send(items, handedOver: handedOver)
        var end = QueueRecord()
        if let lease = claimed.batch?.lease {
            let left = Set(unsent.filter { $0.waitingLease == nil }.map(\.reference.notificationID))
            if left.isEmpty {
                end.closed.append(lease)
            } else {
                end.released.append(ReleaseEntry(lease: lease, notificationIDs: Array(left)))
            }
        }
        for item in unsent {
            guard let lease = item.waitingLease else { continue }
            end.snoozed.append(SnoozeEntry(lease: lease, wait: .zero))
        }
        claimed.batch.map { self.context.held.ending($0.lease) }
        self.context.recorder.add(end)
        self.context.held.unlease(claimed.due)
    }

    /// Each endpoint at its own pace, so that a slow one holds up no other.
    private func send(
        _ items: [PendingDelivery], handedOver: @escaping @Sendable () -> Void
    ) async -> [PendingDelivery] {
        var byEndpoint = Dictionary(grouping: items, by: \.endpoint)
        for endpoint in byEndpoint.keys where self.pipelines[endpoint] == nil {
            self.context.discardUnconfigured(byEndpoint.removeValue(forKey: endpoint) ?? [])
        }
        guard !byEndpoint.isEmpty else {
            handedOver()
            return []
        }
        let latch = Latch(count: byEndpoint.count, opened: handedOver)
        return await withTaskGroup(of: [PendingDelivery].self) { group in
            for (endpoint, items) in byEndpoint {
                guard let pipeline = self.pipelines[endpoint] else { continue }
                group.addTask { await pipeline.deliver(items) { latch.countDown() } }
            }
            var unsent: [PendingDelivery] = []
            for await more in group { unsent += more }
            return unsent
        }
    }
}
