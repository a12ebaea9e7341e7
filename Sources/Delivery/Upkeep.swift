import DeliveryQueue
import Locking
import Observability
import Postgres

/// Keeps the worker's leases alive, returns those of dead workers, and has the next days' partitions made. Apart from
/// the sends, so that a slow provider never costs a lease.
struct Upkeep: Sendable {
    let context: DeliveryContext
    let session: DatabaseSession
    let wake: WakeSignal
    let name: String
    let version: String
    let isListening: Locked<Bool>

    private static let partitionInterval = Duration.seconds(3600)
    private static let pruneInterval = Duration.seconds(3600)
    private static let rollupInterval = Duration.seconds(60)
    private static let sweepInterval = Duration.seconds(30)
    /// Each sweep looks back so far, for transactions that stay open for long commit rows that are old already.
    private static let shortSweep = Duration.seconds(600)
    /// The first sweep, and one an hour, looks back as far as the settings say.
    private static let fullSweepInterval = Duration.seconds(3600)

    /// Runs until the task is cancelled.
    func run() async {
        var partitionsDue = ContinuousClock.now
        var sweepDue = ContinuousClock.now
        var rollupDue = ContinuousClock.now + Self.rollupInterval
        var fullSweepDue = ContinuousClock.now
        // Not at once: a worker that starts has other things to do.
        var pruneDue = ContinuousClock.now + .seconds(Int64.random(in: 60...600))
        // Others get the time to come back from what cost us our connection before their batches count as lost.
        var rescueFrom = ContinuousClock.now + LeaseKeeping.graceForReconnection
        while !Task.isCancelled {
            do {
                try await self.heartbeat()
                if ContinuousClock.now >= rescueFrom { try await self.rescue() }
                if ContinuousClock.now >= partitionsDue {
                    _ = try await self.session.query("select push.ensure_partitions()")
                    partitionsDue = .now + Self.partitionInterval
                }
                if ContinuousClock.now >= rollupDue {
                    _ = try await self.session.query(CounterRollup.query)
                    rollupDue = .now + Self.rollupInterval
                }
                if ContinuousClock.now >= pruneDue {
                    pruneDue = .now + Self.pruneInterval
                    try await self.prune()
                }
                if ContinuousClock.now >= sweepDue {
                    let isFull = ContinuousClock.now >= fullSweepDue
                    try await self.sweep(isFull ? self.context.settings.sweepAge : Self.shortSweep)
                    sweepDue = .now + Self.sweepInterval
                    if isFull { fullSweepDue = .now + Self.fullSweepInterval }
                }
            } catch {
                guard !Task.isCancelled else { return }
                self.context.log.warning("upkeep failed, trying again", ["error": "\(error)"])
                rescueFrom = .now + LeaseKeeping.graceForReconnection
            }
            try? await Task.sleep(for: self.context.settings.heartbeat)
        }
    }

    private func heartbeat() async throws {
        let keeping = LeaseKeeping(lease: self.context.settings.lease)
        let time = ContinuousClock.now
        let asked = self.context.held.asked
        let rows = try await self.session.query(
            keeping.heartbeat(
                worker: self.context.worker, name: self.name, version: self.version,
                listening: self.isListening.withLock { $0 }, batches: asked.batches, waiting: asked.waiting))
        let heartbeat = try keeping.decodeHeartbeat(rows)
        let lost = self.context.held.extended(
            asked, batches: heartbeat.batchIDs, waiting: heartbeat.waitingTokens, at: time)
        if lost > 0 {
            self.context.log.warning("batches were taken over by another worker", ["count": lost])
        }
        self.context.pauses.adopt(heartbeat.pauses)
    }

    private func sweep(_ age: Duration) async throws {
        let sweep = Sweep(source: self.context.settings.source)
        let found = try await self.session.query(sweep.query(age: min(age, self.context.settings.sweepAge))).affected
        guard found > 0 else { return }
        self.context.log.warning(
            "found notifications that never reached the outbox",
            ["count": found, "fix": "push-fanout check tells whether the trigger is there"])
        self.wake.wake()
    }

    private func prune() async throws {
        // Few at a time: the next heartbeat waits for it.
        let pruning = HistoryPruning(keep: self.context.settings.keep, mostCalls: 10)
        let report = try await pruning.run { try await self.session.query($0) }
        guard !report.partitions.isEmpty else { return }
        self.context.log.info("dropped old history", ["partitions": report.partitions.joined(separator: " ")])
    }

    private func rescue() async throws {
        let keeping = LeaseKeeping(lease: self.context.settings.lease)
        let rescued = try await self.session.query(keeping.rescue(worker: self.context.worker)).affected
        guard rescued > 0 else { return }
        self.context.log.notice("rescued notifications of a lost worker", ["count": rescued])
        self.wake.wake()
    }
}
