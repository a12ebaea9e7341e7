import HTTPTransport
import Observability
import PushModel

import struct FoundationEssentials.Date

/// The gauges that need no keeping: read from the parts themselves when somebody asks.
struct WorkerGauges: Sendable {
    let endpoints: [ProviderEndpoint: Worker.Endpoint]
    let health: WorkerHealth
    let pauses: EndpointPauses
    let held: HeldLeases
    let recorder: Recorder
    let version: String

    @Sendable func collect(_ update: inout MetricsUpdate) {
        update.set(WorkerMetrics.workerInfo, [self.version], 1)
        update.set(WorkerMetrics.recorderBacklog, [], self.recorder.backlog)
        let held = self.held.counts
        update.set(WorkerMetrics.leases, ["batch"], held.batches)
        update.set(WorkerMetrics.leases, ["waiting"], held.waiting)
        let listening = self.health.listening
        update.set(WorkerMetrics.listenerConnected, [], listening == .connected ? 1 : 0)
        update.set(WorkerMetrics.listenerExpected, [], listening == .unavailable ? 0 : 1)
        self.collectStatus(&update)
        self.collectPauses(&update)
        for (endpoint, setup) in self.endpoints { Self.collect(setup.sender.condition, endpoint.rawValue, &update) }
        for (endpoint, date) in self.health.lastAccepted {
            update.set(WorkerMetrics.lastAccepted, [endpoint.rawValue], date.timeIntervalSince1970)
        }
    }

    private func collectStatus(_ update: inout MetricsUpdate) {
        let status = self.health.status(self.pauses)
        update.set(WorkerMetrics.ready, [], status.isReady ? 1 : 0)
        for dependency in status.dependencies {
            update.set(WorkerMetrics.dependencyState, [dependency.name.text], dependency.state.rawValue)
        }
    }

    /// A configuration that is wrong stays so between the pauses in which it is probed.
    private func collectPauses(_ update: inout MetricsUpdate) {
        let pauses = self.pauses.all
        for endpoint in self.endpoints.keys {
            let pause = pauses[endpoint]
            for cause in PauseCause.allCases {
                let rests = pause.map { $0.note.cause == cause && !($0.isOver && $0.isResumed) } ?? false
                update.set(WorkerMetrics.paused, [endpoint.rawValue, cause.rawValue], rests ? 1 : 0)
            }
        }
    }

    private static func collect(_ condition: SenderCondition, _ endpoint: String, _ update: inout MetricsUpdate) {
        let transport = condition.transport
        update.set(WorkerMetrics.connections, [endpoint], transport.connections)
        update.set(WorkerMetrics.streams, [endpoint], transport.inFlight)
        update.set(WorkerMetrics.queuedRequests, [endpoint], transport.queued)
        update.set(WorkerMetrics.connectionsOpened, [endpoint], transport.connectionsOpened)
        if let age = condition.tokenAge { update.set(WorkerMetrics.tokenAge, [endpoint], age.inSeconds) }
    }
}
