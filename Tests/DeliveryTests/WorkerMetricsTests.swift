import APNS
import DeliveryQueue
import FCM
import Fanout
import FoundationEssentials
import HTTPTransport
import Locking
import Observability
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

@testable import Delivery

@Suite struct MetricListTests {
    @Test func `names are unique and follow Prometheus' conventions`() {
        let names = WorkerMetrics.all.map(\.name)
        #expect(Set(names).count == names.count)
        for metric in WorkerMetrics.all {
            #expect(metric.name.hasPrefix("push_") || metric.name.hasPrefix("process_"))
            #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter), "\(metric.name)")
            #expect(metric.help.hasSuffix(".") && !metric.help.contains("\n"), "\(metric.name)")
            if case .histogram(let bounds) = metric.kind {
                #expect(metric.name.hasSuffix("_seconds"))
                #expect(bounds == bounds.sorted())
            }
            #expect(Set(metric.labels.map(\.name)).count == metric.labels.count)
        }
    }

    /// One observation of each, in a fixed text: what `promtool check metrics` and the check of rules and dashboard read.
    @Test func `an example of all metrics is what is stored`() {
        let registry = MetricsRegistry(WorkerMetrics.all)
        registry.update { update in
            for metric in WorkerMetrics.all {
                let labels = metric.labels.map { $0.values?.first ?? "1.0" }
                switch metric.kind {
                case .counter: update.add(metric, labels)
                case .gauge: update.set(metric, labels, 1)
                case .histogram: update.observe(metric, labels, 0.02)
                }
            }
        }
        Golden.expect(Array(registry.text().utf8), is: "metrics.prom")
    }

    /// What the documentation says is made from the list.
    @Test func `the table of metrics is what is stored`() {
        var text = """
            # Metrics

            What `/metrics` of a worker tells, made from the list in the code (`WorkerMetrics`) by its tests: do not edit it.
            Labels have closed sets of values; what is outside a set counts as `other`. Counters begin with the worker; gauges
            of the queue are the same for all workers of a database.

            | metric | type | labels | meaning |
            | --- | --- | --- | --- |

            """
        for metric in WorkerMetrics.all {
            let labels = metric.labels.map { "`\($0.name)`" }.joined(separator: " ")
            text += "| `\(metric.name)` | \(metric.kind.name) | \(labels) | \(metric.help) |\n"
        }
        Golden.expect(Array(text.utf8), is: "../../../deploy/prometheus/metrics.md")
    }

    @Test(
        arguments: [
            (nil, "none"), ("Unregistered", "Unregistered"), ("INVALID_ARGUMENT message.data", "INVALID_ARGUMENT"),
            ("status_503", "status_503"),
        ] as [(String?, String)])
    func `a reason's label is its first word`(_ reason: String?, _ label: String) {
        #expect(WorkerMetrics.reasonLabel(reason) == label)
        #expect(WorkerMetrics.reasons.contains(label))
    }

    @Test func `a reason nobody knows and a kind nobody knows are other`() {
        let registry = WorkerMetrics.registry()
        registry.update { update in
            update.add(WorkerMetrics.sends, ["fcm", "retry", "libcurl_77"])
            update.add(WorkerMetrics.sends, ["fcm", "retry", "Anna's phone"])
            update.add(WorkerMetrics.decisions, ["contact_removed", "unknown_kind"])
        }
        #expect(registry.value(WorkerMetrics.sends, ["fcm", "retry", "other"]) == 2)
        #expect(registry.value(WorkerMetrics.decisions, ["other", "unknown_kind"]) == 1)
        #expect(!registry.text().contains("Anna"))
    }

    @Test func `webhooks and answers are counted by closed sets`() {
        let registry = WorkerMetrics.registry()
        registry.countWebhook(.queued)
        registry.countRequest(.webhook, status: 202, duration: .milliseconds(3))
        registry.countRequest(.unknown, status: 999, duration: .zero)
        #expect(registry.value(WorkerMetrics.webhookRequests, ["queued"]) == 1)
        #expect(registry.value(WorkerMetrics.httpRequests, ["webhook", "2xx"]) == 1)
        #expect(registry.value(WorkerMetrics.httpRequests, ["unknown", "other"]) == 1)
        #expect(registry.value(WorkerMetrics.httpSeconds, ["webhook"]) == 1)
    }

