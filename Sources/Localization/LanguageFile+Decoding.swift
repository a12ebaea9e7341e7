package import FoundationEssentials
import PushModel

extension LanguageFile {
    /// Reads and checks one file. `file` is its name, for errors.
    package init(json: Data, file: String) throws(LanguageError) {
        let tree: JSONTree
        do {
            tree = try JSONDecoder().decode(JSONTree.self, from: json)
        } catch {
            throw LanguageError(problems: [
                .init(
                    file: file, key: "", fault: "is not valid JSON",
                    fix: "look for a missing comma, quote or brace; the file must be UTF-8")
            ])
        }
        var reader = LanguageFileReader(file: file)
        let language = reader.read(tree)
        guard reader.problems.isEmpty, let language else { throw LanguageError(problems: reader.problems) }
        self = language
    }
}

/// Walks a file's tree and notes every fault on the way; a value is only made when there was none.
private struct LanguageFileReader {
    let file: String
    var problems: [LanguageError.Problem] = []

    init(file: String) {
        self.file = file
    }

    mutating func read(_ tree: JSONTree) -> LanguageFile? {
        let keys = ["language", "nobody", "list", "categories", "kinds"]
        guard let members = self.object(tree, at: "", keys: keys) else { return nil }
        let language = self.languageTag(members["language"])
        let nobody = self.text(members["nobody"], at: "nobody", example: "\"nobody\": \"Someone\"")
        let list = self.list(members["list"])
        let words = self.categories(members["categories"])
        let kinds = self.kinds(members["kinds"])
        guard self.problems.isEmpty, let language, let nobody, let list, var words, let kinds,
            let other = words.removeValue(forKey: "other")
        else { return nil }
        return LanguageFile(
            language: language, nobody: nobody, list: list, categories: words, otherCategory: other,
            kinds: kinds.texts, systemTitle: kinds.systemTitle)
    }

    // MARK: - The parts

    private mutating func languageTag(_ tree: JSONTree?) -> String? {
        guard let text = self.text(tree, at: "language", example: "\"language\": \"en\"") else { return nil }
        let tag = LanguageTag.normalised(text)
        guard !tag.isEmpty, tag.utf8.count == text.utf8.count else {
            self.note("language", "is no language tag", "write a BCP 47 tag such as \"en\" or \"pt-BR\"")
            return nil
        }
        return tag
    }

    private mutating func list(_ tree: JSONTree?) -> ListPattern? {
        let keys = ["pair", "middle", "end"]
        guard let members = self.object(tree, at: "list", keys: keys) else { return nil }
        var joints: [ListPattern.Joint] = []
        for key in keys {
            let example = "\"\(key)\": \"\(key == "middle" ? "{0}, {1}" : "{0} and {1}")\""
            guard let text = self.text(members[key], at: "list.\(key)", example: example) else { continue }
            guard let joint = ListPattern.Joint(text) else {
                self.note("list.\(key)", "is no list pattern", "use {0} and {1} once each, in this order: \(example)")
                continue
            }
            joints.append(joint)
        }
        return joints.count == 3 ? ListPattern(pair: joints[0], middle: joints[1], end: joints[2]) : nil
    }

    private mutating func categories(_ tree: JSONTree?) -> [String: String]? {
        let keys = LanguageFile.categoryNames + ["other"]
        guard let members = self.object(tree, at: "categories", keys: keys) else { return nil }
        var words: [String: String] = [:]
        for key in keys {
            let example = "\"\(key)\": \"\(key == "other" ? "details" : key)\""
            guard let word = self.text(members[key], at: "categories.\(key)", example: example) else { continue }
            words[key] = word
        }
        return words.count == keys.count ? words : nil
    }

