private import CLibPQ

/// What a statement answered: rows in PostgreSQL's text form, decoded when they are asked for.
package struct PostgresRows: Sendable, RandomAccessCollection {
    private let result: QueryResult

    init(_ result: QueryResult) {
        self.result = result
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { self.result.rowCount }

    package subscript(position: Int) -> PostgresRow {
        precondition(position >= 0 && position < self.result.rowCount, "row \(position) of \(self.result.rowCount)")
        return PostgresRow(result: self.result, index: position)
    }

    /// The columns' names, in order.
    package var columns: [String] { self.result.columns }

    /// How many rows an INSERT, UPDATE, DELETE or MERGE wrote, or a SELECT returned.
    package var affected: Int { self.result.affected }

    /// The one row of a statement that answers with exactly one.
    package func single() throws(PostgresError) -> PostgresRow {
        guard self.count == 1 else {
            throw PostgresError(.decoding, message: "expected one row, found \(self.count)")
        }
        return self[0]
    }
}

/// A finished `PGresult`, freed with the last row that refers to it.
///
/// Sendable: the manual says of a `PGresult` that it is "normally read-only after creation, and so can be passed around
/// freely between threads" (libpq, Behavior in Threaded Programs). Only accessors are called here, on indices checked
/// before; `PQclear` runs when nobody holds the object any more.
final class QueryResult: @unchecked Sendable {
    private let pointer: OpaquePointer
    let rowCount: Int
    let columns: [String]
    private let indices: [String: Int]

    init(takingOwnershipOf pointer: OpaquePointer) {
        let columns = (0..<PQnfields(pointer)).map { PQfname(pointer, $0).map { String(cString: $0) } ?? "" }
        self.columns = columns
        // As in libpq, the first of several columns of one name.
        self.indices = Dictionary(columns.enumerated().map { ($1, $0) }) { first, _ in first }
        self.rowCount = Int(PQntuples(pointer))
        self.pointer = pointer
    }

    deinit {
        PQclear(self.pointer)
    }

    var affected: Int {
        PQcmdTuples(self.pointer).flatMap { Int(String(cString: $0)) } ?? 0
    }

    func index(of column: PostgresColumn) throws(PostgresError) -> Int {
        switch column {
        case .index(let index):
            guard self.columns.indices.contains(index) else {
                throw PostgresError(.decoding, message: "no column \(index): there are \(self.columns.count)")
            }
            return index
        case .name(let name):
            guard let index = self.indices[name] else {
                throw PostgresError(.decoding, message: "no column \(name): there are \(self.columns)")
            }
            return index
        }
    }

    /// Runs `body` on the value's bytes, `nil` for null; they are valid inside it only. Both indices must be in range.
    func withValue<Value>(row: Int, column: Int, _ body: (UnsafeBufferPointer<UInt8>?) -> Value) -> Value {
        let (row, column) = (Int32(row), Int32(column))
        guard PQgetisnull(self.pointer, row, column) == 0, let start = PQgetvalue(self.pointer, row, column) else {
            return body(nil)
        }
        let count = Int(PQgetlength(self.pointer, row, column))
        return start.withMemoryRebound(to: UInt8.self, capacity: count) {
            body(UnsafeBufferPointer(start: $0, count: count))
        }
    }
}
