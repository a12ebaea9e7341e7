import Delivery
import PushModel
import TestSupport
import Testing

@testable import DeliveryQueue

@Suite struct EndpointBreakerTests {
    private static let down = SendOutcome.retry(.init(reason: "connect_failed", scope: .host, countsAsAttempt: false))

    @Test(arguments: [Self.down, .unknown(reason: "timed_out")])
    func `many failures in a row give rests that double up to a minute`(_ failure: SendOutcome) {
        var breaker = EndpointBreaker()
        let first = (0..<EndpointBreaker.failures).compactMap { _ in breaker.note(failure) }
        #expect(first.map(\.duration) == [.seconds(1)])
        // After a rest there is one probe, and one more failure is enough.
        let next = (0..<8).compactMap { _ in breaker.note(failure)?.duration }
        #expect(next == [2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
    }

    @Test func `an acceptance between them ends the row`() {
        var breaker = EndpointBreaker()
        for number in 0..<100 {
            #expect(breaker.note(number % 9 == 8 ? .accepted(providerID: nil) : Self.down) == nil)
        }
    }

    @Test func `trouble with single devices never rests the host`() {
        var breaker = EndpointBreaker()
        for _ in 0..<1000 {
            #expect(breaker.note(.retry(.init(reason: "TooManyRequests", scope: .device))) == nil)
            #expect(breaker.note(.deviceDead(reason: "Unregistered", since: nil)) == nil)
        }
    }

    @Test func `one and the same refusal of every request is our fault, and burns no quota`() {
        var breaker = EndpointBreaker()
        let rests = (0..<EndpointBreaker.refusals).compactMap { _ in breaker.note(.rejected(reason: "BadPriority")) }
        #expect(rests.map(\.duration) == [.seconds(60)])
        #expect(rests.map(\.reason) == ["BadPriority"])
        var mixed = EndpointBreaker()
        for number in 0..<200 { #expect(mixed.note(.rejected(reason: "Fault \(number % 2)")) == nil) }
    }
}

@Suite struct PauseAndProbeTests {
    @Test func `a pause ends by time, then a probe goes alone until one is accepted`() async throws {
        let pauses = EndpointPauses()
        pauses.pause(.fcm, for: .milliseconds(50), .noAnswers)
        #expect(pauses.remaining(.fcm) != nil)
        #expect(pauses.remaining(.apnsProduction) == nil)
        // An answer to what went out before the pause proves nothing.
        pauses.proven(.fcm)
        #expect(pauses.needsProbe(.fcm))
        try await eventually { pauses.remaining(.fcm) == nil }
        #expect(pauses.needsProbe(.fcm))
        pauses.proven(.fcm)
        #expect(!pauses.needsProbe(.fcm))
    }

    @Test func `the longer of two pauses holds, and the operator's word ends both`() {
        let pauses = EndpointPauses()
        pauses.pause(.fcm, for: .seconds(100), .noAnswers)
        pauses.pause(.fcm, for: .seconds(10), .noAnswers)
        #expect((pauses.remaining(.fcm) ?? .zero) > .seconds(90))
        pauses.adopt([.fcm: .init(remaining: nil, resumes: 1)])
        #expect(pauses.takeEnded() == [.fcm])
        #expect(pauses.takeEnded().isEmpty)
        #expect(pauses.remaining(.fcm) == nil)
        #expect(pauses.needsProbe(.fcm))
    }
}
