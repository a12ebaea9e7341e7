internal import DeliveryQueue
internal import Postgres
internal import PushModel
internal import TestSupport
internal import Testing

internal import struct FoundationEssentials.Date
internal import struct FoundationEssentials.UUID

/// The one write outside the schema `push`: marks on the app's devices.
@Suite(.serialized) struct DeviceMarkTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        /// What happened to the row since the send.
        var change: String = ""
        var token = "aa00"
        /// The provider's time, relative to the registration at 12:00:00.500; nil: it gave none.
        var since: Duration?
        var isMarked: Bool
        var testDescription: String { self.name }
    }

    private static let registered = Date(timeIntervalSince1970: 1_780_000_000.5)

    @Test(arguments: [
        Case(name: "the stored token, no time given", isMarked: true),
        Case(name: "another token by now", token: "bb11", isMarked: false),
        Case(name: "the token as it was normalised, not as it is stored", token: "AA00", isMarked: false),
        Case(name: "no token by now", change: "push_token = null", isMarked: false),
        Case(name: "unregistered a millisecond after the registration", since: .milliseconds(1), isMarked: true),
        Case(name: "unregistered at the very moment of the registration", since: .zero, isMarked: false),
        Case(name: "unregistered a millisecond before the registration", since: .milliseconds(-1), isMarked: false),
        Case(name: "registration unknown", change: "push_token_updated_at = null", since: .zero, isMarked: true),
        Case(
            name: "registered again since", change: "push_token_updated_at = push_token_updated_at + interval '1 hour'",
            since: .seconds(60), isMarked: false),
    ])
    func `a dead token is marked only while it is the one that was refused`(_ one: Case) async throws {
        try await QueueDatabase.withOwn { queue in
            let account = try await queue.account()
            let device = try await queue.device(of: account, token: "aa00")
            let bystander = try await queue.device(of: account, token: "cc22")
            try await queue.owner.query("alter table devices alter push_token_updated_at drop not null")
            try await queue.owner.query("update devices set push_token_updated_at = \(Self.registered)::timestamptz")
            if !one.change.isEmpty {
                try await queue.owner.query("update devices set \(unescaped: one.change) where id = \(device)")
            }
            var record = QueueRecord()
            record.deadTokens = [
                DeadTokenEntry(
                    deviceID: device, storedToken: one.token, reason: "Unregistered",
                    since: one.since.map { Self.registered.addingTimeInterval($0.inSeconds) })
            ]
            try await QueueCalls(queue).record(record)
            let reason = try await queue.text("select push_token_invalid_reason from devices where id = \(device)")
            #expect((reason == "Unregistered") == one.isMarked)
            #expect(
                try await queue.number("select count(*) from devices where push_token_invalidated_at is not null")
                    == (one.isMarked ? 1 : 0))
            #expect(
                try await queue.text("select push_token_invalid_reason from devices where id = \(bystander)") == nil)
        }
    }

    @Test func `the first mark stays`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let device = try await queue.device(of: account, token: "aa00")
            let calls = try await QueueCalls(queue)
            var moments: [String?] = []
            for reason in ["Unregistered", "BadDeviceToken"] {
                var record = QueueRecord()
                record.deadTokens = [
                    DeadTokenEntry(deviceID: device, storedToken: "aa00", reason: reason, since: nil)
                ]
                try await calls.record(record)
                moments.append(
                    try await queue.text(
                        "select push_token_invalid_reason || push_token_invalidated_at::text from devices"))
            }
            #expect(moments[0] == moments[1])
            #expect(moments[0]?.hasPrefix("Unregistered") == true)
        }
    }

    @Test func `an environment is corrected for the token that was accepted there, unless it is dead`() async throws {
        try await QueueDatabase.with { queue in
            let account = try await queue.account()
            let moved = try await queue.device(of: account, token: "aa00")
            let changed = try await queue.device(of: account, token: "bb11")
            let dead = try await queue.device(of: account, token: "cc22")
            var record = QueueRecord()
            record.environments = [
                EnvironmentEntry(deviceID: moved, storedToken: "aa00", environment: .development),
                EnvironmentEntry(deviceID: changed, storedToken: "before", environment: .development),
                EnvironmentEntry(deviceID: dead, storedToken: "cc22", environment: .development),
            ]
            record.deadTokens = [DeadTokenEntry(deviceID: dead, storedToken: "cc22", reason: "x", since: nil)]
            try await QueueCalls(queue).record(record)
            let rows = try await queue.owner.query("select id from devices where apns_environment = 'development'")
            #expect(try rows.map { try $0.uuid(0) } == [moved])
            #expect(
                try await queue.number("select count(*) from devices where push_token_invalidated_at is not null") == 1)
        }
    }

    /// Two workers that find the same phones dead at once, each in another order.
    @Test func `marks of the same devices from two workers do not deadlock`() async throws {
        try await QueueDatabase.withOwn { queue in
            let account = try await queue.account()
            var devices: [UUID] = []
            for index in 0..<40 { devices.append(try await queue.device(of: account, token: "aa\(10 + index)")) }
            let marks = devices.enumerated().map { index, device in (device: device, token: "aa\(10 + index)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for isReversed in [false, true] {
                    group.addTask {
                        let calls = try await QueueCalls(queue)
                        for _ in 0..<60 {
                            var record = QueueRecord()
                            for (device, token) in isReversed ? marks.reversed() : marks {
                                record.environments.append(
                                    EnvironmentEntry(
                                        deviceID: device, storedToken: token,
                                        environment: isReversed ? .production : .development))
                            }
                            try await calls.record(record)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(
                try await queue.number("select deadlocks from pg_stat_database where datname = current_database()")
                    == 0)
        }
    }
}
