internal import DeliveryQueue
internal import Postgres
internal import PushModel
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.UUID

@Suite(.serialized) struct DeliveriesViewTests {
    private struct Line: Equatable {
        var state: String?
        var reason: String?
        var attempt: Int?
        var isScheduled = false
        var isFinished = false
    }

    private static func line(_ delivery: DeliveryReference, _ queue: QueueDatabase) async throws -> Line {
        let row = try await queue.owner.query(
            """
            select state, reason, attempt, scheduled_at is not null, finished_at is not null
            from push.deliveries where id = \(delivery.deliveryID)
            """
        ).single()
        return Line(
            state: try row.optionalText(0), reason: try row.optionalText(1), attempt: try row.optionalInt(2),
            isScheduled: try row.bool(3), isFinished: try row.bool(4))
    }

    @Test func `a delivery is shown where it stands, all its way`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let id = try await queue.notification(to: account)
            let calls = try await QueueCalls(queue)
            let batch = try #require(try await calls.claim())
            let delivery = DeliveryReference.make(notification: id, account: account)

            // Not decided yet: not there.
            #expect(try await queue.number("select count(*) from push.deliveries") == 0)
            try await calls.record(QueueRecord(decisions: [.fannedOut([delivery])]))
            #expect(try await Self.line(delivery, queue) == Line(state: "running", attempt: 0))

            // Given back: in the outbox until somebody claims it.
            try await calls.record(QueueRecord(released: [ReleaseEntry(lease: batch.lease, notificationIDs: [id])]))
            #expect(try await Self.line(delivery, queue) == Line(state: "available", attempt: 0))
            _ = try #require(try await calls.claim())
            #expect(try await Self.line(delivery, queue) == Line(state: "running", attempt: 0))

            try await calls.record(
                QueueRecord(attempts: [.retried(delivery)], parked: [.make(delivery, attempts: 1)]))
            #expect(
                try await Self.line(delivery, queue)
                    == Line(state: "available", reason: "status_503", attempt: 1, isScheduled: true))
            _ = try await calls.claimWaiting([.apnsProduction])
            #expect(try await Self.line(delivery, queue).state == "running")

            try await calls.record(
                QueueRecord(attempts: [.accepted(delivery, number: 2)], settled: [delivery.deliveryID]))
            #expect(try await Self.line(delivery, queue) == Line(state: "accepted", attempt: 2, isFinished: true))

            // A late copy that failed changes nothing of what the provider accepted (I3).
            try await calls.record(
                QueueRecord(attempts: [
                    AttemptEntry(delivery: delivery, number: 3, state: .discarded, outcome: "rejected", reason: "x")
                ]))
            #expect(try await Self.line(delivery, queue).state == "accepted")
        }
    }

    @Test(arguments: [DeliveryState.discarded, .cancelled])
    func `an end without a try is shown with its reason`(_ state: DeliveryState) async throws {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            let delivery = DeliveryReference.make()
            let end = AttemptEntry(
                delivery: delivery, number: 0, state: state, outcome: state.rawValue, reason: "token_changed")
            try await calls.record(QueueRecord(decisions: [.fannedOut([delivery])], attempts: [end]))
            #expect(
                try await Self.line(delivery, queue)
                    == Line(state: state.rawValue, reason: "token_changed", attempt: 0, isFinished: true))
        }
    }

    @Test func `a decision without deliveries has no lines, and every device has its own`() async throws {
        try await QueueDatabase.with { queue in
            let calls = try await QueueCalls(queue)
            let (id, account) = (UUID(), UUID())
            let deliveries = [Platform.ios, .android].map {
                DeliveryReference.make(notification: id, account: account, platform: $0)
            }
            try await calls.record(
                QueueRecord(
                    decisions: [.fannedOut(deliveries), .other(UUID(), .switchedOff)],
                    attempts: deliveries.map { .accepted($0) }))
            let rows = try await queue.owner.query(
                "select id, notification_id, account_id, device_id, platform, kind from push.deliveries order by platform desc"
            )
            #expect(try rows.map { try $0.uuid(0) } == deliveries.map(\.deliveryID))
            #expect(try rows.map { try $0.uuid(1) } == [id, id])
            #expect(try rows.map { try $0.uuid(2) } == [account, account])
            #expect(try rows.map { try $0.uuid(3) } == deliveries.map(\.deviceID))
            #expect(try rows.map { try $0.text(4) } == ["ios", "android"])
            #expect(try rows.map { try $0.text(5) } == ["invitation_received", "invitation_received"])
        }
    }
}
