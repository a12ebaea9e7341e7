import Delivery
import DeliveryQueue
import Fanout
import FoundationEssentials
import PushModel
import TestSupport
import Testing

/// From an outcome to what is written.
@Suite struct ResolutionTests {
    private static let now = Sample.now + 60

    private func resolve(
        _ outcome: SendOutcome, device: Device = Sample.iPhone(), at endpoint: ProviderEndpoint? = nil,
        attempts: Int = 0, waitedFor: String? = nil, endpoints: Set<ProviderEndpoint> = Set(ProviderEndpoint.allCases),
        lifetime: TimeInterval? = nil, verdict: PruneGuard.Verdict = .mark
    ) throws -> (record: QueueRecord, weighed: [String]) {
        let delivery = try Sample.delivery(Sample.notification(), kind: .contactUpdated, device: device)
        var item = PendingDelivery(delivery, batch: nil, readAt: .now)
        item.attempts = attempts
        item.waitedFor = waitedFor
        if let lifetime { item.expiresAt = Self.now + lifetime }
        let resolution = Resolution(
            policy: RetryPolicy(), pauseForMisconfiguration: .seconds(60), endpoints: endpoints)
        var weighed: [String] = []
        var generator = SystemRandomNumberGenerator()
        let record = resolution.resolve(
            item, SendResult(index: 0, outcome: outcome, status: 400, duration: .milliseconds(5)),
            at: endpoint ?? item.endpoint, now: Self.now,
            weigh: { ground, endpoint in
                weighed.append("\(ground) \(endpoint.rawValue)")
                return verdict
            }, using: &generator)
        return (record, weighed)
    }

    // MARK: - Tokens

    @Test func `a bad token is tried once at the other environment, and no attempt is charged`() throws {
        let (record, weighed) = try self.resolve(.badDeviceToken(reason: "BadDeviceToken"))
        #expect(record.parked.map(\.endpoint) == [.apnsDevelopment])
        #expect(record.parked.map(\.attempts) == [0])
        #expect(record.parked.map(\.wait) == [.zero])
        #expect(record.deadTokens.isEmpty)
        #expect(weighed.isEmpty)
    }

    @Test func `accepted there, the environment is corrected for the token that was sent to`() throws {
        let record = try self.resolve(.accepted(providerID: nil), at: .apnsDevelopment).record
        #expect(record.environments.map(\.environment) == [.development])
        #expect(record.environments.map(\.storedToken) == [Sample.hexadecimalToken])
    }

    /// The other environment may never have accepted anything; what counts is whether the token's own accepts others.
    @Test func `refused there too, its own environment says what that is worth`() throws {
        let (record, weighed) = try self.resolve(.badDeviceToken(reason: "BadDeviceToken"), at: .apnsDevelopment)
        #expect(weighed == ["doubtful apns:production"])
        #expect(record.deadTokens.map(\.storedToken) == [Sample.hexadecimalToken])
        #expect(record.attempts.map(\.state) == [.discarded])
    }

    @Test(arguments: [
        ("Unregistered", "certain"), ("ExpiredToken", "certain"), ("DeviceTokenNotForTopic", "doubtful"),
    ])
    func `a dead token is marked with what was stored and since when it is dead`(
        _ reason: String, _ ground: String
    ) throws {
        let since = Self.now - 3600
        let (record, weighed) = try self.resolve(.deviceDead(reason: reason, since: since))
        #expect(weighed == ["\(ground) apns:production"])
        #expect(record.deadTokens.map(\.storedToken) == [Sample.hexadecimalToken])
        #expect(record.deadTokens.map(\.since) == [since])
        #expect(record.deadTokens.map(\.reason) == [reason])
    }

    @Test func `in doubt the delivery is given up and the token kept`() throws {
        let record = try self.resolve(.deviceDead(reason: "DeviceTokenNotForTopic", since: nil), verdict: .keep).record
        #expect(record.attempts.map(\.state) == [.discarded])
        #expect(record.deadTokens.isEmpty)
        #expect(record.pauses.isEmpty)
    }

    @Test(arguments: [
        (Sample.iPhone(), "BadDeviceToken", ProviderEndpoint.apnsProduction),
        (Sample.iPhone(), "DeviceTokenNotForTopic", .apnsProduction),
        (Sample.android(), "SENDER_ID_MISMATCH", .fcm),
    ])
    func `when device after device is refused, the endpoint is paused and nothing lost`(
        _ device: Device, _ reason: String, _ paused: ProviderEndpoint
    ) throws {
        let outcome: SendOutcome =
            reason == "BadDeviceToken"
            ? .badDeviceToken(reason: reason) : .deviceDead(reason: reason, since: nil)
        let record = try self.resolve(
            outcome, device: device, endpoints: [.apnsProduction, .fcm], verdict: .distrust
        ).record
        #expect(record.attempts.map(\.state) == [.available])
        #expect(record.deadTokens.isEmpty)
        #expect(record.pauses.map(\.endpoint) == [paused])
        #expect(record.pauses.allSatisfy { $0.fix?.isEmpty == false })
        #expect(record.parked.map(\.endpoint) == [paused])
        #expect(record.parked.map(\.attempts) == [0])
    }

    // MARK: - Pauses

    @Test func `a fault of configuration pauses both hosts of APNs, FCM goes on, no attempt is charged`() throws {
        let record = try self.resolve(.misconfigured(reason: "InvalidProviderToken", fix: "…", scope: .provider)).record
        #expect(Set(record.pauses.map(\.endpoint)) == [.apnsProduction, .apnsDevelopment])
        #expect(record.parked.map(\.attempts) == [0])
        #expect(record.deadTokens.isEmpty)
    }

    @Test func `Retry-After about the host pauses it, about a device only the delivery waits`() throws {
        for scope in [SendOutcome.Scope.host, .device] {
            let retry = SendOutcome.Retry(reason: "x", floor: .seconds(40), scope: scope)
            let record = try self.resolve(.retry(retry), device: Sample.android()).record
            #expect(record.pauses.map(\.endpoint) == (scope == .host ? [.fcm] : []))
            #expect(record.parked.allSatisfy { $0.wait >= .seconds(40) })
            #expect(record.parked.map(\.attempts) == [1])
        }
    }

    @Test func `the same refusal after the renewal it asked for is a fault of configuration`() throws {
        let retry = SendOutcome.Retry(
            reason: "ExpiredProviderToken", scope: .provider, countsAsAttempt: false, renewal: .credential,
            fixIfRepeated: "the clock")
        let first = try self.resolve(.retry(retry)).record
        #expect(first.pauses.isEmpty)
        let again = try self.resolve(.retry(retry), waitedFor: "ExpiredProviderToken").record
        #expect(again.pauses.compactMap(\.fix) == ["the clock", "the clock"])
    }

    // MARK: - Ends

    @Test func `what cannot be tried again in its lifetime is expired, after the last try exhausted`() throws {
        let retry = SendOutcome.retry(.init(reason: "InternalServerError", floor: .seconds(30), scope: .host))
        #expect(try self.resolve(retry, lifetime: 20).record.attempts.map(\.reason) == ["expired"])
        #expect(try self.resolve(retry, attempts: 29).record.attempts.map(\.reason) == ["exhausted"])
        #expect(try self.resolve(retry, attempts: 28).record.parked.map(\.attempts) == [29])
        #expect(
            try self.resolve(.unknown(reason: "timed_out"), attempts: 29).record.attempts.map(\.state) == [.discarded])
    }
}
