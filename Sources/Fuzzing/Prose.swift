/// Text of scalars that join, hide, turn or break lines, in runs: what a name on a lock screen may be made of.
enum Prose {
    static func text(_ random: inout FuzzRandom, scalars: Int) -> [UInt8] {
        var text = String.UnicodeScalarView()
        let length = random.below(1 + (random.oneIn(3000) ? scalars * 100 : random.oneIn(4) ? scalars * 4 : scalars))
        while text.count < length {
            let set = random.oneIn(2) ? Self.plain : random.pick(Self.sets, or: Self.plain)
            // Runs: what is bounded is bounded for runs.
            let run = random.oneIn(12) ? random.below(80) : 1
            let scalar = random.oneIn(40) ? Self.any(&random) : random.pick(set, or: "x")
            for _ in 0..<min(run + 1, length - text.count + 1) { text.append(scalar) }
        }
        return Array(String(text).utf8)
    }

    private static func any(_ random: inout FuzzRandom) -> Unicode.Scalar {
        Unicode.Scalar(UInt32(random.below(0x110000))) ?? "\u{FFFD}"
    }

    private static let plain = Array("aZé ß王ا\"\\/{}<&".unicodeScalars)

    private static let sets: [[Unicode.Scalar]] = [
        // White space and line breaks
        [
            " ", "\t", "\n", "\r", "\u{B}", "\u{C}", "\u{85}", "\u{A0}", "\u{1680}", "\u{2003}", "\u{2028}", "\u{2029}",
            "\u{3000}",
        ],
        // Controls and what turns or hides text
        [
            "\u{0}", "\u{1}", "\u{1B}", "\u{7F}", "\u{9F}", "\u{AD}", "\u{61C}", "\u{200B}", "\u{200E}", "\u{200F}",
            "\u{202A}", "\u{202E}", "\u{2060}", "\u{2066}", "\u{2069}", "\u{FEFF}", "\u{FFF9}",
        ],
        // Joiners, selectors, marks
        ["\u{200C}", "\u{200D}", "\u{FE0E}", "\u{FE0F}", "\u{301}", "\u{20E3}", "\u{E0100}", "\u{34F}", "\u{1F3FD}"],
        // Emoji
        ["\u{1F468}", "\u{1F469}", "\u{1F467}", "\u{1F44D}", "\u{2764}", "\u{1F3F4}", "\u{1F3F3}", "1", "#"],
        // Regional indicators and tags
        ["\u{1F1F3}", "\u{1F1F1}", "\u{1F3F4}", "\u{E0067}", "\u{E0062}", "\u{E0001}", "\u{E007F}"],
        // Hangul: leading, vowel, trailing, whole, fillers
        ["\u{1100}", "\u{1161}", "\u{11A8}", "\u{AC00}", "\u{AC01}", "\u{115F}", "\u{1160}", "\u{3164}"],
        // What joins the letter that follows, and Indic conjuncts
        ["\u{D4E}", "\u{111C2}", "\u{915}", "\u{94D}", "\u{937}", "\u{93F}", "\u{DCA}", "\u{1031}"],
        // Blank, unassigned, private, no character
        ["\u{2800}", "\u{378}", "\u{E000}", "\u{10FFFD}", "\u{FFFD}"]
            + [0xFDD0, 0xFFFE, 0x1FFFF].compactMap(Unicode.Scalar.init),
    ]
}
