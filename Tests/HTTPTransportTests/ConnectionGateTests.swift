import Testing

@testable internal import HTTPTransport

struct ConnectionGateTests {
    private let start = ContinuousClock.now

    private func gate(probes: Bool = true, requestsPerConnection: Int? = nil) -> ConnectionGate {
        ConnectionGate(
            limits: .init(
                window: 100, probes: probes, reprobeAfter: .seconds(10), idleLimit: .seconds(60),
                lifetime: .seconds(3600), requestsPerConnection: requestsPerConnection
            ),
            now: self.start
        )
    }

    private func openGate() -> ConnectionGate {
        var gate = self.gate()
        gate.admit(1)
        gate.apply(ConnectionReport(ended: 1, isConnected: true, isProven: true), now: self.start)
        return gate
    }

    @Test func `a fresh connection takes one request and no second`() {
        var gate = self.gate()
        #expect(gate.room == 1)
        gate.admit(1)
        #expect(gate.room == 0)
        #expect(gate.prospect == 99)
    }

    @Test func `standing is enough where nothing is probed`() {
        var gate = self.gate(probes: false)
        gate.admit(1)
        gate.apply(ConnectionReport(isConnected: true), now: self.start)
        #expect(gate.state == .open)
        #expect(gate.room == 99)
    }

    @Test func `standing is not enough where the first request is a probe`() {
        var gate = self.gate()
        gate.admit(1)
        gate.apply(ConnectionReport(isConnected: true), now: self.start)
        #expect(gate.state == .opening)
        gate.apply(ConnectionReport(ended: 1, isProven: true), now: self.start)
        #expect(gate.room == 100)
    }

    @Test func `a probe that proves nothing is followed by another`() {
        var gate = self.gate()
        gate.admit(1)
        gate.apply(ConnectionReport(ended: 1, isConnected: true), now: self.start)
        #expect(gate.state == .fresh)
        #expect(!gate.wasOpen)
        #expect(gate.room == 1)
    }

    @Test(arguments: [
        (seconds: 9, state: ConnectionGate.State.open), (10, .fresh), (59, .fresh), (60, .draining),
        (3600, .draining),
    ])
    func `quiet connections are fresh again and then closed`(seconds: Int, state: ConnectionGate.State) {
        var gate = self.openGate()
        gate.refresh(now: self.start + .seconds(seconds))
        #expect(gate.state == state)
        #expect(gate.wasOpen)
    }

    @Test func `quiet begins with the last answer`() {
        var gate = self.openGate()
        gate.admit(2)
        gate.apply(ConnectionReport(ended: 1), now: self.start + .seconds(5))
        gate.refresh(now: self.start + .seconds(100))
        #expect(gate.state == .open)
        gate.apply(ConnectionReport(ended: 1), now: self.start + .seconds(100))
        gate.refresh(now: self.start + .seconds(109))
        #expect(gate.state == .open)
        #expect(gate.nextChange == self.start + .seconds(160))
    }

    @Test func `old age drains a busy connection`() {
        var gate = self.openGate()
        gate.admit(3)
        #expect(gate.nextChange == self.start + .seconds(3600))
        gate.refresh(now: self.start + .seconds(3600))
        #expect(gate.state == .draining)
        #expect(gate.room == 0 && gate.prospect == 0)
        #expect(!gate.isFinished)
        gate.apply(ConnectionReport(ended: 3), now: self.start + .seconds(3601))
        #expect(gate.isFinished)
    }

    @Test func `requests are counted where their number is limited`() {
        var gate = self.gate(requestsPerConnection: 3)
        gate.admit(1)
        gate.apply(ConnectionReport(ended: 1, isConnected: true, isProven: true), now: self.start)
        #expect(gate.room == 2)
        gate.admit(2)
        #expect(gate.state == .draining)
    }

    @Test func `an answer counts though the connection broke in the same turn`() {
        var gate = self.gate()
        gate.admit(1)
        gate.apply(ConnectionReport(ended: 1, isConnected: true, isProven: true, breakage: "x"), now: self.start)
        #expect(gate.wasOpen)
        #expect(gate.isFinished)
    }
}
