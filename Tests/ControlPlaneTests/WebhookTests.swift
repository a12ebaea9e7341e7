import ControlPlane
import Delivery
import Locking
import Postgres
import TestSupport
import Testing

import struct FoundationEssentials.UUID

/// Supabase's database webhook: who may send it, what it is taken for, and what it does.
@Suite(.serialized) struct WebhookTests {
    private static let insert = Plane.row("INSERT", Sample.id(1))

    @Test(arguments: [
        (["Authorization: Bearer \(Plane.secret)"], true), (["authorization: bearer \(Plane.secret)"], true),
        (["Authorization: BEARER   \(Plane.secret)"], true), (["X-Supabase-Event-Signature: \(Plane.secret)"], true),
        (["Authorization: Bearer \(Plane.secret)", "X-Supabase-Event-Signature: \(Plane.secret)"], true),
        ([], false), (["Authorization: Bearer"], false), (["Authorization: Bearer wrong"], false),
        (["Authorization: \(Plane.secret)"], false), (["Authorization: Basic \(Plane.secret)"], false),
        (["Authorization: Bearer \(Plane.secret)x"], false), (["Authorization: Bearer \(Plane.secret) x"], false),
        (["Authorization: Bearer \(Plane.secret)", "Authorization: Bearer \(Plane.secret)"], false),
        (["Authorization: Bearer \(Plane.secret)", "Authorization: Bearer wrong"], false),
        (["X-Supabase-Event-Signature: wrong"], false),
        (["X-Supabase-Event-Signature: \(Plane.secret)", "X-Supabase-Event-Signature: \(Plane.secret)"], false),
        (["Authorization: Bearer wrong", "X-Supabase-Event-Signature: \(Plane.secret)"], false),
        (["Authorization: Bearer \(Plane.secret)", "X-Supabase-Event-Signature: wrong"], false),
        (["Authorization: Bearer \(Plane.operatorToken)"], false), (["Apikey: \(Plane.secret)"], false),
    ])
    func `only who has the secret is heard`(headers: [String], isHeard: Bool) async throws {
        try await Plane.with { plane async throws in
            let answer = try await plane.webhook(Self.insert, headers: headers)
            #expect(answer.status == (isHeard ? 202 : 401))
            #expect(plane.counted(.unauthorized) == (isHeard ? 0 : 1))
            #expect(isHeard || answer.headers("www-authenticate") == ["Bearer"])
            #expect(!answer.body.contains(Plane.secret))
        }
    }

    @Test func `a wrong secret is answered before the body comes`() async throws {
        try await Plane.with { plane async throws in
            let client = try RawClient(port: plane.controlPlane.port)
            client.send(
                "POST /webhooks/notifications HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer wrong\r\nContent-Length: 500\r\n\r\n"
            )
            let text = try await client.readToEnd(within: .seconds(5))
            #expect(text.hasPrefix("HTTP/1.1 401"))
        }
    }

