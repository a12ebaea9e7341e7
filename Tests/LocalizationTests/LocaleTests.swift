import Localization
import PushModel
import TestSupport
import Testing

@Suite struct LocaleTests {
    @Test(arguments: [
        ("en", "en"), ("nl", "nl"), ("EN", "en"), ("NL", "nl"), ("Nl", "nl"),
        ("nl-NL", "nl"), ("nl-BE", "nl"), ("nl_BE", "nl"), ("NL_be", "nl"), ("nl-Latn-NL", "nl"),
        ("nl-NL-x-private", "nl"), ("nl_NL.UTF-8", "nl"), ("nl_NL@euro", "nl"), (" nl", "nl"), ("nl ", "nl"),
        ("en_US", "en"), ("en-GB", "en"), ("de", "en"), ("de-NL", "en"), ("fr_BE", "en"), ("zh-Hant-TW", "en"),
        ("", "en"), (" ", "en"), ("-", "en"), ("--", "en"), ("-nl", "en"), ("nld", "en"), ("nlx-BE", "en"),
        ("C", "en"), ("POSIX", "en"), ("null", "en"), ("(null)", "en"), ("nl;q=0.9", "nl"), ("nl,en", "nl"),
        ("\u{0}", "en"), ("\u{202E}nl", "en"), ("ñl", "en"), ("ｎｌ", "en"), ("../../etc/passwd", "en"),
        ("nl-" + String(repeating: "x", count: 10_000), "nl"), (String(repeating: "-", count: 10_000), "en"),
        (String(repeating: "nl-", count: 10_000), "nl"), (String(repeating: "x", count: 10_000), "en"),
        (String(repeating: "👨‍👩‍👧", count: 10_000), "en"),
    ])
    func everyLocaleFindsALanguage(_ locale: String, _ language: String) throws {
        #expect(try catalog.get().language(for: locale).language == language)
    }

    @Test func aLongerTagComesFirst() throws {
        let english = try catalog.get().language(for: "en")
        let files = ["en", "pt", "pt-br", "zh-hant"].map { tag in
            var file = english
            file.language = tag
            return file
        }
        let catalog = try LanguageCatalog(files: files)
        let expected = [
            "pt-BR": "pt-br", "pt_br": "pt-br", "pt-BR-x-y": "pt-br", "pt-PT": "pt", "pt": "pt",
            "zh-Hant-TW": "zh-hant",
            "zh": "en", "zh-Hans-CN": "en",
        ]
        for (locale, language) in expected {
            #expect(catalog.language(for: locale).language == language, "\(locale)")
        }
    }

    @Test func withoutEnglishThereIsNoCatalog() throws {
        let dutch = try catalog.get().language(for: "nl")
        #expect(throws: LanguageError.self) { try LanguageCatalog(files: [dutch]) }
        #expect(throws: LanguageError.self) { try LanguageCatalog(files: []) }
    }

    @Test func aLanguageComesOnce() throws {
        let english = try catalog.get().language(for: "en")
        #expect(throws: LanguageError.self) { try LanguageCatalog(files: [english, english]) }
    }

    // MARK: - `system`

    static let translations: [String: Notification.Translation] = [
        "en": .init(title: "Maintenance", body: "Tonight."),
        "NL": .init(title: "Onderhoud", body: "Vanavond."),
        "nl_be": .init(title: "Onderhoud, zeg", body: nil),
        "fr": .init(title: "", body: " "),
        "de": .init(title: nil, body: "Heute Abend."),
    ]

    @Test(
        arguments: [
            ("en", "Maintenance", "Tonight."), ("en-GB", "Maintenance", "Tonight."), ("nl", "Onderhoud", "Vanavond."),
            ("nl-NL", "Onderhoud", "Vanavond."), ("nl-BE", "Onderhoud, zeg", nil), ("es", "Maintenance", "Tonight."),
            // A translation that says nothing is none.
            ("fr", "Maintenance", "Tonight."),
            // One language is taken whole; the title it lacks is the general one.
            ("de", "New message", "Heute Abend."),
            ("", "Maintenance", "Tonight."),
        ] as [(String, String, String?)])
    func systemSpeaksTheLanguageOfTheDevice(_ locale: String, _ title: String, _ body: String?) throws {
        let notification = Sample.notification(
            .system, title: "Row", body: "Row body", translations: Self.translations)
        let text = try catalog.get().render(notification, kind: .system, locale: locale)
        #expect(text == RenderedText(title: title, body: body))
    }

    @Test(
        arguments: [
            ("nl", "Row", "Row body", "Row", "Row body"),
            ("nl", "Row", nil, "Row", nil),
            ("nl", nil, "Row body", "Nieuw bericht", "Row body"),
            ("nl", nil, nil, "Nieuw bericht", nil),
            ("en", " \n", "\u{200B}", "New message", nil),
            ("de", nil, nil, "New message", nil),
            (
                "en", "Two\r\nlines\tand a tab", "One\r\ntwo\u{2028}three\tfour\n", "Two lines and a tab",
                "One\ntwo\nthree four"
            ),
            ("en", "{actor} & {categories}", "{actor}", "{actor} & {categories}", "{actor}"),
        ] as [(String, String?, String?, String, String?)])
    func systemWithoutTranslationSpeaksAsTheRowDoes(
        _ locale: String, _ rowTitle: String?, _ rowBody: String?, _ title: String, _ body: String?
    ) throws {
        let notification = Sample.notification(
            .system, title: rowTitle, body: rowBody, translations: ["fr": .init(title: "Bonjour", body: nil)])
        let text = try catalog.get().render(notification, kind: .system, locale: locale)
        #expect(text == RenderedText(title: title, body: body))
    }
}
