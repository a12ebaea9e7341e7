import DeliveryQueue
import Fanout
import Locking
import Observability
import PushModel

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// What the parts of a running worker share: its settings, the pure rules, and the few places where state is kept.
struct DeliveryContext: Sendable {
    let worker: WorkerIdentity
    let settings: DeliverySettings
    let planner: Planner
    let resolution: Resolution
    let recorder: Recorder
    let pauses: EndpointPauses
    let pruneGuard: PruneGuard
    let breakers: EndpointBreakers
    let held: HeldLeases
    let facts: DatabaseSession
    let log: Log
    let stopping: Locked<Bool>
    let metrics: MetricsRegistry
    let health: WorkerHealth
    /// Faults that come again and again: what is logged of them.
    var repeats = LogLimiter()

    var isStopping: Bool { self.stopping.withLock { $0 } || Task.isCancelled }

    /// Decides about every claimed notification: what to write at once, and what to send.
    func plan(_ batch: ClaimedBatch, readAt: ContinuousClock.Instant) -> (QueueRecord, [PendingDelivery]) {
        var record = QueueRecord()
        var items: [PendingDelivery] = []
        let now = Date()
        for facts in batch.facts {
            let plan = self.planner.plan(facts, now: now)
            record.append(plan: plan, of: facts)
            if plan.decision == .unknownKind, plan.decisionIsNew, let more = self.repeats.mayWrite("unknown kind") {
                self.log.warning(
                    "a notification of a kind that is not known is pushed to nobody",
                    [
                        "notification": plan.notificationID.text,
                        "kind": String((facts.notification?.kindName ?? "").prefix(40)), "repeated": more,
                    ])
            }
            items += plan.deliveries.map { PendingDelivery($0, batch: batch.lease, readAt: readAt) }
        }
        return (record, items)
    }

    /// What a send's outcome means for the queue, and at once for this worker.
    func resolve(_ item: PendingDelivery, _ result: SendResult, at endpoint: ProviderEndpoint) -> QueueRecord {
        var generator = SystemRandomNumberGenerator()
        var record = self.resolution.resolve(
            item, result, at: endpoint, now: Date(),
            weigh: { ground, home in
                let verdict = self.pruneGuard.weigh(ground, of: item.reference.deviceID, at: home)
                self.count(verdict)
                return verdict
            }, using: &generator)
        // Answers to what was sent before a rest began say nothing new.
        if self.pauses.remaining(endpoint) == nil, let rest = self.breakers.note(result.outcome, at: endpoint) {
            record.pauses.append(
                PauseEntry(endpoint: endpoint, duration: rest.duration, reason: rest.reason, fix: rest.fix))
        }
        for pause in record.pauses {
            self.pause(
                pause.endpoint, for: pause.duration, PauseNote(reason: pause.reason, fix: pause.fix, by: nil))
        }
        switch result.outcome {
        case .accepted:
            self.pruneGuard.noteAcceptance(at: endpoint)
            if let over = self.pauses.proven(endpoint) {
                self.log.notice(
                    "endpoint works again",
                    [
                        "endpoint": endpoint.rawValue, "reason": over.note.reason,
                        "seconds": Int(Date().timeIntervalSince(over.since)),
                    ])
            }
        case .misconfigured(let reason, let fix, .device):
            if let more = self.repeats.mayWrite("\(endpoint.rawValue) \(reason)") {
                self.log.error(
                    "the provider's own configuration is at fault",
                    ["endpoint": endpoint.rawValue, "reason": reason, "fix": fix, "repeated": more])
            }
        case .rejected(let reason):
            if let more = self.repeats.mayWrite("\(endpoint.rawValue) \(reason)") {
                self.log.error(
                    "the provider refused our request",
                    [
                        "delivery": item.reference.deliveryID.text, "endpoint": endpoint.rawValue, "reason": reason,
                        "repeated": more,
                    ])
            }
        default: break
        }
        return record
    }

