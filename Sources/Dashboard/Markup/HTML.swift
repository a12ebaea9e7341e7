/// Markup that escapes by construction: only literals of the program are markup, every value put into one is text.
///
/// `"<b>\(name)</b>"` is safe whatever the name holds. A `String` cannot become markup by any initialiser, since the
/// literal is a `StaticString`.
package struct HTML: Equatable, Sendable, ExpressibleByStringInterpolation {
    /// The markup.
    package private(set) var text: String

    package static let empty = HTML(markup: "")

    package init(stringLiteral value: StaticString) {
        self.text = value.description
    }

    package init(stringInterpolation: Interpolation) {
        self.text = stringInterpolation.text
    }

    fileprivate init(markup: String) {
        self.text = markup
    }

    /// A value as text, where there is no markup around it.
    package init(escaping value: some StringProtocol) {
        self.text = ""
        Self.escape(value, into: &self.text)
    }

    package var isEmpty: Bool { self.text.isEmpty }

    package static func += (left: inout HTML, right: HTML) {
        left.text += right.text
    }

    package static func + (left: HTML, right: HTML) -> HTML {
        HTML(markup: left.text + right.text)
    }

    /// The markup, or none.
    package static func when(_ condition: Bool, _ markup: @autoclosure () -> HTML) -> HTML {
        condition ? markup() : .empty
    }

    // MARK: - Interpolation

    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            self.text.reserveCapacity(literalCapacity + interpolationCount * 32)
        }

        package mutating func appendLiteral(_ literal: StaticString) {
            self.text += literal.description
        }

        /// As text of an element or of a quoted attribute. Where an address is wanted, only one of these pages is
        /// let through.
        package mutating func appendInterpolation(_ value: some StringProtocol) {
            if Self.takesAddress(self.text), !HTML.isOwnAddress(value) {
                self.text += "#"
                return
            }
            HTML.escape(value, into: &self.text)
        }

        package mutating func appendInterpolation(_ value: some BinaryInteger) {
            self.text += String(value)
        }

        package mutating func appendInterpolation(_ route: Route) {
            HTML.escape(route.address, into: &self.text)
        }

        package mutating func appendInterpolation(_ markup: HTML) {
            self.text += markup.text
        }

        package mutating func appendInterpolation(_ markup: HTML?) {
            if let markup { self.text += markup.text }
        }

        package mutating func appendInterpolation(_ list: [HTML]) {
            for markup in list { self.text += markup.text }
        }

        private static func takesAddress(_ text: String) -> Bool {
            [" href=\"", " src=\"", " action=\"", " formaction=\""].contains { text.hasSuffix($0) }
        }
    }

    // MARK: - Escaping

    /// A path of this server, or a place in the page: no scheme, no other host.
    private static func isOwnAddress(_ value: some StringProtocol) -> Bool {
        guard let first = value.utf8.first else { return false }
        let second = value.utf8.dropFirst().first
        switch first {
        case UInt8(ascii: "#"): return true
        // A backslash is a slash to browsers.
        case UInt8(ascii: "/"): return second != UInt8(ascii: "/") && second != UInt8(ascii: "\\")
        default: return false
        }
    }

    /// Escapes what has a meaning in text or in an attribute of either quote. Characters that HTML forbids, and those
    /// that turn the direction of the words around them, become U+FFFD, so that they are seen.
    private static func escape(_ value: some StringProtocol, into text: inout String) {
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            case "\n", "\t": text.unicodeScalars.append(scalar)
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
                text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Sequence<HTML> {
    package func joined(separator: HTML = .empty) -> HTML {
        var result = HTML.empty
        for (index, markup) in self.enumerated() {
            if index > 0 { result += separator }
            result += markup
        }
        return result
    }
}
