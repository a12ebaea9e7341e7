package import struct FoundationEssentials.Date
package import struct FoundationEssentials.UUID

/// A column by its place, from 0, or by its name: `row.uuid(0)`, `row.uuid("id")`.
package enum PostgresColumn: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, Sendable {
    case index(Int)
    case name(String)

    package init(integerLiteral value: Int) { self = .index(value) }
    package init(stringLiteral value: String) { self = .name(value) }
}

/// One row. Each accessor throws `.decoding` where the value is null or of another form; the error names the column and
/// what was expected, never the value.
package struct PostgresRow: Sendable {
    let result: QueryResult
    let index: Int

    package func uuid(_ column: PostgresColumn) throws(PostgresError) -> UUID { try self.required(column) }
    package func text(_ column: PostgresColumn) throws(PostgresError) -> String { try self.required(column) }
    package func int(_ column: PostgresColumn) throws(PostgresError) -> Int { try self.required(column) }
    package func double(_ column: PostgresColumn) throws(PostgresError) -> Double { try self.required(column) }
    package func bool(_ column: PostgresColumn) throws(PostgresError) -> Bool { try self.required(column) }

    /// A `timestamptz`, `timestamp` (as UTC) or `date`, or seconds since 1970 from `extract(epoch from …)`.
    package func date(_ column: PostgresColumn) throws(PostgresError) -> Date { try self.required(column) }

    /// Seconds, as `extract(epoch from …)` gives of an interval.
    package func duration(_ column: PostgresColumn) throws(PostgresError) -> Duration { try self.required(column) }

    // MARK: - Columns that may be null

    package func isNull(_ column: PostgresColumn) throws(PostgresError) -> Bool {
        self.result.withValue(row: self.index, column: try self.result.index(of: column)) { $0 == nil }
    }

    package func optionalUUID(_ column: PostgresColumn) throws(PostgresError) -> UUID? { try self.optional(column) }
    package func optionalText(_ column: PostgresColumn) throws(PostgresError) -> String? { try self.optional(column) }
    package func optionalInt(_ column: PostgresColumn) throws(PostgresError) -> Int? { try self.optional(column) }
    package func optionalDouble(_ column: PostgresColumn) throws(PostgresError) -> Double? { try self.optional(column) }
    package func optionalBool(_ column: PostgresColumn) throws(PostgresError) -> Bool? { try self.optional(column) }
    package func optionalDate(_ column: PostgresColumn) throws(PostgresError) -> Date? { try self.optional(column) }
    package func optionalDuration(_ column: PostgresColumn) throws(PostgresError) -> Duration? {
        try self.optional(column)
    }

    // MARK: - Arrays
    // An array that is null itself is an error, but for the optional ones; so is a null in it, but for `arrayOf…`.

    package func uuidArray(_ column: PostgresColumn) throws(PostgresError) -> [UUID] { try self.array(column) }
    package func textArray(_ column: PostgresColumn) throws(PostgresError) -> [String] { try self.array(column) }
    package func intArray(_ column: PostgresColumn) throws(PostgresError) -> [Int] { try self.array(column) }
    package func boolArray(_ column: PostgresColumn) throws(PostgresError) -> [Bool] { try self.array(column) }
    package func dateArray(_ column: PostgresColumn) throws(PostgresError) -> [Date] { try self.array(column) }
    package func doubleArray(_ column: PostgresColumn) throws(PostgresError) -> [Double] { try self.array(column) }

    package func optionalUUIDArray(_ column: PostgresColumn) throws(PostgresError) -> [UUID]? {
        try self.isNull(column) ? nil : self.array(column)
    }

    package func optionalTextArray(_ column: PostgresColumn) throws(PostgresError) -> [String]? {
        try self.isNull(column) ? nil : self.array(column)
    }

    package func arrayOfOptionalUUIDs(_ column: PostgresColumn) throws(PostgresError) -> [UUID?] {
        try self.array(column)
    }

    package func arrayOfOptionalTexts(_ column: PostgresColumn) throws(PostgresError) -> [String?] {
        try self.array(column)
    }

    package func arrayOfOptionalInts(_ column: PostgresColumn) throws(PostgresError) -> [Int?] {
        try self.array(column)
    }

    // MARK: -

    private func required<Value: PostgresDecodable>(_ column: PostgresColumn) throws(PostgresError) -> Value {
        guard let value: Value = try self.optional(column) else {
            throw self.failure(column, Value.postgresName, found: "null")
        }
        return value
    }

    private func optional<Value: PostgresDecodable>(_ column: PostgresColumn) throws(PostgresError) -> Value? {
        let index = try self.result.index(of: column)
        let (isNull, value) = self.result.withValue(row: self.index, column: index) { bytes -> (Bool, Value?) in
            (bytes == nil, bytes.flatMap(Value.init(postgresText:)))
        }
        guard isNull || value != nil else {
            throw self.failure(column, Value.postgresName, found: "something else")
        }
        return value
    }

    private func array<Element: PostgresDecodable>(_ column: PostgresColumn) throws(PostgresError) -> [Element] {
        let index = try self.result.index(of: column)
        var elements: [Element] = []
        var found = "null"
        let isWhole = self.result.withValue(row: self.index, column: index) { bytes -> Bool in
            guard let bytes else { return false }
            found = "something else"
            return ArrayText.forEachElement(of: bytes) { element in
                guard let value = element.map(Element.init(postgresText:)) ?? Element.postgresNull else {
                    if element == nil { found = "a null in it" }
                    return false
                }
                elements.append(value)
                return true
            }
        }
        guard isWhole else { throw self.failure(column, "an array of \(Element.postgresName)", found: found) }
        return elements
    }

    private func failure(_ column: PostgresColumn, _ expected: String, found: String) -> PostgresError {
        let name =
            switch column {
            case .index(let index): "\(index) (\(self.result.columns[index]))"
            case .name(let name): name
            }
        return .decoding(column: name, expected: expected, found: found)
    }
}
