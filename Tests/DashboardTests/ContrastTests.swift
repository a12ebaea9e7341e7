import Glibc
import Testing

@testable import Dashboard

/// WCAG 2.2's contrast of every colour that text is read on, in both schemes, from the style sheet itself.
struct ContrastTests {
    enum Scheme: String, CaseIterable, Sendable {
        case light, dark
    }

    struct Pair: Hashable, Sendable {
        var ink: String
        var paper: String
    }

    static let text = String(decoding: Assets.styleSheet.bytes, as: UTF8.self)

    @Test(arguments: Scheme.allCases) func `all text can be read`(scheme: Scheme) throws {
        let colours = try Self.colours(scheme)
        for pair in try Self.pairs(colours) {
            let ink = try #require(colours[pair.ink], "\(pair.ink) has no colour")
            let paper = try #require(colours[pair.paper], "\(pair.paper) has no colour")
            let contrast = Self.contrast(try Self.luminance(ink), try Self.luminance(paper))
            #expect(contrast >= 4.5, "\(pair.ink) on \(pair.paper): \(contrast)")
        }
    }

    /// WCAG asks three to one of what is not text: edges of fields, bars of charts, the mark of the focus.
    @Test(arguments: Scheme.allCases) func `all shapes can be seen`(scheme: Scheme) throws {
        let colours = try Self.colours(scheme)
        let shapes = ["edge", "focus", "chart-good", "chart-bad", "chart-warn", "chart-line"]
        for shape in shapes {
            for paper in ["page", "surface"] where !(shape.hasPrefix("chart") && paper == "page") {
                let contrast = Self.contrast(
                    try Self.luminance(#require(colours[shape])), try Self.luminance(#require(colours[paper])))
                #expect(contrast >= 3, "\(shape) on \(paper): \(contrast)")
            }
        }
    }

    @Test func `black on white is twenty-one to one`() throws {
        #expect(abs(Self.contrast(try Self.luminance("#000000"), try Self.luminance("#ffffff")) - 21) < 0.001)
        #expect(abs(Self.contrast(try Self.luminance("#777777"), try Self.luminance("#ffffff")) - 4.478) < 0.001)
    }

    /// Every rule that sets both colours is a pair; and every general ink stands on every general paper.
    @Test func `the pairs are found`() throws {
        let pairs = try Self.pairs(Self.colours(.light))
        for pair in [
            Pair(ink: "ink", paper: "page"), Pair(ink: "ink-quiet", paper: "raised"),
            Pair(ink: "good-ink", paper: "good-paper"), Pair(ink: "danger-ink", paper: "danger-paper"),
            Pair(ink: "top-quiet", paper: "top-paper"), Pair(ink: "card-quiet", paper: "card-paper"),
        ] { #expect(pairs.contains(pair), "\(pair)") }
        #expect(pairs.count > 30)
    }

    @Test func `every colour that is used is set, in the dark too`() throws {
        let light = try Self.colours(.light)
        let dark = try Self.block(after: "@media (prefers-color-scheme: dark)")
        let used = Self.text.split(separator: "var(--").dropFirst().map { String($0.prefix { $0 != ")" }) }
        for name in Set(used) where name != "shadow" {
            #expect(light[name] != nil, "\(name)")
            // The phones' own colours do not change with the scheme.
            guard !["glass", "card", "wall"].contains(where: { name.hasPrefix($0) }) else { continue }
            #expect(dark.contains("--\(name):"), "\(name) in the dark")
        }
    }

    // MARK: - Reading the style sheet

    /// Custom properties that are colours, as they hold in the scheme.
    private static func colours(_ scheme: Scheme) throws -> [String: String] {
        let darkBlock = try Self.block(after: "@media (prefers-color-scheme: dark)")
        let text = scheme == .dark ? Self.text : Self.text.replacing(darkBlock, with: "")
        var result: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let line = line.drop { $0 == " " }
            guard line.hasPrefix("--"), let colon = line.firstIndex(of: ":") else { continue }
            let name = String(line[..<colon].dropFirst(2))
            let value = line[line.index(after: colon)...].filter { $0 != " " && $0 != ";" }
            // The dark block stands after the light one, so its values win.
            if value.hasPrefix("#") { result[name] = String(value) }
        }
        return result
    }

    private static func pairs(_ colours: [String: String]) throws -> Set<Pair> {
        var pairs: Set<Pair> = []
        for ink in colours.keys where ink == "ink" || ink.hasPrefix("ink-") {
            for paper in ["page", "surface", "raised"] { pairs.insert(Pair(ink: ink, paper: paper)) }
        }
        for family in ["glass", "card", "wall", "top"] {
            for ink in colours.keys where ink.hasPrefix("\(family)-") && !ink.hasSuffix("-paper") && ink != "top-here" {
                pairs.insert(Pair(ink: ink, paper: "\(family)-paper"))
            }
        }
        for rule in Self.text.split(separator: "}") {
            let declarations = rule.split(separator: "{").last ?? ""
            guard let ink = Self.variable(of: "color", in: declarations),
                let paper = Self.variable(of: "background", in: declarations)
            else { continue }
            pairs.insert(Pair(ink: ink, paper: paper))
        }
        return pairs
    }

    private static func variable(of property: String, in declarations: Substring) -> String? {
        for declaration in declarations.split(separator: ";") {
            let words = declaration.drop { $0.isWhitespace }
            guard words.hasPrefix("\(property): var(--") else { continue }
            return String(words.dropFirst("\(property): var(--".count).prefix { $0 != ")" })
        }
        return nil
    }

    private static func block(after start: String) throws -> String {
        let range = try #require(Self.text.firstRange(of: start))
        var depth = 0
        for index in Self.text[range.upperBound...].indices {
            if Self.text[index] == "{" { depth += 1 }
            if Self.text[index] == "}" {
                depth -= 1
                if depth == 0 { return String(Self.text[range.lowerBound...index]) }
            }
        }
        Issue.record("\(start) is not closed")
        return ""
    }

    // MARK: - WCAG 2.2, "relative luminance" and "contrast ratio"

    private static func luminance(_ colour: String) throws -> Double {
        let number = try #require(Int(colour.dropFirst(), radix: 16), "\(colour)")
        try #require(colour.count == 7)
        let channels: [Int] = [number / 65_536, number / 256 % 256, number % 256]
        let parts = channels.map { value -> Double in
            let part = Double(value) / 255
            return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }

    private static func contrast(_ first: Double, _ second: Double) -> Double {
        (max(first, second) + 0.05) / (min(first, second) + 0.05)
    }
}
