package import DeliveryQueue
package import Postgres

package import struct FoundationEssentials.UUID

/// Reads the queue for people: never writes, goes by indexes, and looks at a bounded number of rows whatever is asked.
///
/// It works through whatever runs a statement; give it a connection of its own with ``sessionSettings``, so that an
/// operator's question never waits behind the worker's statements, nor they behind it.
package struct QueueReader: Sendable {
    package typealias Run = @Sendable (PostgresQuery) async throws -> PostgresRows

    let source: SourceSchema
    let run: Run

    package init(source: SourceSchema, run: @escaping Run) {
        self.source = source
        self.run = run
    }

    package init(source: SourceSchema, connection: PostgresConnection) {
        self.init(source: source) { try await connection.query($0) }
    }

    /// Read-only, and none that lasts: what takes longer is an error with SQLSTATE 57014, for which a page has a banner.
    /// The plans are pinned to indexes, for statistics of a queue are stale by nature.
    package static let sessionSettings: [(name: String, value: String)] = [
        ("default_transaction_read_only", "on"), ("statement_timeout", "3s"), ("lock_timeout", "1s"),
        ("idle_in_transaction_session_timeout", "10s"), ("jit", "off"), ("enable_seqscan", "off"),
        ("enable_bitmapscan", "off"), ("enable_sort", "off"), ("max_parallel_workers_per_gather", "0"),
    ]

    /// The same for one transaction, for `PostgresConnection.query(_:inTransaction:)`. Made in a session they would stay
    /// behind in the pool of a transaction pooler, and a worker that got such a session could not write.
    package static let beginning =
        "begin read only"
        + Self.sessionSettings.filter { $0.name != "default_transaction_read_only" }
        .map { "; set local \($0.name) = '\($0.value)'" }.joined()

    // MARK: - Deliveries

    /// How many rows a search looks at before it shows what it has found.
    static let mostScanned = 10_000
    /// How many a count looks at.
    private static let mostScannedByCount = 100_000

    /// A page of the deliveries that match, newest first.
    ///
    /// - Parameters:
    ///   - cursor: of the page before; nil for the first.
    ///   - limit: rows, 1 to 1000.
    package func deliveries(
        matching filter: DeliveryFilter, from cursor: DeliveryCursor? = nil, limit: Int = 50
    ) async throws -> DeliveryPage {
        let filter = try await self.withAccount(filter)
        let search = DeliverySearch(
            filter: filter, cursor: cursor, limit: min(max(limit, 1), 1000), mostScanned: Self.mostScanned)
        return try search.page(try await self.run(search.query))
    }

    /// How many match, counted up to 10,000.
    package func count(matching filter: DeliveryFilter) async throws -> CappedCount {
        let filter = try await self.withAccount(filter)
        let search = DeliverySearch(
            filter: filter, cursor: nil, limit: CappedCount.most, mostScanned: Self.mostScannedByCount)
        return try search.count(try await self.run(search.countQuery))
    }

    /// Where deliveries stand now, in one query: for a page that watches what it shows. Those that are not known are left
    /// out. At most 1000.
    package func states(of ids: [UUID]) async throws -> [DeliveryRow] {
        guard !ids.isEmpty else { return [] }
        return try DeliverySQL.decode(try await self.run(DeliverySQL.states(Array(ids.prefix(1000))))).map(\.row)
    }

    /// An account's deliveries are found by an index, a device's through its account's.
    private func withAccount(_ filter: DeliveryFilter) async throws -> DeliveryFilter {
        guard let device = filter.device, filter.account == nil, filter.notification == nil else { return filter }
        let rows = try await self.run(
            "select account_id from \(unescaped: self.source.identifier).devices where id = \(device)::uuid")
        var filter = filter
        filter.account = try rows.first?.optionalUUID(0)
        return filter
    }
}
