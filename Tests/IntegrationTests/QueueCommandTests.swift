import FoundationEssentials
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

/// An operator at work: what was cancelled is not sent, what is retried is.
@Suite(.serialized) struct QueueCommandTests {
    private struct Listed: Decodable {
        var id: String
        var notification_id: String
        var account_id: String
        var device_id: String
        var platform: String
        var kind: String
        var state: String
        var reason: String?
        var attempt: Int
        var scheduled_at: String?
        var finished_at: String?
    }

    private static func listed(_ installation: Installation, _ arguments: [String]) async throws -> [Listed] {
        let result = try await installation.command(["queue", "list", "--json"] + arguments)
        #expect(result.exit == .code(0), "\(result.output)")
        return try result.output.split(separator: "\n").map {
            try JSONDecoder().decode(Listed.self, from: Data($0.utf8))
        }
    }

    @Test func `a delivery is cancelled, told, retried and accepted`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        #expect(try await installation.command(["queue", "pause", "apns", "--reason", "a test"]).exit == .code(0))
        try await installation.waitForHeartbeats(2)
        let notification = try await installation.notify(account, kind: "invitation_received")
        try await eventually {
            try await installation.number("select count(*) from push.waiting") == 1
        }
        let waiting = try #require(try await Self.listed(installation, ["--state", "available"]).first)
        #expect(waiting.notification_id == notification.text)
        #expect(waiting.account_id == account.text)

        let cancelled = try await installation.command(["queue", "cancel", waiting.id, "--note", "not now"])
        #expect(cancelled.exit == .code(0), "\(cancelled.output)")
        #expect(cancelled.output == "\(waiting.id)  done  cancelled\n")
        #expect(try await installation.command(["queue", "cancel", waiting.id]).exit == .code(1))
        #expect(try await installation.command(["queue", "resume", "apns"]).exit == .code(0))
        try await installation.waitForHeartbeats(2)
        #expect(installation.simulator.received().isEmpty)
        let story = try await installation.command(["queue", "show", notification.text])
        #expect(story.output.contains("An operator cancelled it"), "\(story.output)")
        #expect(story.output.contains("cancel delivery \(waiting.id): not now"), "\(story.output)")

        // As an operator who is no worker.
        let role = try await installation.database.server.createRole(options: "login in role push_operator")
        let retried = try await installation.command(
            ["queue", "retry", "--all-matching", "--state", "cancelled", "--yes"],
            ["DATABASE_URL": installation.database.url(role: role)])
        #expect(retried.exit == .code(0), "\(retried.output)")
        #expect(retried.output == "finished: 1 looked at, 1 changed\n")
        try await eventually {
            try await Self.listed(installation, ["--notification", notification.text]).map(\.state) == ["accepted"]
        }
        #expect(installation.simulator.received().map(\.status) == [200])
        let refused = try await installation.command(["queue", "retry", waiting.id])
        #expect(refused.exit == .code(1))
        #expect(refused.output.contains("would show it twice"), "\(refused.output)")
        let audit = try await installation.command(["queue", "audit", "--json"])
        #expect(audit.output.split(separator: "\n").count == 8, "\(audit.output)")
        try await installation.stop(worker)
    }

    @Test func `a role without rights and a schema that is old are told what to do`() async throws {
        let installation = try await Installation.make()
        let role = try await installation.database.server.createRole()
        let stranger = try await installation.command(
            ["queue", "stats"], ["DATABASE_URL": installation.database.url(role: role)])
        #expect(stranger.exit == .code(1))
        #expect(stranger.error.contains("push_operator"), "\(stranger.error)")
        try await installation.admin.query("drop schema push cascade")
        let old = try await installation.command(["queue", "audit"])
        #expect(old.exit == .code(1))
        #expect(old.error.contains("run push-fanout migrate"), "\(old.error)")
        try await installation.remove()
    }
}
