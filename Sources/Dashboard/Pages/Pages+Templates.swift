package import Localization
package import PushModel

import struct FoundationEssentials.Date
import struct FoundationEssentials.UUID

/// Whom the drawn notifications speak of.
package struct TemplateSample: Equatable, Sendable {
    /// Cleaned before it is shown, as every name is.
    package var name: String
    package var pronoun: Pronoun
    /// Of ``LanguageFile/categoryNames``; others are drawn as what they become.
    package var categories: [String]
    /// Words of a `system` message in any language; empty: samples of ours in English and Dutch.
    package var title: String
    package var body: String

    package init(
        name: String = "Anna", pronoun: Pronoun = .she, categories: [String] = ["phone", "address"],
        title: String = "", body: String = ""
    ) {
        self.name = name
        self.pronoun = pronoun
        self.categories = categories
        self.title = title
        self.body = body
    }

    func notification(_ kind: NotificationKind, at now: Date) -> Notification {
        let isGiven = !self.title.isEmpty || !self.body.isEmpty
        return Notification(
            id: UUID(), accountID: UUID(), kindName: kind.name, actorName: self.name, actorPronoun: self.pronoun,
            categories: self.categories, title: isGiven ? self.title : Self.systemTitle,
            body: isGiven ? self.body : Self.systemBody, translations: isGiven ? [:] : Self.systemTranslations,
            createdAt: now)
    }

    private static let systemTitle = "Maintenance on Sunday"
    private static let systemBody = "From 2 to 3 in the morning the app may be slow."
    private static let systemTranslations = [
        "nl": Notification.Translation(
            title: "Onderhoud op zondag", body: "Van 2 tot 3 uur ’s nachts kan de app traag zijn.")
    ]
}

extension Pages {
    /// Each kind in each language, as a phone shows it.
    package static func templates(_ catalog: LanguageCatalog, _ sample: TemplateSample, _ context: PageContext) -> HTML
    {
        Layout(
            title: "Templates", section: .templates,
            aside:
                #"<p class="quiet">\#(Format.count(NotificationKind.all.count, "kind", "kinds")) in \#(Format.count(catalog.languages.count, "language", "languages"))</p>"#
        ).page(
            context,
            """
            \(self.sampleForm(sample))\
            <p class="quiet">For Android the words are the app’s own: its push carries the kind and the id alone. \
            Drawn is what it shows if it follows the same files.</p>
            \(NotificationKind.all.map { self.kind($0, catalog, sample, context) })
            """)
    }

    private static func kind(
        _ kind: NotificationKind, _ catalog: LanguageCatalog, _ sample: TemplateSample, _ context: PageContext
    ) -> HTML {
        let notification = sample.notification(kind, at: context.now)
        let phones = catalog.languages.map { language -> HTML in
            let text = catalog.render(notification, kind: kind, locale: language)
            return self.phone(.ios, text, language, context) + self.phone(.android, text, language, context)
        }
        let rules = [
            kind.accountSwitch.map { "switched by \($0.rawValue)" } ?? "always pushed",
            kind.coalesces ? "said once while unread" : nil,
            "lane \(Explanation.lane(kind.lane).title.lowercased())",
        ]
        return """
            <section class="stack" aria-labelledby="kind-\(kind.name)">
            <div class="head"><h2 id="kind-\(kind.name)">\(Explanation.kind(named: kind.name))</h2>
            <p class="quiet"><code>\(kind.name)</code> · \(rules.compactMap { $0 }.joined(separator: " · "))</p></div>
            <div class="phones">
            \(phones)\
            </div>
            </section>

            """
    }

    private static func phone(
        _ platform: Platform, _ text: RenderedText, _ language: String, _ context: PageContext
    ) -> HTML {
        let words: HTML = """
            <span class="title" dir="auto">\(text.title)</span>
            """
        let body: HTML = text.body.map { #"<div class="text" dir="auto">\#($0)</div>"# } ?? .empty
        let push: HTML =
            switch platform {
            case .ios:
                """
                <div class="row">\(words)<span class="when" lang="en">now</span></div>\(body)
                """
            case .android:
                """
                <div class="app" lang="en">App · now</div><div>\(words)</div>\(body)
                """
            }
        return """
            <figure class="phone \(platform.rawValue)">
            <figcaption>\(Explanation.platform(platform)) · \(language)</figcaption>
            <div class="screen">
            <div class="clock" aria-hidden="true">\(Format.minute(context.now))</div>
            <div class="push"><div class="icon" aria-hidden="true"></div><div class="words" lang="\(language)">\(push)</div></div>
            </div>
            </figure>

            """
    }

    private static func sampleForm(_ sample: TemplateSample) -> HTML {
        let pronouns = Pronoun.allCases.map { pronoun -> HTML in
            let selected: HTML = pronoun == sample.pronoun ? " selected" : .empty
            return #"<option value="\#(pronoun.rawValue)"\#(selected)>\#(pronoun.rawValue)</option>"#
        }
        return """
            <section class="box filter" aria-label="Sample">
            <form method="get" action="\(Route.templates())">
            <div class="fields">
            <div><label for="sample-name">Name</label><input id="sample-name" name="name" value="\(sample.name)" maxlength="200" autocomplete="off" data-search></div>
            <div><label for="sample-pronoun">Pronoun</label><select id="sample-pronoun" name="pronoun">\(pronouns)</select></div>
            <div class="long"><label for="sample-categories">Categories, of \(LanguageFile.categoryNames.joined(separator: ", "))</label>\
            <input id="sample-categories" name="categories" value="\(sample.categories.joined(separator: ", "))" maxlength="200" autocomplete="off"></div>
            <div class="long"><label for="sample-title">Title of a system message</label><input id="sample-title" name="title" value="\(sample.title)" maxlength="500" autocomplete="off"></div>
            <div class="whole"><label for="sample-body">Body of a system message</label><input id="sample-body" name="body" value="\(sample.body)" maxlength="2000" autocomplete="off"></div>
            </div>
            <div class="actions"><button>Draw</button><a class="button soft" href="\(Route.templates())">Our sample again</a></div>
            </form>
            </section>

            """
    }
}
