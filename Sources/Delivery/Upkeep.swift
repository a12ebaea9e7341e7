import DeliveryQueue
import Locking
import Observability
import Postgres
import PushModel

/// Keeps the worker's leases alive, returns those of dead workers, and has the next days' partitions made. Apart from
/// the sends, so that a slow provider never costs a lease.
struct Upkeep: Sendable {
    let context: DeliveryContext
    let session: DatabaseSession
    let wake: WakeSignal
    let name: String
    let version: String
    let isListening: Locked<Bool>
    /// Endpoints of which the last heartbeat said that their pause was ended.
    private let resumed = Locked<Set<ProviderEndpoint>>([])
    /// Dependencies that were said not to be well.
    private let told = Locked<Set<WorkerStatus.Dependency.Name>>([])

    init(
        context: DeliveryContext, session: DatabaseSession, wake: WakeSignal, name: String, version: String,
        isListening: Locked<Bool>
    ) {
        self.context = context
        self.session = session
        self.wake = wake
        self.name = name
        self.version = version
        self.isListening = isListening
    }

    private static let partitionInterval = Duration.seconds(3600)
    private static let pruneInterval = Duration.seconds(3600)
    private static let rollupInterval = Duration.seconds(60)
    private static let sweepInterval = Duration.seconds(30)
    /// Each sweep looks back so far, for transactions that stay open for long commit rows that are old already.
    private static let shortSweep = Duration.seconds(600)
    /// The first sweep, and one an hour, looks back as far as the settings say.
    private static let fullSweepInterval = Duration.seconds(3600)
    private static let gaugesInterval = Duration.seconds(10)

    /// Runs until the task is cancelled.
    func run() async {
        var partitionsDue = ContinuousClock.now
        var sweepDue = ContinuousClock.now
        var rollupDue = ContinuousClock.now + Self.rollupInterval
        var fullSweepDue = ContinuousClock.now
        var gaugesDue = ContinuousClock.now
        defer { self.context.health.upkeep(at: nil) }
        // Not at once: a worker that starts has other things to do.
        var pruneDue = ContinuousClock.now + .seconds(Int64.random(in: 60...600))
        // Others get the time to come back from what cost us our connection before their batches count as lost.
        var rescueFrom = ContinuousClock.now + LeaseKeeping.graceForReconnection
        while !Task.isCancelled {
            do {
                self.begin()
                try await self.heartbeat()
                if ContinuousClock.now >= rescueFrom { try await self.rescue() }
                if ContinuousClock.now >= gaugesDue {
                    self.begin()
                    try await self.readGauges()
                    gaugesDue = .now + Self.gaugesInterval
                }
                if ContinuousClock.now >= partitionsDue {
                    self.begin()
                    _ = try await self.session.query("select push.ensure_partitions()", for: .partitions)
                    partitionsDue = .now + Self.partitionInterval
                }
                if ContinuousClock.now >= rollupDue {
                    self.begin()
                    _ = try await self.session.query(CounterRollup.query, for: .rollup)
                    rollupDue = .now + Self.rollupInterval
                }
                if ContinuousClock.now >= pruneDue {
                    pruneDue = .now + Self.pruneInterval
                    self.begin()
                    try await self.prune()
                }
                self.begin()
                if ContinuousClock.now >= sweepDue {
                    let isFull = ContinuousClock.now >= fullSweepDue
                    try await self.sweep(isFull ? self.context.settings.sweepAge : Self.shortSweep)
                    sweepDue = .now + Self.sweepInterval
                    if isFull { fullSweepDue = .now + Self.fullSweepInterval }
                }
                self.context.recovered(.heartbeat)
            } catch {
                guard !Task.isCancelled else { return }
                self.context.failed(.heartbeat, "upkeep failed, trying again", error)
                rescueFrom = .now + LeaseKeeping.graceForReconnection
            }
            self.logChanges()
            try? await Task.sleep(for: self.context.settings.heartbeat)
        }
    }