    @Test func `every name of an outcome is in the list`() {
        let outcomes: [SendOutcome] = [
            .accepted(providerID: nil), .retry(.init(reason: "a")), .deviceDead(reason: "a", since: nil),
            .badDeviceToken(reason: "a"), .rejected(reason: "a"),
            .misconfigured(reason: "a", fix: "b", scope: .host), .unknown(reason: "a"),
        ]
        #expect(outcomes.map(\.name) == SendOutcome.names)
    }
}

@Suite(.serialized) struct WorkerMetricsTests {
    /// A worker over real connections: its numbers are those of the tables.
    @Test func `after real sends the counters equal what was recorded`() async throws {
        try await ProviderBench.run { bench in
            try await QueueDatabase.with { queue in
                let metrics = WorkerMetrics.registry()
                let lines = Locked<[String]>([])
                let transports = (apns: bench.apnsTransport(), fcm: bench.fcmTransport())
                let worker = Worker(
                    database: try PostgresConfiguration(queue.workerURL),
                    settings: DeliverySettings(source: queue.source) { _ in .seconds(86_400) }, policy: RetryPolicy(),
                    endpoints: [
                        .apnsProduction: .init(sender: try bench.apns(transports.apns), window: 100),
                        .fcm: .init(sender: try bench.fcm(transports.fcm), window: 100),
                    ], name: "test", version: "1.2.3",
                    log: Log(level: .info) { line in lines.withLock { $0.append(line) } }, metrics: metrics)
                #expect(!worker.status().isReady)
                let running = Task { try await worker.run() }
                let total = try await Self.fill(queue, bench)
                try await eventually {
                    let row = try await queue.owner.query(
                        """
                        select (select count(*) from push.fanouts), (select count(*) from push.attempts),
                            (select count(*) from push.batches)
                        """
                    ).single()
                    return try row.int(0) == total.notifications && row.int(1) == total.attempts && row.int(2) == 0
                }
                try await eventually { worker.status().isReady }
                let text = metrics.text()
                #expect(text.contains("\npush_worker_info{version=\"1.2.3\"} 1\n"))
                #expect(metrics.value(WorkerMetrics.ready) == 1)
                #expect(metrics.value(WorkerMetrics.listenerConnected) == 1)
                #expect(metrics.value(WorkerMetrics.connections, ["apns:production"]) ?? 0 >= 1)
                #expect(metrics.value(WorkerMetrics.tokenAge, ["fcm"]) ?? -1 >= 0)
                #expect(metrics.value(WorkerMetrics.tokenAge, ["apns:production"]) ?? -1 >= 0)
                try await Self.expectEqual(metrics, queue)
                worker.stop()
                try await running.value
                await transports.apns.shutdown(grace: .seconds(1))
                await transports.fcm.shutdown(grace: .seconds(1))
                // None per push.
                #expect(lines.withLock { $0.count } < 12, "\(lines.withLock { $0.joined() })")
            }
        }
    }

