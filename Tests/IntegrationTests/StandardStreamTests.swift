import FoundationEssentials
import Postgres
import PushModel
import TestSupport
import Testing

/// What a command prints either gets out, or its exit status says that it did not.
@Suite(.serialized) struct StandardStreamTests {
    private static func shell(
        _ line: String, _ environment: [String: String]
    ) async throws -> (exit: ChildProcess.Exit, output: String, error: String) {
        let child = try ChildProcess(
            "/bin/bash", arguments: ["-c", line, "sh", try BuiltProducts.url("push-fanout").path],
            environment: environment)
        let exit = try await child.waitForExit(within: .seconds(90))
        return (exit, child.text(.output), child.text(.error))
    }

    @Test func `output that is lost is a failure, and a reader that has enough is none of ours`() async throws {
        let installation = try await Installation.make()
        try await installation.admin.query(
            """
            insert into push.attempts (delivery_id, notification_id, device_id, account_id, platform, kind, number,
                state, outcome, reason, worker_id)
            select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'ios', 'system', 1,
                'discarded', 'discarded', 'expired', gen_random_uuid()
            from generate_series(1, 23000)
            """, deadline: .seconds(60))
        let environment = installation.environment()
        let lost = "push-fanout: what was printed could not be written to standard output, not all of it\n"

        let full = try await Self.shell("\"$1\" queue list --limit 3 > /dev/full", environment)
        #expect(full.exit == .code(1))
        #expect(full.error.hasSuffix(lost), "\(full.error)")
        // The connection must not become the standard output.
        let closed = try await Self.shell("\"$1\" queue list --json --limit 3 >&-", environment)
        #expect(closed.exit == .code(1))
        #expect(closed.error.hasSuffix(lost), "\(closed.error)")
        let version = try await Self.shell("\"$1\" version > /dev/full", environment)
        #expect(version.exit == .code(1))
        // With all three closed it still does what it is told.
        let blind = try await Self.shell("\"$1\" queue resume fcm <&- >&- 2>&-", environment)
        #expect(blind.exit == .code(1))
        #expect(try await installation.number("select count(*) from push.audit where action = 'resume'") == 1)

        let head = try await Self.shell("\"$1\" queue list --json --limit 100000 | head -n 1", environment)
        #expect(head.exit == .code(0))
        #expect(head.error.contains("go on with --from") || head.error.isEmpty, "\(head.error)")
        #expect(!head.error.contains("could not be written"))

        // As many as were asked for, where all of them match.
        let all = try await Self.shell("\"$1\" queue list --json --limit 22500 | wc -l", environment)
        #expect(all.output == "22500\n")
        #expect(all.error.hasPrefix("there are more; "), "\(all.error)")
        try await installation.remove()
    }
}
