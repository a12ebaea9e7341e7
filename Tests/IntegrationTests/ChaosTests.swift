import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// Everything at once: workers die, the database restarts, connections break, providers fail, and rows keep coming.
///
/// `CHAOS_SECONDS` and `CHAOS_SEED` set how long and which; `deploy/chaos` sets them.
@Suite(.serialized) struct ChaosTests {
    @Test func `nothing is lost in chaos, and no phone is blamed`() async throws {
        let environment = ProcessInfo.processInfo.environment
        let seconds = environment["CHAOS_SECONDS"].flatMap(Int.init) ?? 30
        let seed = environment["CHAOS_SEED"].flatMap(UInt64.init) ?? 1
        let chaos = try await Chaos.make(seed: seed)
        var report = ChaosReport(seed: seed)
        do {
            report.drained = try await chaos.run(for: .seconds(seconds), drainLimit: .seconds(150))
        } catch {
            report.broken.append("\(error)")
        }
        report.seconds = seconds
        report.broken += await chaos.stopWorkers()
        let installation = try await chaos.installation.reconnected()
        try await report.fill(chaos, installation)
        if let path = environment["CHAOS_LOG"] { try Data(chaos.log.utf8).write(to: URL(filePath: path)) }
        print(report.summary)
        #expect(report.broken == [], "seed \(seed)")
        try await installation.checkInvariants(Expectations(unrecordedSends: .max, graceAfterMark: 5))
        await installation.admin.close()
        try await chaos.remove()
    }
}
