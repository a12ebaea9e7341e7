import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

/// Through PgBouncer, whose transactions may each land on another server session.
@Suite(.serialized) struct PoolerTests {
    private func installation(
        behind mode: PgBouncer.Mode
    ) async throws -> (Installation, PgBouncer, [String: String]) {
        let installation = try await Installation.make()
        let pooler = try await PgBouncer.start(
            mode, server: try await installation.databaseSocket().directory, users: [installation.workerRole])
        let url = "postgresql://\(installation.workerRole)@/\(installation.database.name)?\(pooler.parameters)"
        return (installation, pooler, ["DATABASE_URL": url])
    }

    @Test func `in transaction mode the worker says once that LISTEN does not work, and works by polling`() async throws
    {
        let (installation, pooler, environment) = try await self.installation(behind: .transaction)
        let worker = try await installation.startWorker(environment)
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        try await installation.phone(.android, of: account)
        for _ in 0..<5 {
            let id = try await installation.notify(account, kind: "invitation_received")
            #expect(try await installation.ends(of: id, count: 2) == ["accepted", "accepted"])
        }
        let said = worker.lines.filter { $0.text.contains("behind a transaction pooler") }
        #expect(said.count == 1)
        #expect(said.first?.text.contains("session-mode connection") == true)
        // No advisory lock: it would belong to whoever gets the server session next.
        #expect(try await installation.number("select count(*) from push.workers where lock_key is null") == 1)
        #expect(try await installation.number("select count(*) from push.workers where listening") == 0)
        try await installation.stop(worker)
        try await pooler.stop()
    }

    @Test func `in transaction mode the settings of what people read stay with it`() async throws {
        let (installation, pooler, environment) = try await self.installation(behind: .transaction)
        let token = "operator-token-of-this-test"
        let worker = try await installation.startWorker(environment.merging(["PUSH_OPERATOR_TOKEN": token]) { $1 })
        let port = try await ServingProcessTests.port(of: worker)
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        for _ in 0..<10 {
            for path in ["overview", "audit", "deliveries", "database"] {
                let client = try RawClient(port: port)
                client.send("GET /api/v1/\(path) HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\n\r\n")
                #expect(try await client.answer().status == 200)
            }
            #expect(try await installation.command(["queue", "stats"], environment).exit == .code(0))
            // A server session that was left read-only would refuse the worker's writes.
            let id = try await installation.notify(account, kind: "invitation_received")
            #expect(try await installation.ends(of: id, count: 1) == ["accepted"])
        }
        #expect(!worker.text(.error).contains("25006"))
        try await installation.stop(worker)
        try await pooler.stop()
    }

    @Test func `in transaction mode a killed worker's batch is rescued when its lease ends`() async throws {
        let (installation, pooler, environment) = try await self.installation(behind: .transaction)
        let leased = environment.merging(["PUSH_LEASE": "4s"]) { $1 }
        installation.simulator.setFaults(FaultPlan([FaultRule(.apns, silence: true)]))
        let first = try await installation.startWorker(leased)
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let id = try await installation.notify(account, kind: "invitation_received")
        try await installation.simulator.waitForReceived(count: 1, within: .seconds(90))
        first.signal(9)
        try await first.waitForExit()
        installation.simulator.setFaults(FaultPlan())
        let second = try await installation.startWorker(leased)
        #expect(try await installation.ends(of: id, count: 1, within: .seconds(90)) == ["accepted"])
        try await installation.stop(second, Expectations(unrecordedSends: 1))
        try await pooler.stop()
    }

    @Test func `check reports the pooler with what to do`() async throws {
        let (installation, pooler, environment) = try await self.installation(behind: .transaction)
        let result = try await installation.command(["check"], environment)
        #expect(result.exit == .code(1))
        #expect(result.output.contains("LISTEN is accepted but no notification arrives (a transaction pooler?)"))
        #expect(result.output.contains("use the direct or session-mode port"))
        try await installation.remove()
        try await pooler.stop()
    }

    @Test func `in session mode the worker listens`() async throws {
        let (installation, pooler, environment) = try await self.installation(behind: .session)
        // A poll so slow that only a notification can be in time.
        let worker = try await installation.startWorker(environment.merging(["PUSH_POLL": "60s"]) { $1 })
        try await eventually {
            try await installation.number("select count(*) from push.workers where listening") == 1
        }
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let id = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: id, count: 1) == ["accepted"])
        #expect(!worker.lines.contains { $0.text.contains("transaction pooler") })
        try await installation.stop(worker)
        try await pooler.stop()
    }
}
