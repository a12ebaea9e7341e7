internal import DeliveryQueue
internal import Locking
internal import Postgres
internal import PushModel
internal import QueueInspection
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.Data
internal import struct FoundationEssentials.Date
internal import class FoundationEssentials.JSONDecoder
internal import struct FoundationEssentials.UUID

/// How PostgreSQL runs an operator's questions when the history is large: told by auto_explain, for the very executions,
/// with statistics from when it was empty and with good ones.
@Suite(.serialized) struct InspectionPlanTests {
    private struct Plan: Decodable {
        var type: String
        var relation: String?
        var condition: String?
        var rows: Double?
        var loops: Double?
        var plans: [Plan]?

        enum CodingKeys: String, CodingKey {
            case type = "Node Type"
            case relation = "Relation Name"
            case condition = "Index Cond"
            case rows = "Actual Rows"
            case loops = "Actual Loops"
            case plans = "Plans"
        }

        var all: [Plan] { [self] + (self.plans ?? []).flatMap(\.all) }
    }

    private struct Explanation: Decodable {
        var plan: Plan
        enum CodingKeys: String, CodingKey { case plan = "Plan" }
    }

    private static let account = UUID()
    private static let device = UUID()

    /// 120,000 tries in four days, every hundredth discarded, one of them for a rare reason; 20,000 deliveries that wait.
    private static let filling = """
        insert into accounts (id) values ('\(account.text)');
        insert into accounts (id) select gen_random_uuid() from generate_series(1, 2000);
        insert into devices (id, account_id, platform, push_token) values ('\(device.text)', '\(account.text)', 'ios', 'aa');
        create table made as
        select i, gen_random_uuid() as notification, gen_random_uuid() as delivery, a.id as account, gen_random_uuid() as device,
            now() - i * interval '2 seconds' as at
        from generate_series(1, 120000) i
        join (select id, row_number() over () as n from accounts) a on a.n = 1 + i % 2001;
        insert into push.fanouts
            (notification_id, account_id, kind, decision, origin, delivery_ids, device_ids, worker_id, decided_at)
        select notification, account, case when i % 5 = 0 then 'system' else 'contact_updated' end, 'fanned_out', 'trigger',
            array[delivery], array[device], device, at
        from made;
        insert into push.attempts (delivery_id, notification_id, device_id, account_id, platform, kind, number, state,
            outcome, reason, worker_id, finished_at)
        select delivery, notification, device, account, case when i % 2 = 0 then 'ios' else 'android' end,
            case when i % 5 = 0 then 'system' else 'contact_updated' end, 1,
            case when i % 100 = 0 then 'discarded' else 'accepted' end, 'x',
            case when i = 110000 then 'Rare' when i % 100 = 0 then 'Unregistered' end, device, at
        from made;
        insert into push.waiting (delivery_id, notification_id, device_id, account_id, platform, kind, endpoint, attempts,
            reason, expires_at, scheduled_at, parked_at)
        select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'ios', 'system',
            'apns:production', 1, 'x', now() + interval '1 day', now() + interval '1 hour', now() - i * interval '1 second'
        from generate_series(1, 20000) i;
        """

    @Test func `no question reads a whole table, and none looks at more rows than its bound`() async throws {
        try await QueueDatabase.withOwn { queue in
            let owner = queue.owner
            try await owner.run(script: InspectedQueue.partitions(days: 3))
            try await owner.query("alter table push.waiting set (autovacuum_enabled = false)")
            for row in try await owner.query(
                "select c.relname from pg_class c where relnamespace = 'push'::regnamespace and relkind = 'r' and relispartition"
            ) {
                try await owner.query(
                    "alter table push.\(identifier: row.text(0)) set (autovacuum_enabled = false)")
            }
            try await owner.run(script: "analyze")
            try await owner.run(script: Self.filling, deadline: .seconds(120))
            for (setting, value) in [
                ("session_preload_libraries", "auto_explain"), ("auto_explain.log_min_duration", "0"),
                ("auto_explain.log_format", "json"), ("auto_explain.log_level", "notice"),
                ("auto_explain.log_analyze", "on"), ("auto_explain.log_timing", "off"),
            ] {
                try await owner.query(
                    "alter database \(identifier: queue.database.name) set \(unescaped: setting) = '\(unescaped: value)'"
                )
            }
            for statistics in ["empty", "good"] {
                if statistics == "good" { try await owner.run(script: "analyze", deadline: .seconds(60)) }
                try await Self.ask(queue, statistics)
            }
        }
    }

    private static func ask(_ queue: QueueDatabase, _ statistics: String) async throws {
        let plans = Locked<[Plan]>([])
        var configuration = try PostgresConfiguration(queue.workerURL)
        configuration.settings = QueueReader.sessionSettings
        configuration.onNotice = { notice in
            guard let start = notice.message.firstIndex(of: "{"), notice.message.contains("plan:"),
                let plan = try? JSONDecoder().decode(Explanation.self, from: Data(notice.message[start...].utf8)).plan
            else { return }
            plans.withLock { $0.append(plan) }
        }
        let connection = try await PostgresConnection.connect(configuration)
        let reader = QueueReader(source: queue.source, connection: connection)

        func expectIndexes(_ what: String, _ body: () async throws -> Void) async throws {
            plans.withLock { $0 = [] }
            try await body()
            let seen = plans.withLock { $0 }
            #expect(!seen.isEmpty, "no plan of \(what)")
            for node in seen.flatMap(\.all) {
                guard let relation = node.relation,
                    relation == "waiting" || relation.hasPrefix("attempts_") || relation.hasPrefix("fanouts_")
                        || ["notifications", "devices", "accounts"].contains(relation)
                else { continue }
                #expect(
                    !node.type.hasPrefix("Seq") && !node.type.hasPrefix("Bitmap"),
                    "\(what) scans \(relation), \(statistics)")
                #expect((node.rows ?? 0) * (node.loops ?? 1) <= 10_001, "\(what) reads \(relation), \(statistics)")
            }
        }
        let since = Date(timeIntervalSinceNow: -3600)
        for (what, filter) in [
            ("the newest", DeliveryFilter()), ("accepted", DeliveryFilter(state: .accepted)),
            ("discarded", DeliveryFilter(state: .discarded)), ("waiting", DeliveryFilter(state: .available)),
            ("running", DeliveryFilter(state: .running)), ("a kind", DeliveryFilter(kind: "system")),
            ("a platform", DeliveryFilter(platform: .android)), ("a reason", DeliveryFilter(reason: "Unregistered")),
            ("a rare reason", DeliveryFilter(state: .discarded, reason: "Rare")),
            ("what nothing has", DeliveryFilter(reason: "Nothing")), ("an hour", DeliveryFilter(since: since)),
            ("an account", DeliveryFilter(account: Self.account)), ("a device", DeliveryFilter(device: Self.device)),
            ("an account's failures", DeliveryFilter(account: Self.account, state: .discarded)),
        ] {
            var next: DeliveryCursor?
            for page in 1...3 {
                try await expectIndexes("\(what), page \(page)") {
                    next = try await reader.deliveries(matching: filter, from: next).next
                }
                if next == nil { break }
            }
        }
        let rows = try await reader.deliveries(matching: DeliveryFilter()).rows
        let row = try #require(rows.first { $0.state == .accepted } ?? rows.last)
        try await expectIndexes("a timeline") { _ = try await reader.timeline(of: row.id) }
        try await expectIndexes("a notification") { _ = try await reader.notification(row.notificationID) }
        try await expectIndexes("states") { _ = try await reader.states(of: rows.map(\.id)) }
        await connection.close()
    }
}
