/// Cleans text that people wrote before it stands on a lock screen. Nil where nothing of a text can be seen.
///
/// Taken out are control characters and the invisible format characters (general categories Cc and Cf): bidi
/// overrides, embeddings, isolates and marks, the byte-order mark, soft hyphens; and non-characters. Kept are those
/// that letters and emoji need: ZWJ, ZWNJ, variation selectors, and the tags inside a flag.
///
/// A name is not wrapped in isolates (U+2068 … U+2069): titles are promised byte for byte, and without overrides a
/// name can no longer turn the words around it.
package enum DisplayText {
    /// The longest name, in graphemes, the "…" of a cut one included.
    package static let longestName = 100
    /// The most scalars of one grapheme. The longest emoji has ten; Unicode's stream-safe format (UAX 15) allows
    /// thirty marks. Without a bound one "character" could fill a payload, and no cut could help.
    package static let longestGrapheme = 32

    /// A name to put into a sentence: one line, at most ``longestName``.
    package static func name(_ text: String) -> String? {
        guard let name = Self.title(text) else { return nil }
        guard let end = name.index(name.startIndex, offsetBy: Self.longestName, limitedBy: name.endIndex),
            end < name.endIndex
        else { return name }
        return Self.ellipsized(name.prefix(Self.longestName - 1))
    }

    /// One line: a line break or tab, with the space around it, becomes one space; trimmed.
    package static func title(_ text: String) -> String? {
        Self.visible(Self.clean(text, keepingLines: false))
    }

    /// Lines kept, every kind of break a U+000A, a tab a space; trimmed.
    package static func body(_ text: String) -> String? {
        Self.visible(Self.clean(text, keepingLines: true))
    }

    /// The beginning of a longer text, and a sign that it is one.
    package static func ellipsized(_ beginning: Substring) -> String {
        var scalars = beginning.unicodeScalars
        while let last = scalars.last, last.properties.isWhitespace { scalars.removeLast() }
        return String(scalars) + "…"
    }

    // MARK: - Scalar by scalar

    private static func clean(_ text: String, keepingLines: Bool) -> String {
        if Self.isPlain(text) { return text }
        var result = String.UnicodeScalarView()
        var previous: Unicode.Scalar = " "
        var skipsSpace = true
        for scalar in text.unicodeScalars {
            defer { previous = scalar }
            switch Self.role(of: scalar, after: result.last) {
            case .dropped:
                continue
            case .lineBreak where keepingLines:
                // CR LF is one break.
                if !(scalar == "\n" && previous == "\r") { result.append("\n") }
            case .tab where keepingLines:
                result.append(" ")
            case .lineBreak, .tab:
                while let last = result.last, last.properties.isWhitespace { result.removeLast() }
                if !result.isEmpty { result.append(" ") }
                skipsSpace = true
                continue
            case .kept:
                if skipsSpace, scalar.properties.isWhitespace { continue }
                result.append(scalar)
            }
            skipsSpace = result.isEmpty
        }
        // Before the space at the ends goes: a cut can bring some forth.
        result = Self.withBoundedGraphemes(String(result)).unicodeScalars
        while let last = result.last, last.properties.isWhitespace { result.removeLast() }
        if let start = result.firstIndex(where: { !$0.properties.isWhitespace }), start > result.startIndex {
            result.removeSubrange(..<start)
        }
        return String(result)
    }

    private enum Role {
        case kept, dropped, lineBreak, tab
    }

    private static func role(of scalar: Unicode.Scalar, after kept: Unicode.Scalar?) -> Role {
        switch scalar.value {
        case 0x20...0x7E: .kept
        case 0x09: .tab
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: .lineBreak
        case 0x200C, 0x200D: .kept
        case 0xE0020...0xE007F: Self.takesTag(kept) ? .kept : .dropped
        default:
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate: .dropped
            case .unassigned: scalar.properties.isNoncharacterCodePoint ? .dropped : .kept
            default: .kept
            }
        }
    }

    /// A tag belongs to a flag: it follows the black flag or another tag.
    private static func takesTag(_ scalar: Unicode.Scalar?) -> Bool {
        guard let scalar else { return false }
        return scalar.value == 0x1F3F4 || (0xE0020...0xE007E).contains(scalar.value)
    }

    /// Printable ASCII without space around it, as most names are: nothing to clean.
    private static func isPlain(_ text: String) -> Bool {
        let bytes = text.utf8
        return bytes.allSatisfy { (0x20...0x7E).contains($0) } && bytes.first != 0x20 && bytes.last != 0x20
    }

    private static func withBoundedGraphemes(_ text: String) -> String {
        guard text.unicodeScalars.count > Self.longestGrapheme,
            text.contains(where: { $0.unicodeScalars.count > Self.longestGrapheme })
        else { return text }
        var result = ""
        var isCut = false
        for character in text {
            let isLong = character.unicodeScalars.count > Self.longestGrapheme
            guard isLong || isCut else {
                result.append(character)
                continue
            }
            result.unicodeScalars.append(contentsOf: character.unicodeScalars.prefix(Self.longestGrapheme))
            // What follows a cut may join what is left before it.
            let excess = (result.last?.unicodeScalars.count ?? 0) - Self.longestGrapheme
            if excess > 0 { result.unicodeScalars.removeLast(excess) }
            isCut = isLong || excess > 0
            // A joiner at the cut would pull in what follows.
            while isCut, result.unicodeScalars.last == "\u{200D}" { result.unicodeScalars.removeLast() }
        }
        return result
    }

    /// Nil for what has nothing but space, marks without a letter and invisible characters.
    private static func visible(_ text: String) -> String? {
        text.unicodeScalars.contains(where: Self.isVisible) ? text : nil
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        if (0x21...0x7E).contains(scalar.value) { return true }
        // The blank of Braille is a symbol to Unicode, and the fillers of Hangul are letters.
        guard scalar.value != 0x2800, !scalar.properties.isWhitespace, !scalar.properties.isDefaultIgnorableCodePoint
        else { return false }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .control, .format: return false
        default: return true
        }
    }
}
