import FoundationEssentials
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

extension Installation {
    /// So many phones of one account, as one statement.
    fileprivate func phones(
        _ count: Int, _ platform: Platform = .ios, of account: UUID, state: SimulatedDevice.State = .active,
        isKnown: Bool = true
    ) async throws -> [String] {
        let tokens = (0..<count).map { _ in (platform == .ios ? "" : "android-") + Self.hexadecimalToken() }
        if isKnown {
            self.simulator.register(
                tokens.map {
                    SimulatedDevice(platform: platform == .ios ? .ios : .android, token: $0, state: state)
                })
        }
        _ = try await self.admin.query(
            """
            insert into devices (account_id, platform, push_token, locale)
            select \(account), \(platform.rawValue), token, 'en' from unnest(\(tokens)::text[]) token
            """)
        return tokens
    }

    /// `outcome reason` of every try of a notification, in order.
    fileprivate func tries(of notification: UUID) async throws -> [String] {
        try await self.admin.query(
            """
            select outcome || coalesce(' ' || reason, '') from push.attempts
            where notification_id = \(notification) order by finished_at
            """
        ).map { row throws(PostgresError) in try row.text(0) }
    }

    fileprivate var marked: Int {
        get async throws {
            try await self.number("select count(*) from devices where push_token_invalidated_at is not null")
        }
    }

    /// Endpoints that rest, with the reason.
    func pauses() async throws -> [String] {
        try await self.admin.query(
            "select endpoint || ' ' || reason from push.providers where paused_until > now() order by 1"
        ).map { row throws(PostgresError) in try row.text(0) }
    }

    /// As an operator would, once the fault is gone.
    func resume() async throws {
        try await self.admin.run(
            script: """
                update push.providers set paused_until = null, resumes = resumes + 1;
                update push.waiting set scheduled_at = now() where lease_token is null
                """)
    }
}

/// Tokens that are refused: one by one they are the phones' fault, all at once they are ours.
@Suite(.serialized) struct TokenRefusalTests {
    struct Mass: Sendable, CustomTestStringConvertible {
        var platform: Platform
        var state: SimulatedDevice.State
        var isKnown = true
        var pause: String
        var testDescription: String { self.pause }
    }

    @Test(arguments: [
        Mass(platform: .ios, state: .otherTopic, pause: "apns:production DeviceTokenNotForTopic"),
        Mass(platform: .ios, state: .active, isKnown: false, pause: "apns:production BadDeviceToken"),
        Mass(platform: .android, state: .senderMismatch, pause: "fcm SENDER_ID_MISMATCH"),
    ])
    func `when every token is refused none is marked, the provider rests and keeps what it has`(
        _ mass: Mass
    ) async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        let tokens = try await installation.phones(
            60, mass.platform, of: account, state: mass.state, isKnown: mass.isKnown)
        let id = try await installation.notify(account, kind: "invitation_received")
        try await eventually { try await installation.pauses() == [mass.pause] }
        try await eventually {
            try await installation.number(
                "select count(*) from push.waiting where attempts = 0 and endpoint <> 'apns:development'") == 40
        }
        #expect(try await installation.marked == 0)
        let fix = try await installation.admin.query("select fix from push.providers where paused_until > now()")
        #expect(try fix.first?.text(0).contains("device after device is refused") == true)

