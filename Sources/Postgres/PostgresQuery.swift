/// One SQL statement and its values, which never meet: an interpolated value becomes `$1`, `$2` … and is sent beside the
/// text.
///
///     "select id from devices where account_id = \(account) and locale = any(\(locales))"
///
/// The server infers each type from where it stands; write `\(value)::uuid[]` where it cannot.
package struct PostgresQuery: Sendable {
    package private(set) var sql: String
    private(set) var parameters = CStringList()
    /// Why the statement cannot be sent. Kept until it is, so that writing a query needs no `try`.
    private(set) var fault: PostgresError?

    /// SQL text as it stands, without values.
    package init(unescaped sql: String) {
        self.sql = sql
    }
}

extension PostgresQuery: ExpressibleByStringInterpolation {
    package init(stringLiteral value: String) {
        self.init(unescaped: value)
    }

    package init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.query
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var query = PostgresQuery(unescaped: "")

        package init(literalCapacity: Int, interpolationCount: Int) {
            self.query.sql.reserveCapacity(literalCapacity + interpolationCount * 4)
        }

        package mutating func appendLiteral(_ literal: String) {
            self.query.sql += literal
        }

        /// A value, sent as the next parameter.
        package mutating func appendInterpolation(_ value: some PostgresEncodable) {
            self.query.bind(value)
        }

        /// A value or null. An overload of its own, as the compiler warns of optionals where none is asked for.
        package mutating func appendInterpolation(_ value: (some PostgresEncodable)?) {
            self.query.bind(value)
        }

        /// SQL text as it stands: for text the program wrote itself, never for text from outside.
        package mutating func appendInterpolation(unescaped text: String) {
            self.query.sql += text
        }

        /// A quoted name of a table, column, schema or channel.
        package mutating func appendInterpolation(identifier name: String) {
            self.query.sql += "\""
            for character in name.unicodeScalars {
                if character == "\"" { self.query.sql.unicodeScalars.append(character) }
                self.query.sql.unicodeScalars.append(character)
            }
            self.query.sql += "\""
        }
    }

    private mutating func bind(_ value: some PostgresEncodable) {
        defer { self.sql += "$\(self.parameters.count)" }
        guard !value.isNull else { return self.parameters.appendNull() }
        do throws(PostgresError) {
            let isWhole = try self.parameters.append { bytes throws(PostgresError) in try value.encode(into: &bytes) }
            if !isWhole {
                throw .invalidParameter("text with the character U+0000, which PostgreSQL cannot store")
            }
        } catch {
            self.fault = self.fault ?? .invalidParameter("$\(self.parameters.count): \(error.message)")
        }
    }
}

extension PostgresQuery: CustomStringConvertible, CustomReflectable {
    /// The text alone; values stay out of logs.
    package var description: String { self.sql }

    package var customMirror: Mirror { Mirror(self, children: ["sql": self.sql]) }
}
