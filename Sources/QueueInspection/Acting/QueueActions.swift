package import DeliveryQueue
package import Postgres
package import PushModel

package import struct FoundationEssentials.UUID

/// What an operator does to the queue. Each action and its entry in the audit are one transaction, on a connection that
/// is opened for it: operators are few, and a transaction on a shared connection would take in other people's statements.
///
/// Actions come one after the other, whoever takes them: under an advisory lock, and only then in a snapshot. So two
/// retries of the same delivery send it once.
package struct QueueActions: Sendable {
    let source: SourceSchema
    let database: PostgresConfiguration
    /// How long after its creation a notification of a kind is still worth a push.
    let lifetime: @Sendable (NotificationKind) -> Duration

    package init(
        source: SourceSchema, database: PostgresConfiguration,
        lifetime: @escaping @Sendable (NotificationKind) -> Duration
    ) {
        self.source = source
        self.database = database
        self.lifetime = lifetime
    }

    /// The most ids of one call.
    package static let mostIDs = 1000

    /// What cannot be done at all; a delivery that is refused is no error, see ``ActionResult``.
    package enum Refusal: Error, Equatable, Sendable, CustomStringConvertible {
        case tooMany
        case noSuchBulkAction
        case cannotRetry(DeliveryState)
        case cannotCancel(DeliveryState)

        package var description: String {
            switch self {
            case .tooMany: "at most \(QueueActions.mostIDs) ids at once: use a filter for more"
            case .noSuchBulkAction: "there is no such bulk action"
            case .cannotRetry(let state):
                "what is \(state.rawValue) cannot be retried: choose the state discarded, cancelled or available"
            case .cannotCancel(let state):
                "what is \(state.rawValue) cannot be cancelled: choose the state available"
            }
        }
    }

    // MARK: - Deliveries

    /// Puts discarded and cancelled deliveries back to be sent now, and makes due what waits. Facts are read again before
    /// the send, as always; the count of tries goes on, the history stays.
    ///
    /// - Parameters:
    ///   - ids: of deliveries, or of notifications: then all their deliveries are meant.
    ///   - actor: who, as the audit shows it.
    package func retry(_ ids: [UUID], actor: String, note: String? = nil) async throws -> ActionResult {
        try await self.act(.retry, ids, actor: actor, note: note)
    }

    /// Cancels deliveries that wait, and notifications that no worker has claimed. What a worker holds is refused: its
    /// send may be under way, and nothing is to be both cancelled and sent.
    ///
    /// - Parameters: as of ``retry(_:actor:note:)``.
    package func cancel(_ ids: [UUID], actor: String, note: String? = nil) async throws -> ActionResult {
        try await self.act(.cancel, ids, actor: actor, note: note)
    }

    private func act(
        _ action: AuditEntry.Action, _ ids: [UUID], actor: String, note: String?
    ) async throws -> ActionResult {
        guard ids.count <= Self.mostIDs else { throw Refusal.tooMany }
        return try await self.transaction { connection in
            var items: [ActionResult.Item] = []
            for target in try await ActionTarget.resolve(ids, source: self.source, on: connection) {
                let audit = UUID()
                let done = try await self.perform(action, on: target, audit: audit, connection)
                items += done
                let changed = done.count { $0.isChanged }
                let refusal = done.count == 1 && changed == 0 ? done.first?.message : nil
                try await connection.query(
                    AuditWriting.entry(
                        id: audit, actor: actor, action: action, target: target.auditTarget, matched: done.count,
                        changed: changed, note: note ?? refusal))
            }
            if items.contains(where: \.isChanged) { try await connection.query(AuditWriting.wake) }
            return ActionResult(items: items)
        }
    }

    private func perform(
        _ action: AuditEntry.Action, on target: ActionTarget, audit: UUID, _ connection: PostgresConnection
    ) async throws -> [ActionResult.Item] {
        var items: [ActionResult.Item] = []
        if case .notification(let id, _) = target, action == .cancel {
            items += try await DeliveryActions.cancelInOutbox(id, audit: audit, source: self.source, on: connection)
        }
        items += try await self.perform(action, on: target.deliveries, audit: audit, connection)
        guard items.isEmpty else { return items }
        return [ActionResult.Item(id: target.id, isChanged: false, message: target.emptiness(action))]
    }

    /// - Returns: one item for each delivery.
    func perform(
        _ action: AuditEntry.Action, on deliveries: [UUID], audit: UUID, _ connection: PostgresConnection
    ) async throws -> [ActionResult.Item] {
        guard !deliveries.isEmpty else { return [] }
        let actions = DeliveryActions(source: self.source, lifetime: self.lifetime)
        return action == .retry
            ? try await actions.retry(deliveries, audit: audit, on: connection)
            : try await actions.cancel(deliveries, audit: audit, on: connection)
    }

    // MARK: - Providers

    /// No worker sends to these endpoints until they are resumed; nothing is lost.
    package func pause(_ endpoints: [ProviderEndpoint], reason: String, actor: String) async throws {
        try await self.transaction { connection in
            try await connection.query(ProviderPause.pause(endpoints, reason: reason, by: actor))
            for endpoint in endpoints {
                try await connection.query(
                    AuditWriting.entry(
                        id: UUID(), actor: actor, action: .pause, target: .provider(endpoint.rawValue), matched: 1,
                        changed: 1, note: reason))
            }
        }
    }

    /// Ends a pause, whoever began it, and makes due what waited.
    package func resume(_ endpoints: [ProviderEndpoint], actor: String, note: String? = nil) async throws {
        try await self.transaction { connection in
            for endpoint in endpoints {
                let rows = try await connection.query(ProviderPause.resume([endpoint]))
                try await connection.query(
                    AuditWriting.entry(
                        id: UUID(), actor: actor, action: .resume, target: .provider(endpoint.rawValue), matched: 1,
                        changed: try rows.single().int(0), note: note))
            }
            try await connection.query(AuditWriting.wake)
        }
    }

    // MARK: - Transactions

    /// Bounded in time, pinned to indexes, alone among operators' actions.
    private static let prelude = """
        begin isolation level read committed;
        set local statement_timeout = '20s'; set local lock_timeout = '5s';
        set local idle_in_transaction_session_timeout = '30s'; set local jit = off;
        set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_sort = off;
        select pg_advisory_xact_lock(1347769160, 4);
        """

    private func transaction<Result: Sendable>(
        _ body: (PostgresConnection) async throws -> Result
    ) async throws -> Result {
        try await self.withConnection { try await self.transaction(on: $0, body) }
    }

    func transaction<Result: Sendable>(
        on connection: PostgresConnection, _ body: (PostgresConnection) async throws -> Result
    ) async throws -> Result {
        do {
            try await connection.run(script: Self.prelude)
            let result = try await body(connection)
            try await connection.run(script: "commit")
            return result
        } catch {
            // The first error is the one to show; a lost connection rolls back by itself.
            try? await connection.run(script: "rollback")
            throw error
        }
    }

    func withConnection<Result: Sendable>(
        _ body: (PostgresConnection) async throws -> Result
    ) async throws -> Result {
        let connection = try await PostgresConnection.connect(self.database)
        do {
            let result = try await body(connection)
            await connection.close()
            return result
        } catch {
            await connection.close()
            throw error
        }
    }
}
