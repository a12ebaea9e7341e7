import ControlPlane
import Delivery
import DeliveryQueue
import HTTPServer
import Localization
import Locking
import Observability
import Postgres
import PushModel
import TestSupport
import Testing

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// A control plane on a port of its own, over a database of its own, and somebody who talks to it through sockets.
struct Plane: Sendable {
    static let secret = "the-webhook-secret-of-this-test"
    static let operatorToken = "operator-token-of-this-test"
    static let viewerToken = "viewer-token-of-this-test"

    let database: QueueDatabase
    let controlPlane: ControlPlane
    let metrics: MetricsRegistry
    /// How often the worker was told to look for work.
    let wakes: Locked<Int>

    /// - Parameter databaseURL: where the control plane finds its database, if not where the test does.
    static func with(
        databaseURL: String? = nil, status: WorkerStatus = WorkerStatus(dependencies: []),
        configure: (inout ControlPlaneConfiguration) -> Void = { _ in }, _ body: (Plane) async throws -> Void
    ) async throws {
        try await QueueDatabase.with { database in
            let metrics = WorkerMetrics.registry()
            let wakes = Locked(0)
            let languages = try LanguageCatalog.load(directory: Repository.root + "/templates")
            var configuration = ControlPlaneConfiguration(
                address: try #require(ListenAddress("127.0.0.1:0")), webhookSecret: Secret(Self.secret),
                operatorToken: Secret(Self.operatorToken), viewerToken: Secret(Self.viewerToken),
                database: try PostgresConfiguration(databaseURL ?? database.workerURL), source: database.source,
                lifetime: { _ in .seconds(28 * 86_400) }, metrics: metrics, status: { status },
                wake: { wakes.withLock { $0 += 1 } }, languages: { languages }, log: Log(level: .warning))
            configure(&configuration)
            let plane = Plane(
                database: database, controlPlane: try ControlPlane.start(configuration), metrics: metrics, wakes: wakes)
            do {
                try await body(plane)
                await plane.controlPlane.stop(within: .seconds(2))
            } catch {
                await plane.controlPlane.stop(within: .zero)
                throw error
            }
        }
    }

    // MARK: - Asking

    func ask(
        _ method: String, _ path: String, headers: [String] = [], body: String? = nil
    ) async throws -> Answer {
        let client = try RawClient(port: self.controlPlane.port)
        var lines = ["\(method) \(path) HTTP/1.1", "Host: here", "Connection: close"] + headers
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        client.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
        let text = try await client.readToEnd()
        return try #require(Answer(text), "\(text.prefix(300))")
    }

    func get(_ path: String, _ headers: String...) async throws -> Answer {
        try await self.ask("GET", path, headers: headers)
    }

    static func bearer(_ token: String) -> String { "Authorization: Bearer \(token)" }

    // MARK: - The webhook

    func webhook(_ body: String, headers: [String] = [Self.bearer(Self.secret)]) async throws -> Answer {
        try await self.ask(
            "POST", "/webhooks/notifications", headers: headers + ["Content-Type: application/json"], body: body)
    }

    static func row(_ type: String, _ id: UUID, table: String = "notifications", schema: String = "public") -> String {
        let row = #"{"id":"\#(id.uuidString.lowercased())","account_id":"x","kind":"lies","big":9223372036854775807}"#
        let record = type == "DELETE" ? "null" : row
        let old = type == "INSERT" ? "null" : row
        return
            #"{"type":"\#(type)","table":"\#(table)","schema":"\#(schema)","record":\#(record),"old_record":\#(old),"user_id":null}"#
    }

    func counted(_ result: WebhookResult) -> Int {
        Int(self.metrics.value(WorkerMetrics.webhookRequests, [result.rawValue]) ?? 0)
    }

    // MARK: - Signing in

    /// Signed in: the cookie, and the token that forms carry.
    struct Visitor: Sendable {
        let cookie: String
        let csrf: String

        var header: String { "Cookie: \(self.cookie)" }
    }

    func signIn(_ token: String = Self.operatorToken) async throws -> Visitor {
        let answer = try await self.post("/sign-in", ["token": token])
        try #require(answer.status == 303, "\(answer.status) \(answer.body.prefix(300))")
        let cookie = try #require(answer.headers("set-cookie").first?.split(separator: ";").first)
        let page = try await self.get("/", "Cookie: \(cookie)")
        try #require(page.status == 200)
        let field = try #require(page.body.firstRange(of: #"name="csrf" value=""#))
        let csrf = page.body[field.upperBound...].prefix { $0 != "\"" }
        return Visitor(cookie: String(cookie), csrf: String(csrf))
    }

    func post(
        _ path: String, _ fields: KeyValuePairs<String, String> = [:], as visitor: Visitor? = nil,
        headers: [String] = []
    ) async throws -> Answer {
        var headers = headers + ["Content-Type: application/x-www-form-urlencoded"]
        if let visitor { headers.append(visitor.header) }
        return try await self.ask(
            "POST", path, headers: headers, body: fields.map { "\($0.key)=\($0.value)" }.joined(separator: "&"))
    }

    /// A form as a page of ours sends it.
    func submit(_ path: String, _ fields: KeyValuePairs<String, String> = [:], as visitor: Visitor) async throws
        -> Answer
    {
        let all = [("csrf", visitor.csrf), ("confirmed", "1")] + fields.map { ($0.key, $0.value) }
        return try await self.ask(
            "POST", path, headers: ["Content-Type: application/x-www-form-urlencoded", visitor.header],
            body: all.map { "\($0.0)=\($0.1)" }.joined(separator: "&"))
    }
}
