import Cryptography
import DeliveryQueue
import FoundationEssentials
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

/// What goes wrong on the way, and must not lose a push.
@Suite(.serialized) struct TroubleTests {
    @Test func `a dead token is marked, its delivery discarded, the others get theirs`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        let dead = try await installation.phone(.ios, of: account, state: .unregistered)
        let gone = try await installation.phone(.android, of: account, state: .unregistered)
        let alive = try await installation.phone(.ios, of: account)
        let id = try await installation.notify(account, kind: "invitation_received")
        #expect(
            try await installation.ends(of: id, count: 3) == [
                "accepted", "discarded UNREGISTERED", "discarded Unregistered",
            ])
        let marked = try await installation.admin.query(
            "select id, push_token_invalid_reason from devices where push_token_invalidated_at is not null order by 2"
        ).map { row in "\(try row.uuid(0)) \(try row.text(1))" }
        #expect(marked == ["\(gone.id) UNREGISTERED", "\(dead.id) Unregistered"])
        let next = try await installation.notify(account, kind: "invitation_accepted")
        #expect(try await installation.ends(of: next, count: 1) == ["accepted"])
        #expect(installation.simulator.received().last?.deviceToken == alive.token)
        try await installation.stop(worker)
    }

    @Test func `a token of the other APNs environment is found there and corrected`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        let phone = try await installation.phone(.ios, of: account, environment: .development)
        let id = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: id, count: 1) == ["accepted"])
        let environment = try await installation.admin.query(
            "select apns_environment from devices where id = \(phone.id)"
        ).first?.text(0)
        #expect(environment == "production")
        try await installation.stop(worker)
    }

    @Test func `a 503 is tried again with the same ids until it is accepted`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        installation.simulator.setFaults(
            FaultPlan([FaultRule(.apns, count: 1, answer: .init(status: 503, reason: "Shutdown"))]))
        let id = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: id, count: 1, within: .seconds(90)) == ["accepted"])
        let received = installation.simulator.received()
        #expect(received.count == 2)
        #expect(Set(received.map(\.identity)).count == 1)
        #expect(Set(received.map(\.body)).count == 1)
        let outcomes = try await installation.admin.query(
            "select outcome from push.attempts where notification_id = \(id) order by finished_at"
        ).map { row in try row.text(0) }
        #expect(outcomes == ["retry", "accepted"])
        try await installation.stop(worker)
    }

    @Test func `a worker that is killed leaves nothing undone`() async throws {
        let installation = try await Installation.make()
        // Held answers, so that the first worker dies with everything in flight.
        installation.simulator.setFaults(FaultPlan([FaultRule(.apns, count: 40, silence: true)]))
        let first = try await installation.startWorker(["PUSH_LEASE": "6s"])
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let ids = try await (0..<40).asyncMap { _ in try await installation.notify(account, kind: "invitation_received")
        }
        try await installation.simulator.waitForReceived(count: 1, within: .seconds(90))
        first.signal(9)
        #expect(try await first.waitForExit() == .signal(9))
        installation.simulator.setFaults(FaultPlan())
        let second = try await installation.startWorker(["PUSH_LEASE": "6s"])
        for id in ids { #expect(try await installation.ends(of: id, count: 1, within: .seconds(90)) == ["accepted"]) }
        try await installation.waitUntilDrained()
        try await installation.stop(second, Expectations(unrecordedSends: 40))
    }

    @Test func `SIGTERM finishes what is in flight, hands back the rest, and the next worker sends it`() async throws {
        let installation = try await Installation.make()
        installation.simulator.setFaults(FaultPlan([FaultRule(.apns, delayMilliseconds: 300)]))
        let first = try await installation.startWorker(["PUSH_WINDOW": "5", "PUSH_CONNECTIONS": "1"])
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        _ = try await installation.admin.query(
            """
            insert into notifications (account_id, kind)
            select \(account), 'invitation_received' from generate_series(1, 200)
            """)
        try await installation.simulator.waitForReceived(count: 3, within: .seconds(90))
        first.signal(15)
        #expect(try await first.waitForExit() == .code(0))
        let sent = installation.simulator.received().count
        #expect(sent < 200)
        #expect(try await installation.number("select count(*) from push.batches") == 0)
        #expect(
            try await installation.number("select count(*) from push.attempts where state = 'accepted'") == sent)
        installation.simulator.setFaults(FaultPlan())
        let second = try await installation.startWorker()
        try await installation.waitUntilDrained()
        #expect(try await installation.number("select count(*) from push.attempts where state = 'accepted'") == 200)
        #expect(installation.simulator.received().count == 200)
        try await installation.stop(second)
    }

    @Test func `a database that restarts is survived without a restart of the worker`() async throws {
        let server = try await PrivatePostgres.start()
        let installation = try await Installation.make(server: server)
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let before = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: before, count: 1) == ["accepted"])
        try await server.restart(.immediate)
        let app = try await installation.database.connect()
        let after = try await app.query(
            "insert into notifications (account_id, kind) values (\(account), 'invitation_accepted') returning id"
        ).first?.uuid(0)
        try await eventually(within: .seconds(90)) {
            let count = try await app.query(
                "select count(*) from push.attempts where notification_id = \(after as UUID?) and state = 'accepted'")
            return try count.first?.int(0) == 1
        }
        worker.signal(15)
        #expect(try await worker.waitForExit() == .code(0))
        await app.close()
        await installation.simulator.stop()
        try await server.stop()
    }

    @Test func `a server whose default isolation is serializable makes two workers fail nothing`() async throws {
        let installation = try await Installation.make()
        try await installation.admin.query(
            """
            alter database \(identifier: installation.database.name)
                set default_transaction_isolation to 'serializable'
            """)
        let workers = [try await installation.startWorker(), try await installation.startWorker()]
        let account = try await installation.account()
        try await installation.phone(.android, of: account)
        let ids = try await (0..<100).asyncMap { _ in
            try await installation.notify(account, kind: "invitation_received")
        }
        for id in ids { #expect(try await installation.ends(of: id, count: 1) == ["accepted"]) }
        #expect(workers.allSatisfy { !$0.text(.error).contains("40001") })
        workers[1].signal(15)
        #expect(try await workers[1].waitForExit() == .code(0))
        try await installation.stop(workers[0])
    }

    @Test func `a wrong key pauses APNs, loses nothing and leaves FCM alone`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker(["APNS_TEAM_ID": "WRONGTEAM1"])
        let account = try await installation.account()
        let iPhone = try await installation.phone(.ios, of: account)
        try await installation.phone(.android, of: account)
        let id = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: id, count: 1) == ["accepted"])
        try await eventually {
            try await installation.number("select count(*) from push.providers where paused_until > now()") == 2
        }
        let waiting = try await installation.admin.query(
            "select device_id, attempts, reason from push.waiting"
        ).map { row in "\(try row.uuid(0)) \(try row.int(1)) \(try row.text(2))" }
        #expect(waiting == ["\(iPhone.id) 0 InvalidProviderToken"])
        #expect(
            try await installation.number("select count(*) from devices where push_token_invalidated_at is not null")
                == 0)
        let next = try await installation.notify(account, kind: "invitation_accepted")
        #expect(try await installation.ends(of: next, count: 1) == ["accepted"])
        try await installation.stop(worker, Expectations(isDrained: false))
    }
}

