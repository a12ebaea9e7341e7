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

    var isStopping: Bool { self.stopping.withLock { $0 } || Task.isCancelled }

    /// Decides about every claimed notification: what to write at once, and what to send.
    func plan(_ batch: ClaimedBatch, readAt: ContinuousClock.Instant) -> (QueueRecord, [PendingDelivery]) {
        var record = QueueRecord()
        var items: [PendingDelivery] = []
        let now = Date()
        for facts in batch.facts {
            let plan = self.planner.plan(facts, now: now)
            record.append(plan: plan, of: facts)
            items += plan.deliveries.map { PendingDelivery($0, batch: batch.lease, readAt: readAt) }
        }
        return (record, items)
    }

    /// What a send's outcome means for the queue, and at once for this worker.
    func resolve(_ item: PendingDelivery, _ result: SendResult, at endpoint: ProviderEndpoint) -> QueueRecord {
        var generator = SystemRandomNumberGenerator()
        var record = self.resolution.resolve(
            item, result, at: endpoint, now: Date(),
            weigh: { self.pruneGuard.weigh($0, of: item.reference.deviceID, at: $1) }, using: &generator)
        // Answers to what was sent before a rest began say nothing new.
        if self.pauses.remaining(endpoint) == nil, let rest = self.breakers.note(result.outcome, at: endpoint) {
            record.pauses.append(
                PauseEntry(endpoint: endpoint, duration: rest.duration, reason: rest.reason, fix: rest.fix))
        }
        for pause in record.pauses {
            if self.pauses.remaining(pause.endpoint) == nil {
                self.log.error(
                    "endpoint paused",
                    ["endpoint": pause.endpoint.rawValue, "reason": pause.reason, "fix": pause.fix ?? "none needed"])
            }
            self.pauses.pause(pause.endpoint, for: pause.duration)
        }
        switch result.outcome {
        case .accepted:
            self.pruneGuard.noteAcceptance(at: endpoint)
            self.pauses.proven(endpoint)
        case .misconfigured(let reason, let fix, .device):
            self.log.error(
                "the provider's own configuration is at fault",
                ["endpoint": endpoint.rawValue, "reason": reason, "fix": fix])
        case .rejected(let reason):
            self.log.error(
                "the provider refused our request",
                ["delivery": item.reference.deliveryID.text, "endpoint": endpoint.rawValue, "reason": reason])
        default: break
        }
        return record
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
                return try reading.decode(await self.facts.query(reading.query(notificationIDs: ids)))
            } catch {
                self.log.warning("reading facts failed, trying again", ["error": "\(error)"])
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
