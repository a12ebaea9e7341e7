/// Good examples of one kind of input, and how inputs are made from them.
///
/// Most inputs are an example with a few changes: only what is nearly right reaches the inner parts of a parser.
struct Corpus: Sendable {
    enum Shape: Sendable {
        /// Bytes, changed anywhere.
        case bytes
        /// JSON: also whole values are exchanged for others, and texts made by its grammar.
        case json
        /// Text that people write: made of scalars that stick together in odd ways.
        case prose
    }

    let shape: Shape
    let examples: [[UInt8]]
    let words: [[UInt8]]
    /// For JSON: the names of members in the examples.
    let names: [[UInt8]]
    /// Of so many inputs one is an example without any change.
    let unchangedOneIn: Int
    /// The longest text of ``Shape/prose`` in scalars, but for rare ones.
    let proseLength: Int

    /// Longer inputs are cut here, but for the rare ones made to be long.
    static let longest = 4096
    static let longestOfAll = 80_000

    init(
        _ shape: Shape = .bytes, _ examples: [String], words: [String] = [], unchangedOneIn: Int = 12,
        proseLength: Int = 40
    ) {
        self.shape = shape
        self.examples = examples.map { Array($0.utf8) }
        self.words = words.map { Array($0.utf8) } + Words.all
        self.names = shape == .json ? self.examples.flatMap(JSONGrammar.strings) : []
        self.unchangedOneIn = unchangedOneIn
        self.proseLength = proseLength
    }

    func make(_ random: inout FuzzRandom) -> [UInt8] {
        if random.oneIn(self.unchangedOneIn) { return random.pick(self.examples, or: []) }
        switch self.shape {
        case .json where random.oneIn(6):
            return self.changed(JSONGrammar(names: self.names).text(&random), &random, times: random.below(2))
        case .prose where !random.oneIn(8):
            return Prose.text(&random, scalars: self.proseLength)
        case .bytes where random.oneIn(20):
            return (0..<random.below(8)).flatMap { _ in random.pick(self.words, or: []) }
        default:
            // One change is the most telling number; many reach further.
            return self.changed(
                random.pick(self.examples, or: []), &random, times: 1 + random.below(1 + random.below(8)))
        }
    }

    private func changed(_ example: [UInt8], _ random: inout FuzzRandom, times: Int) -> [UInt8] {
        var bytes = example
        for _ in 0..<times { self.change(&bytes, &random) }
        if bytes.count > Self.longest { bytes.removeSubrange(Self.longest...) }
        if random.oneIn(4000) { bytes.stretch(&random, to: Self.longestOfAll) }
        return bytes
    }

    private func change(_ bytes: inout [UInt8], _ random: inout FuzzRandom) {
        if self.shape == .json, random.oneIn(2) { return JSONGrammar(names: self.names).change(&bytes, &random) }
        switch random.below(11) {
        case 0: bytes.flipBit(&random)
        case 1: bytes.setByte(&random)
        case 2: bytes.cut(&random)
        case 3: bytes.removePiece(&random)
        case 4: bytes.repeatPiece(&random)
        case 5: bytes.movePiece(&random)
        case 6: bytes.splice(random.pick(self.examples, or: []), &random)
        case 7: bytes.replaceNumber(&random)
        default: bytes.insertPiece(random.pick(self.words, or: []), &random)
        }
    }
}
