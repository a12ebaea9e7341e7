/// SplitMix64: small, and the same on every machine, so that a seed and a number name an input for ever.
package struct FuzzRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        self.state = seed
    }

    /// The numbers of one input: they depend on seed, parser and number alone, not on the inputs before.
    init(seed: UInt64, name: String, number: Int) {
        // FNV-1a: `Hasher` differs from run to run.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        self.state = hash
        self.state = self.next() ^ seed
        self.state = self.next() ^ UInt64(truncatingIfNeeded: number)
        _ = self.next()
    }

    package mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var value = self.state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

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
