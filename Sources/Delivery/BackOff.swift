/// Growing waits between tries at something that must work in the end: 0.1 s, doubled up to 5 s, each with a random
/// share so that many workers do not return together.
package struct BackOff: Sendable {
    private var wait = Duration.milliseconds(100)

    package init() {}

    package mutating func reset() {
        self.wait = .milliseconds(100)
    }

    package mutating func next() -> Duration {
        defer { self.wait = min(self.wait * 2, .seconds(5)) }
        return self.wait * Double.random(in: 0.5...1)
    }
}
