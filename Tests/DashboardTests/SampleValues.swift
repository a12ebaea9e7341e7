import FoundationEssentials
import PushModel
import QueueInspection
import TestSupport

@testable import Dashboard

/// Values as an operator would meet them, with hostile text wherever text from outside can stand.
enum SampleValues {
    static let now = Sample.now
    static let hostile = #"<img src=x onerror=alert(1)> "Bobby' & \#u{202E}co"#

    static func ago(_ seconds: Double) -> Date { self.now.addingTimeInterval(-seconds) }

    // MARK: - Overview

    static func overview(isTroubled: Bool) -> Overview {
        let minutes = (0..<60).map { index -> MinuteCounts in
            let wave = 900 + index * 7 % 430 + (index > 40 ? 300 : 0)
            let isBroken = isTroubled && index > 50
            return MinuteCounts(
                minute: self.ago(Double(59 - index) * 60), decisions: wave + 120,
                accepted: index == 59 ? wave / 3 : isBroken ? wave / 4 : wave,
                discarded: isBroken ? wave / 3 : index % 5,
                cancelled: index % 7, retries: isBroken ? 240 : index % 9 == 0 ? 12 : 0)
        }
        return Overview(
            readAt: self.now,
            lanes: Lane.allCases.map {
                LaneDepth(
                    lane: $0, count: CappedCount(counted: isTroubled && $0 == .bulk ? 20_000 : $0 == .normal ? 14 : 0),
                    oldestSeconds: isTroubled && $0 == .bulk ? 400 : $0 == .normal ? 0.34 : nil)
            },
            endpoints: ProviderEndpoint.allCases.map {
                EndpointDepth(
                    endpoint: $0, count: CappedCount(counted: $0 == .apnsProduction && isTroubled ? 4210 : 3),
                    due: CappedCount(counted: $0 == .fcm && isTroubled ? 37 : 0),
                    oldestDueSeconds: $0 == .fcm && isTroubled ? 184 : nil)
            }, running: 128, oldestWaitingSeconds: isTroubled ? 400 : 0.34, series: MinuteSeries(minutes: minutes),
            latency: LatencySample(count: 500, median: 0.21, p95: 0.84, longest: 3.2),
            providers: [
                ProviderState(
                    endpoint: .apnsProduction,
                    pause: isTroubled
                        ? .init(
                            until: self.ago(-240), by: .worker, reason: "InvalidProviderToken",
                            fix: "check that APNS_KEY, APNS_KEY_ID and APNS_TEAM_ID belong together, and the clock")
                        : nil, changedAt: self.ago(7200)),
                ProviderState(
                    endpoint: .apnsDevelopment,
                    pause: isTroubled
                        ? .init(
                            until: nil, by: .person("cli:\(self.hostile)"), reason: "testing \(self.hostile)", fix: nil)
                        : nil, changedAt: self.ago(90)),
                ProviderState(endpoint: .fcm, pause: nil, changedAt: nil),
            ],
            workers: [
                WorkerState(
                    id: Sample.id(1), name: "push-1", version: "1.4.0", startedAt: self.ago(86_400 * 3),
                    heartbeatAt: self.ago(2), stoppedAt: nil, isListening: !isTroubled, running: 128,
                    condition: .running),
                WorkerState(
                    id: Sample.id(2), name: "push-2 \(self.hostile)", version: "1.4.0", startedAt: self.ago(86_400),
                    heartbeatAt: self.ago(75), stoppedAt: nil, isListening: true, running: isTroubled ? 256 : 0,
                    condition: .lost),
                WorkerState(
                    id: Sample.id(3), name: "push-0", version: "1.3.2", startedAt: self.ago(90_000),
                    heartbeatAt: self.ago(3700), stoppedAt: self.ago(3700), isListening: false, running: 0,
                    condition: .stopped),
            ])
    }

    // MARK: - Deliveries

    static func row(
        _ number: UInt8, _ state: DeliveryState, reason: String? = nil, platform: Platform? = .ios,
        kind: String? = "contact_updated", attempt: Int = 1
    ) -> DeliveryRow {
        DeliveryRow(
            id: Sample.id(number), notificationID: Sample.id(1), accountID: Sample.id(0xA0), deviceID: Sample.id(0xD0),
            platform: platform, kind: kind, state: state, reason: reason, attempt: attempt,
            scheduledAt: state == .available ? self.ago(-95) : nil,
            finishedAt: state.isFinal ? self.ago(Double(number) * 40) : nil, time: self.ago(Double(number) * 40))
    }

    static let rows = [
        row(1, .running, platform: nil, kind: nil, attempt: 0),
        row(2, .accepted), row(3, .available, reason: "ServiceUnavailable", attempt: 2),
        row(4, .discarded, reason: "Unregistered"),
        row(5, .discarded, reason: "INVALID_ARGUMENT message.data", platform: .android, kind: "system"),
        row(6, .cancelled, reason: "already_read", platform: .android, kind: "circle_changed", attempt: 0),
        row(7, .discarded, reason: SampleValues.hostile, kind: SampleValues.hostile, attempt: 3),
        row(8, .accepted, platform: .android, kind: "invitation_received"),
    ]

