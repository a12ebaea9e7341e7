import Delivery
import FoundationEssentials
import HTTPTransport
import PushModel
import PushSimulator
import TestSupport
import Testing

/// Connections that end, refuse, stall or grow old, while pushes are on them: none is lost, none is sent twice that
/// was not in doubt, and there are never more connections than are allowed.
@Suite(.serialized) struct ConnectionFaultTests {
    // MARK: - GOAWAY

    @Test(arguments: [true, false])
    func `a burst whose server goes away is accepted whole, on another connection`(handles: Bool) async throws {
        try await ProviderBench.run { bench in
            let goaway = FaultRule.Goaway(reason: "Shutdown", handlesRequest: handles)
            bench.simulator.setFaults(FaultPlan([FaultRule(.apns, after: 50, count: 1, goaway: goaway)]))
            let transport = bench.apnsTransport { $0.connections = 1 }
            let sender = try bench.apns(transport)
            let delivered = await sender.deliverAll(try bench.deliveries(300))
            #expect(delivered.accepted == 300)
            #expect(delivered.others.isEmpty)
            #expect(bench.simulator.counts().distinct == 300)
            bench.expectDuplicatesExplained(by: delivered)
            #expect(transport.statistics.connectionsOpened <= 4)
            await transport.shutdown()
        }
    }

    @Test func `a GOAWAY below the only stream of a used connection costs a try, not the delivery`() async throws {
        try await ProviderBench.run { bench in
            let transport = bench.apnsTransport()
            let sender = try bench.apns(transport)
            #expect(await sender.outcomes(of: try bench.deliveries(1)).accepted == 1)
            let goaway = FaultRule.Goaway(handlesRequest: false)
            bench.simulator.setFaults(FaultPlan([FaultRule(.apns, count: 1, goaway: goaway)]))
            let delivered = await sender.deliverAll(try bench.deliveries(1), rounds: 2)
            #expect(delivered.accepted == 1)
            #expect(bench.simulator.counts().distinct == 2)
            #expect(bench.simulator.counts().duplicates.isEmpty)
            await transport.shutdown()
        }
    }

    @Test(arguments: [Platform.ios, .android])
    func `a GOAWAY every hundred pushes fails none of them`(_ platform: Platform) async throws {
        try await ProviderBench.run { bench in
            let provider: FaultRule.Provider = platform == .ios ? .apns : .fcm
            bench.simulator.setFaults(
                FaultPlan([
                    FaultRule(provider, share: 0.005, goaway: .init(reason: "Shutdown")),
                    FaultRule(provider, share: 0.005, goaway: .init(handlesRequest: false)),
                ]))
            let transport = platform == .ios ? bench.apnsTransport() : bench.fcmTransport()
            let deliveries = try bench.deliveries(600, platform)
            let delivered =
                platform == .ios
                ? await (try bench.apns(transport)).deliverAll(deliveries)
                : await (try bench.fcm(transport)).deliverAll(deliveries)
            #expect(delivered.accepted == 600)
            #expect(bench.simulator.counts().distinct == 600)
            bench.expectDuplicatesExplained(by: delivered)
            await transport.shutdown()
        }
    }

    @Test func `a server that always goes away, asking for calm, is not asked for ever`() async throws {
        try await ProviderBench.run { bench in
            let goaway = FaultRule.Goaway(code: 11, handlesRequest: false)
            bench.simulator.setFaults(FaultPlan([FaultRule(.apns, goaway: goaway)]))
            let transport = bench.apnsTransport()
            let sender = try bench.apns(transport)
            let outcomes = await sender.outcomes(of: try bench.deliveries(20))
            #expect(outcomes.accepted == 0)
            // Each comes back to the queue, whose breaker then gives the host a rest.
            #expect(outcomes.allSatisfy { $0.name == "unknown" || $0.name == "retry" })
            #expect(transport.statistics.requestsSent <= 20)
            var breaker = EndpointBreaker()
            #expect(outcomes.contains { breaker.note($0) != nil })
            await transport.shutdown()
        }
    }