    /// Rests an endpoint. Said once: a rest that follows a rest for the same reason is no news.
    func pause(_ endpoint: ProviderEndpoint, for duration: Duration, _ note: PauseNote) {
        guard self.pauses.pause(endpoint, for: duration, note) else { return }
        self.log(note, of: endpoint)
    }

    func log(_ note: PauseNote, of endpoint: ProviderEndpoint) {
        let fix = note.fix ?? "none needed"
        switch note.cause {
        case .operator, .retryAfter:
            self.log.notice(
                "endpoint paused",
                ["endpoint": endpoint.rawValue, "reason": note.reason, "by": note.by ?? "provider", "fix": fix])
        case .configuration, .outage:
            self.log.error("endpoint paused", ["endpoint": endpoint.rawValue, "reason": note.reason, "fix": fix])
        }
    }

    /// A failure that is tried again: its first line, then one a minute, until ``recovered(_:)``.
    func failed(_ operation: DatabaseOperation, _ message: String, _ error: any Error) {
        guard let more = self.repeats.mayWrite(operation.rawValue) else { return }
        self.log.warning(message, ["error": "\(error)", "repeated": more])
    }

    func recovered(_ operation: DatabaseOperation) {
        self.repeats.over(operation.rawValue)
    }

    /// A delivery that ends without a further try.
    func ended(_ item: PendingDelivery, state: DeliveryState, reason: String) -> QueueRecord {
        var record = QueueRecord()
        record.attempts.append(
            AttemptEntry(
                delivery: item.reference, number: item.attempts, state: state, outcome: state.rawValue, reason: reason))
        if item.waitingLease != nil { record.settled.append(item.reference.deliveryID) }
        return record
    }

    /// Devices of a platform whose provider is not configured.
    func discardUnconfigured(_ items: [PendingDelivery]) {
        var record = QueueRecord()
        for item in items {
            record.append(
                self.ended(item, state: .discarded, reason: DeliveryReason.providerNotConfigured.rawValue))
        }
        self.recorder.add(record)
    }

    /// Reads facts again, trying until the database answers; nil when the worker stops meanwhile.
    func readFacts(_ ids: [UUID]) async -> [UUID: NotificationFacts]? {
        let reading = FactsReading(source: self.settings.source)
        var backOff = BackOff()
        while !self.isStopping {
            do {
                let rows = try await self.facts.query(reading.query(notificationIDs: ids), for: .facts)
                self.recovered(.facts)
                return try reading.decode(rows)
            } catch {
                self.failed(.facts, "reading facts failed, trying again", error)
                try? await Task.sleep(for: backOff.next())
            }
        }
        return nil
    }
}

extension QueueRecord {
    /// The decision, and an end for each delivery that has one already.
    fileprivate mutating func append(plan: FanoutPlan, of facts: NotificationFacts) {
        if plan.decisionIsNew {
            let ids = plan.deliveries.map(\.id) + plan.refused.map(\.id) + plan.cancelled.map(\.id)
            let devices =
                plan.deliveries.map(\.device.id) + plan.refused.map(\.device.id) + plan.cancelled.map(\.device.id)
            self.decisions.append(
                DecisionEntry(
                    notificationID: plan.notificationID, accountID: facts.notification?.accountID,
                    kindName: facts.notification?.kindName, decision: plan.decision, origin: facts.origin,
                    deliveryIDs: ids, deviceIDs: devices))
        }
        guard let accountID = facts.notification?.accountID, let kind = facts.notification?.kindName else { return }
        func end(_ id: UUID, _ device: Device, _ state: DeliveryState, _ outcome: String, _ reason: String) {
            let reference = DeliveryReference(
                deliveryID: id, notificationID: plan.notificationID, deviceID: device.id, accountID: accountID,
                platform: device.platform, kindName: kind)
            self.attempts.append(
                AttemptEntry(delivery: reference, number: 0, state: state, outcome: outcome, reason: reason))
        }
        for refused in plan.refused { end(refused.id, refused.device, .discarded, "refused", refused.reason) }
        for cancelled in plan.cancelled {
            let state = cancelled.reason.state
            end(cancelled.id, cancelled.device, state, state.rawValue, cancelled.reason.rawValue)
        }
    }
}