        // Put right, it goes on by itself.
        installation.simulator.register(
            tokens.map { SimulatedDevice(platform: mass.platform == .ios ? .ios : .android, token: $0) })
        try await installation.resume()
        try await eventually(within: .seconds(90)) {
            try await installation.number(
                "select count(*) from push.attempts where notification_id = \(id) and state = 'accepted'") == 40
        }
        #expect(try await installation.marked == 0)
        try await installation.stop(worker)
    }

    @Test func `one token of another topic or project among good ones is marked`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        _ = try await installation.phones(30, of: account)
        _ = try await installation.phones(30, .android, of: account)
        let first = try await installation.notify(account, kind: "invitation_received")
        _ = try await installation.ends(of: first, count: 60)
        try await installation.phone(.ios, of: account, state: .otherTopic)
        try await installation.phone(.android, of: account, state: .senderMismatch)
        // Known to neither host.
        try await installation.phone(.ios, of: account, isKnown: false)
        let id = try await installation.notify(account, kind: "invitation_accepted")
        #expect(try await installation.ends(of: id, count: 63).count { $0 == "accepted" } == 60)
        try await eventually { try await installation.marked == 3 }
        let reasons = try await installation.admin.query(
            "select push_token_invalid_reason from devices where push_token_invalidated_at is not null order by 1"
        ).map { row in try row.text(0) }
        #expect(reasons == ["BadDeviceToken", "DeviceTokenNotForTopic", "SENDER_ID_MISMATCH"])
        try await installation.stop(worker)
    }

    @Test func `a 410 marks what was not registered since, and reads its time as milliseconds`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        let hour = 3_600_000
        let now = Int(Date().timeIntervalSince1970 * 1000)
        // Dead an hour ago, registered now: it lives. In 2023, too; read as seconds, that is a far future.
        let timestamps = [now - hour, 1_700_000_000_000, now + 60_000]
        var ids: [UUID] = []
        for timestamp in timestamps {
            let token = Self.token()
            installation.simulator.register([
                SimulatedDevice(platform: .ios, token: token, state: .unregistered, timestamp: timestamp)
            ])
            ids.append(try await installation.phone(.ios, of: account, token: token, isKnown: false).id)
        }
        let id = try await installation.notify(account, kind: "invitation_received")
        #expect(
            try await installation.ends(of: id, count: 3) == Array(repeating: "discarded Unregistered", count: 3))
        try await eventually { try await installation.marked == 1 }
        let marked = try await installation.admin.query(
            "select id from devices where push_token_invalidated_at is not null"
        ).map { row in try row.uuid(0) }
        #expect(marked == [ids[2]])
        try await installation.stop(worker)
    }

    @Test func `a token that changed while the 410 was on its way is not marked`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        let phone = try await installation.phone(.ios, of: account)
        installation.simulator.setFaults(
            FaultPlan([
                FaultRule(
                    .apns, count: 1, answer: .init(status: 410, reason: "Unregistered"), delayMilliseconds: 1000)
            ]))
        let id = try await installation.notify(account, kind: "invitation_received")
        try await installation.simulator.waitForReceived(count: 1, within: .seconds(90))
        let token = Self.token()
        installation.simulator.register([SimulatedDevice(platform: .ios, token: token)])
        _ = try await installation.admin.query(
            "update devices set push_token = \(token) where id = \(phone.id)")
        #expect(try await installation.ends(of: id, count: 1) == ["discarded Unregistered"])
        let next = try await installation.notify(account, kind: "invitation_accepted")
        #expect(try await installation.ends(of: next, count: 1) == ["accepted"])
        #expect(try await installation.marked == 0)
        #expect(installation.simulator.received().last?.deviceToken == token)
        try await installation.stop(worker)
    }

    @Test func `a phone that signs in to another account gets that account's pushes only`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let (before, after) = (try await installation.account(), try await installation.account())
        let phone = try await installation.phone(.ios, of: before)
        _ = try await installation.admin.query(
            "select register_device(\(after)::uuid, 'ios', \(phone.token))")
        let old = try await installation.notify(before, kind: "invitation_received")
        #expect(try await installation.decision(of: old) == "no_devices")
        let new = try await installation.notify(after, kind: "invitation_received")
        #expect(try await installation.ends(of: new, count: 1) == ["accepted"])
        #expect(installation.simulator.received().count == 1)
        try await installation.stop(worker)
    }

    private static func token() -> String { Installation.hexadecimalToken() }
}

/// Providers that are away, overloaded, or ask to wait.
@Suite(.serialized) struct ProviderTroubleTests {
    @Test func `a provider that is down is not hammered, and all goes out when it is back`() async throws {
        let installation = try await Installation.make()
        installation.simulator.setFaults(
            FaultPlan([FaultRule(.apns, answer: .init(status: 503, reason: "ServiceUnavailable"))]))
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let start = ContinuousClock.now
        _ = try await installation.admin.query(
            """
            insert into notifications (account_id, kind)
            select \(account), 'invitation_received' from generate_series(1, 60)
            """)
        try await eventually { try await installation.pauses() == ["apns:production ServiceUnavailable"] }
        try await Task.sleep(for: .seconds(2))
        // Each went out once at most before the tenth failed; then after rests of 1, 2, 4 … seconds one probe each time.
        let received = installation.simulator.received().count
        var probes = 1
        while .seconds(1 << probes) <= ContinuousClock.now - start + .seconds(1) { probes += 1 }
        #expect(received <= 60 + probes)
        try await eventually {
            try await installation.number("select count(*) from push.attempts")
                == installation.simulator.received().count
        }
        installation.simulator.setFaults(FaultPlan())
        // By itself it would come back too, but with waits that have grown.
        try await installation.resume()
        try await installation.waitUntilDrained()
        #expect(installation.simulator.counts().distinct == 60)
        #expect(installation.simulator.counts().duplicates.isEmpty)
        try await installation.stop(worker)
    }

