/// The blocks of a PEM text, read as tolerantly as people paste it.
///
/// Keys travel through environment variables, YAML and JSON: line ends arrive as CRLF, as the two characters `\n`, or
/// as spaces; quotes, a byte order mark or white space stand around them. All of that is put right here, so that
/// OpenSSL sees a clean text and a message can say what is really wrong.
struct PEMText {
    struct Block {
        /// What stands after `BEGIN`, such as `EC PRIVATE KEY`.
        var label: String
        /// Base64, without white space.
        var body: [UInt8]
        var isEncrypted: Bool

        /// The block as OpenSSL wants to read it.
        var text: String {
            var lines = ["-----BEGIN \(self.label)-----"]
            var rest = self.body[...]
            while !rest.isEmpty {
                lines.append(String(decoding: rest.prefix(64), as: UTF8.self))
                rest = rest.dropFirst(64)
            }
            lines.append("-----END \(self.label)-----\n")
            return lines.joined(separator: "\n")
        }
    }

    /// No key comes near this; a larger text is something else.
    static let longest = 64 * 1024

    let blocks: [Block]

    init(_ text: String) throws(KeyError) {
        guard text.utf8.count <= Self.longest else {
            throw KeyError(.notPEM, "is longer than \(Self.longest) bytes: not the PEM text of a key")
        }
        let bytes = Self.unescaped(Array(text.utf8))
        guard !bytes.allSatisfy(Self.isAround) else { throw KeyError(.empty, "is empty") }
        var blocks: [Block] = []
        var rest = bytes[...]
        while let block = try Self.nextBlock(&rest) {
            blocks.append(block)
        }
        guard !blocks.isEmpty else { throw Self.noBlocks(bytes) }
        self.blocks = blocks
    }

    // MARK: - Reading

    private static let begin = Array("-----BEGIN ".utf8)
    private static let dashes = Array("-----".utf8)

    /// Takes the next block off `rest`, nil when there is none.
    private static func nextBlock(_ rest: inout ArraySlice<UInt8>) throws(KeyError) -> Block? {
        guard let start = rest.firstRange(of: self.begin) else { return nil }
        let afterBegin = rest[start.upperBound...]
        guard let labelEnd = afterBegin.firstRange(of: self.dashes), labelEnd.lowerBound - start.upperBound <= 40 else {
            throw KeyError(.damaged, "has a -----BEGIN line without an end")
        }
        let labelBytes = afterBegin[..<labelEnd.lowerBound]
        guard labelBytes.allSatisfy({ $0 == 0x20 || self.isUpperCaseOrDigit($0) }) else {
            throw KeyError(.damaged, "has an unreadable -----BEGIN line")
        }
        let label = String(decoding: labelBytes, as: UTF8.self)
        let afterLabel = rest[labelEnd.upperBound...]
        guard let end = afterLabel.firstRange(of: Array("-----END \(label)-----".utf8)) else {
            throw KeyError(.damaged, "is cut off: there is no line -----END \(label)-----")
        }
        rest = rest[end.upperBound...]
        return try self.block(label: label, content: afterLabel[..<end.lowerBound])
    }

    private static func block(label: String, content: ArraySlice<UInt8>) throws(KeyError) -> Block {
        // The old form of an encrypted key: header lines ("Proc-Type: 4,ENCRYPTED") before the base64.
        let hasHeaders = content.contains(UInt8(ascii: ":"))
        if label == "ENCRYPTED PRIVATE KEY" || (hasHeaders && content.firstRange(of: Array("ENCRYPTED".utf8)) != nil) {
            return Block(label: label, body: [], isEncrypted: true)
        }
        let body = content.filter { !self.isWhiteSpace($0) }
        guard !body.isEmpty else { throw KeyError(.damaged, "has nothing between its BEGIN and END lines") }
        guard body.allSatisfy(self.isBase64) else {
            throw KeyError(.damaged, "has characters between its BEGIN and END lines that do not belong in a PEM text")
        }
        return Block(label: label, body: Array(body), isEncrypted: false)
    }

    /// Turns the two characters `\n` (and `\r`, also with the backslash doubled) into a line end.
    private static func unescaped(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "\\")) else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            var end = index
            while end < bytes.count, bytes[end] == UInt8(ascii: "\\") { end += 1 }
            if end > index, end < bytes.count, bytes[end] == UInt8(ascii: "n") || bytes[end] == UInt8(ascii: "r") {
                result.append(0x0A)
                index = end + 1
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    /// Says what was given instead of a PEM text.
    private static func noBlocks(_ bytes: [UInt8]) -> KeyError {
        let inner = bytes.drop(while: self.isAround)
        let text = String(decoding: inner.prefix(1024), as: UTF8.self)
        if text.hasPrefix("{") {
            return KeyError(.notPEM, "is JSON, not the PEM text of a key")
        }
        if text.hasPrefix("LS0tLS1CRUdJTi") {
            return KeyError(.notPEM, "is a PEM text encoded in base64 once more: decode it first")
        }
        if inner.count < 1024, text.hasPrefix("/") || text.hasPrefix("./") || text.hasPrefix("~") {
            return KeyError(.notPEM, "is the path of a file; the text of the key is needed here")
        }
        return KeyError(.notPEM, "is not the PEM text of a key: it has no line -----BEGIN PRIVATE KEY-----")
    }

    // MARK: - Characters

    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    /// White space, quotes, and the three bytes of a byte order mark.
    private static func isAround(_ byte: UInt8) -> Bool {
        self.isWhiteSpace(byte) || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
            || byte == 0xEF || byte == 0xBB || byte == 0xBF
    }

    private static func isUpperCaseOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        self.isUpperCaseOrDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
    }
}
