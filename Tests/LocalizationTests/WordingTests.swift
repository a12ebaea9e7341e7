import Localization
import PushModel
import TestSupport
import Testing

let catalog = Result { () throws(LanguageError) in
    try LanguageCatalog.load(directory: "\(Repository.root)/templates")
}

/// The words promised in the design, byte for byte.
@Suite struct WordingTests {
    struct Wording: Sendable, CustomTestStringConvertible {
        var locale: String
        var kind: NotificationKind
        var pronoun: Pronoun
        var title: String
        var body: String?

        init(_ locale: String, _ kind: NotificationKind, _ pronoun: Pronoun, _ title: String, _ body: String?) {
            self.locale = locale
            self.kind = kind
            self.pronoun = pronoun
            self.title = title
            self.body = body
        }

        var testDescription: String { "\(self.locale) \(self.kind.name) \(self.pronoun)" }
    }

    static let wordings: [Wording] = [
        Wording("en", .invitationReceived, .neutral, "New invitation", "Anna wants to connect with you"),
        Wording("en", .invitationReceived, .she, "New invitation", "Anna wants to connect with you"),
        Wording("en", .invitationAccepted, .neutral, "Anna accepted", "You\u{2019}re now connected"),
        Wording("en", .invitationAccepted, .he, "Anna accepted", "You\u{2019}re now connected"),
        Wording("en", .contactUpdated, .she, "Anna updated her details", "Phone number and address"),
        Wording("en", .contactUpdated, .he, "Anna updated his details", "Phone number and address"),
        Wording("en", .contactUpdated, .neutral, "Anna updated their details", "Phone number and address"),
        Wording("en", .circleChanged, .neutral, "Anna changed what you can see", nil),
        Wording("en", .circleChanged, .she, "Anna changed what you can see", nil),
        Wording("nl", .invitationReceived, .neutral, "Nieuwe uitnodiging", "Anna wil met je in contact komen"),
        Wording("nl", .invitationAccepted, .neutral, "Anna heeft geaccepteerd", "Jullie zijn nu verbonden"),
        Wording("nl", .contactUpdated, .she, "Anna heeft haar gegevens bijgewerkt", "Telefoonnummer en adres"),
        Wording("nl", .contactUpdated, .he, "Anna heeft zijn gegevens bijgewerkt", "Telefoonnummer en adres"),
        Wording("nl", .contactUpdated, .neutral, "Gegevens van Anna bijgewerkt", "Telefoonnummer en adres"),
        Wording("nl", .circleChanged, .he, "Anna heeft gewijzigd wat je kunt zien", nil),
    ]

    @Test(arguments: wordings)
    func saysWhatTheDesignSays(_ wording: Wording) throws {
        let notification = Sample.notification(
            wording.kind, pronoun: wording.pronoun, categories: ["phone", "address"])
        let text = try catalog.get().render(notification, kind: wording.kind, locale: wording.locale)
        #expect(text == RenderedText(title: wording.title, body: wording.body))
    }

    @Test(
        arguments: [
            ("en", [], "Details"),
            ("en", ["name"], "Name"),
            ("en", ["email"], "E-mail address"),
            ("en", ["date", "photo"], "Special date and photo"),
            ("en", ["name", "phone", "email"], "Name, phone number and e-mail address"),
            ("en", ["photo", "date", "address", "email"], "Photo, special date, address and e-mail address"),
            ("en", ["phone", "phone"], "Phone number"),
            ("en", ["phone", "name", "phone"], "Phone number and name"),
            ("en", ["iban"], "Details"),
            ("en", ["iban", "shoe_size", "phone"], "Details and phone number"),
            ("en", ["Phone"], "Details"),
            ("en", ["{actor}"], "Details"),
            ("en", ["+31 6 12345678"], "Details"),
            ("nl", [], "Gegevens"),
            ("nl", ["name"], "Naam"),
            ("nl", ["email", "phone"], "E-mailadres en telefoonnummer"),
            ("nl", ["date", "photo", "address"], "Bijzondere datum, foto en adres"),
            ("nl", ["iban", "name"], "Gegevens en naam"),
        ] as [(String, [String], String)])
    func joinsCategories(_ locale: String, _ categories: [String], _ body: String) throws {
        let notification = Sample.notification(.contactUpdated, categories: categories)
        #expect(try catalog.get().render(notification, kind: .contactUpdated, locale: locale).body == body)
    }

    @Test func tenThousandCategoriesAreStillAShortList() throws {
        let many = (0..<10_000).map { "category\($0)" } + LanguageFile.categoryNames
        let notification = Sample.notification(.contactUpdated, categories: many)
        #expect(
            try catalog.get().render(notification, kind: .contactUpdated, locale: "en").body
                == "Details, name, phone number, e-mail address, address, special date and photo")
    }

    @Test(arguments: [("en", "Someone accepted"), ("nl", "Iemand heeft geaccepteerd")])
    func namesNobodyWhereNoNameCanBeSeen(_ locale: String, _ title: String) throws {
        let unseen = [
            nil, "", " ", "\u{A0}\u{2003}", "\n\t\r\n", "\u{0}", "\u{200B}\u{200D}\u{FEFF}", "\u{202E}",
            "\u{2066}\u{2069}",
            "\u{301}\u{302}", "\u{3164}", "\u{2800}", "\u{FE0F}", "\u{E0067}", "\u{AD}", "\u{34F}", "\u{115F}",
        ]
        for name in unseen {
            let notification = Sample.notification(.invitationAccepted, actor: name)
            #expect(
                try catalog.get().render(notification, kind: .invitationAccepted, locale: locale).title == title,
                "\(name?.unicodeScalars.map { String($0.value, radix: 16) } ?? [])")
        }
    }

    @Test(arguments: ["{categories}", "{actor}", "{", "}", "{0} and {1}", "%@ %s %1$@", "\\(name)", "{{actor}}"])
    func aNameIsNeverATemplate(_ name: String) throws {
        let notification = Sample.notification(.contactUpdated, actor: name, categories: ["phone"])
        let text = try catalog.get().render(notification, kind: .contactUpdated, locale: "en")
        #expect(text == RenderedText(title: "\(name) updated their details", body: "Phone number"))
    }

    @Test func titleAndBodyOfTheRowAreForSystemAlone() throws {
        for kind in NotificationKind.all where kind != .system {
            let plain = Sample.notification(kind, categories: ["phone"])
            var spoken = plain
            spoken.title = "+31 6 12345678"
            spoken.body = "Dorpsstraat 1"
            spoken.translations = ["en": .init(title: "Dorpsstraat 2", body: "Dorpsstraat 3")]
            let render = { try catalog.get().render($0, kind: kind, locale: "en") }
            #expect(try render(plain) == render(spoken))
        }
    }
}
