import DeliveryQueue
package import Fanout
import Locking
package import Observability
package import Postgres
package import PushModel

import struct FoundationEssentials.UUID

/// The worker: claims, plans, sends and records until it is stopped.
package final class Worker: Sendable {
    /// One endpoint: who sends, and how many deliveries may be on their way at once.
    package struct Endpoint: Sendable {
        package var sender: any ProviderSender
        package var window: Int

        package init(sender: any ProviderSender, window: Int) {
            self.sender = sender
            self.window = window
        }
    }

    /// Why a worker cannot start; says what to do.
    package struct CannotStart: Error, CustomStringConvertible {
        package let description: String
    }

    private let database: PostgresConfiguration
    private let settings: DeliverySettings
    private let policy: RetryPolicy
    private let endpoints: [ProviderEndpoint: Endpoint]
    private let name: String
    private let version: String
    private let log: Log

    /// All that is measured; `/metrics` is its text.
    package let metrics: MetricsRegistry
    private let health: WorkerHealth
    private let pauses = EndpointPauses()
    private let held: HeldLeases
    private let recorder: Recorder
    private let pruneGuard = PruneGuard()
    private let repeats = LogLimiter()
    private let wake = WakeSignal()
    private let stopSignal = WakeSignal()
    private let stopping = Locked(false)
    private let windows: [ProviderEndpoint: InFlightWindow]

    /// - Parameter metrics: one of ``WorkerMetrics/registry()``, of this worker alone.
    package init(
        database: PostgresConfiguration, settings: DeliverySettings, policy: RetryPolicy,
        endpoints: [ProviderEndpoint: Endpoint], name: String, version: String, log: Log,
        metrics: MetricsRegistry = WorkerMetrics.registry()
    ) {
        self.database = database
        self.settings = settings
        self.policy = policy
        self.endpoints = endpoints
        self.windows = endpoints.mapValues { InFlightWindow(capacity: $0.window) }
        self.name = name
        self.version = version
        self.log = log
        let recorder = Recorder()
        let health = WorkerHealth(
            endpoints: Array(endpoints.keys), largestBacklog: settings.largestBacklog, recorder: recorder)
        self.recorder = recorder
        self.health = health
        self.held = HeldLeases(lease: settings.lease)
        self.metrics = metrics
        let gauges = WorkerGauges(
            endpoints: endpoints, health: health, pauses: self.pauses, held: self.held, recorder: recorder,
            version: version)
        metrics.collect(gauges.collect)
    }

    /// How the worker and all it depends on are: for `/readyz` (``WorkerStatus/isReady``), `/healthz`
    /// (``WorkerStatus/isAlive``) and pages. Cheap; asks nobody.
    package func status() -> WorkerStatus { self.health.status(self.pauses) }

    /// Has the worker look for work now: something was put into the queue. A hint, as every signal is.
    package func lookForWork() {
        self.wake.wake()
    }

    /// Stops in order: no more claims, what is in flight is waited for within the drain limit, the rest is handed back.
    /// A second call does not wait.
    package func stop() {
        self.stopping.withLock { $0 = true }
        for window in self.windows.values { window.close() }
        self.wake.finish()
        self.stopSignal.wake()
    }

    /// Ends the pauses of endpoints, for every worker: what was wrong with their configuration has been put right.
    package func resume(_ endpoints: [ProviderEndpoint]) {
        var record = QueueRecord()
        record.resumed = endpoints
        self.pruneGuard.forget(endpoints)
        self.recorder.add(record)
    }

    /// Runs until ``stop()``.
    ///
    /// LISTEN comes first, then the scan: what is committed in between is found by the one or the other.
    package func run() async throws {
        var configuration = self.database
        configuration.settings += Self.sessionSettings
        configuration.queryDeadline = Self.answerLimit
        let watch: DatabaseSession.Watch = { [metrics, health] operation, duration, error in
            metrics.count(operation, duration, error)
            health.note(operation, error)
        }
        let upkeepSession = DatabaseSession(configuration, watch: watch)
        let recordSession = DatabaseSession(configuration, watch: watch)
        try await self.requireSchema(on: upkeepSession)

        let isListening = Locked(false)
        let sessionsLast = await self.sessionsLast(configuration, prober: upkeepSession)
        let lockKey = sessionsLast ? Int(Int32.random(in: 1...Int32.max)) : nil
        let worker = WorkerIdentity(id: UUID(), lockKey: lockKey)
        let context = DeliveryContext(
            worker: worker, settings: self.settings, planner: Planner(lifetime: self.settings.lifetime),
            resolution: Resolution(
                policy: self.policy, pauseForMisconfiguration: self.settings.pauseForMisconfiguration,
                endpoints: Set(self.endpoints.keys)),
            recorder: self.recorder, pauses: self.pauses, pruneGuard: self.pruneGuard,
            breakers: EndpointBreakers(),
            held: self.held, facts: upkeepSession, log: self.log, stopping: self.stopping, metrics: self.metrics,
            health: self.health, repeats: self.repeats)
        if !sessionsLast { self.health.note(.unavailable) }
        let takeLock: @Sendable (PostgresConnection) async throws -> Void = { [settings] connection in
            // The lock says, as long as this session lives, that our batches are in good hands.
            guard let lockKey else { return }
            _ = try await connection.query(LeaseKeeping(lease: settings.lease).lock(key: lockKey))
        }
        let claimSession = DatabaseSession(configuration, prepare: takeLock, watch: watch)
        let listener = OutboxListener(
            configuration: configuration, wake: self.wake, log: self.log, repeats: context.repeats
        ) { [health] works in
            isListening.withLock { $0 = works }
            health.note(works ? .connected : .lost)
        }
        let upkeep = Upkeep(
            context: context, session: upkeepSession, wake: self.wake, name: self.name, version: self.version,
            isListening: isListening)
        let writer = RecordWriter(context: context, session: recordSession, wake: self.wake)
        let claims = ClaimLoop(
            context: context, pipelines: self.pipelines(context), session: claimSession, wake: self.wake)
        self.log.notice(
            "worker started",
            [
                "worker": worker.id.text, "version": self.version, "listening": sessionsLast,
                "endpoints": self.endpoints.keys.map(\.rawValue).sorted().joined(separator: " "),
            ])

        await withTaskGroup(of: Void.self) { background in
            if sessionsLast { background.addTask { await listener.run() } }
            background.addTask { await upkeep.run() }
            background.addTask { await self.tick(isListening) }
            await withTaskGroup(of: Void.self) { recording in
                recording.addTask { await context.recorder.run(write: writer.write) }
                await self.runUntilDrained { await claims.run() }
                context.recorder.finish()
            }
            background.cancelAll()
        }
        _ = try? await upkeepSession.query(LeaseKeeping(lease: self.settings.lease).farewell(worker: worker))
        for session in [claimSession, recordSession, upkeepSession] { await session.close() }
        self.log.notice("worker stopped", ["worker": worker.id.text])
    }

    /// Runs the claim loop to its end, which ``stop()`` brings about; what is in flight then has the drain limit, or
    /// until the second call of ``stop()``.
    private func runUntilDrained(_ claims: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await claims()
                return true
            }
            group.addTask {
                var stops = self.stopSignal.wakes.makeAsyncIterator()
                guard await stops.next() != nil else { return false }
                self.log.notice("stopping", ["limit": "\(self.settings.drainLimit)"])
                await withTaskGroup(of: Void.self) { limit in
                    limit.addTask { try? await Task.sleep(for: self.settings.drainLimit) }
                    limit.addTask {
                        var again = self.stopSignal.wakes.makeAsyncIterator()
                        _ = await again.next()
                    }
                    _ = await limit.next()
                    limit.cancelAll()
                }
                return false
            }
            // Either all is drained, or the limit has passed: then sends are cut off and handed back.
            _ = await group.next()
            group.cancelAll()
        }
    }

    private func tick(_ isListening: Locked<Bool>) async {
        while !Task.isCancelled {
            self.wake.wake()
            let listens = isListening.withLock { $0 }
            try? await Task.sleep(for: listens ? self.settings.poll : self.settings.pollWithoutListen)
        }
    }

    private func pipelines(_ context: DeliveryContext) -> [ProviderEndpoint: EndpointPipeline] {
        var pipelines: [ProviderEndpoint: EndpointPipeline] = [:]
        for (endpoint, setup) in self.endpoints {
            guard let window = self.windows[endpoint] else { continue }
            pipelines[endpoint] = EndpointPipeline(
                endpoint: endpoint, sender: setup.sender, window: window, context: context)
        }
        return pipelines
    }

    /// The server ends a statement after 10 s; an answer that is not there soon after is swallowed by the network.
    private static let answerLimit = Duration.seconds(13)

    /// For every session of the program that lasts, the control plane's too: behind a transaction pooler one's settings
    /// become another's. Serializable or repeatable read would make most claims fail.
    package static let sessionSettings: [(name: String, value: String)] = [
        ("default_transaction_isolation", "read committed"), ("statement_timeout", "10s"), ("lock_timeout", "2s"),
        ("idle_in_transaction_session_timeout", "10s"), ("jit", "off"),
        // A statement whose answer nobody waits for any more is ended by the server.
        ("client_connection_check_interval", "2s"),
        // Plans by index whatever the statistics say: from when a table was empty, or from before the day's partition had
        // rows, they would have each claim sort the outbox, and each record and recheck scan a whole table.
        ("enable_sort", "off"), ("enable_seqscan", "off"), ("enable_bitmapscan", "off"),
    ]

    /// Waits for the database, if it is not up yet, and checks that its schema is ours.
    private func requireSchema(on session: DatabaseSession) async throws {
        var backOff = BackOff()
        while true {
            do {
                let table = "\(self.settings.source.identifier).notifications"
                let rows = try await session.query(
                    """
                    select coalesce(max(version), 0)::integer, to_regclass(\(table)) is not null from push.migrations
                    """, for: .probe)
                let version = try rows.first?.int(0) ?? 0
                let wanted = Migration.all.map(\.version).max() ?? 0
                guard version >= wanted else {
                    throw CannotStart(
                        description:
                            "the database is at migration \(version), this program needs \(wanted): run push-fanout migrate"
                    )
                }
                guard try rows.first?.bool(1) == true else {
                    throw CannotStart(description: "there is no \(table) in the database: set PUSH_SOURCE_SCHEMA")
                }
                return
            } catch let error as PostgresError where error.isRetryable {
                if self.stopping.withLock({ $0 }) {
                    throw CannotStart(description: "stopped before the database answered")
                }
                self.logWaiting(error)
                try await Task.sleep(for: backOff.next())
            } catch let error as PostgresError where error.sqlState == "42P01" || error.sqlState == "3F000" {
                throw CannotStart(description: "there is no schema push in the database: run push-fanout migrate")
            } catch let error as PostgresError where error.sqlState == "42501" {
                throw CannotStart(
                    description:
                        "\(error.message): run as a role that is a member of push_worker (grant push_worker to …)")
            }
        }
    }

    private func logWaiting(_ error: PostgresError) {
        guard let more = self.repeats.mayWrite("waiting for the database") else { return }
        self.log.warning("waiting for the database", ["error": "\(error)", "repeated": more])
    }

    /// Whether sessions last, so that LISTEN and advisory locks work: found by a NOTIFY from another connection. A
    /// database that is away for a moment says nothing about that: the test is made again.
    private func sessionsLast(_ configuration: PostgresConfiguration, prober: DatabaseSession) async -> Bool {
        var backOff = BackOff()
        while !self.stopping.withLock({ $0 }) {
            do {
                let connection = try await PostgresConnection.connect(configuration)
                let arrives = try await OutboxListener.notificationsArrive(on: connection, prober: prober)
                await connection.close()
                if !arrives {
                    self.log.warning(
                        "LISTEN is accepted but no notification arrives: the database is behind a transaction pooler",
                        ["effect": "polling", "fix": "point DATABASE_URL at a direct or session-mode connection"])
                }
                return arrives
            } catch let error as PostgresError where error.isRetryable {
                self.logWaiting(error)
                try? await Task.sleep(for: backOff.next())
            } catch {
                self.log.warning("the LISTEN self-test failed", ["error": "\(error)", "effect": "polling"])
                return false
            }
        }
        return false
    }
}
