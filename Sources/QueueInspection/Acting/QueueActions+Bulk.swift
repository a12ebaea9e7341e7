internal import DeliveryQueue
internal import Postgres
internal import PushModel

package import struct FoundationEssentials.UUID

/// Retry and cancel of everything that a filter matches. Slice by slice, each a transaction of its own that also notes
/// how far it came: whoever is interrupted, or takes over, goes on from there.
extension QueueActions {
    private static let slice = 1000
    private static let mostFailures = 5

    /// What the filter means for the action: a state that it can be done to. Without one, retry means what was discarded,
    /// and cancel what waits.
    package static func narrowed(
        _ filter: DeliveryFilter, for action: AuditEntry.Action
    ) throws(Refusal) -> DeliveryFilter {
        var filter = filter
        switch (action, filter.state) {
        case (.cancel, nil): filter.state = .available
        case (_, nil): filter.state = .discarded
        case (.cancel, .available), (.retry, .discarded), (.retry, .cancelled), (.retry, .available): break
        case (.cancel, let state?): throw .cannotCancel(state)
        case (_, let state?): throw .cannotRetry(state)
        }
        return filter
    }

    /// Counts what matches and writes the bulk action down; ``run(_:progress:)`` does it. What comes to match later is not
    /// meant.
    ///
    /// - Parameter action: retry or cancel.
    package func begin(
        _ action: AuditEntry.Action, matching filter: DeliveryFilter, actor: String, note: String? = nil
    ) async throws -> BulkAction {
        var filter = try Self.narrowed(filter, for: action)
        return try await self.withConnection { connection in
            let now = try await connection.query("select now()").single().date(0).addingTimeInterval(0.001)
            filter.until = filter.until.map { min($0, now) } ?? now
            let meant = filter
            return try await self.transaction(on: connection) { connection in
                let count = try await QueueReader(source: self.source, connection: connection).count(matching: meant)
                let row = try await connection.query(
                    """
                    insert into push.bulk_actions (action, filter, matched, is_capped, actor)
                    values (\(action.rawValue), \(AuditSQL.json(meant))::jsonb, \(count.value)::integer,
                        \(count.isCapped)::boolean, \(AuditWriting.storable(actor)))
                    returning \(unescaped: AuditSQL.bulkColumns)
                    """
                ).single()
                let bulk = try AuditSQL.bulk(row)
                // The same id: the history of each delivery leads to this entry.
                try await connection.query(
                    AuditWriting.entry(
                        id: bulk.id, actor: actor, action: action, target: .filter(meant, bulk: bulk.id),
                        matched: count.value, changed: 0, note: note))
                return bulk
            }
        }
    }

    /// Does a bulk action to its end, or until it is stopped or the task is cancelled (then it stays `running`, and may be
    /// run again). Between slices it rests as long as a slice took, so that the queue has the database to itself half of
    /// the time.
    ///
    /// - Parameter progress: called after each slice.
    @discardableResult
    package func run(
        _ id: UUID, progress: @Sendable (BulkAction) async -> Void = { _ in }
    ) async throws -> BulkAction {
        var failures = 0
        while true {
            let start = ContinuousClock.now
            do {
                let bulk = try await self.withConnection { connection -> BulkAction in
                    while true {
                        let start = ContinuousClock.now
                        let bulk = try await self.advance(id, on: connection)
                        await progress(bulk)
                        if bulk.state.isOver || Task.isCancelled { return bulk }
                        try? await Task.sleep(for: min(start.duration(to: .now), .seconds(5)))
                    }
                }
                return bulk
            } catch let refusal as Refusal {
                throw refusal
            } catch {
                // Slices that went well in between count as a new beginning.
                failures = start.duration(to: .now) > .seconds(60) ? 1 : failures + 1
                if failures >= Self.mostFailures || Task.isCancelled {
                    try? await self.fail(id, error)
                    throw error
                }
                try? await Task.sleep(for: .seconds(failures))
            }
        }
    }

    /// Asks a bulk action to stop after the slice under way.
    ///
    /// - Returns: as it stands now; nil when there is none of that id.
    package func stop(_ id: UUID, actor: String) async throws -> BulkAction? {
        try await self.withConnection { connection in
            // Not under the lock of actions, which its slices hold.
            let rows = try await connection.query(
                """
                update push.bulk_actions set state = 'stopping', updated_at = now()
                where id = \(id)::uuid and state = 'running'
                returning \(unescaped: AuditSQL.bulkColumns)
                """)
            guard let row = rows.first else {
                return try await QueueReader(source: self.source, connection: connection).bulkAction(id)
            }
            let bulk = try AuditSQL.bulk(row)
            try await connection.query(
                AuditWriting.entry(
                    id: UUID(), actor: actor, action: .stop, target: .filter(bulk.filter, bulk: id),
                    matched: bulk.done, changed: bulk.changed, note: nil))
            return bulk
        }
    }

    /// One slice, in one transaction with the note of how far it came.
    private func advance(_ id: UUID, on connection: PostgresConnection) async throws -> BulkAction {
        try await self.transaction(on: connection) { connection in
            let rows = try await connection.query(
                """
                select \(unescaped: AuditSQL.bulkColumns) from push.bulk_actions where id = \(id)::uuid for update
                """)
            guard let row = rows.first else { throw Refusal.noSuchBulkAction }
            let bulk = try AuditSQL.bulk(row)
            switch bulk.state {
            case .finished, .stopped: return bulk
            case .stopping:
                return try await self.note(bulk, state: .stopped, done: 0, changed: 0, position: nil, connection)
            case .running, .failed: break
            }
            let position = try row.optionalText(11).flatMap(DeliveryCursor.init)
            let page = try await QueueReader(source: self.source, connection: connection)
                .deliveries(matching: bulk.filter, from: position, limit: Self.slice)
            let items = try await self.perform(bulk.action, on: page.rows.map(\.id), audit: id, connection)
            let changed = items.count { $0.isChanged }
            if changed > 0 { try await connection.query(AuditWriting.wake) }
            return try await self.note(
                bulk, state: page.next == nil ? .finished : .running, done: items.count, changed: changed,
                position: page.next, connection)
        }
    }

    private func note(
        _ bulk: BulkAction, state: BulkAction.State, done: Int, changed: Int, position: DeliveryCursor?,
        _ connection: PostgresConnection
    ) async throws -> BulkAction {
        let row = try await connection.query(
            """
            update push.bulk_actions set
                state = \(state.rawValue), done = done + \(done)::integer, changed = changed + \(changed)::integer,
                position = coalesce(\(position?.description), position), updated_at = now(), error = null
            where id = \(bulk.id)::uuid
            returning \(unescaped: AuditSQL.bulkColumns)
            """
        ).single()
        return try AuditSQL.bulk(row)
    }

    private func fail(_ id: UUID, _ error: any Error) async throws {
        try await self.withConnection { connection in
            _ = try await connection.query(
                """
                update push.bulk_actions set state = 'failed', error = \(AuditWriting.storable("\(error)")),
                    updated_at = now()
                where id = \(id)::uuid and state in ('running', 'stopping')
                """)
        }
    }
}
