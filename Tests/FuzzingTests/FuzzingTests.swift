import Testing

@testable import Fuzzing

@Suite struct FuzzingTests {
    /// The short form of `deploy/fuzz`.
    @Test(arguments: FuzzTarget.all.map(\.name))
    func everyParserWithstandsItsInputs(_ name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let tally = target.run(seed: 20_261_114, numbers: 0..<20_000)
        if let failure = tally.failure {
            Issue.record("\(name), number \(failure.number): \(failure.finding)\n\(failure.input)")
            return
        }
        #expect(tally.count == 20_000)
        // Inputs that are all alike, or all nonsense, would try nothing.
        #expect(tally.outcomes.count >= 2)
        #expect(tally.readCount > 200)
    }

    @Test func everyParserHasItsOwnName() {
        #expect(Set(FuzzTarget.all.map(\.name)).count == FuzzTarget.all.count)
    }

    // MARK: - The generator

    @Test func anInputDependsOnSeedAndNumberAlone() {
        let target = FuzzTarget.apnsAnswer
        #expect(target.input(seed: 7, number: 41).description == target.input(seed: 7, number: 41).description)
        let texts = (0..<100).map { target.input(seed: 7, number: $0).description }
        #expect(Set(texts).count > 90)
        #expect(target.input(seed: 8, number: 41).description != texts[41])
    }

    @Test func aFaultIsFoundAndToldWithItsInput() throws {
        let target = FuzzTarget("faulty", ["text": Corpus(.bytes, ["{\"reason\":\"Gone\"}"])]) {
            input throws(FuzzFinding) in
            try expect(!input.text.contains("Gone\"\""), "a quote too many")
            return .read("text")
        }
        let failure = try #require(target.run(seed: 1, numbers: 0..<50_000).failure)
        #expect(failure.finding.description == "a quote too many")
        #expect(failure.input.description.contains("Gone\\\"\\\""))
        let again = target.run(seed: 1, numbers: failure.number..<(failure.number + 1)).failure
        #expect(again?.input.description == failure.input.description)
    }

    @Test func anInputIsShownInASCII() {
        let input = FuzzInput(
            fields: [.init(name: "text", bytes: Array("a\"\\é\n".utf8) + [0xFF])], random: FuzzRandom(seed: 1))
        #expect(input.description == #"text: "a\"\\\xc3\xa9\x0a\xff""#)
    }

    @Test func longAndDeepInputsComeUp() {
        let corpus = Corpus(.json, ["{\"a\":1}"])
        var random = FuzzRandom(seed: 1)
        let inputs = (0..<20_000).map { _ in corpus.make(&random) }
        #expect(inputs.contains { $0.count > 50_000 })
        #expect(inputs.contains { $0.count { $0 == UInt8(ascii: "[") } > 500 })
        #expect(inputs.contains { String(validating: $0, as: UTF8.self) == nil })
    }

    // MARK: - The watchdog

    @Test(.timeLimit(.minutes(5))) func anInputWithoutAnEndIsTold() async {
        let workers = [WorkerProgress(), WorkerProgress()]
        workers[1].begin(target: 3)
        workers[1].note(4711)
        let (hangs, continuation) = AsyncStream.makeStream(of: [Int].self)
        let watchdog = Watchdog(workers, limit: .milliseconds(50)) { continuation.yield([$0, $1]) }
        #expect(await hangs.first { _ in true } == [3, 4711])
        watchdog.stop()
    }
}
