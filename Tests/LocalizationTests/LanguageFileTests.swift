import FoundationEssentials
import Localization
import PushModel
import TestSupport
import Testing

/// A fault in a file is told with its key and its fix.
@Suite struct LanguageFileTests {
    static let english = FileManager.default.contents(atPath: "\(Repository.root)/templates/en.json")
        .map { String(decoding: $0, as: UTF8.self) }

    struct Fault: Sendable, CustomTestStringConvertible {
        var change: String
        var into: String
        var key: String
        var fault: String

        init(_ change: String, _ into: String, key: String, _ fault: String) {
            self.change = change
            self.into = into
            self.key = key
            self.fault = fault
        }

        var testDescription: String { "\(self.key) \(self.fault)" }
    }

    static let faults: [Fault] = [
        Fault(
            "{actor} accepted", "{name} accepted", key: "kinds.invitation_accepted.title", "unknown placeholder {name}"),
        Fault("{actor} accepted", "{Actor} accepted", key: "kinds.invitation_accepted.title", "placeholder {Actor}"),
        Fault(
            "{actor} accepted", "{ actor } accepted", key: "kinds.invitation_accepted.title", "placeholder { actor }"),
        Fault("{actor} accepted", "{} accepted", key: "kinds.invitation_accepted.title", "placeholder {}"),
        Fault("{actor} accepted", "{actor accepted", key: "kinds.invitation_accepted.title", "without its partner"),
        Fault("{actor} accepted", "actor} accepted", key: "kinds.invitation_accepted.title", "without its partner"),
        Fault("\"{actor} accepted\"", "\"\"", key: "kinds.invitation_accepted.title", "is empty"),
        Fault("\"{actor} accepted\"", "7", key: "kinds.invitation_accepted.title", "is a number"),
        Fault("\"{actor} accepted\"", "true", key: "kinds.invitation_accepted.title", "is true or false"),
        Fault("\"{actor} accepted\"", "null", key: "kinds.invitation_accepted.title", "is null"),
        Fault("\"{actor} accepted\"", "[\"a\"]", key: "kinds.invitation_accepted.title", "is a list"),
        Fault("\"{actor} accepted\"", "{}", key: "kinds.invitation_accepted.title.neutral", "is missing"),
        Fault("\"{actor} accepted\"", "\"a\\nb\"", key: "kinds.invitation_accepted.title", "line break"),
        Fault("\"{actor} accepted\"", "\"\\u202Ea\"", key: "kinds.invitation_accepted.title", "hidden character"),
        Fault("\"neutral\"", "\"they\"", key: "kinds.contact_updated.title.neutral", "is missing"),
        Fault("\"neutral\"", "\"they\"", key: "kinds.contact_updated.title.they", "is not known"),
        Fault("\"body\": \"{categories}\"", "\"boby\": \"x\"", key: "kinds.contact_updated.boby", "is not known"),
        Fault(
            "\"{categories}\"", "\"{category}\"", key: "kinds.contact_updated.body", "unknown placeholder {category}"),
        Fault("\"circle_changed\"", "\"circle_change\"", key: "kinds.circle_changed", "is missing"),
        Fault("\"circle_changed\"", "\"circle_change\"", key: "kinds.circle_change", "is not known"),
        Fault("\"system\": {", "\"system\": [], \"_\": {", key: "kinds.system", "is a list"),
        Fault("\"New message\"", "{\"neutral\": \"x\"}", key: "kinds.system.title", "is an object"),
        Fault("\"phone\": \"phone number\",", "", key: "categories.phone", "is missing"),
        Fault("\"phone number\"", "12", key: "categories.phone", "is a number"),
        Fault("\"other\": \"details\"", "\"others\": \"details\"", key: "categories.other", "is missing"),
        Fault("\"nobody\": \"Someone\",", "", key: "nobody", "is missing"),
        Fault("\"language\": \"en\"", "\"language\": \"en glish\"", key: "language", "no language tag"),
        Fault("\"language\": \"en\"", "\"language\": 5", key: "language", "is a number"),
        Fault("\"pair\": \"{0} and {1}\"", "\"pair\": \"{0} and\"", key: "list.pair", "no list pattern"),
        Fault("\"pair\": \"{0} and {1}\"", "\"pair\": \"{1} and {0}\"", key: "list.pair", "no list pattern"),
        Fault("\"pair\": \"{0} and {1}\"", "\"pair\": \"{0} and {1} {2}\"", key: "list.pair", "no list pattern"),
        Fault("\"middle\": \"{0}, {1}\",", "", key: "list.middle", "is missing"),
        Fault("\"nobody\"", "\"somebody\"", key: "somebody", "is not known"),
        Fault("\"kinds\": {", "\"kinds\": 3, \"x\": {", key: "kinds", "is a number"),
        Fault("\"kinds\": {", "\"kinds\" {", key: "", "is not valid JSON"),
    ]