    // MARK: - Streams and connections

    @Test func `one stream until the first answer, then many, on no more connections than allowed`() async throws {
        try await ProviderBench.run { bench in
            bench.simulator.setFaults(FaultPlan([FaultRule(.apns, delayMilliseconds: 20)]))
            let transport = bench.apnsTransport { $0.window = 150 }
            let sender = try bench.apns(transport)
            #expect(await sender.outcomes(of: try bench.deliveries(1000)).accepted == 1000)
            #expect(transport.statistics.connectionsOpened <= 2)
            await transport.shutdown()
        }
    }

    @Test func `a stream limit that drops to one and comes back stops nothing`() async throws {
        try await ProviderBench.run { bench in
            bench.simulator.setFaults(
                FaultPlan([
                    FaultRule(.apns, after: 50, count: 1, streamLimit: 1),
                    FaultRule(.apns, after: 100, count: 1, streamLimit: 1000),
                ]))
            let transport = bench.apnsTransport { $0.connections = 1 }
            let delivered = await (try bench.apns(transport)).deliverAll(try bench.deliveries(300))
            #expect(delivered.accepted == 300)
            bench.expectDuplicatesExplained(by: delivered)
            await transport.shutdown()
        }
    }

    @Test func `FCM never sees more than a hundred streams on a connection`() async throws {
        try await ProviderBench.run { bench in
            bench.simulator.setFaults(FaultPlan([FaultRule(.fcm, delayMilliseconds: 50)]))
            let transport = bench.fcmTransport()
            let sender = try bench.fcm(transport)
            // A stream too many would be refused, and so not be accepted at once.
            #expect(await sender.outcomes(of: try bench.deliveries(514, .android)).accepted == 514)
            #expect(transport.statistics.connectionsOpened <= 2)
            await transport.shutdown()
        }
    }

    @Test func `a refused stream goes again, beside siblings that do not notice`() async throws {
        try await ProviderBench.run { bench in
            bench.simulator.setFaults(FaultPlan([FaultRule(.apns, after: 20, count: 1, resetStream: 7)]))
            let transport = bench.apnsTransport { $0.connections = 1 }
            let delivered = await (try bench.apns(transport)).deliverAll(try bench.deliveries(100))
            #expect(delivered.accepted == 100)
            #expect(delivered.firstRound.accepted == 99)
            bench.expectDuplicatesExplained(by: delivered)
            await transport.shutdown()
        }
    }

    // MARK: - Resets, silence, age

    @Test func `a connection that died while idle costs a push nothing`() async throws {
        try await ProviderBench.run { bench in
            let transport = bench.apnsTransport()
            let sender = try bench.apns(transport)
            #expect(await sender.outcomes(of: try bench.deliveries(1)).accepted == 1)
            bench.simulator.abortConnections()
            // Nothing tells when the reset has arrived: libcurl does not look at what is idle.
            try await Task.sleep(for: .milliseconds(200))
            let delivered = await sender.deliverAll(try bench.deliveries(1), rounds: 2)
            #expect(delivered.accepted == 1)
            #expect(bench.simulator.counts().received == 2)
            await transport.shutdown()
        }
    }

