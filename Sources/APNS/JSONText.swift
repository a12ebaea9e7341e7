import Localization

/// How long a text is once it stands in JSON, and where to cut it.
enum JSONText {
    /// The longest beginning of `text`, at a grapheme and with "…", that is shorter by `excess` bytes in JSON. Nil
    /// where nothing of it is left. Walks no further than the cut.
    static func cut(_ text: String, by excess: Int) -> String? {
        let budget = self.byteCount(text) - excess - "…".utf8.count
        var used = 0
        var end = text.startIndex
        while end < text.endIndex {
            used += self.byteCount(text[end])
            guard used <= budget else { break }
            end = text.index(after: end)
        }
        guard end > text.startIndex else { return nil }
        return DisplayText.ellipsized(text[..<end])
    }

    static func byteCount(_ text: String) -> Int {
        text.utf8.reduce(0) { $0 + self.byteCount($1) }
    }

    private static func byteCount(_ character: Character) -> Int {
        character.utf8.reduce(0) { $0 + self.byteCount($1) }
    }

    /// RFC 8259 section 7, as FoundationEssentials' encoder does it.
    private static func byteCount(_ byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0A, 0x0C, 0x0D: 2
        case 0x00...0x1F: 6
        default: 1
        }
    }
}
