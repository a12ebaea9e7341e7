import FoundationEssentials
import Postgres
import PushModel
import PushSimulator
import TestSupport
import Testing

/// The way to a provider, as it fails.
@Suite(.serialized) struct ProviderNetworkTests {
    /// A worker whose way to APNs leads through a proxy, with an account that has a phone of either kind.
    @Test func `a way to APNs that swallows everything costs time only, and FCM nothing`() async throws {
        let installation = try await Installation.make()
        let proxy = try TCPProxy(to: .port(installation.simulator.addresses.port(of: .apnsProduction)))
        let worker = try await installation.startWorker([
            "APNS_URL": "https://127.0.0.1:\(proxy.port)", "PUSH_REQUEST_TIMEOUT": "3s",
        ])
        let account = try await installation.account()
        let iPhone = try await installation.phone(.ios, of: account)
        let android = try await installation.phone(.android, of: account)
        let before = try await installation.notify(account, kind: "invitation_received")
        #expect(try await installation.ends(of: before, count: 2) == ["accepted", "accepted"])

        installation.simulator.clearReceived()
        installation.simulator.setFaults(FaultPlan([FaultRule(.apns, delayMilliseconds: 1500)]))
        var ids: [UUID] = []
        for _ in 0..<5 { ids.append(try await installation.notify(account, kind: "invitation_accepted")) }
        try await eventually {
            installation.simulator.received().count { $0.deviceToken == iPhone.token } == ids.count
        }
        proxy.blackhole()
        for id in ids {
            try await eventually(within: .seconds(90)) {
                try await installation.number(
                    """
                    select count(*) from push.attempts
                    where notification_id = \(id) and platform = 'ios' and outcome = 'unknown'
                    """) >= 1
            }
        }
        // All the while the other provider is as it was.
        let meanwhile = try await installation.notify(account, kind: "invitation_received")
        try await eventually(within: .seconds(90)) {
            installation.simulator.received().contains {
                $0.deviceToken == android.token && $0.notificationID == meanwhile.text
            }
        }
        installation.simulator.setFaults(FaultPlan())
        proxy.restore()
        for id in ids + [meanwhile] {
            #expect(
                try await installation.ends(of: id, count: 2, within: .seconds(60)) == ["accepted", "accepted"])
        }
        let received = installation.simulator.received()
        for id in ids {
            let sends = received.filter { $0.notificationID == id.text && $0.deviceToken == iPhone.token }
            #expect(sends.count >= 2)
            #expect(Set(sends.map(\.identity)).count == 1)
            #expect(Set(sends.map { $0.headers["apns-collapse-id"] }).count == 1)
        }
        #expect(received.count { $0.deviceToken == android.token } == ids.count + 1)
        try await installation.stop(worker)
        proxy.stop()
    }

    @Test func `connections that are cut in the middle of answers lose nothing`() async throws {
        let installation = try await Installation.make()
        let proxy = try TCPProxy(to: .port(installation.simulator.addresses.port(of: .fcm)))
        let worker = try await installation.startWorker(["FCM_URL": "https://127.0.0.1:\(proxy.port)"])
        let account = try await installation.account()
        try await installation.phone(.android, of: account)
        installation.simulator.setFaults(FaultPlan([FaultRule(.fcm, count: 10, delayMilliseconds: 2000)]))
        var ids: [UUID] = []
        for _ in 0..<10 { ids.append(try await installation.notify(account, kind: "invitation_received")) }
        try await installation.simulator.waitForReceived(count: 10, within: .seconds(90))
        proxy.cut()
        for id in ids {
            #expect(try await installation.ends(of: id, count: 1, within: .seconds(60)) == ["accepted"])
        }
        try await installation.waitUntilDrained()
        #expect(installation.simulator.counts().distinct == 10)
        try await installation.stop(worker)
        proxy.stop()
    }
}