/// Keys and texts read anew by SIGHUP, while the worker runs.
@Suite(.serialized) struct ReloadTests {
    @Test func `a key that is replaced on disk is used after SIGHUP, and the pause it caused ends`() async throws {
        let installation = try await Installation.make()
        let directory = FileManager.default.temporaryDirectory.path + "/reload-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/key.p8"
        try Data(PrivateKey.generateP256().pem.utf8).write(to: URL(filePath: path))
        let worker = try await installation.startWorker(["APNS_KEY_FILE": path])
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let id = try await installation.notify(account, kind: "invitation_received")
        try await eventually {
            try await installation.number("select count(*) from push.waiting where reason = 'InvalidProviderToken'")
                == 1
        }
        let good = try String(contentsOfFile: installation.environment()["APNS_KEY_FILE"] ?? "", encoding: .utf8)
        try Data(good.utf8).write(to: URL(filePath: path))
        worker.signal(1)
        try await worker.waitForLine(containing: "read keys and language files anew", within: .seconds(90))
        #expect(try await installation.ends(of: id, count: 1, within: .seconds(90)) == ["accepted"])
        #expect(try await installation.number("select count(*) from push.providers where paused_until > now()") == 0)

        // An operator's pause is not the key's.
        try await installation.admin.query(ProviderPause.pause([.fcm], reason: "quota", by: "operator"))
        let position = worker.lines.count
        worker.signal(1)
        try await worker.waitForLine(containing: "read keys and language files anew", after: position)
        try await installation.waitForHeartbeats(2)
        #expect(try await installation.pauses() == ["fcm quota"])
        try await installation.resume()

        // A broken file changes nothing.
        try Data("nonsense".utf8).write(to: URL(filePath: path))
        worker.signal(1)
        try await worker.waitForLine(containing: "kept the old keys", within: .seconds(90))
        let next = try await installation.notify(account, kind: "invitation_accepted")
        #expect(try await installation.ends(of: next, count: 1) == ["accepted"])
        try await installation.stop(worker)
    }
}

/// Rows that no signal told of.
@Suite(.serialized) struct SweepTests {
    @Test func `rows written while the trigger was off are found within a minute`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        try await installation.phone(.android, of: account)
        try await installation.admin.run(script: "alter table notifications disable trigger push_enqueue")
        let id = try await installation.notify(account, kind: "invitation_received")
        try await installation.admin.run(script: "alter table notifications enable trigger push_enqueue")
        #expect(try await installation.ends(of: id, count: 1, within: .seconds(60)) == ["accepted"])
        let origin = try await installation.admin.query(
            "select origin from push.fanouts where notification_id = \(id)"
        ).first?.text(0)
        #expect(origin == "sweep")
        try await installation.stop(worker)
    }
}