    static let filter = DeliveryFilter(account: Sample.id(0xA0), state: .discarded, reason: SampleValues.hostile)

    static let listing = DeliveryListing(
        filter: SampleValues.filter,
        page: DeliveryPage(
            rows: SampleValues.rows,
            next: DeliveryCursor(direction: .older, microseconds: 1_794_643_200_000_000, id: Sample.id(8)),
            previous: DeliveryCursor(direction: .newer, microseconds: 1_794_643_200_000_000, id: Sample.id(1)),
            stoppedEarly: true), count: CappedCount(counted: 10_001))

    static func timeline(_ state: DeliveryState) -> DeliveryTimeline {
        DeliveryTimeline(
            row: self.row(4, state, reason: state == .accepted ? nil : "Unregistered", attempt: 2),
            decision: DecisionRecord(
                decision: "fanned_out", origin: "trigger", decidedAt: self.ago(300.75), workerID: Sample.id(0x11),
                deliveries: 2, explanation: "Two devices of the account can take a push"),
            attempts: [
                AttemptRecord(
                    number: 1, state: .available, outcome: "retry", status: 503, reason: "ServiceUnavailable",
                    providerID: nil, milliseconds: 212, finishedAt: self.ago(300.4), workerID: Sample.id(0x11),
                    explanation: "APNs was not available, so it was put off"),
                AttemptRecord(
                    number: 2, state: .discarded, outcome: "device_dead", status: 410, reason: "Unregistered",
                    providerID: nil, milliseconds: 96, finishedAt: self.ago(270), workerID: Sample.id(0x12),
                    explanation: "The app was removed from this phone"),
                AttemptRecord(
                    number: 2, state: .available, outcome: "retried", status: nil, reason: nil, providerID: nil,
                    milliseconds: nil, finishedAt: self.ago(60), workerID: Sample.id(0x50),
                    explanation: "An operator had it tried again \(self.hostile)"),
                AttemptRecord(
                    number: 3, state: state, outcome: state == .accepted ? "accepted" : "device_dead",
                    status: state == .accepted ? 200 : 410, reason: state == .accepted ? nil : "Unregistered",
                    providerID: state == .accepted ? "8f6e1c2a-\(self.hostile)" : nil, milliseconds: 1804,
                    finishedAt: self.ago(58), workerID: Sample.id(0x12), explanation: "The provider answered"),
            ],
            waiting: state == .available
                ? WaitingRecord(
                    endpoint: .apnsProduction, reason: "ServiceUnavailable", scheduledAt: self.ago(-95),
                    expiresAt: self.ago(-86_400 * 28), parkedAt: self.ago(58), isLeased: false, workerID: nil) : nil,
            batch: state == .running
                ? BatchRecord(
                    id: 12, workerID: Sample.id(0x12), openedAt: self.ago(3), leasedUntil: self.ago(-27), rescues: 1)
                : nil,
            audit: [self.audit[0], self.audit[1]],
            summary: state == .accepted
                ? "APNs accepted it at the third try" : "It was given up: the app was removed from this phone",
            may: PermittedActions(
                retry: state == .discarded || state == .available, cancel: state == .available))
    }

    static let request = RebuiltRequest(
        text: """
            POST /3/device/0123…cdef
            apns-topic: app.example
            authorization: bearer …

            {"aps":{"alert":{"title":"\(hostile)"}},"id":"00000000-0000-4000-8000-000000000001"}
            """, note: "Names are hidden.")

    // MARK: - Others

    static let audit = [
        AuditEntry(
            id: Sample.id(0x50), at: SampleValues.ago(60), actor: "dashboard:operator", action: .retry,
            target: .delivery(Sample.id(4)), matched: 1, changed: 1, note: nil),
        AuditEntry(
            id: Sample.id(0x51), at: SampleValues.ago(4000), actor: "cli:\(SampleValues.hostile)", action: .cancel,
            target: .filter(SampleValues.filter, bulk: Sample.id(0x60)), matched: 10_001, changed: 9_412,
            note: "asked by support \(SampleValues.hostile)"),
        AuditEntry(
            id: Sample.id(0x52), at: SampleValues.ago(9000), actor: "api:operator", action: .pause,
            target: .provider("apns:production"), matched: 0, changed: 0, note: "key is being changed"),
        AuditEntry(
            id: Sample.id(0x53), at: SampleValues.ago(90_000), actor: "cli:anna@host", action: .prune, target: .history,
            matched: 120_000, changed: 120_000, note: nil),
    ]

    static func bulk(_ state: BulkAction.State) -> BulkAction {
        BulkAction(
            id: Sample.id(0x60), action: .retry, filter: self.filter, state: state, matched: CappedCount(counted: 8412),
            done: state == .finished ? 8412 : 3000, changed: 2904, actor: "dashboard:operator", startedAt: self.ago(14),
            updatedAt: self.ago(1), error: state == .failed ? "the database went away \(self.hostile)" : nil)
    }

