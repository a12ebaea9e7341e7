import ControlPlane
import Delivery
import HTTPServer
import Postgres
import TestSupport
import Testing

import struct FoundationEssentials.UUID

/// Who may look, who may act, and what protects them.
@Suite(.serialized) struct AccessTests {
    private static let viewer = Plane.bearer(Plane.viewerToken)
    private static let `operator` = Plane.bearer(Plane.operatorToken)

    // MARK: - Tokens

    @Test(arguments: [
        (["Authorization: Bearer \(Plane.viewerToken)"], 200), (["Authorization: Bearer \(Plane.operatorToken)"], 200),
        (["authorization: bEARER \(Plane.viewerToken)"], 200), ([], 401), (["Authorization: Bearer wrong"], 401),
        (["Authorization: Bearer"], 401), (["Authorization: Basic \(Plane.viewerToken)"], 401),
        (["Authorization: \(Plane.viewerToken)"], 401), (["Authorization: Bearer \(Plane.secret)"], 401),
        (["Authorization: Bearer \(Plane.viewerToken)", "Authorization: Bearer \(Plane.viewerToken)"], 401),
        (["Authorization: Bearer wrong", "Authorization: Bearer \(Plane.viewerToken)"], 401),
        (["Cookie: push_fanout_session=made-up"], 401),
    ])
    func `the API wants a token, once`(headers: [String], status: Int) async throws {
        try await Plane.with { plane async throws in
            let answer = try await plane.ask("GET", "/api/v1/providers", headers: headers)
            #expect(answer.status == status)
            if status == 401 { #expect(answer.body.hasPrefix(#"{"error":""#)) }
        }
    }

    @Test(arguments: [
        "/api/v1/providers/fcm/pause", "/api/v1/providers/fcm/resume", "/api/v1/deliveries/\(UUID())/retry",
        "/api/v1/deliveries/\(UUID())/cancel", "/api/v1/deliveries/retry", "/api/v1/bulk/\(UUID())/stop",
    ])
    func `a viewer may not act`(path: String) async throws {
        try await Plane.with { plane async throws in
            #expect(try await plane.ask("POST", path, headers: [Self.viewer], body: "").status == 403)
            #expect(try await plane.ask("POST", path, body: "").status == 401)
            #expect(try await plane.ask("GET", path, headers: [Self.operator]).status == 405)
            let form = String(path.dropFirst("/api/v1".count))
            #expect(try await plane.submit(form, as: try await plane.signIn(Plane.viewerToken)).status == 403)
            #expect(try await plane.database.number("select count(*) from push.providers") == 0)
        }
    }

    @Test(arguments: ["/api/v1/providers/apns/pause", "/api/v1/bulk/x/stop", "/api/v1/nothing", "/api/v1"])
    func `an address that is not there is not there by any method`(path: String) async throws {
        try await Plane.with { plane async throws in
            for method in ["GET", "POST"] {
                let answer = try await plane.ask(
                    method, path, headers: [Self.operator], body: method == "POST" ? "{}" : nil)
                #expect(answer.status == 404)
                #expect(answer.body.contains("no such address"))
            }
            #expect(try await plane.ask("POST", path, headers: [Self.viewer], body: "").status == 403)
        }
    }

    @Test func `without tokens all is closed, and says how to open it`() async throws {
        try await Plane.with(configure: {
            $0.operatorToken = nil
            $0.viewerToken = nil
        }) { plane async throws in
            let page = try await plane.get("/sign-in")
            #expect(page.status == 200)
            #expect(page.body.contains("PUSH_OPERATOR_TOKEN"))
            #expect(try await plane.post("/sign-in", ["token": ""]).status == 403)
            #expect(try await plane.get("/").status == 303)
            let api = try await plane.get("/api/v1/overview", "Authorization: Bearer ")
            #expect(api.status == 401)
            #expect(try await plane.get("/api/v1/overview").body.contains("PUSH_OPERATOR_TOKEN"))
        }
    }

    // MARK: - Signing in

    @Test func `signing in gives a cookie that opens the pages, and signing out takes it back`() async throws {
        try await Plane.with { plane async throws in
            let first = try await plane.get("/deliveries?state=discarded")
            #expect(first.status == 303)
            #expect(first.headers("location") == ["/sign-in?next=%2Fdeliveries%3Fstate%3Ddiscarded"])
            let answer = try await plane.post(
                "/sign-in", ["token": Plane.operatorToken, "next": "%2Fdeliveries%3Fstate%3Ddiscarded"])
            #expect(answer.status == 303)
            #expect(answer.headers("location") == ["/deliveries?state=discarded"])
            let cookie = try #require(answer.headers("set-cookie").first)
            for part in ["HttpOnly", "SameSite=Strict", "Path=/"] { #expect(cookie.contains("; \(part)")) }
            #expect(!cookie.contains("Secure"))
            let visitor = try await plane.signIn()
            #expect(try await plane.get("/deliveries", visitor.header).status == 200)
            #expect(try await plane.get("/api/v1/providers", visitor.header).status == 200)
            #expect(try await plane.post("/sign-out", as: visitor).status == 403)
            #expect(try await plane.get("/", visitor.header).status == 200)
            let out = try await plane.submit("/sign-out", as: visitor)
            #expect(out.status == 303)
            #expect(out.headers("set-cookie").first?.contains("Max-Age=0") == true)
            let after = try await plane.get("/", visitor.header)
            #expect(after.status == 303)
            #expect(after.headers("location") == ["/sign-in?ended=1"])
        }
    }

    @Test func `behind TLS the cookie is for TLS alone`() async throws {
        try await Plane.with { plane async throws in
            let answer = try await plane.post(
                "/sign-in", ["token": Plane.viewerToken], headers: ["X-Forwarded-Proto: https"])
            #expect(answer.headers("set-cookie").first?.hasSuffix("; Secure") == true)
        }
    }

    @Test(arguments: [
        "https://evil.example/", "//evil.example", "/\\evil", "/sign-out", "/%2F", "javascript:alert(1)", "/events",
        "/deliveries%0d%0aX: 1", "/../x", "/nowhere",
    ])
    func `after signing in nobody is sent elsewhere`(next: String) async throws {
        try await Plane.with { plane async throws in
            let answer = try await plane.post("/sign-in", ["token": Plane.viewerToken, "next": next])
            #expect(answer.status == 303)
            #expect(answer.headers("location") == ["/"])
        }
    }

    @Test func `wrong tokens are counted, and after ten there is a pause`() async throws {
        try await Plane.with { plane async throws in
            for _ in 0..<10 { #expect(try await plane.post("/sign-in", ["token": "wrong"]).status == 403) }
            let answer = try await plane.post("/sign-in", ["token": Plane.operatorToken])
            #expect(answer.status == 429)
            #expect(Int(answer.headers("retry-after").first ?? "") ?? 0 > 200)
            #expect(answer.headers("set-cookie").isEmpty)
            // Somebody else, behind the proxy, is not held up; nor is a program that has the token.
            let other = try await plane.post(
                "/sign-in", ["token": Plane.operatorToken], headers: ["X-Forwarded-For: 10.1.1.1, 203.0.113.9"])
            #expect(other.status == 303)
            #expect(try await plane.get("/api/v1/providers", Self.operator).status == 200)
            #expect(try await plane.get("/api/v1/providers", Plane.bearer("wrong")).status == 429)
        }
    }

    @Test func `two cookies of the same name are nobody's`() async throws {
        try await Plane.with { plane async throws in
            let visitor = try await plane.signIn()
            #expect(try await plane.get("/", "\(visitor.header); push_fanout_session=x").status == 303)
        }
    }

    // MARK: - Forms

    @Test(arguments: [
        "none", "wrong", "twice", "of another session", "cross-site", "another origin", "null origin", "as a query",
        "without a cookie",
    ])
    func `a form that is not ours changes nothing`(fault: String) async throws {
        try await Plane.with { plane async throws in
            let visitor = try await plane.signIn()
            let other = try await plane.signIn()
            var path = "/providers/fcm/pause"
            var headers = ["Content-Type: application/x-www-form-urlencoded", visitor.header]
            var body = "confirmed=1&csrf=\(visitor.csrf)"
            switch fault {
            case "none": body = "confirmed=1"
            case "wrong": body = "confirmed=1&csrf=wrong"
            case "twice": body += "&csrf=\(visitor.csrf)"
            case "of another session": body = "confirmed=1&csrf=\(other.csrf)"
            case "cross-site": headers.append("Sec-Fetch-Site: cross-site")
            case "another origin": headers.append("Origin: https://evil.example")
            case "null origin": headers.append("Origin: null")
            case "as a query":
                path += "?csrf=\(visitor.csrf)"
                body = "confirmed=1"
            default: headers.removeLast()
            }
            let answer = try await plane.ask("POST", path, headers: headers, body: body)
            #expect(answer.status == 403)
            #expect(try await plane.database.number("select count(*) from push.providers") == 0)
            #expect(try await plane.database.number("select count(*) from push.audit where action = 'pause'") == 0)
        }
    }

    @Test func `a form of ours acts, and is written down`() async throws {
        try await Plane.with { plane async throws in
            let visitor = try await plane.signIn()
            let question = try await plane.post(
                "/providers/fcm/pause", ["csrf": visitor.csrf, "confirmed": "0"], as: visitor)
            #expect(question.status == 200)
            #expect(question.body.contains(#"action="/providers/fcm/pause""#))
            #expect(try await plane.database.number("select count(*) from push.providers") == 0)
            let headers = [
                "Content-Type: application/x-www-form-urlencoded", visitor.header, "Origin: http://here",
                "Sec-Fetch-Site: same-origin", "Referer: http://here/",
            ]
            let answer = try await plane.ask(
                "POST", "/providers/fcm/pause", headers: headers, body: "csrf=\(visitor.csrf)&confirmed=1")
            #expect(answer.status == 303)
            #expect(answer.headers("location") == ["/"])
            let row = try await plane.database.owner.query(
                "select actor, action, target_id from push.audit order by at desc limit 1"
            ).single()
            #expect(try row.text(0) == "dashboard:operator@127.0.0.1")
            #expect(try row.text(1) == "pause")
            #expect(try row.text(2) == "fcm")
            let page = try await plane.get("/", visitor.header)
            #expect(page.body.contains("FCM is paused."))
            #expect(try await !plane.get("/", visitor.header).body.contains("FCM is paused."))
            #expect(try await plane.submit("/providers/fcm/resume", as: visitor).status == 303)
            try await plane.database.owner.query("delete from push.audit")
        }
    }

    @Test func `with a cookie the API wants the token of the session, too`() async throws {
        try await Plane.with { plane async throws in
            let visitor = try await plane.signIn()
            let path = "/api/v1/providers/fcm/pause"
            #expect(try await plane.ask("POST", path, headers: [visitor.header], body: "").status == 403)
            let wrong = [visitor.header, "X-CSRF-Token: wrong"]
            #expect(try await plane.ask("POST", path, headers: wrong, body: "").status == 403)
            let right = [visitor.header, "X-CSRF-Token: \(visitor.csrf)"]
            let answer = try await plane.ask("POST", path, headers: right, body: #"{"note":"key is being changed"}"#)
            #expect(answer.status == 200)
            #expect(answer.body == "{\"endpoint\":\"fcm\",\"paused\":true}\n")
            #expect(try await plane.database.text("select reason from push.providers") == "key is being changed")
            try await plane.database.owner.query("delete from push.audit")
        }
    }

    // MARK: - Headers

    @Test(arguments: [
        "/sign-in", "/", "/nowhere", "/healthz", "/metrics", "/api/v1/overview", "/assets/dashboard.css",
        "/assets/none",
    ])
    func `every answer carries the headers that protect it`(path: String) async throws {
        try await Plane.with { plane async throws in
            let answer = try await plane.get(path)
            let policy = try #require(answer.headers("content-security-policy").first)
            #expect(policy.contains("default-src 'none'"))
            #expect(policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe"))
            #expect(answer.headers("x-content-type-options") == ["nosniff"])
            #expect(answer.headers("referrer-policy") == ["same-origin"])
            #expect(answer.headers("cache-control").count == 1)
            if !path.hasPrefix("/assets/") { #expect(answer.headers("cache-control") == ["no-store"]) }
        }
    }

    @Test func `files are kept by browsers, by their version`() async throws {
        try await Plane.with { plane async throws in
            let page = try await plane.get("/sign-in")
            let start = try #require(page.body.firstRange(of: "/assets/dashboard.css?v="))
            let address = page.body[start.lowerBound...].prefix { $0 != "\"" }
            let file = try await plane.get(String(address))
            #expect(file.status == 200)
            #expect(file.headers("cache-control").first?.contains("immutable") == true)
            let etag = try #require(file.headers("etag").first)
            #expect(try await plane.get("/assets/dashboard.css", "If-None-Match: \(etag)").status == 304)
            #expect(try await plane.get("/assets/dashboard.css").headers("cache-control") == ["no-cache"])
        }
    }

    // MARK: - Health and metrics

    @Test func `health and metrics are open on loopback, the metrics to tokens elsewhere`() async throws {
        try await Plane.with { plane async throws in
            #expect(try await plane.get("/healthz").status == 200)
            #expect(try await plane.get("/readyz").status == 200)
            let metrics = try await plane.get("/metrics")
            #expect(metrics.headers("content-type") == ["text/plain; version=0.0.4; charset=utf-8"])
            #expect(metrics.body.contains("push_webhook_requests_total"))
        }
        try await Plane.with(configure: { $0.address = ListenAddress("0.0.0.0:0") ?? $0.address }) {
            plane async throws in
            #expect(try await plane.get("/healthz").status == 200)
            #expect(try await plane.get("/metrics").status == 401)
            #expect(try await plane.get("/metrics", Self.viewer).status == 200)
        }
    }

    @Test func `readiness names each dependency, and its fix to those who may see it`() async throws {
        let dependency = WorkerStatus.Dependency(
            .database, .failed, since: Sample.now, "no route to db.internal", fix: "check DATABASE_URL")
        let status = WorkerStatus(stuck: "the upkeep loop has stood still", dependencies: [dependency])
        try await Plane.with(status: status) { plane async throws in
            let ready = try await plane.get("/readyz")
            #expect(ready.status == 503)
            #expect(ready.body == "not ready\nfailed database: no route to db.internal (check DATABASE_URL)\n")
            let json = try await plane.get("/readyz", "Accept: application/json")
            #expect(json.body.contains(#""name":"database","state":"failed""#))
            #expect(try await plane.get("/healthz").status == 503)
        }
        try await Plane.with(
            status: status, configure: { $0.address = ListenAddress("0.0.0.0:0") ?? $0.address }
        ) { plane async throws in
            #expect(try await plane.get("/readyz").body == "not ready\nfailed database\n")
            #expect(try await plane.get("/readyz", Self.viewer).body.contains("db.internal"))
        }
    }
}
