import DeliveryQueue
import Locking
package import PushModel

package import struct FoundationEssentials.Date

/// Keeps what a worker sees of its dependencies; judged by ``WorkerStatus``.
package final class WorkerHealth: Sendable {
    private struct State {
        var facts: HealthFacts
        /// Statements whose last try failed.
        var failing: [DatabaseOperation: (kind: DatabaseFailure, trouble: HealthFacts.Trouble)] = [:]
        var upkeepAt: ContinuousClock.Instant?
        var claimsAt: ContinuousClock.Instant?
        /// In what state each dependency was when it was last judged.
        var judged: [WorkerStatus.Dependency.Name: (state: WorkerStatus.Dependency.State, since: Date)] = [:]
    }

    private let state: Locked<State>
    private let recorder: Recorder

    /// Statements that are tried again and again, so that their last try tells how the database is now.
    private static let telling: Set<DatabaseOperation> = [.probe, .claim, .heartbeat]

    package init(endpoints: [ProviderEndpoint], largestBacklog: Int, recorder: Recorder) {
        var facts = HealthFacts(startedAt: Date(), largestBacklog: largestBacklog)
        for endpoint in endpoints { facts.endpoints[endpoint] = HealthFacts.Endpoint() }
        self.state = Locked(State(facts: facts))
        self.recorder = recorder
    }

    // MARK: - What is seen

    func note(_ operation: DatabaseOperation, _ error: (any Error)?) {
        self.state.withLock { state in
            guard let error else {
                state.failing[operation] = nil
                // What starts a worker is not tried again.
                state.failing[.probe] = nil
                state.facts.databaseSeen = Date()
                return
            }
            guard !(error is CancellationError) else { return }
            let since = state.failing[operation]?.trouble.since ?? Date()
            state.failing[operation] = (DatabaseFailure(error), HealthFacts.Trouble(since: since, "\(error)"))
        }
    }

    func note(_ listening: HealthFacts.Listening) {
        self.state.withLock { state in
            guard state.facts.listening != listening else { return }
            state.facts.listening = listening
            state.facts.listeningSince = Date()
        }
    }

    /// Takes in what a flight of sends came to.
    func note(_ results: [SendResult], at endpoint: ProviderEndpoint, now: Date = Date()) {
        self.state.withLock { state in
            guard var facts = state.facts.endpoints[endpoint] else { return }
            for result in results {
                switch result.outcome {
                case .retry(let retry) where retry.scope != .device: facts.failed(retry.reason, now)
                case .unknown(let reason): facts.failed(reason, now)
                case .accepted:
                    facts.failures = nil
                    facts.lastAccepted = now
                default: facts.failures = nil
                }
            }
            state.facts.endpoints[endpoint] = facts
        }
    }

    func note(outboxAges: [Lane: Duration]) {
        self.state.withLock { state in
            state.facts.outboxAges = outboxAges
            state.facts.outboxSeen = Date()
        }
    }

    /// The upkeep loop goes on, or, with nil, has ended in order.
    func upkeep(at time: ContinuousClock.Instant?) { self.state.withLock { $0.upkeepAt = time } }

    /// The same of the claim loop.
    func claims(at time: ContinuousClock.Instant?) { self.state.withLock { $0.claimsAt = time } }

    // MARK: - How it is

    var listening: HealthFacts.Listening { self.state.withLock { $0.facts.listening } }

    var lastAccepted: [ProviderEndpoint: Date] {
        self.state.withLock { $0.facts.endpoints.compactMapValues(\.lastAccepted) }
    }

    /// Judges what was seen; `since` of what was so before stays what it was.
    package func status(_ pauses: EndpointPauses, now: Date = Date()) -> WorkerStatus {
        let (paused, backlog) = (pauses.all, self.recorder.backlog)
        return self.state.withLock { Self.status($0, paused, backlog, now) }
    }

    /// The same, with what has changed since this was last called: by one caller, who logs it.
    func judge(_ pauses: EndpointPauses, now: Date = Date()) -> (
        status: WorkerStatus, changes: [(before: WorkerStatus.Dependency.State, now: WorkerStatus.Dependency)]
    ) {
        let (paused, backlog) = (pauses.all, self.recorder.backlog)
        return self.state.withLock { state in
            let status = Self.status(state, paused, backlog, now)
            var changes: [(WorkerStatus.Dependency.State, WorkerStatus.Dependency)] = []
            for dependency in status.dependencies {
                let before = state.judged[dependency.name]?.state
                // At the start it is no news that something is not there yet, only that it has failed.
                if before.map({ $0 != dependency.state }) ?? (dependency.state == .failed) {
                    changes.append((before ?? .ok, dependency))
                }
                state.judged[dependency.name] = (dependency.state, dependency.since)
            }
            return (status, changes)
        }
    }

    private static func status(
        _ state: State, _ paused: [ProviderEndpoint: EndpointPauses.Entry], _ backlog: Int, _ now: Date
    ) -> WorkerStatus {
        var status = WorkerStatus(Self.facts(state, paused, backlog, now), now: now)
        for index in status.dependencies.indices {
            let dependency = status.dependencies[index]
            guard let before = state.judged[dependency.name], before.state == dependency.state else { continue }
            status.dependencies[index].since = min(before.since, dependency.since)
        }
        return status
    }

    private static func facts(
        _ state: State, _ paused: [ProviderEndpoint: EndpointPauses.Entry], _ backlog: Int, _ now: Date
    ) -> HealthFacts {
        var facts = state.facts
        let telling = state.failing.filter { Self.telling.contains($0.key) }.map(\.value)
        let earliest = { (failing: [(kind: DatabaseFailure, trouble: HealthFacts.Trouble)]) in
            failing.map(\.trouble).min { $0.since < $1.since }
        }
        facts.schema = earliest(telling.filter(\.kind.isOfSchema))
        facts.database = earliest(telling.filter { !$0.kind.isOfSchema })
        facts.recording = state.failing[.record]?.trouble
        facts.backlog = backlog
        for endpoint in facts.endpoints.keys {
            facts.endpoints[endpoint]?.pause = paused[endpoint].map { entry in
                HealthFacts.Pause(
                    entry.note, since: entry.since,
                    end: now.addingTimeInterval(ContinuousClock.now.duration(to: entry.end).inSeconds),
                    isResumed: entry.isResumed)
            }
        }
        facts.upkeepIdle = state.upkeepAt.map { $0.duration(to: .now) }
        facts.claimsIdle = state.claimsAt.map { $0.duration(to: .now) }
        return facts
    }
}

extension HealthFacts.Endpoint {
    fileprivate mutating func failed(_ reason: String, _ now: Date) {
        var run = self.failures ?? HealthFacts.FailureRun(first: now, last: now, count: 0, reason: reason)
        run.count += 1
        run.last = now
        run.reason = reason
        self.failures = run
    }
}
