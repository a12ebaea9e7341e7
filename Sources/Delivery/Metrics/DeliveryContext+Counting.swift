import DeliveryQueue
import Observability
import PushModel

import struct FoundationEssentials.Date

/// What is counted on the way of a push: a call for each flight of answers and each record, not for each push.
extension DeliveryContext {
    /// Takes in the results of sends at an endpoint.
    ///
    /// - Parameters:
    ///   - items: what the results' indices point into.
    ///   - repeated: how many of the results are followed by another try.
    func count(
        _ results: [SendResult], of items: [PendingDelivery], repeated: Int, at endpoint: ProviderEndpoint
    ) {
        guard !results.isEmpty else { return }
        let (name, now) = (endpoint.rawValue, Date())
        // What nearly all of them are is summed up before the lock is taken.
        var accepted = 0
        var requests: [Double] = []
        var latencies: [Lane: [Double]] = [:]
        requests.reserveCapacity(results.count)
        for result in results {
            if let duration = result.duration, duration > .zero { requests.append(duration.inSeconds) }
            guard case .accepted = result.outcome else { continue }
            accepted += 1
            guard let delivery = items[result.index].delivery else { continue }
            latencies[delivery.kind.lane, default: []].append(
                now.timeIntervalSince(delivery.notification.createdAt))
        }
        self.metrics.update { update in
            update.observe(WorkerMetrics.requestSeconds, [name], all: requests)
            if accepted > 0 { update.add(WorkerMetrics.sends, [name, "accepted", WorkerMetrics.noReason], accepted) }
            for (lane, seconds) in latencies {
                update.observe(WorkerMetrics.acceptedSeconds, [name, lane.label], all: seconds)
            }
            if repeated > 0 { update.add(WorkerMetrics.retries, [name], repeated) }
            guard accepted < results.count else { return }
            for result in results { update.addTrouble(result, name) }
        }
        self.health.note(results, at: endpoint, now: now)
    }

    /// Takes in what has been written.
    ///
    /// - Parameter buried: how many tokens were marked dead; nil where a repetition cannot tell.
    func count(recorded record: QueueRecord, buried: [Platform: Int]?) {
        guard !record.isEmpty else { return }
        let decisions = record.decisions.runs { $0.kindName == $1.kindName && $0.decision == $1.decision }
        let ends = record.attempts.runs {
            $0.state == $1.state && $0.delivery.platform == $1.delivery.platform && $0.reason == $1.reason
        }
        self.metrics.update { update in
            for (decision, count) in decisions {
                update.add(WorkerMetrics.decisions, [decision.kindName ?? "", decision.decision.rawValue], count)
            }
            for (attempt, count) in ends where attempt.state.isFinal {
                let reason = attempt.state == .accepted ? nil : attempt.reason
                update.add(
                    WorkerMetrics.deliveries,
                    [attempt.delivery.platform.rawValue, attempt.state.rawValue, WorkerMetrics.reasonLabel(reason)],
                    count)
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

extension MetricsUpdate {
    /// One try that was not accepted; one that was is counted already.
    fileprivate mutating func addTrouble(_ result: SendResult, _ endpoint: String) {
        if let wait = result.retryAfter { self.observe(WorkerMetrics.retryAfterSeconds, [endpoint], wait) }
        switch result.outcome {
        case .accepted: return
        case .unknown: self.add(WorkerMetrics.unknownOutcomes, [endpoint])
        case .retry(let retry) where result.status == 429:
            self.add(WorkerMetrics.throttled, [endpoint, retry.scope == .device ? "device" : "endpoint"])
        default: break
        }
        self.add(
            WorkerMetrics.sends,
            [endpoint, result.outcome.name, WorkerMetrics.reasonLabel(result.outcome.reason)])
    }
}

extension Array {
    /// Neighbours that are alike, as one of them and their number.
    fileprivate func runs(_ areAlike: (Element, Element) -> Bool) -> [(first: Element, count: Int)] {
        var runs: [(first: Element, count: Int)] = []
        var start = self.startIndex
        for index in self.indices where index + 1 == self.endIndex || !areAlike(self[index], self[index + 1]) {
            runs.append((self[start], index + 1 - start))
            start = index + 1
        }
        return runs
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
