import FoundationEssentials
import Localization
import PushModel

/// Languages: what phones call them, the files that hold their words, and the words of people put into them.
extension FuzzTarget {
    static let localeTag = FuzzTarget(
        "locale-tag",
        [
            "tag": Corpus(
                .bytes,
                ["en", "nl", "nl-BE", "nl_NL.UTF-8", "zh-Hant-TW", "pt-BR-x-private", "C", "en_US_POSIX", " nl"])
        ]
    ) { input throws(FuzzFinding) in
        let tag = input.text
        let normal = LanguageTag.normalised(tag)
        try expect(normal.utf8.count <= 64, "\(normal.utf8.count) bytes")
        try expect(
            normal.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }, normal)
        try expect(LanguageTag.normalised(normal) == normal, "\(normal) changes again")
        let chain = LanguageTag.chain(for: tag)
        try expect(chain.last == "en" && chain.count <= 65 && !chain.contains(""), "the chain \(chain)")
        let language = Self.catalog?.language(for: tag).language ?? "no catalog"
        try expect(language == "en" || language == "nl", "the language \(language)")
        return .read(language)
    }

    /// Shorter than the files in `templates`, with the same parts.
    private static let english = """
        {"language":"en","nobody":"Someone","list":{"pair":"{0} and {1}","middle":"{0}, {1}","end":"{0} and {1}"},\
        "categories":{"name":"name","phone":"phone number","email":"e-mail address","address":"address",\
        "date":"special date","photo":"photo","other":"details"},"kinds":{"invitation_received":{"title":\
        "New invitation","body":"{actor} wants to connect with you"},"invitation_accepted":{"title":\
        "{actor} accepted","body":"You’re now connected"},"contact_updated":{"title":{"she":\
        "{actor} updated her details","he":"{actor} updated his details","neutral":"{actor} updated their details"},\
        "body":"{categories}"},"circle_changed":{"title":"{actor} changed what you can see"},"system":{"title":\
        "New message"}}}
        """
    private static let dutch = Self.english.replacing("\"en\"", with: "\"nl\"").replacing("Someone", with: "Iemand")

    private static let catalog: LanguageCatalog? = try? LanguageCatalog(
        files: [Self.english, Self.dutch].map { try LanguageFile(json: Data($0.utf8), file: "example.json") })

    static let languageFile = FuzzTarget(
        "language-file",
        ["file": Corpus(.json, [Self.english, Self.dutch], words: ["{actor}", "{categories}", "{0}{1}", "{{", "}}"])]
    ) { input throws(FuzzFinding) in
        switch Result(catching: { () throws(LanguageError) in try LanguageFile(json: Data(input.bytes), file: "en.json")
        })
        {
        case .success(let file):
            try expect(LanguageTag.normalised(file.language) == file.language, "the language \(file.language)")
            var random = input.random
            for kind in NotificationKind.all where kind.text == .template {
                guard let text = file.kinds[kind.name] else { throw FuzzFinding("\(kind.name) has no words") }
                let names = (0..<random.below(4)).map { _ in random.pick(LanguageFile.categoryNames + ["x"], or: "") }
                let words = file.words(for: names)
                let title = text.title.form(for: random.pick(Pronoun.allCases, or: .neutral))
                    .filled(actor: "{actor}", categories: words)
                try expect(!title.isEmpty && title.faultOnScreen(keepsLines: false) == nil, "the title \(title)")
            }
            return .read("file")
        case .failure(let error):
            try expect(!error.problems.isEmpty, "no problem")
            for problem in error.problems {
                let text = problem.description
                try expect(text.faultOnScreen(keepsLines: false) == nil, "more than a line: \(text)")
                try expect(text.count <= 500, "a problem of \(text.count)")
            }
            return .refused(error.problems.first?.fault.prefix(16).description ?? "")
        }
    }

    static let template = FuzzTarget(
        "template",
        [
            "text": Corpus(
                .bytes,
                ["{actor} accepted", "{categories}", "{actor}: {categories}, {actor}", "plain", "{", "}{", "{actor"])
        ]
    ) { input throws(FuzzFinding) in
        let text = input.text
        switch Result(catching: { () throws(Template.Fault) in try Template(text) }) {
        case .success(let template):
            let whole = template.parts.reduce("") { whole, part in
                switch part {
                case .text(let text): whole + text
                case .placeholder(let name): whole + "{\(name.rawValue)}"
                }
            }
            try expect(whole.isSame(as: text), "it does not come together again: \(whole)")
            // A value is never read as a template.
            let filled = template.filled(actor: "{categories}", categories: "{actor}")
            let count = { (name: String) in
                template.parts.count { $0 == .placeholder(name == "actor" ? .actor : .categories) }
            }
            let length =
                text.utf8.count + (count("actor") - count("categories"))
                * ("{categories}".utf8.count - "{actor}".utf8.count)
            try expect(filled.utf8.count == length, "\(filled.utf8.count) bytes, not \(length)")
            return .read("\(min(template.parts.count, 8)) parts")
        case .failure(let error):
            if case .loneBrace = error { return .refused("lone brace") }
            return .refused("unknown placeholder")
        }
    }

    // MARK: - The words of people

    static let displayText = FuzzTarget("display-text", ["text": Corpus(.prose, ["Anna", "王小明", "Line\nline"])]) {
        input throws(FuzzFinding) in
        let text = input.text
        let name = DisplayText.name(text)
        try Self.checkCleaned(name, of: text, by: DisplayText.name, keepsLines: false)
        if let name { try expect(name.count <= DisplayText.longestName, "a name of \(name.count)") }
        try Self.checkCleaned(DisplayText.title(text), of: text, by: DisplayText.title, keepsLines: false)
        try Self.checkCleaned(DisplayText.body(text), of: text, by: DisplayText.body, keepsLines: true)
        guard let name else { return .refused("nothing to see") }
        return .read(name.hasSuffix("…") ? "cut" : name.isSame(as: text) ? "as it was" : "cleaned")
    }

    private static func checkCleaned(
        _ clean: String?, of text: String, by rule: (String) -> String?, keepsLines: Bool
    ) throws(FuzzFinding) {
        guard let clean else { return }
        try expect(clean.utf8.count <= text.utf8.count + "…".utf8.count, "longer than it was")
        if let fault = clean.faultOnScreen(keepsLines: keepsLines) { throw FuzzFinding("\(fault) in \(clean)") }
        let first = clean.unicodeScalars.first?.properties.isWhitespace ?? true
        let last = clean.unicodeScalars.last?.properties.isWhitespace ?? true
        try expect(!first && !last, "space around \"\(clean)\"")
        if let long = clean.first(where: { $0.unicodeScalars.count > DisplayText.longestGrapheme }) {
            throw FuzzFinding("a grapheme of \(long.unicodeScalars.count) scalars")
        }
        guard let again = rule(clean) else { throw FuzzFinding("nothing is left the second time") }
        try expect(again.isSame(as: clean), "the second time it is \"\(again)\"")
    }

    static let renderedText = FuzzTarget(
        "rendered-text",
        [
            "actor": Corpus(.prose, ["Anna", "{categories}"], proseLength: 12),
            "locale": Corpus(.bytes, ["en", "nl-BE", "de"]),
            "category": Corpus(.bytes, LanguageFile.categoryNames, unchangedOneIn: 2),
            "title": Corpus(.prose, ["Maintenance"], proseLength: 12),
            "body": Corpus(.prose, ["Tonight.\nBye."], proseLength: 20),
        ]
    ) { input throws(FuzzFinding) in
        guard let catalog = Self.catalog else { throw FuzzFinding("the example files are wrong") }
        var random = input.random
        let kind = random.pick(NotificationKind.all, or: .system)
        let translation = Notification.Translation(title: input.text(3), body: input.text(4))
        let notification = Notification(
            id: UUID(), accountID: UUID(), kindName: kind.name, actorName: input.text,
            actorPronoun: random.pick(Pronoun.allCases, or: .neutral),
            categories: [input.text(2) ?? "", "phone"], title: input.text(3), body: input.text(4),
            translations: random.oneIn(2) ? [input.text(1) ?? "": translation] : [:], createdAt: Self.now)
        let text = catalog.render(notification, kind: kind, locale: input.text(1) ?? "")
        try expect(!text.title.isEmpty && text.body?.isEmpty != true, "nothing to read")
        if let fault = text.title.faultOnScreen(keepsLines: false) { throw FuzzFinding("\(fault) in a title") }
        if let fault = text.body?.faultOnScreen(keepsLines: kind == .system) { throw FuzzFinding("\(fault) in a body") }
        if kind == .contactUpdated {
            // Nothing but words of the language file.
            let body = text.body ?? ""
            try expect(body.isPrintableASCII && body.utf8.count < 60, "the body \(body)")
        }
        return .read("\(kind.name)\(text.body == nil ? "" : ", body")")
    }
}