    /// Accounts with phones of each sort, then notifications to them: some pushed, some not wanted, some refused.
    private static func fill(_ queue: QueueDatabase, _ bench: ProviderBench) async throws -> (
        notifications: Int, attempts: Int
    ) {
        func phone(_ account: UUID, _ platform: PushModel.Platform, _ state: SimulatedDevice.State) async throws {
            let text = UUID().text.filter { $0 != "-" }
            let token = platform == .ios ? text + text : "android:" + text
            bench.simulator.register([
                SimulatedDevice(platform: platform == .ios ? .ios : .android, token: token, state: state)
            ])
            try await queue.device(of: account, platform: platform, token: token)
        }
        let both = try await queue.account()
        try await phone(both, .ios, .active)
        try await phone(both, .android, .active)
        let dead = try await queue.account()
        try await phone(dead, .ios, .unregistered)
        try await phone(dead, .android, .unregistered)
        // A registration from before the phones left: the marks are made.
        try await queue.owner.query("update devices set push_token_updated_at = now() - interval '1 day'")
        let malformed = try await queue.account()
        try await queue.device(of: malformed, token: "no token")
        let off = try await queue.account(invitations: false)
        try await phone(off, .ios, .active)
        try await queue.notifications(20, to: both)
        try await queue.notifications(1, to: dead)
        try await queue.notifications(2, to: malformed)
        try await queue.notifications(3, to: off)
        try await queue.notification(to: both, kind: "contact_removed")
        return (27, 20 * 2 + 2 + 2)
    }

