import Delivery
import FoundationEssentials
import PushModel
import Testing

@Suite struct PruneGuardTests {
    private let endpoint = ProviderEndpoint.apnsProduction

    private func weigh(_ count: Int, _ ground: PruneGuard.Ground, _ pruneGuard: PruneGuard) -> [PruneGuard.Verdict] {
        (0..<count).map { _ in pruneGuard.weigh(ground, of: UUID(), at: self.endpoint) }
    }

    @Test func `a single phone that is gone is marked in the quietest installation`() {
        #expect(self.weigh(1, .certain, PruneGuard()) == [.mark])
    }

    @Test func `a single doubtful refusal marks nothing until something was accepted`() {
        let pruneGuard = PruneGuard()
        #expect(self.weigh(1, .doubtful, pruneGuard) == [.keep])
        pruneGuard.noteAcceptance(at: self.endpoint)
        #expect(self.weigh(1, .doubtful, pruneGuard) == [.keep])
        pruneGuard.noteAcceptance(at: self.endpoint)
        pruneGuard.noteAcceptance(at: self.endpoint)
        #expect(self.weigh(1, .doubtful, pruneGuard) == [.mark])
    }

    @Test func `a wrong host marks no token and soon is not believed`() {
        let verdicts = self.weigh(100, .doubtful, PruneGuard())
        #expect(verdicts.prefix(PruneGuard.longestRun).allSatisfy { $0 == .keep })
        #expect(verdicts.dropFirst(PruneGuard.longestRun).allSatisfy { $0 == .distrust })
    }

    @Test(arguments: PruneGuard.Ground.allCases)
    func `a change for the worse under way costs few tokens`(_ ground: PruneGuard.Ground) {
        let pruneGuard = PruneGuard()
        for _ in 0..<1000 { pruneGuard.noteAcceptance(at: self.endpoint) }
        let verdicts = self.weigh(500, ground, pruneGuard)
        #expect(verdicts.count { $0 == .mark } == PruneGuard.longestRun)
        #expect(verdicts.last == (ground == .certain ? .keep : .distrust))
        // One acceptance shows that host and topic are right.
        pruneGuard.noteAcceptance(at: self.endpoint)
        #expect(self.weigh(1, .certain, pruneGuard) == [.mark])
    }

    @Test func `dead phones among living ones are all marked`() {
        let pruneGuard = PruneGuard()
        for number in 0..<1000 {
            pruneGuard.noteAcceptance(at: self.endpoint)
            pruneGuard.noteAcceptance(at: self.endpoint)
            #expect(self.weigh(1, number % 2 == 0 ? .certain : .doubtful, pruneGuard) == [.mark])
        }
    }

    @Test func `one phone refused again and again is one phone`() {
        let pruneGuard = PruneGuard()
        let phone = UUID()
        for _ in 0..<100 { #expect(pruneGuard.weigh(.doubtful, of: phone, at: self.endpoint) == .keep) }
        for _ in 0..<100 { #expect(pruneGuard.weigh(.certain, of: phone, at: self.endpoint) == .mark) }
    }

    @Test func `endpoints are weighed apart, and a new key starts anew`() {
        let pruneGuard = PruneGuard()
        for _ in 0..<10 { pruneGuard.noteAcceptance(at: .fcm) }
        #expect(self.weigh(1, .doubtful, pruneGuard) == [.keep])
        #expect(pruneGuard.weigh(.doubtful, of: UUID(), at: .fcm) == .mark)
        pruneGuard.forget([.fcm])
        #expect(pruneGuard.weigh(.doubtful, of: UUID(), at: .fcm) == .keep)
    }
}
