import ControlPlane
import Delivery
import DeliveryQueue
import HTTPServer
import Locking
import Postgres
import PushModel
import TestSupport
import Testing

import struct FoundationEssentials.UUID

/// The pages and the API over a real queue.
@Suite(.serialized) struct PageTests {
    private static let viewer = Plane.bearer(Plane.viewerToken)
    private static let `operator` = Plane.bearer(Plane.operatorToken)
    private static let evil = "<img src=x onerror=alert(1)>"

    /// A notification with one discarded delivery.
    private static func discarded(_ database: QueueDatabase) async throws -> (notification: UUID, delivery: UUID) {
        let account = try await database.account()
        let device = try await database.device(of: account)
        let notification = try await database.notification(to: account)
        try await database.owner.query("update notifications set actor_name = \(Self.evil) where id = \(notification)")
        let delivery = UUID()
        try await database.owner.query("delete from push.outbox")
        try await database.owner.query(
            """
            insert into push.fanouts
                (notification_id, account_id, kind, decision, origin, delivery_ids, device_ids, worker_id)
            values (\(notification), \(account), 'invitation_received', 'fanned_out', 'trigger', array[\(delivery)::uuid],
                array[\(device)::uuid], gen_random_uuid())
            """)
        try await database.owner.query(
            """
            insert into push.attempts
                (delivery_id, notification_id, device_id, account_id, platform, kind, number, state, outcome, status, reason,
                milliseconds, worker_id)
            values (\(delivery), \(notification), \(device), \(account), 'ios', 'invitation_received', 1, 'discarded',
                'rejected', 400, 'PayloadTooLarge', 12, gen_random_uuid())
            """)
        return (notification, delivery)
    }

    private static func clean(_ database: QueueDatabase) async throws {
        try await database.owner.run(script: "delete from push.audit; delete from push.bulk_actions;")
    }

    @Test func `every page is drawn, for the one who is signed in`() async throws {
        try await Plane.with { plane async throws in
            let (notification, delivery) = try await Self.discarded(plane.database)
            let visitor = try await plane.signIn(Plane.viewerToken)
            for path in [
                "/", "/deliveries", "/deliveries?state=discarded&kind=invitation_received", "/deliveries?account=wrong",
                "/deliveries/\(delivery)", "/deliveries/\(delivery)?names=1", "/notifications/\(notification)",
                "/templates?name=Bo", "/database", "/activity", "/deliveries/confirm?action=retry&state=discarded",
            ] {
                let page = try await plane.get(path, visitor.header)
                #expect(page.status == 200, "\(path): \(page.body.prefix(600))")
                #expect(page.body.hasPrefix("<!DOCTYPE html>"), "\(path)")
                #expect(!page.body.contains("<img"), "\(path)")
            }
            for path in ["/deliveries/\(UUID())", "/notifications/\(UUID())", "/bulk/\(UUID())"] {
                #expect(try await plane.get(path, visitor.header).status == 404, "\(path)")
            }
        }
    }

    @Test func `a delivery's request is built anew, without token, and without names unless asked for`() async throws {
        try await Plane.with(configure: { $0.identity = ProviderIdentity(apnsTopic: "com.example.app") }) {
            plane async throws in
            let (_, delivery) = try await Self.discarded(plane.database)
            let token = try await plane.database.text("select push_token from devices") ?? ""
            let visitor = try await plane.signIn()
            let page = try await plane.get("/deliveries/\(delivery)", visitor.header)
            #expect(page.body.contains("POST /3/device/&lt;masked&gt;"))
            #expect(page.body.contains("com.example.app"))
            #expect(page.body.contains("•••"))
            let named = try await plane.get("/deliveries/\(delivery)?names=1", visitor.header)
            #expect(named.body.contains("&lt;img src=x onerror=alert(1)&gt;"))
            for text in [page.body, named.body] { #expect(!text.contains(token)) }
        }
    }

    @Test func `a discarded delivery is retried by form, and the page says so`() async throws {
        try await Plane.with { plane async throws in
            let (_, delivery) = try await Self.discarded(plane.database)
            let visitor = try await plane.signIn()
            let answer = try await plane.submit("/deliveries/\(delivery)/retry", as: visitor)
            #expect(answer.status == 303)
            #expect(answer.headers("location") == ["/deliveries/\(delivery.uuidString.lowercased())"])
            #expect(
                try await plane.database.number("select count(*) from push.waiting where delivery_id = \(delivery)")
                    == 1)
            #expect(try await plane.database.text("select actor from push.audit") == "dashboard:operator@127.0.0.1")
            #expect(plane.wakes.withLock { $0 } == 1)
            try await Self.clean(plane.database)
        }
    }

