internal import PushSimulator

/// Chance that is the same on every machine, so that a seed and a number name an input for ever.
package struct FuzzRandom: RandomNumberGenerator, Sendable {
    private var generator: SeededGenerator

    package init(seed: UInt64) {
        self.generator = SeededGenerator(seed: seed)
    }

    /// The numbers of one input: they depend on seed, parser and number alone, not on the inputs before.
    init(seed: UInt64, name: String, number: Int) {
        // FNV-1a: `Hasher` differs from run to run.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        self.generator = SeededGenerator(seed: hash)
        self.generator = SeededGenerator(seed: self.generator.next() ^ seed)
        self.generator = SeededGenerator(seed: self.generator.next() ^ UInt64(truncatingIfNeeded: number))
        _ = self.generator.next()
    }

    package mutating func next() -> UInt64 { self.generator.next() }

    /// From 0 to `bound` - 1; 0 for a bound of 0. The slight preference for small numbers does not matter here.
    mutating func below(_ bound: Int) -> Int {
        guard bound > 0 else { return 0 }
        return Int(self.next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    mutating func oneIn(_ count: Int) -> Bool { self.below(count) == 0 }

    mutating func pick<Element>(_ elements: [Element], or fallback: Element) -> Element {
        elements.isEmpty ? fallback : elements[self.below(elements.count)]
    }
}
