import APNS
import Delivery
import FoundationEssentials
import HTTPTransport
import JSONWebToken
import Locking
import PushModel
import PushSimulator
import Testing

/// Provider tokens and access tokens, as the providers see them.
@Suite(.serialized) struct CredentialFaultTests {
    /// Clocks that a test moves: ours and the provider's.
    private final class Clocks: Sendable {
        private let offsets = Locked((ours: 0.0, theirs: 0.0))

        func set(ours: Double, theirs: Double) { self.offsets.withLock { $0 = (ours, theirs) } }

        var ours: TimeSource {
            TimeSource { [self] in
                let offset = self.offsets.withLock(\.ours)
                return Moment(wall: Date() + offset, monotonic: .now + .seconds(offset))
            }
        }

        var theirs: @Sendable () -> Date { { [self] in Date() + self.offsets.withLock(\.theirs) } }
    }

    // MARK: - APNs

    @Test func `a thousand pushes over four connections carry one provider token`() async throws {
        try await ProviderBench.run { bench in
            let transport = bench.apnsTransport {
                $0.connections = 4
                $0.window = 100
            }
            let sender = try bench.apns(transport)
            for _ in 0..<5 { #expect(await sender.outcomes(of: try bench.deliveries(200)).accepted == 200) }
            #expect(bench.authorizations.count == 1)
            await transport.shutdown()
        }
    }

    @Test func `a provider token that is renewed goes out on new connections only`() async throws {
        let clocks = Clocks()
        try await ProviderBench.run {
            $0.options.now = clocks.theirs
        } _: { bench in
            let transport = bench.apnsTransport()
            let sender = try bench.apns(transport, tokens: try bench.providerTokens(time: clocks.ours))
            for minutes in [0.0, 25, 51, 76, 102] {
                clocks.set(ours: minutes * 60, theirs: minutes * 60)
                #expect(await sender.outcomes(of: try bench.deliveries(100)).accepted == 100)
            }
            #expect((2...4).contains(bench.authorizations.count))
            await transport.shutdown()
        }
    }

    /// Our clock is late: what we take for 49 minutes is more than an hour at APNs. A fresh token is young enough
    /// there, and the pushes that still wait with the old one must not spoil its connections.
    @Test(arguments: [true, false])
    func `an expired provider token is replaced once, and all get through`(afterQuiet: Bool) async throws {
        let clocks = Clocks()
        try await ProviderBench.run {
            $0.options.now = clocks.theirs
        } _: { bench in
            let transport = bench.apnsTransport {
                $0.window = 50
                if afterQuiet { $0.reprobeAfter = .milliseconds(1) }
            }
            let sender = try bench.apns(transport, tokens: try bench.providerTokens(time: clocks.ours))
            #expect(await sender.outcomes(of: try bench.deliveries(1)).accepted == 1)
            // The token claims the start of a half hour.
            let age = Date().timeIntervalSince1970.truncatingRemainder(dividingBy: 1800)
            clocks.set(ours: 49 * 60 - age, theirs: 61 * 60 - age)
            let delivered = await sender.deliverAll(try bench.deliveries(300), rounds: 4)
            #expect(delivered.accepted == 300)
            #expect(bench.simulator.counts().byReason["TooManyProviderTokenUpdates"] == nil)
            #expect(bench.authorizations.count == 2)
            #expect(bench.simulator.counts().duplicates.isEmpty)
            await transport.shutdown()
        }
    }

    /// Pushes that waited for a connection would carry the old token onto one that is meant for the new, and APNs
    /// would hold that against the connection for twenty minutes.
    @Test func `no connection sees two tokens, also when pushes wait while the token is replaced`() async throws {
        let clocks = Clocks()
        try await ProviderBench.run {
            $0.options.now = clocks.theirs
        } _: { bench in
            bench.simulator.setFaults(FaultPlan([FaultRule(.apns, delayMilliseconds: 20)]))
            let transport = bench.apnsTransport {
                $0.connections = 1
                $0.window = 4
            }
            let sender = try bench.apns(transport, tokens: try bench.providerTokens(time: clocks.ours))
            let (before, after) = (try bench.deliveries(150), try bench.deliveries(50))
            let age = Date().timeIntervalSince1970.truncatingRemainder(dividingBy: 1800)
            await withTaskGroup(of: Int.self) { group in
                group.addTask { await sender.outcomes(of: before).accepted }
                group.addTask {
                    _ = try? await bench.simulator.waitForReceived(count: 20, within: .seconds(90))
                    clocks.set(ours: 51 * 60 - age, theirs: 51 * 60 - age)
                    return await sender.outcomes(of: after).accepted
                }
                #expect(await group.reduce(0, +) == 200)
            }
            #expect(bench.simulator.counts().byStatus == ["200": 200])
            #expect(bench.authorizations.count == 2)
            await transport.shutdown()
        }
    }

    @Test func `too many token updates keep the token, and pause the provider for twenty minutes`() async throws {
        try await ProviderBench.run { bench in
            let answer = FaultRule.Answer(status: 429, reason: "TooManyProviderTokenUpdates")
            bench.simulator.setFaults(FaultPlan([FaultRule(.apns, count: 1, answer: answer)]))
            let transport = bench.apnsTransport()
            let sender = try bench.apns(transport)
            let deliveries = try bench.deliveries(1)
            guard case .retry(let retry)? = await sender.outcomes(of: deliveries).first else {
                Issue.record("not one to try again")
                return
            }
            #expect(retry.floor == .seconds(20 * 60))
            #expect(retry.scope == .provider)
            #expect(!retry.countsAsAttempt)
            // The connection is spoiled; another is not, and the token is the same.
            #expect(await sender.outcomes(of: deliveries).accepted == 1)
            #expect(bench.authorizations.count == 1)
            await transport.shutdown()
        }
    }

    @Test(arguments: [7200, -7200])
    func `a refused token beside a clock that is off is told as such`(_ offset: Int) async throws {
        try await ProviderBench.run { bench in
            bench.simulator.setFaults(
                FaultPlan([
                    FaultRule(
                        .apns, answer: .init(status: 403, reason: "InvalidProviderToken"), dateOffsetSeconds: offset)
                ]))
            let transport = bench.apnsTransport()
            let outcome = await (try bench.apns(transport)).outcomes(of: try bench.deliveries(1)).first
            guard case .misconfigured("InvalidProviderToken", let fix, .provider)? = outcome else {
                Issue.record("\(String(describing: outcome))")
                return
            }
            #expect(fix.contains(offset < 0 ? "s ahead of the provider's" : "s behind the provider's"))
            await transport.shutdown()
        }
    }

    // MARK: - OAuth

    @Test func `a token endpoint that fails once is asked again soon`() async throws {
        try await ProviderBench.run { bench in
            bench.simulator.setFaults(FaultPlan([FaultRule(.token, count: 1, answer: .init(status: 503))]))
            let transport = bench.fcmTransport()
            let sender = try bench.fcm(transport)
            let deliveries = try bench.deliveries(10, .android)
            let first = await sender.outcomes(of: deliveries)
            #expect(first.words == ["retry token_endpoint_unavailable"])
            #expect(bench.simulator.tokenExchanges().refused == 1)
            // Within the pause nobody asks.
            _ = await sender.outcomes(of: deliveries)
            #expect(bench.simulator.tokenExchanges().refused + bench.simulator.tokenExchanges().issued == 1)
            try await Task.sleep(for: .milliseconds(1100))
            #expect(await sender.outcomes(of: deliveries).accepted == 10)
            #expect(bench.simulator.tokenExchanges().issued == 1)
            await transport.shutdown()
        }
    }

    @Test func `a hundred 401 for one access token make one new token, and cost no try`() async throws {
        try await ProviderBench.run { bench in
            bench.simulator.setFaults(
                FaultPlan([FaultRule(.fcm, after: 100, count: 100, answer: .init(status: 401))]))
            let transport = bench.fcmTransport()
            let sender = try bench.fcm(transport)
            let delivered = await sender.deliverAll(try bench.deliveries(300, .android), rounds: 2)
            #expect(delivered.accepted == 300)
            #expect(delivered.firstRound.accepted == 200)
            let charged = delivered.firstRound.contains { outcome in
                if case .retry(let retry) = outcome { retry.countsAsAttempt } else { false }
            }
            #expect(!charged)
            #expect(bench.simulator.tokenExchanges().issued == 2)
            await transport.shutdown()
        }
    }

    @Test func `an assertion refused for the clock pauses FCM and names the clock`() async throws {
        try await ProviderBench.run {
            $0.options.now = { Date() + 7200 }
        } _: { bench in
            let transport = bench.fcmTransport()
            let outcome = await (try bench.fcm(transport)).outcomes(of: try bench.deliveries(1, .android)).first
            guard case .misconfigured("token_endpoint_invalid_grant", let fix, .provider)? = outcome else {
                Issue.record("\(String(describing: outcome))")
                return
            }
            #expect(fix.contains("clock"))
            #expect(bench.simulator.counts().received == 0)
            await transport.shutdown()
        }
    }
}
