/// What is wrong with the language files: every fault at once, each with its place and what to do.
package struct LanguageError: Error, Equatable, CustomStringConvertible {
    package struct Problem: Equatable, Sendable, CustomStringConvertible {
        /// The name of the file or directory.
        package var file: String
        /// The path of the key inside it, `kinds.contact_updated.title.neutral`; empty for the file as a whole.
        package var key: String
        package var fault: String
        package var fix: String

        package init(file: String, key: String, fault: String, fix: String) {
            self.file = file
            self.key = key
            self.fault = fault
            self.fix = fix
        }

        package var description: String {
            "\(self.file)\(self.key.isEmpty ? "" : ": \(self.key)"): \(self.fault); \(self.fix)"
        }
    }

    package var problems: [Problem]

    package init(problems: [Problem]) {
        self.problems = problems
    }

    /// One line per problem.
    package var description: String {
        self.problems.map(\.description).joined(separator: "\n")
    }
}