    /// Says that the loop goes on: before each statement, whose own limit is far below what counts as standing still.
    private func begin() {
        self.context.health.upkeep(at: .now)
    }

    private func readGauges() async throws {
        let rows = try QueueGauges.decode(await self.session.query(QueueGauges.query, for: .gauges))
        self.context.metrics.set(rows)
        var ages: [Lane: Duration] = [:]
        for row in rows where row.state == QueueState.outbox.rawValue { ages[row.lane] = row.oldest }
        self.context.health.note(outboxAges: ages)
    }

    /// One line for each dependency whose state has changed. Pauses of endpoints are logged where they begin and end.
    private func logChanges() {
        let paused = self.context.pauses.all
        for (before, dependency) in self.context.health.judge(self.context.pauses).changes {
            if dependency.state == .ok {
                guard self.told.withLock({ $0.remove(dependency.name) }) != nil else { continue }
            } else {
                if case .endpoint(let endpoint) = dependency.name, paused[endpoint] != nil { continue }
                self.told.withLock { _ = $0.insert(dependency.name) }
            }
            let log = self.context.log
            switch dependency.state {
            case .ok:
                log.notice("dependency is well again", ["dependency": dependency.name.text, "was": before.name])
            case .degraded:
                log.warning(
                    "dependency is degraded",
                    [
                        "dependency": dependency.name.text, "reason": dependency.reason,
                        "fix": dependency.fix ?? "none needed",
                    ])
            case .failed:
                log.error(
                    "dependency has failed",
                    [
                        "dependency": dependency.name.text, "reason": dependency.reason,
                        "fix": dependency.fix ?? "none known",
                    ])
            }
        }
    }

    private func heartbeat() async throws {
        let keeping = LeaseKeeping(lease: self.context.settings.lease)
        let time = ContinuousClock.now
        let asked = self.context.held.asked
        let rows = try await self.session.query(
            keeping.heartbeat(
                worker: self.context.worker, name: self.name, version: self.version,
                listening: self.isListening.withLock { $0 }, batches: asked.batches, waiting: asked.waiting),
            for: .heartbeat)
        let heartbeat = try keeping.decodeHeartbeat(rows)
        let lost = self.context.held.extended(
            asked, batches: heartbeat.batchIDs, waiting: heartbeat.waitingTokens, at: time)
        if lost > 0 {
            self.context.metrics.update { $0.add(WorkerMetrics.batchesLost, [], lost) }
            self.context.log.warning("batches were taken over by another worker", ["count": lost])
        }
        for (endpoint, note) in self.context.pauses.adopt(heartbeat.pauses) { self.context.log(note, of: endpoint) }
        try await self.hasten()
    }

    /// Makes due what was put aside for a pause between its end and the heartbeat that told of it; and a heartbeat later
    /// once more, for what was on its way into the database then.
    private func hasten() async throws {
        let ended = self.context.pauses.takeEnded()
        let endpoints = self.resumed.withLock { resumed in
            defer { resumed = ended }
            return resumed.union(ended)
        }
        guard !endpoints.isEmpty else { return }
        let hastened = try await self.session.query(ProviderPause.hasten(Array(endpoints)), for: .heartbeat).affected
        if hastened > 0 { self.wake.wake() }
    }

    private func sweep(_ age: Duration) async throws {
        let sweep = Sweep(source: self.context.settings.source)
        let found = try await self.session.query(
            sweep.query(age: min(age, self.context.settings.sweepAge)), for: .sweep
        ).affected
        guard found > 0 else { return }
        self.context.metrics.update { $0.add(WorkerMetrics.swept, [], found) }
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
        let rescued = try await self.session.query(
            keeping.rescue(worker: self.context.worker), for: .rescue
        ).affected
        guard rescued > 0 else { return }
        self.context.metrics.update { $0.add(WorkerMetrics.rescued, [], rescued) }
        self.context.log.notice("rescued notifications of a lost worker", ["count": rescued])
        self.wake.wake()
    }
}
