import class FoundationEssentials.FileManager

/// Every language the worker speaks. A value: reading the files anew makes a new one.
package struct LanguageCatalog: Sendable {
    private let byTag: [String: LanguageFile]
    private let english: LanguageFile

    /// Fails without English, which every chain ends in, and when a language comes twice.
    package init(files: [LanguageFile]) throws(LanguageError) {
        var byTag: [String: LanguageFile] = [:]
        for file in files {
            guard byTag.updateValue(file, forKey: file.language) == nil else {
                throw LanguageError(problems: [
                    .init(file: "\(file.language).json", key: "language", fault: "comes twice", fix: "keep one file")
                ])
            }
        }
        guard let english = byTag["en"] else {
            throw LanguageError(problems: [
                .init(
                    file: "en.json", key: "", fault: "is missing",
                    fix: "English is what every other locale falls back to")
            ])
        }
        self.byTag = byTag
        self.english = english
    }

    /// Reads every `<tag>.json` of a directory. Throws all faults of all files at once.
    package static func load(directory: String) throws(LanguageError) -> LanguageCatalog {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            throw LanguageError(problems: [
                .init(
                    file: directory, key: "", fault: "cannot be read as a directory",
                    fix: "set PUSH_TEMPLATES to the directory with en.json")
            ])
        }
        var files: [LanguageFile] = []
        var problems: [LanguageError.Problem] = []
        for name in names.sorted() where name.hasSuffix(".json") && !name.hasPrefix(".") {
            guard let data = FileManager.default.contents(atPath: "\(directory)/\(name)") else {
                problems.append(.init(file: name, key: "", fault: "cannot be read", fix: "check its permissions"))
                continue
            }
            do throws(LanguageError) {
                let file = try LanguageFile(json: data, file: name)
                if file.language == LanguageTag.normalised(String(name.dropLast(".json".count))) {
                    files.append(file)
                } else {
                    problems.append(
                        .init(
                            file: name, key: "language", fault: "says \"\(file.language)\"",
                            fix: "name the file after its language"))
                }
            } catch {
                problems += error.problems
            }
        }
        guard problems.isEmpty else { throw LanguageError(problems: problems) }
        return try LanguageCatalog(files: files)
    }

    /// The tags of the languages, sorted.
    package var languages: [String] { self.byTag.keys.sorted() }

    /// The language for a locale: the exact tag, then the language, then English.
    package func language(for locale: String) -> LanguageFile {
        // Most phones say a tag that is a file's name already.
        if let file = self.byTag[locale] { return file }
        for tag in LanguageTag.chain(for: locale) {
            if let file = self.byTag[tag] { return file }
        }
        return self.english
    }
}