    private static func expectEqual(_ metrics: MetricsRegistry, _ queue: QueueDatabase) async throws {
        for row in try await queue.owner.query("select kind, decision, count(*) from push.fanouts group by 1, 2") {
            #expect(
                metrics.value(WorkerMetrics.decisions, [try row.text(0), try row.text(1)]) == Double(try row.int(2)))
        }
        let tries = try await queue.owner.query(
            """
            select case platform when 'ios' then 'apns:production' else 'fcm' end, outcome,
                coalesce(split_part(reason, ' ', 1), 'none'), count(*)
            from push.attempts where number > 0 group by 1, 2, 3
            """)
        var sent = 0
        for row in tries {
            let labels = [try row.text(0), try row.text(1), try row.text(2)]
            #expect(metrics.value(WorkerMetrics.sends, labels) == Double(try row.int(3)), "\(labels)")
            sent += try row.int(3)
        }
        #expect(tries.count == 4)
        let requests = ["apns:production", "fcm"].compactMap { metrics.value(WorkerMetrics.requestSeconds, [$0]) }
        #expect(requests.reduce(0, +) == Double(sent))
        let ends = try await queue.owner.query(
            """
            select platform, state, case state when 'accepted' then 'none' else reason end, count(*)
            from push.attempts group by 1, 2, 3
            """)
        for row in ends {
            let labels = [try row.text(0), try row.text(1), try row.text(2)]
            #expect(metrics.value(WorkerMetrics.deliveries, labels) == Double(try row.int(3)), "\(labels)")
        }
        for (platform, endpoint) in [("ios", "apns:production"), ("android", "fcm")] {
            let accepted = try await queue.number(
                "select count(*) from push.attempts where state = 'accepted' and platform = \(platform)")
            #expect(metrics.value(WorkerMetrics.acceptedSeconds, [endpoint, "interactive"]) == Double(accepted))
            let marked = try await queue.number(
                "select count(*) from devices where push_token_invalidated_at is not null and platform = \(platform)")
            #expect(marked == 1)
            #expect(metrics.value(WorkerMetrics.tokensMarkedDead, [platform]) == Double(marked))
        }
        #expect(metrics.value(WorkerMetrics.databaseSeconds, ["record"]) ?? 0 > 0)
        #expect(metrics.value(WorkerMetrics.databaseSeconds, ["claim"]) ?? 0 > 0)
        #expect(metrics.value(WorkerMetrics.leases, ["batch"]) == 0)
    }

    @Test func `a token that was registered anew is counted as spared`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let device = try await queue.device(of: account, token: String(repeating: "ab", count: 32))
            let metrics = WorkerMetrics.registry()
            let recorder = Recorder()
            let settings = DeliverySettings(source: queue.source) { _ in .seconds(86_400) }
            let session = DatabaseSession(try PostgresConfiguration(queue.workerURL))
            let context = DeliveryContext(
                worker: WorkerIdentity(id: UUID(), lockKey: nil), settings: settings,
                planner: Planner { _ in .seconds(86_400) },
                resolution: Resolution(policy: RetryPolicy(), pauseForMisconfiguration: .seconds(60), endpoints: []),
                recorder: recorder, pauses: EndpointPauses(), pruneGuard: PruneGuard(), breakers: EndpointBreakers(),
                held: HeldLeases(lease: settings.lease), facts: session, log: Log(level: .error) { _ in },
                stopping: Locked(false), metrics: metrics,
                health: WorkerHealth(endpoints: [], largestBacklog: 1000, recorder: recorder))
            let writer = RecordWriter(context: context, session: session, wake: WakeSignal())
            for token in [String(repeating: "cd", count: 32), String(repeating: "ab", count: 32)] {
                var record = QueueRecord()
                record.deadTokens = [
                    DeadTokenEntry(deviceID: device, storedToken: token, reason: "Unregistered", since: nil)
                ]
                await writer.write(record)
            }
            #expect(metrics.value(WorkerMetrics.tokensSpared, ["token_changed"]) == 1)
            #expect(metrics.value(WorkerMetrics.tokensMarkedDead, ["ios"]) == 1)
            await session.close()
        }
    }

    @Test func `the queue's depth and age are those of the tables, and an empty queue says so`() async throws {
        try await QueueDatabase.with { queue in
            let worker = try await queue.connectWorker(settings: [("enable_seqscan", "off"), ("enable_sort", "off")])
            let metrics = WorkerMetrics.registry()
            metrics.set(try QueueGauges.decode(try await worker.query(QueueGauges.query)))
            #expect(metrics.value(WorkerMetrics.queueDepth, ["outbox", "interactive", "any"]) == 0)
            #expect(metrics.value(WorkerMetrics.queueDepth, ["waiting", "bulk", "android"]) == 0)
            #expect(metrics.value(WorkerMetrics.oldestWaiting, ["outbox", "interactive", "any"]) == nil)

            let account = try await queue.account()
            try await queue.notifications(3, to: account)
            try await queue.notifications(2, to: account, kinds: ["system"])
            try await queue.owner.query(
                "update push.outbox set enqueued_at = now() - interval '90 seconds' where lane = 2")
            try await queue.owner.query(
                """
                insert into push.batches (worker_id, notification_ids, lanes, rescues, leased_until)
                values (gen_random_uuid(), array[gen_random_uuid(), gen_random_uuid()], '{0,1}', 0, now())
                """)
            try await queue.owner.query(
                """
                insert into push.waiting (delivery_id, notification_id, device_id, account_id, platform, kind, endpoint,
                    attempts, reason, expires_at, scheduled_at, lease_token, parked_at)
                select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), w.platform, w.kind,
                    w.endpoint, 1, 'status_503', now(), now() + w.due, w.token, now() - interval '10 minutes'
                from (values ('ios', 'system', 'apns:production', interval '1 minute', null::uuid),
                    ('ios', 'system', 'apns:development', interval '-1 minute', null),
                    ('android', 'contact_updated', 'fcm', interval '1 minute', gen_random_uuid())
                ) w (platform, kind, endpoint, due, token)
                """)
            metrics.set(try QueueGauges.decode(try await worker.query(QueueGauges.query)))
            for (labels, count) in [
                (["outbox", "interactive", "any"], 3), (["outbox", "normal", "any"], 0),
                (["outbox", "bulk", "any"], 2),
                (["batch", "interactive", "any"], 1), (["batch", "normal", "any"], 1), (["batch", "bulk", "any"], 0),
                (["waiting", "bulk", "ios"], 2), (["leased", "normal", "android"], 1),
                (["waiting", "normal", "android"], 0),
            ] {
                #expect(metrics.value(WorkerMetrics.queueDepth, labels) == Double(count), "\(labels)")
            }
            let bulk = try #require(metrics.value(WorkerMetrics.oldestWaiting, ["outbox", "bulk", "any"]))
            #expect((90..<150).contains(bulk))
            let waiting = try #require(metrics.value(WorkerMetrics.oldestWaiting, ["waiting", "bulk", "ios"]))
            #expect((600..<660).contains(waiting))
            await worker.close()
        }
    }
}
