import Postgres
import TestSupport
import Testing

/// LISTEN and NOTIFY. Channels are one per test, as they belong to the whole database.
struct NotificationTests {
    @Test(arguments: ["plain", "With \"quotes\" and ; spaces", "emoji 🦊"])
    func `a notification arrives with its payload`(channel: String) async throws {
        let listener = try await Server.connect()
        let sender = try await Server.connect()
        try await listener.listen(to: channel)
        try await sender.query("select pg_notify(\(channel), \("a payload"))")
        let notification = try #require(try await listener.nextNotification(within: .seconds(90)))
        #expect(notification.channel == channel)
        #expect(notification.payload == "a payload")
        #expect(await sender.backendPID == notification.senderPID)
    }

    @Test
    func `a wait under way is woken`() async throws {
        let listener = try await Server.connect()
        let sender = try await Server.connect()
        try await listener.listen(to: "woken")
        async let notification = listener.nextNotification(within: .seconds(600))
        try await sender.query("notify woken")
        #expect(try await notification?.channel == "woken")
    }

    @Test
    func `several arrive in order, and those that came during a statement are kept`() async throws {
        let listener = try await Server.connect()
        let sender = try await Server.connect()
        try await listener.listen(to: "several")
        for number in 0..<5 { try await sender.query("select pg_notify('several', \(String(number)))") }
        // The server sends them after this statement at the latest.
        try await listener.query("select 1")
        let first = try await listener.nextNotification(within: .seconds(90))
        var payloads = [first?.payload]
        while payloads.count < 5 {
            let pending = await listener.pendingNotifications()
            payloads += pending.map(\.payload)
            if pending.isEmpty { payloads.append(try await listener.nextNotification(within: .seconds(90))?.payload) }
        }
        #expect(payloads == ["0", "1", "2", "3", "4"])
        #expect(await listener.pendingNotifications().isEmpty)
    }

    @Test
    func `no notification is nil, in time`() async throws {
        let listener = try await Server.connect()
        try await listener.listen(to: "silence")
        #expect(try await listener.nextNotification(within: .milliseconds(50)) == nil)
        #expect(try await listener.nextNotification(within: .zero) == nil)
    }

    @Test
    func `an interruption ends the wait, also one that came before it`() async throws {
        let listener = try await Server.connect()
        let start = ContinuousClock.now
        async let notification = listener.nextNotification(within: .seconds(600))
        listener.interrupt()
        #expect(try await notification == nil)
        #expect(ContinuousClock.now - start < .seconds(300))
        // Used up: the next wait lasts.
        let second = ContinuousClock.now
        #expect(try await listener.nextNotification(within: .milliseconds(100)) == nil)
        #expect(ContinuousClock.now - second >= .milliseconds(100))
    }

    @Test
    func `cancelling the task ends the wait`() async throws {
        let listener = try await Server.connect()
        let start = ContinuousClock.now
        let wait = Task { try await listener.nextNotification(within: .seconds(600)) }
        wait.cancel()
        #expect(try await wait.value == nil)
        #expect(ContinuousClock.now - start < .seconds(300))
        #expect(await listener.isOpen)
    }

    @Test
    func `a listener whose session ends hears of it`() async throws {
        let listener = try await Server.connect()
        let other = try await Server.connect()
        try await listener.listen(to: "ended")
        let process = try #require(await listener.backendPID)
        async let failure = #expect(throws: PostgresError.self) {
            try await listener.nextNotification(within: .seconds(600))
        }
        try await other.query("select pg_terminate_backend(\(process)::int)")
        #expect(await failure?.code == .connection)
        #expect(await listener.isOpen == false)
    }
}
