internal import Postgres
internal import PushModel
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.Date
internal import struct FoundationEssentials.UUID

@testable internal import QueueInspection

@Suite struct SearchTests {
    @Test func `each field of the filter finds what it names, alone and with the account`() async throws {
        try await InspectedQueue.with { queue in
            let accepted = try await queue.delivery(.accepted, kind: "system", ago: .seconds(10))
            let dead = try await queue.delivery(
                .discarded, reason: "Unregistered", platform: .android, ago: .seconds(300))
            let read = try await queue.delivery(.cancelled, reason: "already_read", ago: .seconds(7200))
            let waits = try await queue.delivery(.available, reason: "status_503", ago: .seconds(30))
            let runs = try await queue.delivery(.running, ago: .seconds(20))
            let all = [accepted, dead, read, waits, runs]

            func expect(_ filter: DeliveryFilter, _ made: [InspectedQueue.Made], _ what: Comment) async throws {
                #expect(try await queue.ids(filter) == Set(made.map(\.id)), what)
                #expect(try await queue.reader.count(matching: filter) == CappedCount(counted: made.count), what)
                // By decision instead of by time: the same.
                for one in all {
                    var filter = filter
                    filter.account = one.account
                    #expect(
                        try await queue.ids(filter) == Set(made.filter { $0.account == one.account }.map(\.id)), what)
                }
            }
            try await expect(DeliveryFilter(), all, "all")
            for (state, made) in [
                (DeliveryState.accepted, accepted), (.discarded, dead), (.cancelled, read), (.available, waits),
                (.running, runs),
            ] { try await expect(DeliveryFilter(state: state), [made], "\(state)") }
            try await expect(DeliveryFilter(kind: "system"), [accepted], "kind")
            try await expect(DeliveryFilter(reason: "Unregistered"), [dead], "reason")
            try await expect(DeliveryFilter(device: waits.device), [waits], "device")
            try await expect(DeliveryFilter(notification: read.notification), [read], "notification")
            try await expect(DeliveryFilter(platform: .android), [dead], "platform")
            try await expect(
                DeliveryFilter(since: Date(timeIntervalSinceNow: -3600)), [accepted, dead, waits, runs], "since")
            try await expect(DeliveryFilter(until: Date(timeIntervalSinceNow: -3600)), [read], "until")
            try await expect(DeliveryFilter(kind: "system", state: .discarded), [], "a combination")
            try await expect(
                DeliveryFilter(platform: .ios, state: .cancelled, since: Date(timeIntervalSinceNow: -8000)), [read],
                "three")
            // Newest first.
            let times = try await queue.reader.deliveries(matching: DeliveryFilter()).rows.map(\.time)
            #expect(times == times.sorted(by: >))
        }
    }

    @Test func `a device that is gone is searched for all the same`() async throws {
        try await InspectedQueue.with { queue in
            let made = try await queue.delivery(.accepted)
            try await queue.queue.owner.query("delete from devices where id = \(made.device)")
            #expect(try await queue.ids(DeliveryFilter(device: made.device)) == [made.id])
        }
    }

    /// Many rows of one moment are the hard case: a flush writes thousands with the same time.
    @Test(arguments: [true, false])
    func `pages leave nothing out and show nothing twice, forwards and backwards`(byAccount: Bool) async throws {
        try await InspectedQueue.with { queue in
            let account = try await queue.queue.account()
            try await Self.fill(queue, account: account, count: 57)
            let filter = byAccount ? DeliveryFilter(account: account) : DeliveryFilter()
            let all = try await queue.reader.deliveries(matching: filter, limit: 1000).rows.map(\.id)
            #expect(Set(all).count == 57)

            var pages: [DeliveryPage] = []
            var cursor: DeliveryCursor?
            repeat {
                pages.append(try await queue.reader.deliveries(matching: filter, from: cursor, limit: 10))
                cursor = pages.last?.next.flatMap { DeliveryCursor($0.description) }
            } while cursor != nil && pages.count < 20
            #expect(pages.map(\.rows.count) == [10, 10, 10, 10, 10, 7])
            #expect(pages.flatMap(\.rows).map(\.id) == all)
            #expect(pages.first?.previous == nil)

            var back: [DeliveryRow] = []
            cursor = pages.last?.previous
            while let place = cursor, back.count < 60 {
                let page = try await queue.reader.deliveries(matching: filter, from: place, limit: 10)
                back = page.rows + back
                cursor = page.previous
            }
            #expect(back.map(\.id) == Array(all.prefix(50)))
        }
    }

    @Test(arguments: [true, false])
    func `a search that finds little stops at a bound, and goes on from there`(byAccount: Bool) async throws {
        try await InspectedQueue.with { queue in
            let account = try await queue.queue.account()
            try await Self.fill(queue, account: account, count: byAccount ? 1300 : 95)
            let rare = try await queue.delivery(.discarded, reason: "Rare", account: account, ago: .seconds(86_000))
            var filter = DeliveryFilter(reason: "Rare")
            if byAccount { filter.account = account }
            var found: [UUID] = []
            var cursor: DeliveryCursor?
            var stops = 0
            for _ in 0..<50 {
                let search = DeliverySearch(filter: filter, cursor: cursor, limit: 5, mostScanned: 10)
                let page = try search.page(try await queue.reader.run(search.query))
                found += page.rows.map(\.id)
                cursor = page.next
                if page.stoppedEarly { stops += 1 }
                if cursor == nil { break }
            }
            #expect(found == [rare.id])
            #expect(stops >= 2)
            #expect(cursor == nil)
            let search = DeliverySearch(filter: filter, cursor: nil, limit: 5, mostScanned: 10)
            let count = try search.count(try await queue.reader.run(search.countQuery))
            #expect(count.isCapped)
        }
    }

    @Test func `a delivery that was retried is listed once, as it stands now`() async throws {
        try await InspectedQueue.with { queue in
            let made = try await queue.delivery(.discarded, reason: "exhausted", ago: .seconds(600))
            #expect(try await queue.actions.retry([made.id], actor: "test").changed == 1)
            #expect(try await queue.ids(DeliveryFilter()) == [made.id])
            #expect(try await queue.ids(DeliveryFilter(state: .discarded)) == [])
            try await queue.queue.owner.query("delete from push.waiting")
            try await queue.queue.owner.query(
                """
                insert into push.attempts (delivery_id, notification_id, device_id, account_id, platform, kind, number,
                    state, outcome, worker_id)
                select delivery_id, notification_id, device_id, account_id, platform, kind, 2, 'accepted', 'accepted', worker_id
                from push.attempts where state = 'discarded'
                """)
            let rows = try await queue.reader.deliveries(matching: DeliveryFilter()).rows
            #expect(rows.map(\.state) == [.accepted])
            #expect(rows.first?.attempt == 2)
            #expect(try await queue.ids(DeliveryFilter(state: .discarded)) == [])
        }
    }

    @Test(arguments: ["", "o", "x1.2", "o-1.\(UUID())", "o99999999999999999999.\(UUID())", "o1.nonsense", "o1"])
    func `what is no cursor is none`(text: String) {
        #expect(DeliveryCursor(text) == nil)
    }

    /// In one moment, half of them waiting.
    private static func fill(_ queue: InspectedQueue, account: UUID, count: Int) async throws {
        try await queue.queue.owner.query(
            """
            with made as materialized (
                select gen_random_uuid() as delivery, gen_random_uuid() as notification, gen_random_uuid() as device, i
                from generate_series(1, \(count)::integer) i
            ), decided as (
                insert into push.fanouts (notification_id, account_id, kind, decision, origin, delivery_ids, device_ids,
                    worker_id, decided_at)
                select notification, \(account)::uuid, 'system', 'fanned_out', 'trigger', array[delivery], array[device],
                    device, now() - (i / 20) * interval '1 second'
                from made
            ), waits as (
                insert into push.waiting (delivery_id, notification_id, device_id, account_id, platform, kind, endpoint,
                    attempts, reason, expires_at, scheduled_at)
                select delivery, notification, device, \(account)::uuid, 'ios', 'system', 'apns:production', 1, 'x',
                    now() + interval '1 day', now() + interval '1 hour'
                from made where i % 2 = 0
            )
            insert into push.attempts (delivery_id, notification_id, device_id, account_id, platform, kind, number, state,
                outcome, worker_id)
            select delivery, notification, device, \(account)::uuid, 'ios', 'system', 1, 'accepted', 'accepted', device
            from made where i % 2 = 1
            """)
    }
}
