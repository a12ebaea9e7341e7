import Testing

/// Reads what the pages write, strictly: quoted attributes, every element closed. For tests; no parser of HTML at large.
struct MarkupReader {
    struct Element: Sendable {
        var name: String
        var attributes: [String: String]
        /// The names of the elements around it, outermost first, with the index of each.
        var ancestors: [Int]
        /// The text inside, without markup, entities undone.
        var text = ""
    }

    struct Malformed: Error, CustomStringConvertible {
        var description: String
    }

    private(set) var elements: [Element] = []

    static let void: Set<String> = ["meta", "link", "input", "br", "rect", "line"]

    init(_ html: String) throws {
        var open: [Int] = []
        var rest = html[...]
        while let start = rest.firstIndex(of: "<") {
            self.append(rest[..<start], to: open)
            rest = rest[start...]
            if rest.hasPrefix("<!DOCTYPE html>") {
                rest = rest.dropFirst("<!DOCTYPE html>".count)
                continue
            }
            guard let end = Self.end(of: rest) else { throw Malformed(description: "not closed: \(rest.prefix(80))") }
            let inside = rest[rest.index(after: rest.startIndex)..<end]
            rest = rest[rest.index(after: end)...]
            if inside.hasPrefix("/") {
                let name = String(inside.dropFirst())
                guard let last = open.popLast(), self.elements[last].name == name else {
                    throw Malformed(
                        description: "</\(name)> closes nothing; open: \(open.map { self.elements[$0].name })")
                }
                continue
            }
            let (name, attributes) = try Self.tag(inside)
            self.elements.append(Element(name: name, attributes: attributes, ancestors: open))
            if !Self.void.contains(name) { open.append(self.elements.count - 1) }
        }
        self.append(rest, to: open)
        guard open.isEmpty else { throw Malformed(description: "left open: \(open.map { self.elements[$0].name })") }
    }

    func all(_ names: String...) -> [Element] { self.elements.filter { names.contains($0.name) } }

    func isInside(_ element: Element, _ name: String) -> Bool {
        element.ancestors.contains { self.elements[$0].name == name }
    }

    /// The elements inside one.
    func inside(_ element: Element) -> [Element] {
        guard
            let index = self.elements.firstIndex(where: {
                $0.ancestors == element.ancestors && $0.attributes == element.attributes && $0.name == element.name
            })
        else { return [] }
        return self.elements.filter { $0.ancestors.contains(index) }
    }

    private mutating func append(_ text: Substring, to open: [Int]) {
        let words = Self.unescaped(text)
        for index in open { self.elements[index].text += words }
    }

    private static func end(of tag: Substring) -> Substring.Index? {
        var isQuoted = false
        for index in tag.indices {
            if tag[index] == "\"" { isQuoted.toggle() }
            if tag[index] == ">", !isQuoted { return index }
        }
        return nil
    }

    private static func tag(_ text: Substring) throws -> (String, [String: String]) {
        var rest = text.hasSuffix("/") ? text.dropLast() : text
        let name = rest.prefix { !$0.isWhitespace }
        rest = rest.dropFirst(name.count)
        var attributes: [String: String] = [:]
        while true {
            rest = rest.drop { $0.isWhitespace }
            guard !rest.isEmpty else { break }
            let key = String(rest.prefix { $0 != "=" && !$0.isWhitespace })
            rest = rest.dropFirst(key.count)
            guard key.allSatisfy({ $0.isASCII && ($0.isLetter || $0 == "-" || $0.isNumber) }) else {
                throw Malformed(description: "attribute \(key) in <\(text)>")
            }
            var value = ""
            if rest.first == "=" {
                rest = rest.dropFirst()
                guard rest.first == "\"" else { throw Malformed(description: "unquoted \(key) in <\(text)>") }
                rest = rest.dropFirst()
                let raw = rest.prefix { $0 != "\"" }
                rest = rest.dropFirst(raw.count + 1)
                value = Self.unescaped(raw)
            }
            guard attributes.updateValue(value, forKey: key) == nil else {
                throw Malformed(description: "\(key) twice in <\(text)>")
            }
        }
        return (String(name), attributes)
    }

    private static func unescaped(_ text: Substring) -> String {
        String(text).replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    }
}
