/// A JSON value whose objects keep their order and their repeated names, as a strict reader must see them.
///
/// Google's error messages count the entries of a map in the order in which they were sent.
package indirect enum OrderedJSON: Equatable, Sendable {
    case null
    case bool(Bool)
    /// A number without fraction or exponent that fits.
    case integer(Int)
    case number(Double)
    case string(String)
    case array([OrderedJSON])
    case object([Member])

    package struct Member: Equatable, Sendable {
        package var name: String
        package var value: OrderedJSON
    }

    /// Nesting beyond this is refused.
    package static let maxDepth = 64

    /// Reads one JSON text (RFC 8259); nil when `bytes` are none.
    package init?(_ bytes: [UInt8]) {
        let value = bytes.withUnsafeBufferPointer { buffer -> OrderedJSON? in
            var reader = JSONReader(bytes: buffer)
            return reader.readText()
        }
        guard let value else { return nil }
        self = value
    }

    package subscript(name: String) -> OrderedJSON? {
        self.members?.first { $0.name == name }?.value
    }

    package var members: [Member]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    package var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    package var integer: Int? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    package var isNumber: Bool {
        switch self {
        case .integer, .number: true
        default: false
        }
    }

    /// The value as it might have been written, for a message.
    package var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): String(value)
        case .integer(let value): String(value)
        case .number(let value): String(value)
        case .string(let value): Self.quoted(value)
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.name) + ":" + $0.value.text }.joined(separator: ",") + "}"
        }
    }

    /// A JSON string with its quotes; slashes as they are.
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension OrderedJSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByArrayLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(arrayLiteral elements: OrderedJSON...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, OrderedJSON)...) {
        self = .object(elements.map { Member(name: $0.0, value: $0.1) })
    }
}

/// Reads one JSON text; every method returns nil at the first byte that may not stand there.
private struct JSONReader {
    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0
    var depth = 0

    init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    mutating func readText() -> OrderedJSON? {
        guard let value = self.readValue() else { return nil }
        self.skipSpace()
        return self.position == self.bytes.count ? value : nil
    }

    private var next: UInt8? { self.position < self.bytes.count ? self.bytes[self.position] : nil }

    private mutating func skipSpace() {
        while let byte = self.next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { self.position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard self.next == byte else { return false }
        self.position += 1
        return true
    }

    private mutating func take(word: StaticString, _ value: OrderedJSON) -> OrderedJSON? {
        let length = word.utf8CodeUnitCount
        guard self.position + length <= self.bytes.count else { return nil }
        for index in 0..<length where self.bytes[self.position + index] != word.utf8Start[index] { return nil }
        self.position += length
        return value
    }

    private mutating func readValue() -> OrderedJSON? {
        self.skipSpace()
        switch self.next {
        case UInt8(ascii: "{"): return self.nested { $0.readObject() }
        case UInt8(ascii: "["): return self.nested { $0.readArray() }
        case UInt8(ascii: "\""): return self.readString().map(OrderedJSON.string)
        case UInt8(ascii: "t"): return self.take(word: "true", .bool(true))
        case UInt8(ascii: "f"): return self.take(word: "false", .bool(false))
        case UInt8(ascii: "n"): return self.take(word: "null", .null)
        default: return self.readNumber()
        }
    }

    private mutating func nested(_ read: (inout JSONReader) -> OrderedJSON?) -> OrderedJSON? {
        guard self.depth < OrderedJSON.maxDepth else { return nil }
        self.depth += 1
        defer { self.depth -= 1 }
        self.position += 1
        self.skipSpace()
        return read(&self)
    }

    private mutating func readObject() -> OrderedJSON? {
        var members: [OrderedJSON.Member] = []
        guard !self.take(UInt8(ascii: "}")) else { return .object(members) }
        while true {
            self.skipSpace()
            guard self.next == UInt8(ascii: "\""), let name = self.readString() else { return nil }
            self.skipSpace()
            guard self.take(UInt8(ascii: ":")), let value = self.readValue() else { return nil }
            members.append(.init(name: name, value: value))
            self.skipSpace()
            if self.take(UInt8(ascii: "}")) { return .object(members) }
            guard self.take(UInt8(ascii: ",")) else { return nil }
        }
    }

    private mutating func readArray() -> OrderedJSON? {
        var values: [OrderedJSON] = []
        guard !self.take(UInt8(ascii: "]")) else { return .array(values) }
        while true {
            guard let value = self.readValue() else { return nil }
            values.append(value)
            self.skipSpace()
            if self.take(UInt8(ascii: "]")) { return .array(values) }
            guard self.take(UInt8(ascii: ",")) else { return nil }
        }
    }

    private mutating func readNumber() -> OrderedJSON? {
        let start = self.position
        var isWhole = true
        _ = self.take(UInt8(ascii: "-"))
        let leadingZero = self.next == UInt8(ascii: "0")
        let digits = self.skipDigits()
        guard digits > 0, !(leadingZero && digits > 1) else { return nil }
        if self.take(UInt8(ascii: ".")) {
            isWhole = false
            guard self.skipDigits() > 0 else { return nil }
        }
        if self.next == UInt8(ascii: "e") || self.next == UInt8(ascii: "E") {
            isWhole = false
            self.position += 1
            if self.next == UInt8(ascii: "+") || self.next == UInt8(ascii: "-") { self.position += 1 }
            guard self.skipDigits() > 0 else { return nil }
        }
        let text = String(decoding: self.bytes[start..<self.position], as: UTF8.self)
        if isWhole, let value = Int(text) { return .integer(value) }
        // A number beyond Double's range is refused, as Google does.
        guard let value = Double(text), value.isFinite else { return nil }
        return .number(value)
    }

    private mutating func skipDigits() -> Int {
        let start = self.position
        while let byte = self.next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { self.position += 1 }
        return self.position - start
    }

    private mutating func readString() -> String? {
        self.position += 1
        let start = self.position
        while let byte = self.next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
            self.position += 1
        }
        // Most strings have no escape: then the text is a piece of the input.
        guard self.next == UInt8(ascii: "\\") else {
            let piece = self.bytes[start..<self.position]
            return self.take(UInt8(ascii: "\"")) ? String(validating: piece, as: UTF8.self) : nil
        }
        var text = Array(self.bytes[start..<self.position])
        while let byte = self.next, byte >= 0x20 {
            self.position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
            case UInt8(ascii: "\\"): guard self.readEscape(&text) else { return nil }
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func readEscape(_ text: inout [UInt8]) -> Bool {
        guard let byte = self.next else { return false }
        self.position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            guard let scalar = self.readEscapedScalar() else { return false }
            text.append(contentsOf: String(Character(scalar)).utf8)
        default: return false
        }
        return true
    }

    /// `XXXX` behind `\u`, or a pair of surrogates.
    private mutating func readEscapedScalar() -> Unicode.Scalar? {
        guard let first = self.readHexadecimal() else { return nil }
        guard (0xD800...0xDBFF).contains(first) else { return Unicode.Scalar(first) }
        guard self.take(UInt8(ascii: "\\")), self.take(UInt8(ascii: "u")), let second = self.readHexadecimal(),
            (0xDC00...0xDFFF).contains(second)
        else { return nil }
        return Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    }

    private mutating func readHexadecimal() -> UInt32? {
        guard self.position + 4 <= self.bytes.count else { return nil }
        let digits = self.bytes[self.position..<self.position + 4]
        guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
        self.position += 4
        return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
