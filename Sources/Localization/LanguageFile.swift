/// One language: all its words, checked.
package struct LanguageFile: Equatable, Sendable {
    /// The BCP 47 tag in the form of ``LanguageTag``: `en`, `pt-br`.
    package var language: String
    /// Whom a notification without a usable name speaks of.
    package var nobody: String
    package var list: ListPattern
    /// Words by name of the category, all of ``categoryNames``.
    package var categories: [String: String]
    /// The word for a category without a word of its own.
    package var otherCategory: String
    /// Texts by name of the kind: every kind whose words come from templates.
    package var kinds: [String: KindText]
    /// The title of a `system` notification that brings none.
    package var systemTitle: String

    package struct KindText: Equatable, Sendable {
        package var title: PronounForms
        package var body: PronounForms?

        package init(title: PronounForms, body: PronounForms?) {
            self.title = title
            self.body = body
        }
    }

    /// The categories that have a word; details have none, so nothing but these words can reach a lock screen.
    package static let categoryNames = ["name", "phone", "email", "address", "date", "photo"]

    init(
        language: String, nobody: String, list: ListPattern, categories: [String: String], otherCategory: String,
        kinds: [String: KindText], systemTitle: String
    ) {
        self.language = language
        self.nobody = nobody
        self.list = list
        self.categories = categories
        self.otherCategory = otherCategory
        self.kinds = kinds
        self.systemTitle = systemTitle
    }

    /// The words for categories, joined: each word once, in the order given; none at all is "details" too.
    package func words(for categories: [String]) -> String {
        var words: [String] = []
        for category in categories {
            let word = self.categories[category] ?? self.otherCategory
            // The words of a language are few, so the search stays short however many categories a row names.
            if !words.contains(word) { words.append(word) }
        }
        return words.isEmpty ? self.otherCategory : self.list.join(words)
    }
}
