internal import DeliveryQueue
internal import Locking
internal import Postgres
internal import PushModel
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.Data
internal import class FoundationEssentials.JSONDecoder
internal import struct FoundationEssentials.UUID

/// How PostgreSQL runs the statements when the tables are large (case 29): told by auto_explain, in the sessions and for
/// the very executions of a worker.
@Suite(.serialized) struct PlanTests {
    private struct Plan: Decodable {
        var type: String
        var relation: String?
        /// What an index is asked for; without it an index scan reads the whole table too.
        var condition: String?
        /// `InitPlan` for a CTE: it hangs on whatever node is the first to have it, and is no input of that.
        var relationship: String?
        var plans: [Plan]?

        enum CodingKeys: String, CodingKey {
            case type = "Node Type"
            case relation = "Relation Name"
            case condition = "Index Cond"
            case relationship = "Parent Relationship"
            case plans = "Plans"
        }

        /// Itself and every node below.
        var all: [Plan] { [self] + (self.plans ?? []).flatMap(\.all) }

        /// The tables it gets its rows from.
        var inputs: [String] {
            (self.relation.map { [$0] } ?? [])
                + (self.plans ?? []).filter { $0.relationship != "InitPlan" }.flatMap(\.inputs)
        }
    }

    private struct Explanation: Decodable {
        var plan: Plan
        enum CodingKeys: String, CodingKey { case plan = "Plan" }
    }

    /// The tables that grow. Batches, workers, providers and kinds are small for ever.
    private static func grows(_ relation: String) -> Bool {
        ["notifications", "accounts", "devices", "outbox", "waiting"].contains(relation)
            || relation.hasPrefix("fanouts_") || relation.hasPrefix("attempts_")
    }

    private static func expectIndexes(_ plan: Plan, _ what: String) {
        for node in plan.all {
            if let relation = node.relation, Self.grows(relation) {
                // The outbox is read in order up to the limit.
                let isByIndex = node.type.hasPrefix("Index") && (node.condition != nil || relation == "outbox")
                #expect(isByIndex || !node.type.hasSuffix("Scan"), "\(what) scans all of \(relation)")
            }
            if node.type == "Sort" || node.type == "Incremental Sort" {
                #expect(!node.inputs.contains { $0 == "outbox" || $0 == "waiting" }, "\(what) sorts \(node.inputs)")
            }
        }
    }

