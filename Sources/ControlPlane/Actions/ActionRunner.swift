import Dashboard
import Locking
import PushModel
import QueueInspection

import struct FoundationEssentials.UUID

/// Does what operators ask for, each with its entry in the audit.
struct ActionRunner: Sendable {
    /// What came of it.
    enum Outcome: Sendable {
        case deliveries(ActionResult)
        case bulk(BulkAction)
        case provider(ProviderEndpoint, isPaused: Bool)
        /// What cannot be done, and why: a sentence.
        case refused(String)
    }

    /// Too many actions at once.
    struct Busy: Error {}

    let queue: QueueAccess
    let bulk: BulkRunner
    let wake: @Sendable () -> Void
    private let running = Locked(0)

    /// Each has a connection of its own for its time.
    private static let most = 4

    init(queue: QueueAccess, bulk: BulkRunner, wake: @escaping @Sendable () -> Void) {
        self.queue = queue
        self.bulk = bulk
        self.wake = wake
    }

    /// - Parameters:
    ///   - filter: what a bulk action is about; of no meaning for others.
    ///   - note: in the operator's words; the reason of a pause.
    func run(
        _ action: Destination.Action, filter: DeliveryFilter = DeliveryFilter(), actor: String, note: String? = nil
    ) async throws -> Outcome {
        let isFree = self.running.withLock { running in
            guard running < Self.most else { return false }
            running += 1
            return true
        }
        guard isFree else { throw Busy() }
        defer {
            self.running.withLock { $0 -= 1 }
            self.queue.forget()
        }
        do {
            return try await self.perform(action, filter: filter, actor: actor, note: note)
        } catch let refusal as QueueActions.Refusal {
            return .refused(refusal.description)
        }
    }

    private func perform(
        _ action: Destination.Action, filter: DeliveryFilter, actor: String, note: String?
    ) async throws -> Outcome {
        let actions = self.queue.actions
        switch action {
        case .retry(let id):
            let result = try await actions.retry([id], actor: actor, note: note)
            self.wake()
            return .deliveries(result)
        case .cancel(let id):
            return .deliveries(try await actions.cancel([id], actor: actor, note: note))
        case .bulkStart(let kind):
            guard !filter.isEmpty else { return .refused("a bulk action needs a filter: name at least one field") }
            let started = try await actions.begin(
                kind == .retry ? .retry : .cancel, matching: filter, actor: actor, note: note)
            self.bulk.start(started.id)
            return .bulk(started)
        case .bulkStop(let id):
            guard let stopped = try await actions.stop(id, actor: actor) else {
                throw QueueActions.Refusal.noSuchBulkAction
            }
            return .bulk(stopped)
        case .pause(let endpoint):
            try await actions.pause([endpoint], reason: note ?? "paused on the dashboard", actor: actor)
            return .provider(endpoint, isPaused: true)
        case .resume(let endpoint):
            try await actions.resume([endpoint], actor: actor, note: note)
            self.wake()
            return .provider(endpoint, isPaused: false)
        }
    }
}