    private mutating func kinds(_ tree: JSONTree?) -> (texts: [String: LanguageFile.KindText], systemTitle: String)? {
        guard let members = self.object(tree, at: "kinds", keys: NotificationKind.all.map(\.name)) else { return nil }
        var texts: [String: LanguageFile.KindText] = [:]
        var systemTitle: String?
        for kind in NotificationKind.all {
            let path = "kinds.\(kind.name)"
            switch kind.text {
            case .template:
                guard let kindText = self.object(members[kind.name], at: path, keys: ["title"], optional: ["body"]),
                    let title = self.forms(kindText["title"], at: "\(path).title")
                else { continue }
                let body = kindText["body"].flatMap { self.forms($0, at: "\(path).body") }
                texts[kind.name] = LanguageFile.KindText(title: title, body: body)
            case .row:
                guard let kindText = self.object(members[kind.name], at: path, keys: ["title"]) else { continue }
                systemTitle = self.text(
                    kindText["title"], at: "\(path).title", example: "\"title\": \"New message\"")
            }
        }
        return systemTitle.map { (texts, $0) }
    }

    private mutating func forms(_ tree: JSONTree?, at path: String) -> PronounForms? {
        switch tree {
        case .object:
            let members = self.object(tree, at: path, keys: ["neutral"], optional: ["she", "he"]) ?? [:]
            let neutral = self.template(members["neutral"], at: "\(path).neutral")
            let she = members["she"].flatMap { self.template($0, at: "\(path).she") }
            let he = members["he"].flatMap { self.template($0, at: "\(path).he") }
            return neutral.map { PronounForms(neutral: $0, she: she, he: he) }
        case .some, .none:
            return self.template(tree, at: path).map { PronounForms(neutral: $0) }
        }
    }

    private mutating func template(_ tree: JSONTree?, at path: String) -> Template? {
        let example = "a text such as \"{actor} accepted\""
        guard let text = self.text(tree, at: path, example: example, placeholders: true) else { return nil }
        do throws(Template.Fault) {
            return try Template(text)
        } catch {
            switch error {
            case .unknownPlaceholder(let name):
                self.note(
                    path, "has the unknown placeholder {\(Self.shown(name))}", "only {actor} and {categories} exist")
            case .loneBrace:
                self.note(path, "has a brace without its partner", "only {actor} and {categories} stand in braces")
            }
            return nil
        }
    }

    // MARK: - The checks

    private mutating func object(_ tree: JSONTree?, at path: String, keys: [String], optional: [String] = [])
        -> [String: JSONTree]?
    {
        guard case .object(let members) = tree else {
            let wanted = "an object with \((keys + optional).joined(separator: ", "))"
            self.note(path, tree.map { "is \($0.typeName)" } ?? "is missing", "write \(wanted)")
            return nil
        }
        let prefix = path.isEmpty ? "" : "\(path)."
        for key in members.keys.sorted() where !keys.contains(key) && !optional.contains(key) {
            let known = (keys + optional).joined(separator: ", ")
            self.note(
                prefix + Self.shown(key), "is not known", "remove it or correct its spelling; known here: \(known)")
        }
        return members
    }

    private mutating func text(
        _ tree: JSONTree?, at path: String, example: String, placeholders: Bool = false
    ) -> String? {
        guard case .string(let text) = tree else {
            self.note(path, tree.map { "is \($0.typeName)" } ?? "is missing", "write \(example)")
            return nil
        }
        guard DisplayText.title(text) == text else {
            let fault = text.isEmpty ? "is empty" : "has a line break, a hidden character or space around it"
            self.note(path, fault, "write \(example)")
            return nil
        }
        return text
    }

    /// A key of the file in a message: on one line, and not endless.
    private static func shown(_ key: String) -> String {
        // Cleaned between braces, so that space at its ends is not lost.
        let scalars = (DisplayText.title("{\(key)}") ?? "").unicodeScalars.dropFirst().dropLast()
        let text = String(String(scalars).prefix(DisplayText.longestName))
        return text.isEmpty && !key.isEmpty ? "(hidden characters)" : text
    }

    private mutating func note(_ key: String, _ fault: String, _ fix: String) {
        self.problems.append(.init(file: self.file, key: key, fault: fault, fix: fix))
    }
}
