/// One parser: what it is fed, and what must hold of every answer.
package struct FuzzTarget: Sendable {
    package let name: String
    let fields: [(name: String, corpus: Corpus)]
    let check: @Sendable (FuzzInput) throws(FuzzFinding) -> FuzzOutcome

    init(
        _ name: String, _ fields: KeyValuePairs<String, Corpus>,
        check: @escaping @Sendable (FuzzInput) throws(FuzzFinding) -> FuzzOutcome
    ) {
        self.name = name
        self.fields = fields.map { ($0.key, $0.value) }
        self.check = check
    }

    /// The same for the same seed and number, whatever ran before.
    package func input(seed: UInt64, number: Int) -> FuzzInput {
        var random = FuzzRandom(seed: seed, name: self.name, number: number)
        let fields = self.fields.map { FuzzInput.Field(name: $0.name, bytes: $0.corpus.make(&random)) }
        return FuzzInput(fields: fields, random: random)
    }

    /// Parses one input.
    /// - Throws: what does not hold.
    package func run(_ input: FuzzInput) throws(FuzzFinding) -> FuzzOutcome { try self.check(input) }

    /// Parses the inputs of these numbers, up to the first finding; `note` is told each number before its turn.
    package func run(
        seed: UInt64, numbers: Range<Int>, note: (_ number: Int) -> Void = { _ in }
    ) -> FuzzTally {
        var tally = FuzzTally()
        for number in numbers {
            note(number)
            let input = self.input(seed: seed, number: number)
            let begun = ContinuousClock.now
            do throws(FuzzFinding) {
                tally.add(try self.check(input), number: number, took: begun.duration(to: .now))
            } catch {
                tally.failure = FuzzTally.Failure(number: number, finding: error, input: input)
                break
            }
        }
        return tally
    }
}

/// One input: the text that is parsed first, then what stands beside it.
package struct FuzzInput: Sendable, CustomStringConvertible {
    struct Field: Sendable {
        let name: String
        let bytes: [UInt8]
    }

    let fields: [Field]
    /// For choices that are no text.
    let random: FuzzRandom

    var bytes: [UInt8] { self.fields[0].bytes }
    var text: String { String(decoding: self.bytes, as: UTF8.self) }

    /// The text of a field beside the first; nil when it is empty.
    func text(_ index: Int) -> String? {
        let bytes = self.fields[index].bytes
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// One line per field, as it would stand in a Swift literal of bytes: ASCII as it is, the rest as `\xNN`.
    package var description: String {
        self.fields.map { field in
            let rest = field.bytes.count - Self.longestShown
            return "\(field.name): \"\(Self.escaped(field.bytes.prefix(Self.longestShown)))\""
                + (rest > 0 ? " and \(rest) bytes more" : "")
        }.joined(separator: "\n")
    }

    private static let longestShown = 4096

    private static func escaped(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.reduce(into: "") { text, byte in
            switch byte {
            case UInt8(ascii: "\\"): text += "\\\\"
            case UInt8(ascii: "\""): text += "\\\""
            case 0x20...0x7E: text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
    }
}

/// What a parser made of an input, in a word or two of a closed set.
package enum FuzzOutcome: Hashable, Sendable {
    case read(String)
    case refused(String)
}

/// What does not hold.
package struct FuzzFinding: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// Throws unless `condition` holds.
func expect(_ condition: Bool, _ fault: @autoclosure () -> String) throws(FuzzFinding) {
    guard condition else { throw FuzzFinding(fault()) }
}