    @Test func `a provider that is gone and comes back at the same address gets everything`() async throws {
        let ports = try FixedPorts.draw(SimulatorRole.allCases.count)
        let installation = try await Installation.make { $0.ports = ports }
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        let phone = try await installation.phone(.ios, of: account)
        let before = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: before, count: 1) == ["accepted"])
        await installation.simulator.stop()
        let ids = try await (0..<12).asyncMap { _ in try await installation.notify(account, kind: "invitation_accepted")
        }
        try await eventually {
            try await installation.number(
                "select count(*) from push.attempts where reason = 'connect_failed' and state = 'available'") > 0
        }
        // What could not be sent costs no attempt.
        #expect(try await installation.number("select coalesce(max(attempts), 0) from push.waiting") == 0)
        var configuration = SimulatorConfiguration(credentials: installation.simulator.credentials)
        configuration.options.ports = installation.simulator.ports
        configuration.options.certificates = installation.simulator.certificates
        configuration.options.devices = [SimulatedDevice(platform: .ios, token: phone.token)]
        let back = try await PushSimulator.start(configuration)
        for id in ids { #expect(try await installation.ends(of: id, count: 1, within: .seconds(90)) == ["accepted"]) }
        #expect(back.counts().distinct == 12)
        await back.stop()
        try await installation.stop(worker)
    }

    @Test func `FCM's Retry-After rests FCM for that long, and APNs not at all`() async throws {
        let installation = try await Installation.make()
        installation.simulator.setFaults(
            FaultPlan([
                FaultRule(.fcm, count: 1, answer: .init(status: 429, reason: "QUOTA_EXCEEDED", retryAfter: "3"))
            ]))
        let worker = try await installation.startWorker()
        let android = try await installation.account()
        try await installation.phone(.android, of: android)
        _ = try await installation.notify(android, kind: "invitation_received")
        try await eventually { try await installation.pauses() == ["fcm QUOTA_EXCEEDED"] }
        let paused = ContinuousClock.now
        let both = try await installation.account()
        try await installation.phone(.android, of: both)
        try await installation.phone(.ios, of: both)
        let ids = try await (0..<5).asyncMap { _ in try await installation.notify(both, kind: "invitation_received") }
        // Two deliveries each, and the iPhone's does not wait.
        for id in ids { _ = try await installation.ends(of: id, count: 1) }
        #expect(ContinuousClock.now - paused < .seconds(2.5))
        #expect(installation.simulator.counts().byProvider["fcm"] == 1)
        for id in ids { #expect(try await installation.ends(of: id, count: 2) == ["accepted", "accepted"]) }
        let times = installation.simulator.received().filter { $0.provider == .fcm }.map(\.at)
        #expect(times[1].timeIntervalSince(times[0]) > 2.9)
        // The first waits for FCM's ten seconds.
        try await installation.stop(worker, Expectations(isDrained: false))
    }

    @Test func `a device that has too many waits alone, with the same ids`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        let busy = try await installation.phone(.ios, of: account)
        try await installation.phone(.ios, of: account)
        installation.simulator.setFaults(
            FaultPlan([
                FaultRule(.apns, token: busy.token, count: 1, answer: .init(status: 429, reason: "TooManyRequests"))
            ]))
        let id = try await installation.notify(account, kind: "invitation_received")
        _ = try await installation.ends(of: id, count: 1)
        #expect(try await installation.pauses().isEmpty)
        #expect(try await installation.ends(of: id, count: 2) == ["accepted", "accepted"])
        let received = installation.simulator.received().filter { $0.deviceToken == busy.token }
        #expect(received.map(\.status) == [429, 200])
        #expect(Set(received.map(\.identity)).count == 1)
        try await installation.stop(worker)
    }

    @Test func `a push handled before the connection broke is unknown, and sent again with the same ids`() async throws
    {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let warm = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: warm, count: 1) == ["accepted"])
        installation.simulator.setFaults(FaultPlan([FaultRule(.apns, count: 1, closeConnection: .afterHandling)]))
        let id = try await installation.notify(account, kind: "contact_updated", connection: UUID())
        #expect(try await installation.ends(of: id, count: 1) == ["accepted"])
        let tries = try await installation.tries(of: id)
        #expect(tries.count == 2)
        #expect(tries.first?.hasPrefix("unknown ") == true)
        let received = installation.simulator.received().dropFirst()
        #expect(received.count == 2)
        #expect(Set(received.map(\.identity)).count == 1)
        #expect(Set(received.map { $0.headers["apns-collapse-id"] }).count == 1)
        try await installation.stop(worker)
    }

    @Test func `what cannot be sent in its lifetime expires`() async throws {
        let installation = try await Installation.make()
        installation.simulator.setFaults(
            FaultPlan([FaultRule(.apns, answer: .init(status: 503, reason: "ServiceUnavailable"))]))
        let worker = try await installation.startWorker(["PUSH_LIFETIME": "3s"])
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        let id = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: id, count: 1) == ["discarded expired"])
        #expect(installation.simulator.received().count <= 3)
        // What is late already is not begun.
        let late = try await installation.admin.query(
            """
            insert into notifications (account_id, kind, created_at)
            values (\(account), 'invitation_accepted', now() - interval '1 minute') returning id
            """
        ).first?.uuid(0)
        #expect(try await installation.decision(of: try #require(late)) == "too_old")
        try await installation.stop(worker)
    }

    @Test func `what is no longer wanted when its retry is due is not sent`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        installation.simulator.setFaults(
            FaultPlan([FaultRule(.apns, count: 3, answer: .init(status: 503, reason: "Shutdown"))]))
        var ids: [UUID] = []
        for _ in 0..<3 {
            let account = try await installation.account()
            try await installation.phone(.ios, of: account)
            ids.append(try await installation.notify(account, kind: "invitation_received"))
        }
        try await eventually { try await installation.number("select count(*) from push.waiting") == 3 }
        _ = try await installation.admin.query("update notifications set read_at = now() where id = \(ids[0])")
        _ = try await installation.admin.query("delete from notifications where id = \(ids[1])")
        _ = try await installation.admin.query(
            """
            update accounts set notify_invitations = false
            where id = (select account_id from notifications where id = \(ids[2]))
            """)
        let reasons = ["cancelled already_read", "cancelled gone", "cancelled switched_off"]
        for (id, reason) in zip(ids, reasons) {
            #expect(try await installation.ends(of: id, count: 1) == [reason])
        }
        #expect(installation.simulator.received().count == 3)
        try await installation.stop(worker)
    }

    @Test func `too many token updates rest APNs for twenty minutes, with the token it has`() async throws {
        let installation = try await Installation.make()
        let worker = try await installation.startWorker()
        let account = try await installation.account()
        try await installation.phone(.ios, of: account)
        try await installation.phone(.android, of: account)
        installation.simulator.setFaults(
            FaultPlan([
                FaultRule(.apns, count: 1, answer: .init(status: 429, reason: "TooManyProviderTokenUpdates"))
            ]))
        let id = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: id, count: 1) == ["accepted"])
        try await eventually {
            try await installation.pauses() == [
                "apns:development TooManyProviderTokenUpdates", "apns:production TooManyProviderTokenUpdates",
            ]
        }
        #expect(
            try await installation.number(
                "select extract(epoch from min(paused_until) - now())::integer from push.providers") > 19 * 60)
        #expect(try await installation.number("select coalesce(max(attempts), 0) from push.waiting") == 0)
        try await installation.resume()
        #expect(try await installation.ends(of: id, count: 2) == ["accepted", "accepted"])
        let received = installation.simulator.received().filter { $0.provider == .apns }
        #expect(Set(received.map { $0.headers["authorization"] }).count == 1)
        try await installation.stop(worker)
    }
}
