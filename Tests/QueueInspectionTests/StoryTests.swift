internal import Postgres
internal import PushModel
internal import QueueInspection
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.UUID

/// Why did this phone not buzz?
@Suite struct StoryTests {
    @Test func `each phone of the account has an answer`() async throws {
        try await InspectedQueue.with { queue in
            let made = try await queue.delivery(.accepted)
            let owner = queue.queue.owner
            let dead = try await queue.queue.device(of: made.account, platform: .android)
            let silent = try await queue.queue.device(of: made.account)
            let late = try await queue.queue.device(of: made.account)
            try await owner.query(
                "update devices set push_token_invalidated_at = now(), push_token_invalid_reason = 'UNREGISTERED' where id = \(dead)"
            )
            try await owner.query("update devices set push_token = null where id = \(silent)")
            let view = try #require(try await queue.reader.notification(made.notification))
            func verdict(_ id: UUID) throws -> DeviceVerdict { try #require(view.devices.first { $0.deviceID == id }) }
            #expect(view.devices.count == 4)
            #expect(try verdict(made.device).buzzed == .yes)
            #expect(try verdict(made.device).explanation.hasPrefix("APNs accepted it"))
            for (id, words) in [(dead, "marked dead"), (silent, "no push token"), (late, "registered later")] {
                #expect(try verdict(id).buzzed == .no)
                #expect(try verdict(id).explanation.contains(words))
            }
            #expect(view.summary == "Of 1 device: 1 accepted")
            #expect(view.row?.kind == "invitation_received")
            #expect(!view.mayCancel)
        }
    }

    @Test(arguments: [
        ("switched_off", "invitation_received", "switched pushes of invitations (notify_invitations) off"),
        ("switched_off", "circle_changed", "notify_circle_changes"), ("coalesced", "contact_updated", "says the same"),
        ("already_read", "system", "had been read"), ("ignored", "invitation_received", "had been ignored"),
        ("no_devices", "system", "no device"), ("unknown_kind", "contact_removed", "contact_removed is none"),
        ("too_old", "system", "lifetime"), ("gone", "system", "was gone"), ("cancelled", "system", "operator"),
    ])
    func `each decision is a sentence`(decision: String, kind: String, words: String) async throws {
        try await InspectedQueue.with { queue in
            let account = try await queue.queue.account()
            let device = try await queue.queue.device(of: account)
            let id = try await queue.queue.notification(to: account, kind: kind)
            #expect(try await queue.reader.notification(id)?.devices.map(\.buzzed) == [.notYet])
            try await queue.queue.owner.query("delete from push.outbox")
            try await queue.queue.owner.query(
                """
                insert into push.fanouts
                    (notification_id, account_id, kind, decision, origin, delivery_ids, device_ids, worker_id)
                values (\(id), \(account), \(kind), \(decision), 'trigger', '{}', '{}', gen_random_uuid())
                """)
            let view = try #require(try await queue.reader.notification(id))
            #expect(view.summary.contains(words), "\(view.summary)")
            #expect(view.devices.map(\.deviceID) == [device])
            #expect(view.devices.map(\.buzzed) == [.no])
            #expect(view.devices.first?.explanation.contains(words) == true)
        }
    }

    @Test func `every decision and reason of the closed sets has words of its own`() async throws {
        try await InspectedQueue.with { queue in
            var sentences: Set<String> = []
            for reason in DeliveryReason.allCases {
                let made = try await queue.delivery(reason.state, reason: reason.rawValue)
                let timeline = try #require(try await queue.reader.timeline(of: made.id))
                // The words for what is not known show the word itself, in brackets.
                #expect(!timeline.summary.contains("(\(reason.rawValue))"), "\(timeline.summary)")
                sentences.insert(timeline.summary)
            }
            #expect(sentences.count == DeliveryReason.allCases.count)
        }
    }

    @Test func `a delivery that runs and one that waits are told as they stand`() async throws {
        try await InspectedQueue.with { queue in
            let runs = try await queue.delivery(.running)
            let timeline = try #require(try await queue.reader.timeline(of: runs.id))
            #expect(timeline.row.state == .running)
            #expect(timeline.batch != nil)
            #expect(timeline.summary == "It is being sent now")
            #expect(timeline.may == PermittedActions(retry: false, cancel: false))
            let waits = try await queue.delivery(.available, reason: "status_503", number: 3)
            let waiting = try #require(try await queue.reader.timeline(of: waits.id))
            #expect(waiting.summary.hasPrefix("3 tries so far (last: status_503), the next try is due at "))
            #expect(waiting.waiting?.endpoint == .apnsProduction)
            let view = try #require(try await queue.reader.notification(runs.notification))
            #expect(view.devices.map(\.buzzed) == [.notYet])
            #expect(try await queue.reader.timeline(of: UUID()) == nil)
            #expect(try await queue.reader.notification(UUID()) == nil)
        }
    }

    @Test func `what is gone from the app's tables still has its story`() async throws {
        try await InspectedQueue.with { queue in
            let made = try await queue.delivery(.accepted)
            try await queue.queue.owner.query("delete from accounts")
            let view = try #require(try await queue.reader.notification(made.notification))
            #expect(view.row == nil)
            #expect(view.devices.map(\.buzzed) == [.yes])
            #expect(view.devices.first?.device == nil)
        }
    }

    @Test func `the overview counts what is there`() async throws {
        try await InspectedQueue.with { queue in
            let account = try await queue.queue.account()
            try await queue.queue.notifications(30, to: account, kinds: ["invitation_received", "system", "system"])
            try await queue.delivery(.available, platform: .android)
            try await queue.delivery(.running)
            let accepted = try await queue.delivery(.accepted)
            try await queue.queue.owner.query(
                "insert into push.counters (minute, name, labels, value) values (date_trunc('minute', now()), 'attempts', 'apns accepted accepted', 7)"
            )
            let overview = try await queue.reader.overview()
            #expect(overview.lanes.map(\.count.value) == [10, 0, 20])
            #expect(overview.lanes.map { $0.oldestSeconds == nil } == [false, true, false])
            #expect(overview.endpoints.first { $0.endpoint == .fcm }?.count.value == 1)
            #expect(overview.running == 1)
            #expect(overview.series.minutes.count == 60)
            #expect(overview.series.minutes.map(\.accepted).reduce(0, +) == 7)
            #expect(overview.latency?.count == 1)
            #expect(
                abs((overview.latency?.median ?? 0) - 1) < 0.5, "\(accepted) \(String(describing: overview.latency))")
        }
    }

