import Delivery
import FoundationEssentials
import Observability
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

/// What a monitoring system gets from a worker that runs.
@Suite(.serialized) struct MetricsScrapeTests {
    @Test func `a scrape is what the list of metrics says, and promtool finds no fault with it`() async throws {
        let installation = try await Installation.make()
        let worker = try await ServedWorker.start(installation)
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        try await installation.phone(.android, of: account, state: .unregistered)
        let id = try await installation.notify(account, kind: "invitation_received")
        _ = try await installation.ends(of: id, count: 2)
        _ = try await worker.webhook("INSERT", id)
        // Gauges are read every few seconds.
        var text = ""
        try await eventually {
            text = try await worker.ask("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n").body
            return text.contains("\npush_queue_depth{") && text.contains("state=\"accepted\"")
        }
        let types = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map { String($0.dropFirst(7)) }
        #expect(
            types
                == WorkerMetrics.all.map { metric in
                    switch metric.kind {
                    case .counter: "\(metric.name) counter"
                    case .gauge: "\(metric.name) gauge"
                    case .histogram: "\(metric.name) histogram"
                    }
                })
        #expect(text.split(separator: "\n").count { $0.hasPrefix("# HELP ") } == types.count)
        #expect(
            text.contains("push_deliveries_total{platform=\"android\",state=\"discarded\",reason=\"UNREGISTERED\"} 1\n")
        )
        #expect(text.contains("push_tokens_marked_dead_total{platform=\"android\"} 1\n"))
        #expect(text.contains("push_ready 1\n"))
        // No account, token or id in it.
        #expect(!text.contains(account.text) && !text.contains(id.text) && !text.contains("android-"))

        let file = FileManager.default.temporaryDirectory.path + "/push-fanout-scrape-" + UUID().uuidString
        try Data(text.utf8).write(to: URL(filePath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let said = try await ChildProcess.run("/bin/sh", ["-c", "promtool check metrics < \(file) 2>&1"])
        #expect(said == "")
        try await installation.stop(worker.process)
    }

    @Test func `with a wrong key readiness is red and says what to fix, and the process is healthy`() async throws {
        let installation = try await Installation.make()
        let worker = try await ServedWorker.start(installation, ["APNS_TEAM_ID": "WRONGTEAM1"])
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let iPhone = try await installation.notify(account, kind: "invitation_received")
        var ready: Answer?
        try await eventually {
            ready = try await worker.ask("GET /readyz HTTP/1.1\r\nHost: h\r\n\r\n")
            return ready?.status == 503
        }
        let line = ready?.body.split(separator: "\n").first { $0.contains("InvalidProviderToken") }
        #expect(line?.contains("APNS_TEAM_ID") == true, "\(ready?.body ?? "")")
        #expect(ready?.body.hasPrefix("not ready\n") == true)
        #expect(ready?.body.contains("\nok database") == true, "\(ready?.body ?? "")")
        #expect(try await worker.ask("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n").status == 200)
        let metrics = try await worker.ask("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n").body
        #expect(metrics.contains("push_ready 0\n"))
        // Nothing is lost: it waits for the right key.
        try await eventually {
            try await installation.number("select count(*) from push.waiting where notification_id = \(iPhone)") == 1
        }
        try await installation.stop(worker.process, Expectations(isDrained: false))
    }
}