    /// A worker's session that explains what it runs.
    private static func connect(
        _ queue: QueueDatabase
    ) async throws -> (QueueCalls, last: () throws -> Plan) {
        let messages = Locked<[String]>([])
        var configuration = try PostgresConfiguration(queue.workerURL)
        // As the worker's: see Worker.sessionSettings.
        configuration.settings = [
            ("jit", "off"), ("enable_sort", "off"), ("enable_seqscan", "off"), ("enable_bitmapscan", "off"),
        ]
        configuration.onNotice = { notice in messages.withLock { $0.append(notice.message) } }
        let calls = QueueCalls(
            connection: try await PostgresConnection.connect(configuration), source: queue.source)
        return (
            calls,
            {
                let text = try #require(messages.withLock { $0.last { $0.contains("plan:") } })
                let json = text[try #require(text.firstIndex(of: "{"))...]
                return try JSONDecoder().decode(Explanation.self, from: Data(json.utf8)).plan
            }
        )
    }

    /// 30,000 accounts with three notifications and one or two phones each; all of it in the outbox, 10,000 deliveries
    /// waiting, and 30,000 decisions of earlier ones: enough for every wrong plan to look good to the planner.
    private static func fill(_ queue: QueueDatabase) async throws {
        try await queue.owner.run(
            script: """
                set session_replication_role = replica;
                insert into accounts (id) select gen_random_uuid() from generate_series(1, 30000);
                insert into devices (account_id, platform, push_token)
                select a.id, case when i = 1 then 'ios' else 'android' end, md5(a.id::text || i)
                from (select id, row_number() over () as n from accounts) a, generate_series(1, 2) i
                where i = 1 or n % 2 = 0;
                insert into notifications (account_id, kind, connection_id)
                select a.id, case i when 1 then 'invitation_received' when 2 then 'contact_updated' else 'system' end, a.id
                from accounts a, generate_series(1, 3) i;
                insert into push.outbox (notification_id, lane, origin)
                select n.id, k.lane, case when random() < 0.2 then 'rescue' else 'trigger' end
                from notifications n join push.kinds k on k.name = n.kind;
                insert into push.fanouts
                    (notification_id, account_id, kind, decision, origin, delivery_ids, device_ids, worker_id)
                select gen_random_uuid(), id, 'system', 'no_devices', 'trigger', '{}', '{}', id from accounts;
                insert into push.attempts
                    (delivery_id, notification_id, device_id, account_id, platform, kind, number, state, outcome, worker_id)
                select gen_random_uuid(), id, id, account_id, 'ios', 'system', 1, 'accepted', 'accepted', id
                from notifications limit 30000;
                insert into push.waiting (delivery_id, notification_id, device_id, account_id, platform, kind, endpoint,
                    attempts, reason, expires_at, scheduled_at)
                select gen_random_uuid(), gen_random_uuid(), id, account_id, platform, 'system',
                    case when random() < 0.5 then 'apns:production' else 'fcm' end, 1, 'x', now() + interval '1 day',
                    now() - random() * interval '1 hour'
                from devices limit 10000;
                set session_replication_role = origin;
                """, deadline: .seconds(120))
    }

    @Test func `large tables are read by index, with statistics from when they were empty and with good ones`()
        async throws
    {
        try await QueueDatabase.withOwn { queue in
            let name = queue.database.name
            for table in [
                "notifications", "accounts", "devices", "push.outbox", "push.waiting", "push.batches",
            ] {
                try await queue.owner.query("alter table \(unescaped: table) set (autovacuum_enabled = false)")
            }
            try await queue.owner.run(script: "analyze")
            try await Self.fill(queue)
            for (setting, value) in [
                ("session_preload_libraries", "auto_explain"), ("auto_explain.log_min_duration", "0"),
                ("auto_explain.log_format", "json"), ("auto_explain.log_level", "notice"),
            ] {
                try await queue.owner.query(
                    "alter database \(identifier: name) set \(unescaped: setting) = '\(unescaped: value)'")
            }
            for statistics in ["empty", "good"] {
                if statistics == "good" { try await queue.owner.query("analyze", deadline: .seconds(60)) }
                let (calls, plan) = try await Self.connect(queue)
                let started = ContinuousClock.now
                let batch = try #require(try await calls.claim(500))
                let took = ContinuousClock.now - started
                Self.expectIndexes(try plan(), "the claim, \(statistics) statistics,")
                #expect(batch.facts.count == 500)
                // About 10 ms here; a sort of the outbox takes ten times that, a scan of an app table more.
                #expect(took < .seconds(2))
                let due = try await calls.claimWaiting([.apnsProduction, .fcm], limit: 200)
                Self.expectIndexes(try plan(), "the claim of what waits, \(statistics) statistics,")
                #expect(due.count == 400)
                _ = try await calls.claimWaiting([.apnsDevelopment])
                Self.expectIndexes(try plan(), "the claim of what does not wait, \(statistics) statistics,")

                let ids = batch.facts.map(\.notificationID)
                #expect(try await calls.read(Array(ids.prefix(256))).count == 256)
                Self.expectIndexes(try plan(), "reading facts, \(statistics) statistics,")
                _ = try await calls.read(Array(ids.prefix(1)))
                Self.expectIndexes(try plan(), "reading one, \(statistics) statistics,")

                let deliveries = batch.facts.compactMap { facts in
                    facts.devices.first.map {
                        DeliveryReference.make(
                            notification: facts.notificationID, device: $0.id, account: facts.account?.id ?? UUID())
                    }
                }
                var record = QueueRecord(
                    decisions: deliveries.map { .fannedOut([$0]) }, attempts: deliveries.map { .accepted($0) },
                    parked: deliveries.prefix(20).map { .make($0) },
                    settled: due.prefix(20).map(\.reference.deliveryID),
                    closed: [batch.lease])
                record.deadTokens = batch.facts.prefix(20).flatMap(\.devices).map {
                    DeadTokenEntry(deviceID: $0.id, storedToken: $0.pushToken ?? "", reason: "x", since: nil)
                }
                for isRepeated in [false, true] {
                    try await calls.record(record, repeated: isRepeated)
                    Self.expectIndexes(try plan(), "the record, repeated \(isRepeated), \(statistics) statistics,")
                }
                await calls.connection.close()
            }
        }
    }
}
