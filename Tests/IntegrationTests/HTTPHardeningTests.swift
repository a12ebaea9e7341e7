import FoundationEssentials
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

/// What comes in from outside, at its worst, while notifications flow.
@Suite(.serialized) struct HTTPHardeningTests {
    private static let rows = 150

    /// Rows at a steady pace; from each one's commit to its push, in seconds, sorted.
    private static func latencies(_ installation: Installation, _ account: UUID) async throws -> [Double] {
        var committed: [UUID: Date] = [:]
        for _ in 0..<Self.rows {
            committed[try await installation.notify(account, kind: "invitation_received")] = Date()
            try await Task.sleep(for: .milliseconds(20))
        }
        var pushed: [String: Date] = [:]
        try await eventually {
            for push in installation.simulator.received() where push.status == 200 {
                pushed[push.notificationID ?? ""] = push.at
            }
            return committed.keys.allSatisfy { pushed[$0.text] != nil }
        }
        return committed.compactMap { id, time in pushed[id.text].map { max(0, $0.timeIntervalSince(time)) } }.sorted()
    }

    private static func mostly(_ sorted: [Double]) -> Double { sorted[sorted.count * 9 / 10] }

    @Test func `while hostile clients do their worst, notifications are delivered at their pace`() async throws {
        let installation = try await Installation.make()
        let worker = try await ServedWorker.start(installation)
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let known = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: known, count: 1) == ["accepted"])
        _ = try await Self.latencies(installation, account)
        let calm = try await Self.latencies(installation, account)

        let hostile = try ChildProcess(
            "/usr/bin/python3",
            arguments: [
                Fixtures.url("hostile_clients.py").path, "\(worker.port)", ServedWorker.secret, ServedWorker.token,
                known.text,
            ])
        try await hostile.waitForLine(containing: "at work")
        let troubled = try await Self.latencies(installation, account)
        #expect(try await worker.ask("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n").status == 200)
        #expect(try await worker.ask("GET /readyz HTTP/1.1\r\nHost: h\r\n\r\n").status == 200)
        #expect(try await worker.get("/api/v1/overview").status == 200)
        // Until those that trickle have been cut off, too.
        try await Task.sleep(for: .seconds(11))
        hostile.signal(15)
        #expect(try await hostile.waitForExit() == .code(0), "\(hostile.text(.error))")

        let (before, during) = (Self.mostly(calm), Self.mostly(troubled))
        #expect(during < 20 * max(before, 0.05), "nine of ten within \(before) s, \(during) s under attack")
        let report = try #require(hostile.lines.last { $0.stream == .output }).text
        let met = try JSONDecoder().decode([String: [String: Int]].self, from: Data(report.utf8))
        let expected: [String: Set<String>] = [
            "idle": ["held", "cut"], "slow head": ["cut"], "slow body": ["cut"], "large body": ["413", "cut"],
            "endless body": ["413", "cut"], "methods": ["400", "401", "405", "501", "cut"],
            "files": ["303", "400", "401", "404", "414", "431"], "authorization": ["401", "429"], "replay": ["202"],
        ]
        #expect(Set(met.keys) == Set(expected.keys))
        for (what, answers) in met {
            #expect(Set(answers.keys).isSubset(of: expected[what] ?? []), "\(what): \(answers)")
        }
        #expect((met["replay"]?["202"] ?? 0) > 100, "\(report)")
        // Replayed, and still pushed once.
        #expect(installation.simulator.received().count { $0.notificationID == known.text } == 1)
        try await installation.stop(worker.process)
    }
}