    @Test(
        arguments: [
            ("", "the body is not JSON"), ("{", "the body is not JSON"), ("[]", "the body must be an object"),
            ("null", nil), ("\u{FF}", nil), ("{}", "type is missing"),
            (#"{"type":"INSERT"}"#, "table is missing"),
            (#"{"type":7,"table":"t","schema":"s"}"#, "type has the wrong type"),
            (
                #"{"type":"TRUNCATE","table":"notifications","schema":"public"}"#,
                "type must be INSERT, UPDATE or DELETE"
            ),
            (#"{"type":"INSERT","table":"notifications","schema":"public","record":null}"#, "record is missing"),
            (#"{"type":"INSERT","table":"notifications","schema":"public"}"#, "record is missing"),
            (#"{"type":"INSERT","table":"notifications","schema":"public","record":{}}"#, "record.id must be a UUID"),
            (
                #"{"type":"INSERT","table":"notifications","schema":"public","record":{"id":7}}"#,
                "record.id must be a UUID"
            ),
            (#"{"type":"INSERT","table":"notifications","schema":"public","record":"x"}"#, nil),
            (
                #"{"type":"DELETE","table":"notifications","schema":"public","record":null,"old_record":null}"#,
                "old_record is missing"
            ),
            (String(repeating: "[", count: 100_000), nil),
        ] as [(String, String?)])
    func `what cannot be understood is refused with the reason`(body: String, reason: String?) async throws {
        try await Plane.with { plane async throws in
            let answer = try await plane.webhook(body)
            #expect(answer.status == 400)
            #expect(answer.body.hasPrefix(#"{"error":""#))
            if let reason { #expect(answer.body == "{\"error\":\"\(reason)\"}\n") }
            #expect(plane.counted(.malformed) == 1)
        }
    }

    @Test(arguments: [
        Plane.row("INSERT", Sample.id(1), table: "accounts"), Plane.row("UPDATE", Sample.id(1), schema: "other"),
        #"{"type":"INSERT","table":"orders","schema":"public","record":{"id":7},"old_record":null}"#,
    ])
    func `other tables are ignored and counted`(body: String) async throws {
        try await Plane.with { plane async throws in
            #expect(try await plane.webhook(body).status == 200)
            #expect(plane.counted(.ignored) == 1)
            #expect(try await plane.database.number("select count(*) from push.outbox") == 0)
        }
    }

    @Test(arguments: ["GET", "PUT", "DELETE"])
    func `it takes POST alone`(method: String) async throws {
        try await Plane.with { plane async throws in
            let answer = try await plane.ask(
                method, "/webhooks/notifications", headers: [Plane.bearer(Plane.secret)])
            #expect(answer.status == 405)
        }
    }

    @Test func `a body that is too large is refused and counted`() async throws {
        try await Plane.with { plane async throws in
            let client = try RawClient(port: plane.controlPlane.port)
            client.send(
                "POST /webhooks/notifications HTTP/1.1\r\nHost: h\r\n\(Plane.bearer(Plane.secret))\r\nContent-Length: 10000000\r\n\r\n"
            )
            #expect(try await client.readToEnd().hasPrefix("HTTP/1.1 413"))
            #expect(plane.counted(.malformed) == 1)
        }
    }

    @Test func `without a secret there is no webhook`() async throws {
        try await Plane.with(configure: { $0.webhookSecret = nil }) { plane async throws in
            let answer = try await plane.webhook(Self.insert, headers: ["Authorization: Bearer "])
            #expect(answer.status == 404)
            #expect(answer.body.contains("PUSH_WEBHOOK_SECRET"))
        }
    }

    // MARK: - What it does

    @Test func `INSERT queues the row once, whatever else tells of it`() async throws {
        try await Plane.with { plane async throws in
            let account = try await plane.database.account()
            // Without the trigger, as where the webhook stands in for it.
            try await plane.database.owner.query("alter table notifications disable trigger push_enqueue")
            let id = try await plane.database.notification(to: account, kind: "system")
            try await plane.database.owner.query("alter table notifications enable trigger push_enqueue")
            for _ in 0..<3 { #expect(try await plane.webhook(Plane.row("INSERT", id)).status == 202) }
            let row = try await plane.database.owner.query("select notification_id, lane, origin from push.outbox")
                .single()
            #expect(try row.uuid(0) == id)
            // The lane is the row's own, not what the body says of its kind.
            #expect(try row.int(1) == 2)
            #expect(try row.text(2) == "webhook")
            #expect(plane.counted(.queued) == 3)
            #expect(plane.wakes.withLock { $0 } == 1)
        }
    }

    @Test(arguments: ["outbox", "batch", "decision"])
    func `INSERT of a row that is known already does nothing`(place: String) async throws {
        try await Plane.with { plane async throws in
            let account = try await plane.database.account()
            let id = try await plane.database.notification(to: account)
            let owner = plane.database.owner
            switch place {
            case "batch":
                try await owner.query("delete from push.outbox")
                try await owner.query(
                    """
                    insert into push.batches (worker_id, notification_ids, lanes, rescues, leased_until)
                    values (gen_random_uuid(), array[\(id)::uuid], array[0::smallint], 0, now() + interval '1 minute')
                    """)
            case "decision":
                try await owner.query("delete from push.outbox")
                try await owner.query(
                    """
                    insert into push.fanouts (notification_id, decision, origin, delivery_ids, device_ids, worker_id)
                    values (\(id), 'no_devices', 'trigger', '{}', '{}', gen_random_uuid())
                    """)
            default: break
            }
            let before = try await plane.database.number("select count(*) from push.outbox")
            #expect(try await plane.webhook(Plane.row("INSERT", id)).status == 202)
            #expect(try await plane.database.number("select count(*) from push.outbox") == before)
            #expect(plane.wakes.withLock { $0 } == 0)
            try await owner.query("delete from push.fanouts")
        }
    }

    @Test func `a row that is not there makes no work`() async throws {
        try await Plane.with { plane async throws in
            #expect(try await plane.webhook(Plane.row("INSERT", UUID())).status == 202)
            #expect(try await plane.database.number("select count(*) from push.outbox") == 0)
        }
    }

    @Test(
        arguments: [
            ("UPDATE", "read_at = now()", "already_read"), ("UPDATE", "ignored_at = now()", "ignored"),
            ("UPDATE", "actor_name = 'Bea'", nil), ("DELETE", "", "gone"),
            // The body says DELETE, the table does not.
            ("DELETE", "actor_name = 'Bea'", nil),
        ] as [(String, String, String?)])
    func `UPDATE and DELETE end what waits for nothing`(type: String, change: String, reason: String?) async throws {
        try await Plane.with { plane async throws in
            let database = plane.database
            let id = try await database.notification(to: try await database.account())
            let other = try await database.notification(to: try await database.account())
            for (delivery, notification) in [(Sample.id(1), id), (Sample.id(2), id), (Sample.id(3), other)] {
                try await database.owner.query(
                    """
                    insert into push.waiting (delivery_id, notification_id, device_id, account_id, platform, kind, endpoint,
                        attempts, reason, expires_at, scheduled_at)
                    values (\(delivery), \(notification), gen_random_uuid(), gen_random_uuid(), 'ios', 'system',
                        'apns:production', 2, 'TooManyRequests', now() + interval '1 day', now() + interval '1 hour')
                    """)
            }
            // A worker held the second until just now, and may have sent it: it is its own to end.
            try await database.owner.query(
                """
                update push.waiting set lease_token = gen_random_uuid(), worker_id = gen_random_uuid(),
                    scheduled_at = now() - interval '1 s'
                where delivery_id = \(Sample.id(2))
                """)
            if change.isEmpty {
                try await database.owner.query("delete from notifications where id = \(id)")
            } else {
                try await database.owner.query("update notifications set \(unescaped: change) where id = \(id)")
            }
            #expect(try await plane.webhook(Plane.row(type, id)).status == 202)
            #expect(try await database.number("select count(*) from push.waiting") == (reason == nil ? 3 : 2))
            let attempts = try await database.owner.query(
                "select delivery_id, number, state, reason from push.attempts")
            #expect(attempts.count == (reason == nil ? 0 : 1))
            if let attempt = attempts.first {
                #expect(try attempt.uuid(0) == Sample.id(1))
                #expect(try attempt.int(1) == 2)
                #expect(try attempt.text(2) == "cancelled")
                #expect(try attempt.optionalText(3) == reason)
                #expect(
                    try await database.number(
                        "select count(*) from push.counters where labels = 'apns cancelled cancelled'") == 1)
            }
            #expect(plane.counted(type == "UPDATE" ? .reevaluated : .cancelled) == 1)
        }
    }

    @Test func `the database being away is told within seconds, and heals`() async throws {
        let server = try await PrivatePostgres.start()
        try await QueueDatabase.with(server: server) { database in
            let id = try await database.notification(to: try await database.account())
            try await Plane.with(databaseURL: database.workerURL) { plane async throws in
                #expect(try await plane.webhook(Plane.row("INSERT", id)).status == 202)
                try await server.stop()
                let clock = ContinuousClock.now
                let answer = try await plane.webhook(Plane.row("INSERT", id))
                #expect(answer.status == 503)
                #expect(!answer.headers("retry-after").isEmpty)
                #expect(.now - clock < .seconds(6))
                #expect(plane.counted(.unavailable) == 1)
                try await server.resume()
                try await eventually { try await plane.webhook(Plane.row("INSERT", id)).status == 202 }
            }
        }
        try? await server.stop()
    }

    @Test func `ten thousand rows at once are stored, and answered soon`() async throws {
        try await Plane.with { plane async throws in
            let count = 10_000
            let connections = 200
            let account = try await plane.database.account()
            try await plane.database.owner.query("alter table notifications disable trigger push_enqueue")
            try await plane.database.notifications(count, to: account)
            try await plane.database.owner.query("alter table notifications enable trigger push_enqueue")
            let ids = try await plane.database.owner.query("select id from notifications").map { try $0.uuid(0) }
            let port = plane.controlPlane.port
            let clock = ContinuousClock.now
            let longest = try await withThrowingTaskGroup(of: Duration.self) { group in
                for lane in 0..<connections {
                    group.addTask {
                        let client = try RawClient(port: port)
                        var longest = Duration.zero
                        for index in stride(from: lane, to: count, by: connections) {
                            let body = Plane.row("INSERT", ids[index])
                            let start = ContinuousClock.now
                            client.send(
                                "POST /webhooks/notifications HTTP/1.1\r\nHost: h\r\n\(Plane.bearer(Plane.secret))\r\n"
                                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                            #expect(try await client.answer().status == 202)
                            longest = max(longest, start.duration(to: .now))
                        }
                        return longest
                    }
                }
                return try await group.reduce(Duration.zero, max)
            }
            print("10,000 webhook rows in \(clock.duration(to: .now)), the slowest answer after \(longest)")
            #expect(
                try await plane.database.number("select count(*) from push.outbox where origin = 'webhook'") == count)
            #expect(plane.counted(.queued) == count)
        }
    }
}
