import DeliveryQueue
import FoundationEssentials
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

/// The database webhook, end to end: where there is neither trigger nor LISTEN, where everybody tells of the same rows,
/// and where the database is away.
@Suite(.serialized) struct WebhookTests {
    private static let busy = FaultPlan([
        FaultRule(.apns, answer: FaultRule.Answer(status: 503, reason: "ServiceUnavailable", retryAfter: "600"))
    ])

    private static func untilItWaits(_ installation: Installation, _ id: UUID) async throws {
        try await eventually {
            try await installation.number(
                "select count(*) from push.waiting where notification_id = \(id) and lease_token is null") == 1
        }
    }

    @Test func `through a transaction pooler, without trigger, INSERT pushes and UPDATE and DELETE cancel what waits`()
        async throws
    {
        let installation = try await Installation.make()
        try await installation.admin.query("alter table notifications disable trigger push_enqueue")
        let pooler = try await PgBouncer.start(
            .transaction, server: try await installation.databaseSocket().directory, users: [installation.workerRole])
        let worker = try await ServedWorker.start(
            installation,
            [
                "DATABASE_URL":
                    "postgresql://\(installation.workerRole)@/\(installation.database.name)?\(pooler.parameters)"
            ]
        )
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let first = try await installation.notify(account, kind: "invitation_received")
        #expect(try await worker.webhook("INSERT", first).status == 202)
        #expect(try await installation.ends(of: first, count: 1) == ["accepted"])

        installation.simulator.setFaults(Self.busy)
        let read = try await installation.notify(account, kind: "invitation_received")
        #expect(try await worker.webhook("INSERT", read).status == 202)
        try await Self.untilItWaits(installation, read)
        // The body says that it was read; the table does not, and the table is the truth.
        #expect(try await worker.webhook("UPDATE", read, readAt: "2026-11-30T12:00:00Z").status == 202)
        try await Self.untilItWaits(installation, read)
        try await installation.admin.query("update notifications set read_at = now() where id = \(read)")
        #expect(try await worker.webhook("UPDATE", read).status == 202)
        #expect(try await installation.ends(of: read, count: 1) == ["cancelled already_read"])

        // What is paused by now waits for its turn; it is the next to go.
        let deleted = try await installation.notify(account, kind: "invitation_received")
        #expect(try await worker.webhook("INSERT", deleted).status == 202)
        try await Self.untilItWaits(installation, deleted)
        try await installation.admin.query("delete from notifications where id = \(deleted)")
        #expect(try await worker.webhook("DELETE", deleted).status == 202)
        #expect(try await installation.ends(of: deleted, count: 1) == ["cancelled gone"])
        // Told again, nothing comes back.
        #expect(try await worker.webhook("INSERT", deleted).status == 202)
        #expect(try await worker.webhook("INSERT", read).status == 202)
        #expect(try await worker.webhook("DELETE", deleted).status == 202)
        try await installation.waitUntilDrained()
        try await installation.stop(worker.process)
        try await pooler.stop()
    }

    /// The sweep leaves alone what was there before the schema.
    private static func ageSchema(_ installation: Installation) async throws {
        try await installation.admin.query("update push.migrations set applied_at = now() - interval '1 hour'")
    }

    /// As pg_net does, which is libcurl, too: so many requests at once.
    private static let requestsAtOnce = 200
    private static let rows = 10_000

    @Test func `ten thousand rows told by trigger, webhook and sweep are answered at once and pushed once`()
        async throws
    {
        let installation = try await Installation.make()
        let worker = try await ServedWorker.start(installation)
        var accounts: [UUID] = []
        for number in 0..<50 {
            let account = try await installation.account()
            try await installation.phone(number % 2 == 0 ? .ios : .android, of: account)
            accounts.append(account)
        }
        try await Self.ageSchema(installation)
        // Old enough for the sweep.
        let ids = try await installation.admin.query(
            """
            insert into notifications (account_id, kind, actor_name, created_at)
            select (\(accounts)::uuid[])[1 + i % 50], 'invitation_received', 'Anna', now() - interval '30 s'
            from generate_series(1, \(Self.rows)::integer) i
            returning id
            """, deadline: .seconds(60)
        ).map { row throws(PostgresError) in try row.uuid(0) }

        let requests = ids.map { id in
            let body = ServedWorker.body("INSERT", id).replacing("\"", with: "\\\"")
            return """
                url = "http://127.0.0.1:\(worker.port)/webhooks/notifications"
                header = "Authorization: Bearer \(ServedWorker.secret)"
                data = "\(body)"
                output = "/dev/null"
                write-out = "%{http_code} %{time_total}\\n"
                """
        }
        let file = FileManager.default.temporaryDirectory.path + "/push-fanout-webhooks-" + UUID().uuidString
        try Data(requests.joined(separator: "\nnext\n").utf8).write(to: URL(filePath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let sweep = Task {
            let connection = try await installation.database.connect(role: installation.workerRole)
            for _ in 0..<5 {
                _ = try await connection.query(
                    Sweep(source: try SourceSchema("public")).query(age: .seconds(86_400)), deadline: .seconds(60))
            }
            await connection.close()
        }
        let output = try await ChildProcess.run(
            "/usr/bin/curl", ["-sZ", "--parallel-max", "\(Self.requestsAtOnce)", "-K", file], within: .seconds(120))
        try await sweep.value
        let answers = output.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(answers.count == Self.rows)
        #expect(answers.allSatisfy { $0.first == "202" })
        // pg_net gives up after five seconds, older versions after one or two.
        let seconds = answers.compactMap { $0.last.flatMap { Double($0) } }.sorted()
        let (middle, most) = (seconds[seconds.count / 2], seconds[seconds.count * 99 / 100])
        #expect(middle < 1 && most < 5, "half within \(middle) s, 99 of 100 within \(most) s")

        try await installation.waitUntilDrained(within: .seconds(180))
        let received = installation.simulator.received()
        #expect(received.count == Self.rows)
        #expect(Set(received.compactMap(\.notificationID)).count == Self.rows)
        try await installation.stop(worker.process)
    }

    @Test func `while the database is away the webhook says so, and the sweep finds the row`() async throws {
        let installation = try await Installation.make()
        try await installation.admin.query("alter table notifications disable trigger push_enqueue")
        let (proxy, environment) = try await installation.databaseProxy()
        let worker = try await ServedWorker.start(installation, environment)
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        try await Self.ageSchema(installation)
        proxy.refuse()
        proxy.cut()
        // Old enough for the sweep; the sender tells of it in vain.
        let id = try #require(
            try await installation.admin.query(
                """
                insert into notifications (account_id, kind, actor_name, created_at)
                values (\(account), 'invitation_received', 'Anna', now() - interval '30 s') returning id
                """
            ).first
        ).uuid(0)
        let start = ContinuousClock.now
        let answer = try await worker.webhook("INSERT", id)
        #expect(answer.status == 503, "\(answer)")
        #expect(answer.headers("Retry-After") == ["5"])
        #expect(answer.body.contains("the sweep will find the row"))
        #expect(start.duration(to: .now) < .seconds(15))
        #expect(try await worker.ask("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n").status == 200)
        proxy.restore()
        #expect(try await installation.ends(of: id, count: 1, within: .seconds(150)) == ["accepted"])
        #expect(
            try await installation.number("select count(*) from push.fanouts where origin = 'sweep'") == 1)
        try await installation.stop(worker.process)
        proxy.stop()
    }
}
