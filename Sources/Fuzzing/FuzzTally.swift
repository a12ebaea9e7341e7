/// What became of a run of inputs.
package struct FuzzTally: Sendable {
    package struct Failure: Sendable {
        package let number: Int
        package let finding: FuzzFinding
        package let input: FuzzInput
    }

    package private(set) var outcomes: [FuzzOutcome: Int] = [:]
    package private(set) var slowest: (number: Int, duration: Duration) = (0, .zero)
    /// The first input after which something did not hold; no input after it was tried.
    package internal(set) var failure: Failure?

    package init() {}

    package var count: Int { self.outcomes.values.reduce(0, +) }
    /// Inputs the parser took, rather than refused.
    package var readCount: Int {
        self.outcomes.reduce(0) { sum, entry in
            guard case .read = entry.key else { return sum }
            return sum + entry.value
        }
    }

    mutating func add(_ outcome: FuzzOutcome, number: Int, took duration: Duration) {
        self.outcomes[outcome, default: 0] += 1
        if duration > self.slowest.duration { self.slowest = (number, duration) }
    }

    package mutating func add(_ other: FuzzTally) {
        self.outcomes.merge(other.outcomes, uniquingKeysWith: +)
        if other.slowest.duration > self.slowest.duration { self.slowest = other.slowest }
        guard let theirs = other.failure else { return }
        if theirs.number < self.failure?.number ?? .max { self.failure = theirs }
    }
}