    static func notification(isPushed: Bool) -> NotificationView {
        let device = DeviceRow(
            platform: "ios", hasToken: true, locale: "nl-BE", environment: "production",
            tokenUpdatedAt: self.ago(86_400 * 12), tokenInvalidatedAt: nil, tokenInvalidReason: nil)
        var dead = device
        dead.tokenInvalidatedAt = self.ago(270)
        dead.tokenInvalidReason = "Unregistered"
        return NotificationView(
            id: Sample.id(1),
            row: NotificationRow(
                accountID: Sample.id(0xA0), kind: "contact_updated", connectionID: Sample.id(0xC0),
                createdAt: self.ago(301), readAt: nil, ignoredAt: nil),
            outbox: isPushed
                ? nil : OutboxRecord(lane: 1, origin: "sweep", enqueuedAt: self.ago(2), rescues: 1), batch: nil,
            decision: DecisionRecord(
                decision: isPushed ? "fanned_out" : "coalesced", origin: isPushed ? "trigger" : "sweep",
                decidedAt: self.ago(300), workerID: Sample.id(0x11), deliveries: isPushed ? 2 : 0,
                explanation: isPushed
                    ? "Two devices of the account can take a push" : "An earlier unread one says the same"),
            devices: isPushed
                ? [
                    DeviceVerdict(
                        deviceID: Sample.id(0xD0), device: device, delivery: self.rows[1], buzzed: .yes,
                        explanation: "APNs accepted it 400 ms after the row was written"),
                    DeviceVerdict(
                        deviceID: Sample.id(0xD1), device: dead, delivery: self.rows[3], buzzed: .no,
                        explanation: "The app was removed from this phone"),
                    DeviceVerdict(
                        deviceID: Sample.id(0xD2),
                        device: DeviceRow(
                            platform: "android", hasToken: false, locale: self.hostile, environment: "production",
                            tokenUpdatedAt: nil, tokenInvalidatedAt: nil, tokenInvalidReason: nil), delivery: nil,
                        buzzed: .no, explanation: "It has no push token"),
                    DeviceVerdict(
                        deviceID: Sample.id(0xD3), device: nil, delivery: self.rows[2], buzzed: .notYet,
                        explanation: "It waits for its next try"),
                ] : [],
            audit: isPushed ? [self.audit[1]] : [],
            summary: isPushed ? "Pushed to two of three devices" : "Not pushed: an earlier unread one says the same",
            mayCancel: isPushed)
    }

    static func health(isTroubled: Bool) -> DatabaseHealth {
        DatabaseHealth(
            readAt: self.now, serverVersion: "15.20 (Debian 15.20-0+deb12u1)", role: .primary, isReadOnly: false,
            seesAllSessions: !isTroubled,
            transactions: [
                OpenTransaction(
                    pid: 4711, role: "report", application: isTroubled ? self.hostile : "psql",
                    state: isTroubled ? "idle in transaction" : "active", seconds: isTroubled ? 5400 : 0.2,
                    waitsFor: isTroubled ? "Client: ClientRead" : nil,
                    query: "select count(*) from big_table where name = '…'"),
                OpenTransaction(
                    pid: 99, role: "push_worker", application: "push-fanout/push-1", state: "active", seconds: 0.004,
                    waitsFor: nil, query: "with claimed as materialized (select …"),
            ],
            horizon: isTroubled
                ? [
                    HorizonHolder(
                        kind: .slot, name: "old_replica", transactionsBehind: 1_400_000, seconds: nil,
                        fix: "If nobody reads it: select pg_drop_replication_slot('old_replica');")
                ] : [],
            tables: [
                TableHealth(
                    name: "outbox", liveRows: 14, deadRows: isTroubled ? 240_000 : 1200, bytes: 2_400_000,
                    lastVacuum: self.ago(22), lastAnalyze: self.ago(22)),
                TableHealth(
                    name: "waiting", liveRows: 4213, deadRows: 88, bytes: 900_000, lastVacuum: nil, lastAnalyze: nil),
            ], notifyQueueUsage: isTroubled ? 0.08 : 0.0001,
            claim: ClaimPlan(
                lines: [
                    "Limit (actual time=0.02..0.31 rows=500 loops=1)",
                    "  ->  Index Scan using outbox_order on outbox (actual time=0.02..0.28 rows=500 loops=1)",
                ], milliseconds: isTroubled ? 84 : 0.41, isGood: !isTroubled),
            partitions: (-3...3).flatMap { offset in
                ["attempts", "fanouts"].map { table in
                    let day = Date(
                        timeIntervalSince1970: (self.now.timeIntervalSince1970 / 86_400).rounded(.down) * 86_400
                            - Double(offset) * 86_400)
                    return Partition(
                        table: table, name: "\(table)_\(Format.day(day).filter { $0 != "-" })", day: day,
                        rows: offset < 0 ? 0 : 1_240_000 - offset * 10_000, bytes: offset < 0 ? 24_576 : 310_000_000)
                }
            })
    }
}
