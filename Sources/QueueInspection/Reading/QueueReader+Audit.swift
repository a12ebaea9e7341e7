internal import Postgres
internal import PushModel

package import struct FoundationEssentials.UUID

extension QueueReader {
    private static let mostBeside = 100

    /// What operators did, newest first.
    ///
    /// - Parameters:
    ///   - cursor: `next` of the page before.
    ///   - limit: entries, 1 to 1000.
    package func audit(before cursor: DeliveryCursor? = nil, limit: Int = 50) async throws -> AuditPage {
        let limit = min(max(limit, 1), 1000)
        let rows = try await self.run(
            """
            select \(unescaped: AuditSQL.columns) from push.audit
            where (at, id) < (
                coalesce(timestamptz 'epoch' + \(cursor?.microseconds)::bigint * interval '1 microsecond', 'infinity'),
                coalesce(\(cursor?.id)::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
            )
            order by at desc, id desc
            limit \(unescaped: String(limit + 1))
            """)
        var entries: [AuditEntry] = []
        for row in rows.prefix(limit) { if let entry = try AuditSQL.entry(row) { entries.append(entry) } }
        guard rows.count > limit, let last = rows.prefix(limit).last else { return AuditPage(entries: entries) }
        let next = DeliveryCursor(direction: .older, microseconds: try last.int(10), id: try last.uuid(0))
        return AuditPage(entries: entries, next: next)
    }

    /// What was done to an endpoint of a provider, newest first.
    package func audit(endpoint: String, limit: Int = 10) async throws -> [AuditEntry] {
        let rows = try await self.run(
            """
            select \(unescaped: AuditSQL.columns) from push.audit where target_id = \(endpoint)
            order by at desc limit \(unescaped: String(min(max(limit, 1), 1000)))
            """)
        return try rows.compactMap(AuditSQL.entry)
    }

    /// What touched these deliveries or notifications, oldest first.
    func audit(targets: [UUID], ids: [UUID]) async throws -> [AuditEntry] {
        let rows = try await self.run(
            """
            select \(unescaped: AuditSQL.columns) from push.audit where id in (
                (select a.id from unnest(\(targets.map(\.text))::text[]) as t (id)
                cross join lateral (
                    select a.id from push.audit a where a.target_id = t.id order by a.at desc
                    limit \(unescaped: String(Self.mostBeside))
                ) a)
                union select unnest(\(ids)::uuid[])
            )
            order by at, id limit \(unescaped: String(Self.mostBeside))
            """)
        return try rows.compactMap(AuditSQL.entry)
    }

    /// One bulk action; nil when there is none of that id.
    package func bulkAction(_ id: UUID) async throws -> BulkAction? {
        let rows = try await self.run(
            "select \(unescaped: AuditSQL.bulkColumns) from push.bulk_actions where id = \(id)::uuid")
        return try rows.first.map(AuditSQL.bulk)
    }

    /// The latest bulk actions, newest first.
    package func bulkActions(limit: Int = 20) async throws -> [BulkAction] {
        let rows = try await self.run(
            """
            select \(unescaped: AuditSQL.bulkColumns) from push.bulk_actions
            order by started_at desc, id desc limit \(unescaped: String(min(max(limit, 1), 200)))
            """)
        return try rows.map(AuditSQL.bulk)
    }
}
