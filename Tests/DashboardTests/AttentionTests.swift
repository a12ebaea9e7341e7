import PushModel
import QueueInspection
import TestSupport
import Testing

@testable import Dashboard

struct AttentionTests {
    @Test func `a sound queue needs nobody`() {
        #expect(Attention.findings(in: SampleValues.overview(isTroubled: false)) == [])
    }

    @Test func `trouble comes first`() {
        let findings = Attention.findings(in: SampleValues.overview(isTroubled: true))
        #expect(findings.map(\.severity) == findings.map(\.severity).sorted())
        #expect(
            findings.first?.sentence == "APNs production is paused: Key refused; 4,210 wait for it. Nothing is lost.")
        #expect(findings.count == 7)
    }

    @Test func `without a worker that is what is said`() {
        var overview = SampleValues.overview(isTroubled: false)
        overview.workers.removeAll { $0.condition == .running }
        #expect(Attention.findings(in: overview).map(\.sentence) == ["No worker is running, so nothing is being sent."])
    }

    @Test(arguments: [(59.0, Attention.Severity?.none), (61.0, .watch), (301.0, .trouble)])
    func `an old outbox is told by its age`(seconds: Double, expected: Attention.Severity?) {
        var overview = SampleValues.overview(isTroubled: false)
        overview.oldestWaitingSeconds = seconds
        #expect(Attention.findings(in: overview).first?.severity == expected)
    }

    @Test func `what a pause holds back is told once, by the pause`() {
        var overview = SampleValues.overview(isTroubled: true)
        overview.endpoints = overview.endpoints.map { depth in
            var depth = depth
            depth.oldestDueSeconds = depth.endpoint == .apnsProduction ? 900 : nil
            return depth
        }
        #expect(!Attention.findings(in: overview).contains { $0.sentence.contains("should have gone out") })
    }

    @Test(arguments: [(19, 10, false), (20, 80, true), (20, 81, false), (500, 0, true)])
    func `refusals are told beyond a fifth`(discarded: Int, accepted: Int, isTold: Bool) {
        var overview = SampleValues.overview(isTroubled: false)
        overview.series = MinuteSeries(minutes: [
            MinuteCounts(minute: SampleValues.ago(60), accepted: accepted, discarded: discarded)
        ])
        #expect(Attention.findings(in: overview).isEmpty == !isTold)
    }

    @Test func `a short rest of a provider is no trouble`() {
        var overview = SampleValues.overview(isTroubled: false)
        overview.providers[2].pause = .init(until: SampleValues.ago(-8), by: .worker, reason: "UNAVAILABLE", fix: nil)
        #expect(Attention.findings(in: overview).map(\.severity) == [.watch])
    }
}

struct DatabaseFindingsTests {
    private func tones(_ change: (inout DatabaseHealth) -> Void) -> [Parts.Tone] {
        var health = SampleValues.health(isTroubled: false)
        change(&health)
        return DatabaseFindings(health: health).all.map(\.tone).filter { $0 != .good }
    }

    @Test func `a sound database is fine in everything`() {
        #expect(tones { _ in } == [])
    }

    @Test func `each trouble is told`() {
        #expect(tones { $0.role = .standby } == [.bad])
        #expect(tones { $0.isReadOnly = true } == [.bad])
        #expect(tones { $0.transactions[0].seconds = 61 } == [.warn])
        #expect(tones { $0.transactions[0].seconds = 901 } == [.bad])
        #expect(tones { $0.tables[0].deadRows = 10_000 } == [.warn])
        #expect(tones { $0.tables[0].deadRows = 100_000 } == [.bad])
        #expect(tones { $0.notifyQueueUsage = 0.06 } == [.warn])
        #expect(tones { $0.notifyQueueUsage = 0.6 } == [.bad])
        #expect(tones { $0.claim.isGood = false } == [.warn])
        #expect(tones { $0.claim.milliseconds = 51 } == [.warn])
        #expect(tones { health in health.partitions.removeAll { $0.day > SampleValues.now } } == [.warn])
        #expect(tones { $0.partitions = [] } == [.bad])
        #expect(
            tones {
                $0.horizon = [
                    HorizonHolder(kind: .slot, name: "s", transactionsBehind: 2_000_000, seconds: nil, fix: "Drop it.")
                ]
            } == [.bad])
    }

    @Test func `what cannot be seen is not called fine`() {
        var health = SampleValues.health(isTroubled: false)
        (health.transactions, health.seesAllSessions) = ([], false)
        let finding = DatabaseFindings(health: health).transactions
        #expect(finding.tone == .still)
        #expect(finding.advice?.contains("pg_read_all_stats") == true)
        // By how far it is behind a session is seen all the same.
        let holder = HorizonHolder(
            kind: .session, name: "pid 42, psql", transactionsBehind: 200_000, seconds: nil, fix: "End it.")
        #expect(tones { ($0.transactions, $0.seesAllSessions, $0.horizon) = ([], false, [holder]) } == [.still, .warn])
        #expect(tones { $0.horizon = [holder] } == [])
    }

    @Test func `the holder of the oldest transaction is named`() {
        let finding = DatabaseFindings(health: SampleValues.health(isTroubled: true)).transactions
        #expect(finding.sentence.contains("pid 4711"))
        #expect(finding.sentence.contains("does nothing in it"))
        #expect(finding.advice?.contains("pg_terminate_backend(4711)") == true)
    }
}
