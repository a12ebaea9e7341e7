import Delivery
import FoundationEssentials
import Locking
import Postgres
import PushSimulator
import TestSupport

/// An installation in which everything goes wrong at once, for a time: what happens is drawn from a seed.
final class Chaos: Sendable {
    /// What can happen.
    enum Event: String, CaseIterable, Sendable {
        case killWorker, stopWorker, restartDatabase, cutDatabase, terminateSessions, slowDatabase, silenceDatabase
        case resetProviders, goaway

        /// Each happens once before any happens again; then by these shares.
        static let drawn: [Event] = [
            .killWorker, .killWorker, .killWorker, .stopWorker, .restartDatabase, .cutDatabase, .cutDatabase,
            .terminateSessions, .slowDatabase, .silenceDatabase, .resetProviders, .resetProviders, .goaway, .goaway,
        ]

        /// Whether a worker may lose what it knows, or another may take its work over.
        var explainsDuplicates: Bool {
            switch self {
            case .killWorker, .restartDatabase, .cutDatabase, .terminateSessions, .silenceDatabase: true
            case .stopWorker, .slowDatabase, .resetProviders, .goaway: false
            }
        }
    }

    struct Happened: Sendable {
        var event: Event
        var at: Date
    }

    let ledger: ChaosLedger
    let traffic: ChaosTraffic
    let session: DatabaseSession
    let installation: Installation
    private let server: PrivatePostgres
    private let proxy: TCPProxy
    private let throughProxy: [String: String]
    private let seed: UInt64
    private let state = Locked(State())

    private struct State {
        var workers: [ChildProcess] = []
        var started = 0
        var happened: [Happened] = []
    }

    private static let workerCount = 3

    static func make(seed: UInt64) async throws -> Chaos {
        let server = try await PrivatePostgres.start()
        let ledger = ChaosLedger()
        let installation = try await Installation.make(server: server) { options in
            options.onPush = { ledger.note($0) }
            options.maxConnections = 2000
        }
        return try await Chaos(installation, server, ledger, seed)
    }

    private init(
        _ installation: Installation, _ server: PrivatePostgres, _ ledger: ChaosLedger, _ seed: UInt64
    ) async throws {
        self.installation = installation
        self.server = server
        self.ledger = ledger
        self.seed = seed
        (self.proxy, self.throughProxy) = try await installation.databaseProxy()
        self.session = DatabaseSession(try PostgresConfiguration(installation.database.url()))
        self.traffic = ChaosTraffic(installation, self.session, seed: seed)
    }

    var happened: [Happened] { self.state.withLock { $0.happened } }

    // MARK: - The run

    /// Workers, rows and trouble for so long; then no more trouble, until nothing is left to do.
    ///
    /// - Returns: how long that took.
    func run(for time: Duration, drainLimit: Duration) async throws -> Duration {
        for _ in 0..<Self.workerCount { try self.startWorker() }
        self.installation.simulator.setFaults(Self.faults(seed: self.seed))
        let traffic = Task { try await self.traffic.run() }
        do {
            try await self.makeTrouble(until: .now + time)
        } catch {
            traffic.cancel()
            _ = await traffic.result
            throw error
        }
        traffic.cancel()
        try await traffic.value
        self.installation.simulator.setFaults(FaultPlan())
        self.proxy.restore()
        let start = ContinuousClock.now
        try await eventually(within: drainLimit, every: .milliseconds(250)) {
            let rows = try? await self.session.query(
                """
                select (select count(*) from push.outbox) + (select count(*) from push.batches)
                    + (select count(*) from push.waiting)
                """)
            return try rows?.first?.int(0) == 0
        }
        return start.duration(to: .now)
    }