    @Test(arguments: faults)
    func tellsWhereTheFaultIs(_ fault: Fault) throws {
        let text = try #require(Self.english)
        let changed = text.replacing(fault.change, with: fault.into, maxReplacements: 1)
        try #require(changed != text)
        let error = try #require(throws: LanguageError.self) {
            try LanguageFile(json: Data(changed.utf8), file: "en.json")
        }
        #expect(
            error.problems.contains { $0.key == fault.key && $0.fault.contains(fault.fault) && !$0.fix.isEmpty },
            "\(error)")
        #expect(error.problems.allSatisfy { $0.file == "en.json" })
    }

    @Test func oneFaultIsToldOnce() throws {
        let text = try #require(Self.english).replacing("\"nobody\": \"Someone\",", with: "")
        let error = try #require(throws: LanguageError.self) {
            try LanguageFile(json: Data(text.utf8), file: "en.json")
        }
        #expect(error.description == "en.json: nobody: is missing; write \"nobody\": \"Someone\"")
    }

    @Test func allFaultsAreToldAtOnce() throws {
        let text = try #require(Self.english).replacing("{actor}", with: "{name}").replacing(
            "\"name\":", with: "\"nom\":")
        let error = try #require(throws: LanguageError.self) {
            try LanguageFile(json: Data(text.utf8), file: "en.json")
        }
        #expect(error.problems.count == 8, "\(error)")
    }

    @Test(arguments: ["", "[]", "null", "\"en\"", "7", "{", "\u{FEFF}{}", String(repeating: "[", count: 100_000)])
    func readsNoOtherFile(_ text: String) {
        #expect(throws: LanguageError.self) { try LanguageFile(json: Data(text.utf8), file: "x.json") }
    }

    // MARK: - Directories

    private static func withDirectory(_ files: [String: String], _ body: (String) throws -> Void) throws {
        let path = "\(FileManager.default.temporaryDirectory.path)/languages-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)")) }
        try body(path)
    }

    @Test func aThirdLanguageIsAThirdFile() throws {
        let english = try #require(Self.english)
        let german = english.replacing("\"en\"", with: "\"de\"").replacing("{actor} accepted", with: "{actor} sagt ja")
        let files = [
            "en.json": english, "de.json": german, "README.md": "no language", ".x.json": "{", "en.json~": "{",
        ]
        try Self.withDirectory(files) { directory in
            let catalog = try LanguageCatalog.load(directory: directory)
            #expect(catalog.languages == ["de", "en"])
            let text = catalog.render(
                Sample.notification(.invitationAccepted), kind: .invitationAccepted, locale: "de-AT")
            #expect(text.title == "Anna sagt ja")
        }
    }

    @Test func aFileIsNamedAfterItsLanguage() throws {
        let english = try #require(Self.english)
        try Self.withDirectory(["en.json": english, "nl.json": english]) { directory in
            let error = try #require(throws: LanguageError.self) { try LanguageCatalog.load(directory: directory) }
            #expect(error.problems.map(\.file) == ["nl.json"])
        }
    }

    @Test func faultsOfAllFilesAreToldAtOnce() throws {
        try Self.withDirectory(["en.json": "{", "nl.json": "[]"]) { directory in
            let error = try #require(throws: LanguageError.self) { try LanguageCatalog.load(directory: directory) }
            #expect(error.problems.map(\.file) == ["en.json", "nl.json"])
        }
    }

    @Test func anEmptyOrMissingDirectoryIsAnError() throws {
        try Self.withDirectory([:]) { directory in
            let error = try #require(throws: LanguageError.self) { try LanguageCatalog.load(directory: directory) }
            #expect(error.description.contains("en.json"))
            let missing = try #require(throws: LanguageError.self) {
                try LanguageCatalog.load(directory: "\(directory)/none")
            }
            #expect(missing.description.contains("PUSH_TEMPLATES"))
        }
    }

    /// A key of the file could break the line it is told on, hide, or fill the screen.
    @Test(arguments: ["no\nbody", "\u{200B}", "\u{10FFFF}", String(repeating: "x", count: 5000)])
    func aFaultIsToldOnOneShortLine(_ key: String) throws {
        let json = try JSONEncoder().encode([key: "\u{202E}"])
        let error = #expect(throws: LanguageError.self) { try LanguageFile(json: json, file: "en.json") }
        for problem in try #require(error).problems {
            #expect(problem.description.count < 400)
            #expect(DisplayText.title(problem.description) == problem.description)
        }
    }

    @Test func aDeepValueIsToldLikeAnyOther() throws {
        let english = try #require(Self.english)
        let deep = String(repeating: "[", count: 400) + "1" + String(repeating: "]", count: 400)
        let text = english.replacing("\"nobody\": \"Someone\"", with: "\"nobody\": \(deep)")
        let error = #expect(throws: LanguageError.self) { try LanguageFile(json: Data(text.utf8), file: "en.json") }
        #expect(error?.problems.map(\.fault) == ["is a list"])
    }
}
