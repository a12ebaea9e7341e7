import Fuzzing

/// What is printed: a line for each parser, and what is needed to see a finding again.
enum Report {
    static func line(_ target: FuzzTarget, _ tally: FuzzTally, took duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        let count = tally.count
        let columns = [
            target.name.filled(to: 20), "\(count) inputs".filled(to: 16), "\(Self.decimal(seconds)) s".filled(to: 9),
            "\(Int(Double(count) / max(seconds, 0.001)))/s".filled(to: 10),
            "\(tally.outcomes.count) outcomes, \(tally.readCount * 100 / max(count, 1))% read".filled(to: 26),
            "slowest \(Self.decimal(tally.slowest.duration / .milliseconds(1))) ms (\(tally.slowest.number))",
        ]
        return columns.joined(separator: " ")
    }

    static func outcomes(_ tally: FuzzTally) -> String {
        tally.outcomes.sorted { $0.value > $1.value }.map { "    \($0.value) \($0.key)\n" }.joined()
    }

    static func failure(_ target: FuzzTarget, seed: UInt64, _ failure: FuzzTally.Failure) {
        Self.show(target, seed: seed, number: failure.number, "\(failure.finding)", failure.input)
    }

    static func hang(_ target: FuzzTarget, seed: UInt64, number: Int, limit: Duration) {
        let input = target.input(seed: seed, number: number)
        Self.show(target, seed: seed, number: number, "no end after \(limit)", input)
    }

    static func crash(_ target: FuzzTarget, seed: UInt64, number: Int) {
        let input = target.input(seed: seed, number: number)
        Self.show(target, seed: seed, number: number, "it ended the process", input)
    }

    /// Shows and parses one input of each parser; whether all held.
    static func one(_ targets: [FuzzTarget], seed: UInt64, number: Int) -> Bool {
        var isFine = true
        for target in targets {
            let input = target.input(seed: seed, number: number)
            print("\(target.name), seed \(seed), number \(number)\n\(input)")
            do throws(FuzzFinding) {
                print(try target.run(input))
            } catch {
                print("FAILED: \(error)")
                isFine = false
            }
        }
        return isFine
    }

    private static func show(_ target: FuzzTarget, seed: UInt64, number: Int, _ fault: String, _ input: FuzzInput) {
        print(
            """
            FAILED: \(target.name), seed \(seed), number \(number): \(fault)
            \(input)
            Again: push-fuzz --parser \(target.name) --number \(number) 1 \(seed)
            """)
    }

    private static func decimal(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

extension String {
    /// With spaces behind it up to `width`.
    fileprivate func filled(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - self.count))
    }
}
