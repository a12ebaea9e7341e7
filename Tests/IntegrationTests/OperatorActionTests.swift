import DeliveryQueue
import FoundationEssentials
import Locking
import Postgres
import PushModel
import PushSimulator
import QueueInspection
import TestSupport
import Testing

/// Operators who pause, resume, cancel and retry at random, all at once, while workers send and providers falter.
@Suite(.serialized) struct OperatorActionTests {
    /// What the operators did, for the comparison with the audit.
    private struct Done: Equatable {
        var audited = 0
        var changed = 0
        var actions: [String: Int] = [:]
    }

    private static func operate(
        _ actions: QueueActions, _ installation: Installation, name: String, until isOver: Locked<Bool>
    ) async throws -> Done {
        let eyes = try await installation.database.connect()
        var done = Done()
        while !isOver.withLock({ $0 }) {
            switch Int.random(in: 0..<10) {
            case 0:
                let endpoint: ProviderEndpoint = Bool.random() ? .fcm : .apnsProduction
                try await actions.pause([endpoint], reason: "a test", actor: name)
                (done.audited, done.actions["pause", default: 0]) = (
                    done.audited + 1, done.actions["pause", default: 0] + 1
                )
            case 1, 2, 3:
                try await actions.resume([.fcm, .apnsProduction], actor: name)
                (done.audited, done.actions["resume", default: 0]) =
                    (done.audited + 2, done.actions["resume", default: 0] + 2)
            case 4, 5, 6:
                // What waits, what runs, what has ended, and notifications just written.
                let ids = try await Self.ids(
                    """
                    (select delivery_id from push.waiting order by random() limit 3)
                    union (select delivery_id from push.attempts order by random() limit 1)
                    union (select notification_id from push.outbox order by random() limit 2)
                    """, eyes)
                let result = try await actions.cancel(ids, actor: name)
                done.audited += ids.count
                done.actions["cancel", default: 0] += ids.count
                done.changed += result.changed
            default:
                let ids = try await Self.ids(
                    """
                    (select delivery_id from push.attempts where state in ('cancelled', 'discarded') order by random() limit 3)
                    union (select delivery_id from push.waiting order by random() limit 3)
                    union (select notification_id from push.fanouts order by random() limit 1)
                    """, eyes)
                let result = try await actions.retry(ids, actor: name)
                done.audited += ids.count
                done.actions["retry", default: 0] += ids.count
                done.changed += result.changed
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 5...40)))
        }
        await eyes.close()
        return done
    }

    private static func ids(_ query: PostgresQuery, _ connection: PostgresConnection) async throws -> [UUID] {
        try await connection.query(query).map { row throws(PostgresError) in try row.uuid(0) }
    }

    @Test func `operators at random lose nothing, and nothing that was cancelled is sent`() async throws {
        let installation = try await Installation.make()
        let workers = [try await installation.startWorker(), try await installation.startWorker()]
        installation.simulator.setFaults(
            FaultPlan([
                FaultRule(.apns, share: 0.02, closeConnection: .afterHandling),
                FaultRule(.apns, share: 0.3, answer: FaultRule.Answer(status: 503, reason: "ServiceUnavailable")),
                FaultRule(.fcm, share: 0.1, answer: FaultRule.Answer(status: 400, reason: "INVALID_ARGUMENT")),
                FaultRule(.fcm, share: 0.3, answer: FaultRule.Answer(status: 503, reason: "UNAVAILABLE")),
            ]))
        var accounts: [UUID] = []
        for _ in 0..<30 {
            let account = try await installation.account()
            try await installation.phone(.ios, of: account)
            try await installation.phone(.android, of: account)
            accounts.append(account)
        }
        let actions = QueueActions(
            source: try SourceSchema("public"),
            database: try PostgresConfiguration(installation.database.url(role: installation.workerRole))
        ) { _ in .seconds(28 * 86_400) }

        let isOver = Locked(false)
        let done = try await withThrowingTaskGroup(of: Done.self) { group in
            for number in 1...4 {
                group.addTask {
                    try await Self.operate(actions, installation, name: "operator \(number)", until: isOver)
                }
            }
            for _ in 0..<300 {
                try await installation.notify(accounts[Int.random(in: 0..<30)], kind: "invitation_received")
                try await Task.sleep(for: .milliseconds(40))
            }
            isOver.withLock { $0 = true }
            var all = Done()
            for try await one in group {
                all.audited += one.audited
                all.changed += one.changed
                all.actions.merge(one.actions, uniquingKeysWith: +)
            }
            return all
        }

        installation.simulator.setFaults(FaultPlan())
        try await actions.resume(ProviderEndpoint.allCases, actor: "the end")
        // What waits for its back-off is due now.
        try await eventually {
            let waiting = try await Self.ids("select delivery_id from push.waiting limit 1000", installation.admin)
            if !waiting.isEmpty { _ = try await actions.retry(waiting, actor: "the end") }
            return try await installation.number(
                """
                select (select count(*) from push.outbox) + (select count(*) from push.batches)
                    + (select count(*) from push.waiting)
                """) == 0
        }

        // Accepted after a cancellation only if it was put back in between.
        let broken = try await Self.ids(
            """
            select a.delivery_id from push.attempts a
            join push.attempts c on c.delivery_id = a.delivery_id and c.state = 'cancelled'
            where a.state = 'accepted' and c.finished_at <= a.finished_at and not exists (
                select from push.attempts r
                where r.delivery_id = a.delivery_id and r.outcome = 'retried'
                    and r.finished_at between c.finished_at and a.finished_at)
            """, installation.admin)
        #expect(broken == [])
        // Before one of them, it ended once: nothing is cancelled that was accepted.
        #expect(
            try await installation.number(
                """
                select count(*) from push.attempts a
                join push.attempts c on c.delivery_id = a.delivery_id and c.state = 'cancelled' and c.outcome = 'cancelled'
                where a.state = 'accepted' and c.finished_at > a.finished_at
                """) == 0)
        // Nobody gets what was cancelled before it was decided.
        #expect(
            try await installation.number(
                """
                select count(*) from push.fanouts f join push.attempts a on a.notification_id = f.notification_id
                where f.decision = 'cancelled'
                """) == 0)
        // An entry for each of what an operator asked for, with what came of it.
        let audited = try await installation.admin.query(
            """
            select action, count(*), sum(changed) filter (where action in ('retry', 'cancel')) from push.audit
            where actor like 'operator %' group by action
            """)
        var told = Done()
        for row in audited {
            told.actions[try row.text(0)] = try row.int(1)
            told.audited += try row.int(1)
            told.changed += try row.optionalInt(2) ?? 0
        }
        #expect(told == done)
        #expect(done.changed > 50, "too little happened to prove anything: \(done)")

        workers[1].signal(15)
        #expect(try await workers[1].waitForExit() == .code(0))
        try await installation.stop(workers[0])
    }
}
