import FoundationEssentials
import Postgres
import PushModel
import TestSupport
import Testing

/// The control plane of a worker that runs as a process.
@Suite(.serialized) struct ServingProcessTests {
    static let token = "operator-token-of-this-test"
    private static let secret = "webhook-secret-of-this-test"

    static func port(of worker: ChildProcess) async throws -> UInt16 {
        let line = try await worker.waitForLine(containing: "msg=serving", within: .seconds(20))
        let digits = line.split(separator: "address=127.0.0.1:").last?.prefix { $0.isNumber } ?? ""
        return try #require(UInt16(digits), "\(line)")
    }

    private static func ask(_ port: UInt16, _ request: String) async throws -> Answer {
        let client = try RawClient(port: port)
        client.send(request)
        return try await client.answer()
    }

    @Test func `without trigger and LISTEN a webhook is enough, and hostile clients hold nothing up`() async throws {
        let installation = try await Installation.make()
        try await installation.admin.query("alter table notifications disable trigger push_enqueue")
        let worker = try await installation.startWorker([
            "PUSH_OPERATOR_TOKEN": Self.token, "PUSH_WEBHOOK_SECRET": Self.secret,
        ])
        let port = try await Self.port(of: worker)
        // Slow heads, idle connections and a body that never comes, all the while.
        let idle = try (0..<300).map { _ in try RawClient(port: port) }
        for (number, client) in idle.enumerated() {
            if number % 3 == 1 { client.send("GET / HTTP/1.1\r\nHost: h\r\nX-Slow: ") }
            if number % 3 == 2 {
                client.send(
                    "POST /webhooks/notifications HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(Self.secret)\r\nContent-Length: 100\r\n\r\n{"
                )
            }
        }
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        for _ in 0..<20 {
            let id = try await installation.notify(account, kind: "invitation_received")
            let body =
                #"{"type":"INSERT","table":"notifications","schema":"public","record":{"id":"\#(id)"},"old_record":null}"#
            for _ in 0..<2 {
                let answer = try await Self.ask(
                    port,
                    "POST /webhooks/notifications HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(Self.secret)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
                #expect(answer.status == 202)
            }
            #expect(try await installation.ends(of: id, count: 1) == ["accepted"])
        }
        let ready = try await Self.ask(port, "GET /readyz HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(ready.status == 200, "\(ready.body)")
        let metrics = try await Self.ask(port, "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(metrics.body.contains("push_webhook_requests_total{result=\"queued\"} 40"))
        let overview = try await Self.ask(
            port, "GET /api/v1/overview HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(Self.token)\r\n\r\n")
        #expect(overview.status == 200)
        withExtendedLifetime(idle) {}
        try await installation.admin.query("alter table notifications enable trigger push_enqueue")
        try await installation.stop(worker)
    }

    @Test func `a port that is taken and an address that is open are told in a line`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let port = try await Self.port(of: worker)
        let taken = try await installation.command(["run"], ["PUSH_LISTEN": "127.0.0.1:\(port)"])
        #expect(taken.exit == .code(3))
        #expect(
            taken.error
                == "push-fanout: PUSH_LISTEN: cannot listen on 127.0.0.1:\(port): another program listens there\n")
        let open = try await installation.command(["run"], ["PUSH_LISTEN": "0.0.0.0:0"])
        #expect(open.exit == .code(3))
        #expect(open.error.contains("PUSH_OPERATOR_TOKEN is not set"))
        try await installation.stop(worker)
    }
}
