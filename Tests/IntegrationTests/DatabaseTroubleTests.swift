import FoundationEssentials
import Glibc
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

/// The way to the database, and the database itself, as they fail.
@Suite(.serialized) struct DatabaseTroubleTests {
    /// By their last statement: LISTEN, or the proof of life that follows it.
    private static func listeners(_ installation: Installation) async throws -> [Int] {
        try await installation.admin.query(
            """
            select pid from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and (
                query ilike 'listen %push_outbox%' or query ilike 'select current_setting(''transaction_read_only'')%')
            """
        ).map { row in try row.int(0) }
    }

    @Test func `a network that swallows everything is survived`() async throws {
        let installation = try await Installation.make()
        let (proxy, environment) = try await installation.databaseProxy()
        let worker = try await installation.startWorker(environment)
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let before = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: before, count: 1) == ["accepted"])

        proxy.blackhole()
        let meanwhile = try await installation.notify(account, kind: "invitation_received")
        // The worker's next statement must be caught in it, so that its end is one that nobody tells of.
        try await Task.sleep(for: .seconds(3))
        proxy.restore()
        #expect(try await installation.ends(of: meanwhile, count: 1, within: .seconds(90)) == ["accepted"])
        try await eventually(within: .seconds(90)) { try await Self.listeners(installation).count == 1 }
        try await installation.stop(worker)
        proxy.stop()
    }

    @Test func `a listener that hears nothing costs the time to the next poll, and is replaced`() async throws {
        // Of its own, as a session of it is held up.
        let server = try await PrivatePostgres.start()
        let installation = try await Installation.make(server: server)
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        try await eventually { try await Self.listeners(installation).count == 1 }
        let old = try #require(try await Self.listeners(installation).first)
        #expect(kill(pid_t(old), SIGSTOP) == 0)
        for _ in 0..<3 {
            let id = try await installation.notify(account, kind: "invitation_received")
            #expect(try await installation.ends(of: id, count: 1, within: .seconds(90)) == ["accepted"])
        }
        try await eventually(within: .seconds(90)) {
            try await Self.listeners(installation).contains { $0 != old }
        }
        #expect(kill(pid_t(old), SIGCONT) == 0)
        try await eventually { try await Self.listeners(installation).count == 1 }
        try await installation.stop(worker)
        try await server.stop()
    }

    @Test func `a listener that is ended twenty times leaves one connection`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        var last: Int?
        for _ in 0..<20 {
            try await eventually {
                let listeners = try await Self.listeners(installation)
                #expect(listeners.count <= 1)
                guard let pid = listeners.first, pid != last else { return false }
                last = pid
                return try await installation.admin.query("select pg_terminate_backend(\(pid)::integer)").count == 1
            }
        }
        try await eventually { try await Self.listeners(installation).first.map { $0 != last } ?? false }
        let sessions = try await installation.number(
            "select count(*) from pg_stat_activity where usename = \(installation.workerRole)")
        #expect(sessions <= 4)
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let id = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: id, count: 1) == ["accepted"])
        #expect(try await Self.listeners(installation).count == 1)
        try await installation.stop(worker)
    }

    @Test func `a database that becomes read-only and writable again loses nothing and sends nothing twice`()
        async throws
    {
        let server = try await PrivatePostgres.start()
        let installation = try await Installation.make(server: server)
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        // Answers that come late, so that outcomes are to be written when it has become read-only.
        installation.simulator.setFaults(FaultPlan([FaultRule(.apns, delayMilliseconds: 1000)]))
        try await installation.admin.run(script: "set default_transaction_read_only = off")
        for _ in 0..<20 { try await installation.notify(account, kind: "invitation_received") }
        try await installation.simulator.waitForReceived(count: 1, within: .seconds(90))
        try await installation.admin.query("alter system set default_transaction_read_only = on")
        try await installation.admin.query("select pg_reload_conf()")
        for _ in 0..<20 { try await installation.notify(account, kind: "invitation_accepted") }
        try await worker.waitForLine(containing: "recording failed", within: .seconds(90))
        installation.simulator.setFaults(FaultPlan())
        try await installation.admin.query("alter system reset default_transaction_read_only")
        try await installation.admin.query("select pg_reload_conf()")
        try await eventually(within: .seconds(90)) {
            try await installation.number("select count(*) from push.attempts where state = 'accepted'") == 40
        }
        try await installation.waitUntilDrained()
        #expect(installation.simulator.received().count == 40)
        try await installation.stop(worker)
        try await server.stop()
    }

    /// The rest of a batch is put aside when its lease is over, as another worker may have it. Here none has: the database
    /// is away from all, and when it is back the batch is still this worker's.
    @Test func `what was not sent while the database was away longer than the lease is sent later`() async throws {
        let installation = try await Installation.make()
        let (proxy, environment) = try await installation.databaseProxy()
        // One request at a time, each slow: most of the batch is still to be sent when its lease ends.
        installation.simulator.setFaults(FaultPlan([FaultRule(.apns, count: 3, delayMilliseconds: 1000)]))
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        _ = try await installation.admin.query(
            """
            insert into notifications (account_id, kind)
            select \(account), 'invitation_received' from generate_series(1, 20)
            """)
        let worker = try await installation.startWorker(
            environment.merging(["PUSH_LEASE": "3s", "PUSH_WINDOW": "1", "PUSH_CONNECTIONS": "1"]) { $1 })
        try await installation.simulator.waitForReceived(count: 1, within: .seconds(90))
        proxy.refuse()
        proxy.cut()
        // Longer than the lease and the time a pipeline waits for its turn.
        try await Task.sleep(for: .seconds(9))
        proxy.restore()
        try await eventually(within: .seconds(90)) {
            try await installation.number("select count(*) from push.attempts where state = 'accepted'") == 20
        }
        try await installation.waitUntilDrained()
        try await installation.stop(worker)
        proxy.stop()
    }

    enum Death: CaseIterable { case refuses, swallows }

    @Test(arguments: Death.allCases)
    func `the living one of two hosts is found, also when they change places`(death: Death) async throws {
        let installation = try await Installation.make()
        let (dead, _) = try await installation.databaseProxy()
        let (living, _) = try await installation.databaseProxy()
        if death == .refuses { dead.refuse() } else { dead.blackhole() }
        let worker = try await installation.startWorker([
            "DATABASE_URL": "postgresql://\(installation.workerRole)@127.0.0.1:\(dead.port),127.0.0.1:\(living.port)/"
                + "\(installation.database.name)?connect_timeout=2"
        ])
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let before = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: before, count: 1) == ["accepted"])
        dead.restore()
        if death == .refuses {
            living.refuse()
            living.cut()
        } else {
            living.blackhole()
        }
        let after = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: after, count: 1, within: .seconds(90)) == ["accepted"])
        // Sessions that are caught in it would hold up the end of the test, not the worker's work.
        living.restore()
        try await installation.stop(worker)
        dead.stop()
        living.stop()
    }

    @Test func `a worker that starts while the database is cut off works when it is back, and listens`() async throws {
        let installation = try await Installation.make()
        let (proxy, environment) = try await installation.databaseProxy()
        proxy.refuse()
        let worker = try ChildProcess(
            BuiltProducts.url("push-fanout").path, arguments: ["run"],
            environment: installation.environment(environment))
        try await worker.waitForLine(containing: "waiting for the database", within: .seconds(90))
        proxy.restore()
        try await eventually(within: .seconds(90)) { try await Self.listeners(installation).count == 1 }
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let id = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: id, count: 1) == ["accepted"])
        try await installation.stop(worker)
        proxy.stop()
    }
}