    @Test(arguments: [Platform.ios, .android])
    func `a push that was handled before the reset is sent once a try, with the same ids`(
        _ platform: Platform
    ) async throws {
        try await ProviderBench.run { bench in
            let transport = platform == .ios ? bench.apnsTransport() : bench.fcmTransport()
            let sender: any ProviderSender = platform == .ios ? try bench.apns(transport) : try bench.fcm(transport)
            #expect(await sender.outcomes(of: try bench.deliveries(1, platform)).accepted == 1)
            let provider: FaultRule.Provider = platform == .ios ? .apns : .fcm
            bench.simulator.setFaults(FaultPlan([FaultRule(provider, count: 1, closeConnection: .afterHandling)]))
            bench.simulator.clearReceived()
            let doubted = try bench.deliveries(1, platform)
            let first = await sender.outcomes(of: doubted)
            #expect(first.allSatisfy { $0.name == "unknown" })
            #expect(bench.simulator.received().count == 1)
            #expect(await sender.outcomes(of: doubted).accepted == 1)
            let received = bench.simulator.received()
            #expect(received.count == 2)
            #expect(Set(received.map(\.identity)).count == 1)
            #expect(Set(received.map(\.body)).count == 1)
            #expect(Set(received.map { $0.headers["apns-collapse-id"] }).count == 1)
            await transport.shutdown()
        }
    }

    @Test func `one push without an answer ends by its time-out and disturbs no sibling`() async throws {
        try await ProviderBench.run { bench in
            let deliveries = try bench.deliveries(100)
            let silent = deliveries[40].token.text
            bench.simulator.setFaults(
                FaultPlan([
                    FaultRule(.apns, token: silent, count: 1, silence: true),
                    FaultRule(.apns, delayMilliseconds: 1500),
                ]))
            let transport = bench.apnsTransport {
                $0.connections = 1
                $0.requestTimeout = .seconds(2)
            }
            let sender = try bench.apns(transport)
            let results = await sender.results(of: deliveries)
            #expect(results.map(\.outcome).accepted == 99)
            #expect(results[40].outcome == .unknown(reason: "timed_out"))
            bench.simulator.setFaults(FaultPlan())
            #expect(await sender.outcomes(of: [deliveries[40]]).accepted == 1)
            await transport.shutdown()
        }
    }

    @Test func `a provider that takes 1,5 seconds for each is waited for`() async throws {
        try await ProviderBench.run { bench in
            bench.simulator.setFaults(FaultPlan([FaultRule(.fcm, delayMilliseconds: 1500)]))
            let transport = bench.fcmTransport()
            let outcomes = await (try bench.fcm(transport)).outcomes(of: try bench.deliveries(100, .android))
            #expect(outcomes.accepted == 100)
            await transport.shutdown()
        }
    }

    @Test func `connections that are retired in time end without an error`() async throws {
        try await ProviderBench.run {
            $0.options.fcmMaxAge = .seconds(2)
        } _: { bench in
            let transport = bench.fcmTransport { $0.lifetime = .milliseconds(700) }
            let sender = try bench.fcm(transport)
            let end = ContinuousClock.now + .seconds(3)
            var outcomes: [SendOutcome] = []
            while ContinuousClock.now < end {
                outcomes += await sender.outcomes(of: try bench.deliveries(20, .android))
            }
            #expect(outcomes.words.isEmpty)
            #expect(transport.statistics.connectionsOpened >= 3)
            await transport.shutdown()
        }
    }

    // MARK: - Hosts

    @Test func `interleaved pushes for both environments never meet the wrong host`() async throws {
        try await ProviderBench.run { bench in
            let tokens = try bench.providerTokens()
            let transports = [bench.apnsTransport(), bench.apnsTransport()]
            let production = try bench.apns(transports[0], tokens: tokens)
            let development = try bench.apns(transports[1], tokens: tokens, environment: .development)
            await withThrowingTaskGroup(of: Int.self) { group in
                for round in 0..<20 {
                    group.addTask {
                        let environment: PushModel.APNSEnvironment = round % 2 == 0 ? .production : .development
                        let deliveries = try bench.deliveries(100, environment: environment)
                        return await (round % 2 == 0 ? production : development).outcomes(of: deliveries).accepted
                    }
                }
                while let accepted = try? await group.next() { #expect(accepted == 100) }
            }
            // The wrong host knows no such device.
            #expect(bench.simulator.counts().byStatus == ["200": 2000])
            #expect(bench.authorizations.count == 1)
            for transport in transports { await transport.shutdown() }
        }
    }
}