    @Test func `all that a filter matches is retried in the background, and can be looked at`() async throws {
        try await Plane.with { plane async throws in
            _ = try await Self.discarded(plane.database)
            let visitor = try await plane.signIn()
            let unasked = try await plane.post(
                "/deliveries/retry", ["csrf": visitor.csrf, "confirmed": "0", "state": "discarded"], as: visitor)
            #expect(unasked.headers("location").first?.hasPrefix("/deliveries/confirm?") == true)
            let answer = try await plane.submit("/deliveries/retry", ["state": "discarded"], as: visitor)
            #expect(answer.status == 303)
            let page = try #require(answer.headers("location").first)
            #expect(page.hasPrefix("/bulk/"))
            try await eventually {
                try await plane.database.text("select state from push.bulk_actions") == "finished"
            }
            #expect(try await plane.get(page, visitor.header).status == 200)
            #expect(try await plane.database.number("select changed from push.bulk_actions") == 1)
            let none = try await plane.submit("/deliveries/retry", as: visitor)
            #expect(none.status == 400)
            try await Self.clean(plane.database)
        }
    }

    // MARK: - API

    @Test func `the API tells what the pages show`() async throws {
        try await Plane.with { plane async throws in
            let (notification, delivery) = try await Self.discarded(plane.database)
            for (path, part) in [
                ("overview", #""lanes":"#), ("deliveries?state=discarded", #""reason":"PayloadTooLarge""#),
                ("deliveries/\(delivery)", #""attempts":[{"#), ("notifications/\(notification)", #""decision":"#),
                ("providers", #""endpoint":"fcm""#), ("workers", #""workers":[]"#), ("audit", #""audit":[]"#),
                ("database", #""role":"primary""#), ("bulk", #""bulk":[]"#),
            ] {
                let answer = try await plane.get("/api/v1/\(path)", Self.viewer)
                #expect(answer.status == 200, "\(path)")
                #expect(answer.headers("content-type") == ["application/json"])
                #expect(answer.body.contains(part), "\(path): \(answer.body.prefix(300))")
                #expect(!answer.body.contains("onerror"))
            }
        }
    }

    @Test(arguments: [
        ("GET", "deliveries?account=x", "", 400), ("GET", "deliveries?cursor=x", "", 400),
        ("GET", "deliveries?limit=0", "", 400), ("GET", "deliveries?limit=201", "", 400),
        ("GET", "deliveries/\(UUID())", "", 404), ("GET", "nothing", "", 404), ("GET", "", "", 404),
        ("POST", "deliveries/\(UUID())/retry", "", 200), ("POST", "bulk/\(UUID())/stop", "", 409),
        ("POST", "deliveries/retry", "", 409), ("POST", "deliveries/retry", "nonsense", 400),
        ("POST", "deliveries/retry", #"{"filter":{"colour":"red"}}"#, 400),
        ("POST", "deliveries/cancel", #"{"filter":{"state":"accepted"}}"#, 409),
        ("POST", "providers/nobody/pause", "", 404),
    ])
    func `what the API cannot do is told with a status and a reason`(
        method: String, path: String, body: String, status: Int
    ) async throws {
        try await Plane.with { plane async throws in
            let answer = try await plane.ask(method, "/api/v1/\(path)", headers: [Self.operator], body: body)
            // Of an address that takes no POST at all: 405.
            #expect(answer.status == status || (status == 404 && answer.status == 405), "\(answer.body)")
            #expect(status == 200 || answer.body.hasPrefix(#"{"error":""#), "\(answer.body)")
            try await Self.clean(plane.database)
        }
    }

    @Test func `a bulk action by API needs a filter, counts and finishes`() async throws {
        try await Plane.with { plane async throws in
            _ = try await Self.discarded(plane.database)
            let answer = try await plane.ask(
                "POST", "/api/v1/deliveries/retry", headers: [Self.operator],
                body: #"{"filter":{"state":"discarded"},"note":"after the fix"}"#)
            #expect(answer.status == 202)
            #expect(answer.body.contains(#""action":"retry""#))
            try await eventually {
                try await plane.get("/api/v1/bulk", Self.viewer).body.contains(#""state":"finished""#)
            }
            try await Self.clean(plane.database)
        }
    }

    // MARK: - A database in trouble

    @Test func `the database being away is an error page, and a banner over what was read last`() async throws {
        let server = try await PrivatePostgres.start()
        try await QueueDatabase.with(server: server) { database in
            try await Plane.with(databaseURL: database.workerURL) { plane async throws in
                let visitor = try await plane.signIn()
                try await server.stop()
                // What was read within the last second is shown as it is.
                try await eventually {
                    let overview = try await plane.get("/", visitor.header)
                    return overview.status == 200 && overview.body.contains(#"class="banner""#)
                }
                #expect(try await plane.get("/deliveries", visitor.header).status == 503)
                #expect(try await plane.get("/api/v1/audit", Self.viewer).status == 503)
                #expect(try await plane.submit("/providers/fcm/pause", as: visitor).status == 503)
                #expect(try await plane.get("/healthz").status == 200)
            }
        }
    }

    @Test func `a read that takes too long is ended by the server and told`() async throws {
        try await Plane.with { plane async throws in
            let visitor = try await plane.signIn()
            let blocker = try await plane.database.database.connect()
            try await blocker.run(script: "begin; lock table push.audit in access exclusive mode")
            let clock = ContinuousClock.now
            #expect(try await plane.get("/activity", visitor.header).status == 503)
            #expect(.now - clock < .seconds(8))
            try await blocker.run(script: "rollback")
            await blocker.close()
            #expect(try await plane.get("/activity", visitor.header).status == 200)
        }
    }

    // MARK: - Live values

    @Test func `fifty tabs get what changes, from one query round a second`() async throws {
        try await Plane.with { plane async throws in
            let (_, delivery) = try await Self.discarded(plane.database)
            let visitor = try await plane.signIn()
            let clients = try (0..<50).map { _ in try RawClient(port: plane.controlPlane.port) }
            for (number, client) in clients.enumerated() {
                let wish = number % 2 == 0 ? "overview=1" : "rows=\(delivery)"
                client.send("GET /events?\(wish) HTTP/1.1\r\nHost: h\r\n\(visitor.header)\r\n\r\n")
            }
            for (number, client) in clients.enumerated() {
                let part = number % 2 == 0 ? "provider-fcm" : "row-\(delivery.uuidString.lowercased())"
                _ = try await client.read { text in
                    let body = RawClient.chunkedBody(text)
                    return body.hasPrefix("event: patch\ndata: {") && body.hasSuffix("}\n\n") && body.contains(part)
                }
            }
            // How often the server is asked meanwhile, as it counts itself.
            let before = try await Self.transactions(plane.database)
            try await Task.sleep(for: .seconds(5))
            let rounds = try await Self.transactions(plane.database) - before
            // A round is a dozen statements; fifty tabs that each asked would make thousands.
            #expect(rounds < 150, "\(rounds) transactions in five seconds")
            try await plane.database.owner.query(
                """
                insert into push.attempts
                    (delivery_id, notification_id, device_id, platform, kind, number, state, outcome, worker_id)
                select delivery_id, notification_id, device_id, platform, kind, 2, 'accepted', 'accepted', worker_id
                from push.attempts
                """)
            for client in clients.enumerated().filter({ $0.offset % 2 == 1 }).map(\.element) {
                _ = try await client.read { $0.contains("ccepted") }
            }
            #expect(try await plane.submit("/sign-out", as: visitor).status == 303)
            // Whoever signs out sees no more.
            for client in clients { _ = try await client.read(within: .seconds(10)) { $0.hasSuffix("0\r\n\r\n") } }
        }
    }

    private static func transactions(_ database: QueueDatabase) async throws -> Int {
        try await database.owner.query("select pg_stat_force_next_flush()")
        return try await database.number(
            "select xact_commit::integer from pg_stat_database where datname = current_database()")
    }

    @Test(arguments: ["/events", "/events?overview=0", "/events?rows=x"])
    func `who asks for nothing gets nothing`(path: String) async throws {
        try await Plane.with { plane async throws in
            #expect(try await plane.get(path, Self.viewer).status == 400)
            #expect(try await plane.get(path).status == 401)
        }
    }
}
