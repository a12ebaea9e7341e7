/// The schema that holds the app's tables, checked and quoted once.
package struct SourceSchema: Hashable, Sendable {
    package let name: String
    /// Quoted, fit for SQL text.
    package let identifier: String
    /// Quoted and with apostrophes doubled, fit for the inside of an SQL string literal.
    package let identifierInLiteral: String

    package struct Invalid: Error, CustomStringConvertible {
        package let description: String
    }

    package init(_ name: String) throws(Invalid) {
        guard !name.isEmpty, name.utf8.count <= 63, !name.utf8.contains(0) else {
            throw Invalid(description: "a schema name has 1 to 63 bytes, for example public")
        }
        self.name = name
        self.identifier =
            "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
        self.identifierInLiteral = self.identifier.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "''")
    }
}