    @Test func `the database page names who holds a transaction open`() async throws {
        try await InspectedQueue.with { queue in
            let other = try await queue.queue.database.connect()
            try await other.query("begin isolation level repeatable read")
            try await other.query("select count(*) from accounts where id::text = 'secret'")
            let pid = try #require(await other.backendPID)
            // A superuser's page: an operator's role does not see other people's statements, and says so.
            #expect(try await !queue.reader.databaseHealth().seesAllSessions)
            let reader = QueueReader(source: queue.queue.source, connection: queue.queue.owner)
            for _ in 0..<3 { try await queue.queue.account() }
            let health = try await reader.databaseHealth()
            let open = try #require(health.transactions.first { $0.pid == pid })
            #expect(open.state == "idle in transaction")
            #expect(open.query.contains("select count(*) from accounts"))
            #expect(!open.query.contains("secret"))
            let holder = try #require(health.horizon.first { $0.name.hasPrefix("pid \(pid),") })
            #expect(holder.kind == .session)
            #expect(holder.transactionsBehind >= 3)
            #expect(holder.fix.contains("pg_terminate_backend(\(pid))"))
            #expect(health.seesAllSessions)
            #expect(health.role == .primary)
            #expect(!health.isReadOnly)
            #expect(health.claim.isGood, "\(health.claim.lines)")
            #expect(health.tables.map(\.name).first == "outbox")
            #expect(health.partitions.count == 10)
            await other.close()
        }
    }

    @Test func `a reader's session cannot write`() async throws {
        try await InspectedQueue.with { queue in
            let error = await #expect(throws: PostgresError.self) {
                try await queue.reader.databaseWrites()
            }
            #expect(error?.isReadOnly == true)
        }
    }
}
