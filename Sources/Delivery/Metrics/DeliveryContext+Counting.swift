import DeliveryQueue
import Observability
import PushModel

import struct FoundationEssentials.Date

/// What is counted on the way of a push: a call for each flight of answers and each record, not for each push.
extension DeliveryContext {
    /// Takes in the results of sends at an endpoint.
    ///
    /// - Parameter repeated: how many of them are followed by another try.
    func count(_ sent: [(item: PendingDelivery, result: SendResult)], repeated: Int, at endpoint: ProviderEndpoint) {
        guard !sent.isEmpty else { return }
        let now = Date()
        let name = endpoint.rawValue
        self.metrics.update { update in
            for (item, result) in sent {
                let outcome = result.outcome
                update.add(
                    WorkerMetrics.sends, [name, outcome.name, WorkerMetrics.reasonLabel(outcome.reason)])
                if let duration = result.duration, duration > .zero {
                    update.observe(WorkerMetrics.requestSeconds, [name], duration)
                }
                if let wait = result.retryAfter { update.observe(WorkerMetrics.retryAfterSeconds, [name], wait) }
                switch outcome {
                case .accepted:
                    guard let delivery = item.delivery else { continue }
                    update.observe(
                        WorkerMetrics.acceptedSeconds, [name, delivery.kind.lane.label],
                        now.timeIntervalSince(delivery.notification.createdAt))
                case .unknown: update.add(WorkerMetrics.unknownOutcomes, [name])
                case .retry(let retry) where result.status == 429:
                    update.add(WorkerMetrics.throttled, [name, retry.scope == .device ? "device" : "endpoint"])
                default: break
                }
            }
            if repeated > 0 { update.add(WorkerMetrics.retries, [name], repeated) }
        }
        self.health.note(sent.map(\.result), at: endpoint)
    }

    /// Takes in what has been written.
    ///
    /// - Parameter buried: how many tokens were marked dead; nil where a repetition cannot tell.
    func count(recorded record: QueueRecord, buried: [Platform: Int]?) {
        guard !record.isEmpty else { return }
        self.metrics.update { update in
            for decision in record.decisions {
                update.add(WorkerMetrics.decisions, [decision.kindName ?? "", decision.decision.rawValue])
            }
            for attempt in record.attempts where attempt.state.isFinal {
                let reason = attempt.state == .accepted ? nil : attempt.reason
                update.add(
                    WorkerMetrics.deliveries,
                    [attempt.delivery.platform.rawValue, attempt.state.rawValue, WorkerMetrics.reasonLabel(reason)])
            }
            guard let buried else { return }
            for (platform, count) in buried { update.add(WorkerMetrics.tokensMarkedDead, [platform.rawValue], count) }
            let refused = Set(record.deadTokens.map(\.deviceID)).count
            let changed = refused - buried.values.reduce(0, +)
            if changed > 0 { update.add(WorkerMetrics.tokensSpared, [TokenSparing.tokenChanged.rawValue], changed) }
        }
    }

    /// What the prune guard made of a refused token.
    func count(_ verdict: PruneGuard.Verdict) {
        let sparing: TokenSparing
        switch verdict {
        case .mark: return
        case .keep: sparing = .pruneGuard
        case .distrust: sparing = .configuration
        }
        self.metrics.update { $0.add(WorkerMetrics.tokensSpared, [sparing.rawValue]) }
    }
}

extension MetricsRegistry {
    /// A statement's end.
    func count(_ operation: DatabaseOperation, _ duration: Duration, _ error: (any Error)?) {
        if error is CancellationError { return }
        self.update { update in
            update.observe(WorkerMetrics.databaseSeconds, [operation.rawValue], duration)
            guard let error else { return }
            update.add(
                WorkerMetrics.databaseFailures, [operation.rawValue, DatabaseFailure(error).rawValue])
        }
    }

    /// What the queue holds.
    func set(_ rows: [QueueGauges.Row]) {
        func labels(_ row: QueueGauges.Row) -> [String] {
            [row.state, row.lane.label, row.platform?.rawValue ?? "any"]
        }
        self.update { update in
            update.replace(WorkerMetrics.queueDepth, QueueState.allDepths)
            for row in rows { update.set(WorkerMetrics.queueDepth, labels(row), row.count) }
            let oldest = rows.filter {
                $0.state == QueueState.outbox.rawValue || $0.state == QueueState.waiting.rawValue
            }
            update.replace(
                WorkerMetrics.oldestWaiting,
                oldest.compactMap { row in row.oldest.map { (labels(row), max(0, $0.inSeconds)) } })
        }
    }
}

extension QueueState {
    /// Every series of the queue's depth, at nothing: an empty queue says so.
    fileprivate static let allDepths: [(labels: [String], value: Double)] = Lane.allCases.flatMap { lane in
        [Self.outbox, .batch].map { ([$0.rawValue, lane.label, "any"], 0) }
            + [Self.waiting, .leased].flatMap { state in
                Platform.allCases.map { ([state.rawValue, lane.label, $0.rawValue], 0) }
            }
    }
}
