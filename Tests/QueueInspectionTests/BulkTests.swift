internal import DeliveryQueue
internal import Locking
internal import Postgres
internal import PushModel
internal import QueueInspection
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.UUID

@Suite(.serialized) struct BulkTests {
    @Test func `everything that matches is retried in slices, once, and the rest is left alone`() async throws {
        try await InspectedQueue.with { queue in
            try await Self.discard(2500, in: queue)
            let other = try await queue.delivery(.discarded, reason: "Unregistered")
            let bulk = try await queue.actions.begin(
                .retry, matching: DeliveryFilter(reason: "exhausted"), actor: "cli:anna@host")
            #expect(bulk.filter.state == .discarded)
            #expect(bulk.matched == CappedCount(counted: 2500))
            // What comes to match later is not meant.
            let later = try await queue.delivery(.discarded, reason: "exhausted", ago: .zero)
            let seen = Locked<[Int]>([])
            let end = try await queue.actions.run(bulk.id) { progress in seen.withLock { $0.append(progress.done) } }
            #expect(end.state == .finished)
            #expect(end.done == 2500)
            #expect(end.changed == 2500)
            #expect(seen.withLock { $0 } == [1000, 2000, 2500])
            #expect(try await queue.queue.number("select count(*) from push.waiting") == 2500)
            #expect(
                try await queue.queue.number(
                    "select count(*) from push.attempts where outcome = 'retried' and worker_id = \(bulk.id)") == 2500)
            #expect(try await queue.state(other) == .discarded)
            #expect(try await queue.state(later) == .discarded)
            // Beside each delivery stands who it was.
            let one = try #require(
                try await queue.reader.deliveries(matching: DeliveryFilter(state: .available)).rows.first)
            #expect(try await queue.reader.timeline(of: one.id)?.audit.map(\.actor) == ["cli:anna@host"])
            #expect(try await queue.reader.audit().entries.map(\.changed) == [2500])
            // It is over: to run it again does nothing.
            #expect(try await queue.actions.run(bulk.id).changed == 2500)
            #expect(try await queue.reader.bulkActions().map(\.id) == [bulk.id])
        }
    }

    @Test func `a stop is seen between slices, and is in the audit`() async throws {
        try await InspectedQueue.with { queue in
            try await Self.discard(3000, in: queue)
            let bulk = try await queue.actions.begin(.retry, matching: DeliveryFilter(reason: "exhausted"), actor: "a")
            let end = try await queue.actions.run(bulk.id) { progress in
                _ = try? await queue.actions.stop(progress.id, actor: "b")
            }
            #expect(end.state == .stopped)
            #expect(end.changed == 1000)
            #expect(try await queue.queue.number("select count(*) from push.waiting") == 1000)
            #expect(try await queue.reader.audit().entries.map(\.actor) == ["b", "a"])
        }
    }

    @Test func `one that was interrupted goes on where it was`() async throws {
        try await InspectedQueue.with { queue in
            try await Self.discard(2500, in: queue)
            let bulk = try await queue.actions.begin(.retry, matching: DeliveryFilter(reason: "exhausted"), actor: "a")
            let first = Task {
                try await queue.actions.run(bulk.id) { _ in withUnsafeCurrentTask { $0?.cancel() } }
            }
            let interrupted = try await first.value
            #expect(interrupted.state == .running)
            #expect(interrupted.done == 1000)
            let end = try await queue.actions.run(bulk.id)
            #expect(end.state == .finished)
            #expect(end.done == 2500)
            #expect(end.changed == 2500)
        }
    }

    @Test func `all that waits is cancelled`() async throws {
        try await InspectedQueue.with { queue in
            for _ in 0..<3 { try await queue.delivery(.available, kind: "system") }
            let other = try await queue.delivery(.available)
            let bulk = try await queue.actions.begin(.cancel, matching: DeliveryFilter(kind: "system"), actor: "a")
            #expect(try await queue.actions.run(bulk.id).changed == 3)
            #expect(try await queue.queue.number("select count(*) from push.waiting") == 1)
            #expect(try await queue.state(other) == .available)
        }
    }

    @Test(arguments: [
        (AuditEntry.Action.retry, DeliveryState.accepted), (.retry, .running), (.cancel, .discarded),
        (.cancel, .running),
    ])
    func `what cannot be done to a state is refused at once`(action: AuditEntry.Action, state: DeliveryState) {
        #expect(throws: QueueActions.Refusal.self) {
            try QueueActions.narrowed(DeliveryFilter(state: state), for: action)
        }
    }

    private static func discard(_ count: Int, in queue: InspectedQueue) async throws {
        let account = try await queue.queue.account()
        let device = try await queue.queue.device(of: account)
        try await queue.queue.notifications(count, to: account, kinds: ["system"])
        try await queue.queue.owner.run(
            script: """
                delete from push.outbox;
                insert into push.attempts (delivery_id, notification_id, device_id, account_id, platform, kind, number,
                    state, outcome, reason, worker_id)
                select gen_random_uuid(), id, '\(device.text)', account_id, 'ios', kind, 30, 'discarded', 'retry', 'exhausted',
                    id
                from notifications;
                """)
    }
}