    private func makeTrouble(until end: ContinuousClock.Instant) async throws {
        var random = SeededGenerator(seed: self.seed ^ 0x7472_6F75_626C_65)
        var next = Event.allCases.shuffled(using: &random)
        while ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(Int.random(in: 400...2400, using: &random)))
            try self.requireLife()
            let event = next.popLast() ?? Event.drawn.randomElement(using: &random) ?? .goaway
            self.state.withLock { $0.happened.append(Happened(event: event, at: Date())) }
            try await self.bring(event, &random)
        }
    }

    private func bring(_ event: Event, _ random: inout SeededGenerator) async throws {
        switch event {
        case .killWorker:
            try self.replaceWorker(signal: 9, &random)
        case .stopWorker:
            try self.replaceWorker(signal: 15, &random)
        case .restartDatabase:
            try await self.server.restart(.immediate)
            // A restart takes a while: what it explains may come late.
            self.state.withLock { $0.happened.append(Happened(event: event, at: Date())) }
        case .cutDatabase:
            self.proxy.cut()
        case .terminateSessions:
            // Also behind a server that is just coming up.
            _ = try? await self.session.query(
                """
                select pg_terminate_backend(pid) from pg_stat_activity
                where usename = \(self.installation.workerRole) and random() < 0.5
                """)
        case .slowDatabase:
            self.proxy.delay(.milliseconds(40))
            try await Task.sleep(for: .seconds(1))
            self.proxy.restore()
        case .silenceDatabase:
            self.proxy.blackhole()
            try await Task.sleep(for: .seconds(2))
            self.proxy.restore()
        case .resetProviders:
            self.installation.simulator.abortConnections()
        case .goaway:
            self.installation.simulator.sendGoaway()
        }
    }

    // MARK: - Workers

    private func startWorker() throws {
        let number = self.state.withLock { state in
            state.started += 1
            return state.started
        }
        // Two of three by the way that breaks.
        var others = number % 3 == 0 ? [:] : self.throughProxy
        others["PUSH_LEASE"] = "5s"
        others["PUSH_REQUEST_TIMEOUT"] = "3s"
        others["PUSH_WINDOW"] = "100"
        let worker = try ChildProcess(
            BuiltProducts.url("push-fanout").path, arguments: ["run"],
            environment: self.installation.environment(others))
        self.state.withLock { $0.workers.append(worker) }
    }

    private func replaceWorker(signal: Int32, _ random: inout SeededGenerator) throws {
        let index = Int.random(in: 0..<Self.workerCount, using: &random)
        let worker = self.state.withLock { $0.workers.remove(at: index) }
        worker.signal(signal)
        self.leaving.withLock { $0.append(worker) }
        try self.startWorker()
    }

    /// Asked to end, or killed.
    private let leaving = Locked<[ChildProcess]>([])

    struct WorkerEnded: Error, CustomStringConvertible {
        let description: String
    }

    /// A worker never ends by itself.
    private func requireLife() throws {
        for worker in self.state.withLock({ $0.workers }) {
            if let exit = worker.exit {
                throw WorkerEnded(description: "a worker ended by itself with \(exit):\n\(Self.lastWords(of: worker))")
            }
        }
    }

    /// Ends the workers in order; what was not as it should be.
    func stopWorkers() async -> [String] {
        let staying = self.state.withLock { state in
            defer { state.workers = [] }
            return state.workers
        }
        for worker in staying { worker.signal(15) }
        self.leaving.withLock { $0 += staying }
        var broken: [String] = []
        for worker in self.leaving.withLock({ $0 }) {
            let exit = try? await worker.waitForExit(within: .seconds(90))
            if exit != .code(0), exit != .signal(9) {
                broken.append(
                    "a worker ended with \(exit.map { "\($0)" } ?? "nothing"):\n\(Self.lastWords(of: worker))")
            }
        }
        return broken
    }

    private static func lastWords(of worker: ChildProcess) -> String {
        worker.lines.suffix(30).map(\.text).joined(separator: "\n")
    }

    /// Everything the workers said that have been stopped, for somebody who looks for a fault.
    var log: String {
        self.leaving.withLock { $0 }.map { "# \($0.pid)\n\($0.text(.error))\($0.text(.output))" }.joined()
    }

    func remove() async throws {
        self.proxy.stop()
        await self.session.close()
        await self.installation.simulator.stop()
        try await self.server.stop(.immediate)
    }

    // MARK: - Faults of the providers

    /// On one request in twelve, and some delay on others.
    private static func faults(seed: UInt64) -> FaultPlan {
        FaultPlan(
            [
                FaultRule(.apns, share: 0.01, answer: .init(status: 503, reason: "Shutdown")),
                FaultRule(.apns, share: 0.01, answer: .init(status: 429, reason: "TooManyRequests")),
                FaultRule(.apns, share: 0.01, answer: .init(status: 500, reason: "InternalServerError")),
                FaultRule(.apns, share: 0.01, resetStream: 7),
                FaultRule(.apns, share: 0.005, resetStream: 2, resetAfterHeaders: true),
                FaultRule(.apns, share: 0.004, silence: true),
                FaultRule(.apns, share: 0.003, closeConnection: .beforeHandling),
                FaultRule(.apns, share: 0.003, closeConnection: .afterHandling),
                FaultRule(.apns, share: 0.003, goaway: .init(reason: "Shutdown", handlesRequest: false)),
                FaultRule(.apns, share: 0.02, delayMilliseconds: 300),
                FaultRule(.fcm, share: 0.01, answer: .init(status: 503, reason: "UNAVAILABLE", retryAfter: "1")),
                FaultRule(.fcm, share: 0.002, answer: .init(status: 429, reason: "QUOTA_EXCEEDED", retryAfter: "1")),
                FaultRule(.fcm, share: 0.01, answer: .init(status: 500, reason: "INTERNAL")),
                FaultRule(
                    .fcm, share: 0.005, answer: .init(status: 502, retryAfter: "1", body: "<html>Bad Gateway</html>")),
                FaultRule(.fcm, share: 0.01, resetStream: 2),
                FaultRule(.fcm, share: 0.004, silence: true),
                FaultRule(.fcm, share: 0.003, closeConnection: .beforeHandling),
                FaultRule(.fcm, share: 0.003, closeConnection: .afterHandling),
                FaultRule(.fcm, share: 0.02, delayMilliseconds: 300),
                FaultRule(.token, share: 0.2, answer: .init(status: 503)),
            ], seed: seed)
    }
}
