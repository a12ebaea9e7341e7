/// One text of a language file, taken apart once.
///
/// Values are put in while the parts are walked, so a value is never read as a template: a person may be called
/// "{categories}".
package struct Template: Equatable, Sendable {
    package enum Part: Equatable, Sendable {
        case text(String)
        case placeholder(Placeholder)
    }

    package enum Placeholder: String, CaseIterable, Sendable {
        case actor, categories
    }

    /// What is wrong with a text as a template.
    package enum Fault: Error, Equatable {
        case unknownPlaceholder(String)
        case loneBrace
    }

    package let parts: [Part]

    package init(_ text: String) throws(Fault) {
        var parts: [Part] = []
        var rest = text[...]
        while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            guard rest[brace] == "{", let close = rest[brace...].firstIndex(of: "}") else { throw .loneBrace }
            let name = String(rest[rest.index(after: brace)..<close])
            guard let placeholder = Placeholder(rawValue: name) else { throw .unknownPlaceholder(name) }
            if brace > rest.startIndex { parts.append(.text(String(rest[..<brace]))) }
            parts.append(.placeholder(placeholder))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        self.parts = parts
    }

    /// The text with the values in it. Categories that open the text get a capital.
    package func filled(actor: String, categories: String) -> String {
        var result = ""
        for (index, part) in self.parts.enumerated() {
            switch part {
            case .text(let text): result += text
            case .placeholder(.actor): result += actor
            case .placeholder(.categories): result += index == 0 ? categories.withInitialCapital : categories
            }
        }
        return result
    }
}

extension String {
    /// Only the first scalar changes, by Unicode's own mapping: no locale of the machine has a say.
    fileprivate var withInitialCapital: String {
        guard let first = self.unicodeScalars.first else { return self }
        return first.properties.titlecaseMapping + String(self.unicodeScalars.dropFirst())
    }
}
