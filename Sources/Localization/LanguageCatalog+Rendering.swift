package import PushModel

extension LanguageCatalog {
    /// The words of a notification in the language of a device.
    ///
    /// Of the row only the actor's name and, for `system`, its title and body are shown, cleaned by ``DisplayText``;
    /// details never are: categories become words of the language file.
    package func render(_ notification: Notification, kind: NotificationKind, locale: String) -> RenderedText {
        let language = self.language(for: locale)
        switch kind.text {
        case .template:
            guard let text = language.kinds[kind.name] else {
                // Cannot be: a file without one of the kinds is not read. A vague word is better than a crash.
                return RenderedText(title: language.systemTitle, body: nil)
            }
            let actor = notification.actorName.flatMap(DisplayText.name) ?? language.nobody
            let categories = language.words(for: notification.categories)
            let fill = { (forms: PronounForms) in
                forms.form(for: notification.actorPronoun).filled(actor: actor, categories: categories)
            }
            return RenderedText(title: fill(text.title), body: text.body.map(fill))
        case .row:
            return self.renderRow(notification, language: language, locale: locale)
        }
    }

    /// One translation is taken as a whole, the first of the chain that says anything; languages are not mixed.
    private func renderRow(_ notification: Notification, language: LanguageFile, locale: String) -> RenderedText {
        var title: String?
        var body: String?
        let byTag = Dictionary(
            notification.translations.map { (LanguageTag.normalised($0.key), $0) },
            // Two spellings of one tag: any rule will do that does not depend on the order of a hash table.
            uniquingKeysWith: { $0.key < $1.key ? $0 : $1 }
        )
        let translations = LanguageTag.chain(for: locale).compactMap { byTag[$0]?.value }
        let row = Notification.Translation(title: notification.title, body: notification.body)
        for candidate in translations + [row] {
            title = candidate.title.flatMap(DisplayText.title)
            body = candidate.body.flatMap(DisplayText.body)
            if title != nil || body != nil { break }
        }
        return RenderedText(title: title ?? language.systemTitle, body: body)
    }
}
