import Localization
import Testing

@Suite struct DisplayTextTests {
    static let family = "👨‍👩‍👧‍👦"
    static let england = "🏴󠁧󠁢󠁥󠁮󠁧󠁿"

    /// What is data stays as it is, byte for byte.
    @Test(arguments: [
        "Anna", "A", "Anna  Maria", "O'Neil", "D\u{2019}Arcy", "Jean-Luc", "\"Bob\"", "back\\slash", "<b>&amp;", "50%",
        "Zoë", "Zoe\u{308}", "Ngọc", "王小明", "أحمد", "משה", "علی\u{200C}رضا", "क्षि", "නු\u{200D}",
        "👍🏽", "🇳🇱", "❤️", "👩🏽‍❤️‍💋‍👨🏾", "1️⃣", family, england, "🏴‍☠️", "葛󠄀城", "\u{F8FF}", "\u{378}",
    ])
    func keepsANameAsItIs(_ name: String) {
        #expect(DisplayText.name(name).map { Array($0.utf8) } == Array(name.utf8))
        #expect(DisplayText.title(name).map { Array($0.utf8) } == Array(name.utf8))
        #expect(DisplayText.body(name).map { Array($0.utf8) } == Array(name.utf8))
    }

    static let cleaned: [(raw: String, clean: String)] = [
        (" Anna ", "Anna"), ("\u{A0}Anna\u{3000}", "Anna"), ("Anna\n", "Anna"), ("An\nna", "An na"),
        ("An\r\nna", "An na"), ("An \t \n na", "An na"), ("\tAnna", "Anna"), ("An\u{2028}na", "An na"),
        ("An\u{2029}na", "An na"), ("An\u{85}na", "An na"), ("An\u{B}\u{C}na", "An na"),
        ("A\u{0}n\u{1}n\u{1F}a\u{7F}", "Anna"), ("An\u{9F}na", "Anna"),
        ("Anna\u{202E}", "Anna"), ("\u{202A}\u{202B}\u{202C}\u{202D}\u{202E}Anna", "Anna"),
        ("\u{2066}An\u{2067}n\u{2068}a\u{2069}", "Anna"), ("\u{200E}\u{200F}\u{61C}Anna", "Anna"),
        ("\u{FEFF}Anna", "Anna"), ("An\u{AD}na", "Anna"), ("An\u{200B}na", "Anna"), ("An\u{2060}na", "Anna"),
        ("\u{E0001}Anna\u{E0067}\u{E007F}", "Anna"),
        ("\u{FFF9}An\u{FFFA}na\u{FFFB}", "Anna"),
        // Tags after the end of a flag belong to none.
        (england + "\u{E0067}", england),
        ("\u{202E} Anna", "Anna"), ("Anna \u{202E}", "Anna"), ("An\n\u{202E}\nna", "An na"),
    ]

    @Test(arguments: cleaned)
    func takesOutWhatDoesNotBelongOnALine(_ raw: String, _ clean: String) {
        #expect(DisplayText.title(raw).map { Array($0.utf8) } == Array(clean.utf8))
        #expect(DisplayText.name(raw).map { Array($0.utf8) } == Array(clean.utf8))
    }

    @Test(arguments: [0xFFFE, 0xFFFF, 0xFDD0, 0xFDEF, 0x1FFFF, 0x10FFFE] as [UInt32])
    func takesOutNonCharacters(_ value: UInt32) throws {
        // No literal: Swift refuses them there.
        let scalar = try #require(Unicode.Scalar(value))
        #expect(DisplayText.name("An\(Character(scalar))na") == "Anna")
    }

    @Test(arguments: [
        ("a\nb", "a\nb"), ("a\r\nb", "a\nb"), ("a\r\rb", "a\n\nb"), ("a\n\r\nb", "a\n\nb"), ("a\u{2029}b", "a\nb"),
        ("\n a \n", "a"), ("a\tb", "a b"), ("a\u{0}\u{202E}b", "ab"),
    ])
    func aBodyKeepsItsLines(_ raw: String, _ clean: String) {
        #expect(DisplayText.body(raw) == clean)
    }

    @Test(arguments: ["x", "é", "e\u{301}", family, england, "🇳🇱", "👍🏽", "क्षि"])
    func cutsALongNameAtAGrapheme(_ unit: String) {
        let hundred = String(repeating: unit, count: 100)
        #expect(DisplayText.name(hundred) == hundred)
        #expect(DisplayText.name(hundred + unit) == String(repeating: unit, count: 99) + "…")
        #expect(DisplayText.name(String(repeating: unit, count: 10_000))?.count == 100)
    }

    @Test func leavesNoSpaceBeforeTheEllipsis() {
        let name = String(repeating: "x", count: 90) + String(repeating: " ", count: 20) + "y"
        #expect(DisplayText.name(name) == String(repeating: "x", count: 90) + "…")
    }

    @Test(arguments: ["\u{301}", "\u{200D}", "\u{FE0F}", "\u{200D}👧", "\u{1F3FD}", "\u{1100}"])
    func oneGraphemeCannotBeEndless(_ extender: String) throws {
        let bomb = (extender == "\u{1100}" ? "" : "👩") + String(repeating: extender, count: 10_000) + "Anna"
        let name = try #require(DisplayText.name(bomb))
        #expect(name.hasSuffix("Anna"))
        #expect(name.utf8.count < 300)
        #expect(name.allSatisfy { $0.unicodeScalars.count <= DisplayText.longestGrapheme })
    }

    @Test func cleaningTwiceChangesNothing() {
        for raw in ["a\r\n\u{202E}b", " \u{301}a ", Self.england + "\u{E0067}x", "\u{200D}a\u{200D}\n"] {
            let once = DisplayText.title(raw)
            #expect(once.flatMap(DisplayText.title) == once)
            let body = DisplayText.body(raw)
            #expect(body.flatMap(DisplayText.body) == body)
        }
    }

    /// What is left of a cut grapheme joins what follows it: a letter that joins the next, or half a Korean syllable.
    @Test(arguments: [
        String(repeating: "\u{111C2}", count: 48) + "ab",
        String(repeating: "\u{1100}", count: 50) + "\u{1161}\u{11A8}\u{1161}x",
        String(repeating: "\u{D4E}", count: 40) + "x\u{301}y",
    ])
    func aCutGraphemeStaysShort(_ text: String) throws {
        let name = try #require(DisplayText.name(text))
        #expect(name.allSatisfy { $0.unicodeScalars.count <= DisplayText.longestGrapheme })
        #expect(DisplayText.name(name) == name)
    }

    @Test func aCutLeavesNoSpaceAtTheEnd() {
        let text = "Anna " + String(repeating: "\u{200D}", count: 40)
        #expect(DisplayText.name(text) == "Anna")
        #expect(DisplayText.body("\u{A0}" + String(repeating: "\u{200D}", count: 40) + "Anna") == "Anna")
    }
}
