internal import DeliveryQueue
internal import Postgres

internal import struct FoundationEssentials.UUID

/// What an id that an operator gave stands for.
enum ActionTarget: Sendable {
    case delivery(UUID)
    /// With those of its deliveries of which more is known than that they were decided.
    case notification(UUID, [UUID])
    case unknown(UUID)

    var id: UUID {
        switch self {
        case .delivery(let id), .notification(let id, _), .unknown(let id): id
        }
    }

    var deliveries: [UUID] {
        switch self {
        case .delivery(let id): [id]
        case .notification(_, let deliveries): deliveries
        case .unknown: []
        }
    }

    var auditTarget: AuditEntry.Target {
        if case .notification(let id, _) = self { return .notification(id) }
        return .delivery(self.id)
    }

    /// Why there was nothing to do.
    func emptiness(_ action: AuditEntry.Action) -> String {
        switch self {
        case .delivery, .unknown: "there is no delivery or notification of this id"
        case .notification:
            action == .retry
                ? "the notification has no delivery that ended: nothing to retry"
                : "the notification is not in the outbox and no delivery of it waits: nothing to cancel"
        }
    }

    /// In the order given, each once.
    static func resolve(
        _ ids: [UUID], source: SourceSchema, on connection: PostgresConnection
    ) async throws -> [ActionTarget] {
        let rows = try await connection.query(
            """
            select i.id,
                exists (select from push.waiting w where w.delivery_id = i.id offset 0)
                    or exists (select from push.attempts t where t.delivery_id = i.id offset 0),
                array(
                    select t.delivery_id from push.attempts t where t.notification_id = i.id
                    union select w.delivery_id from push.waiting w where w.notification_id = i.id
                    limit 1000
                ),
                exists (select from push.outbox o where o.notification_id = i.id offset 0)
                    or exists (select from push.fanouts f where f.notification_id = i.id offset 0)
                    or exists (
                        select from \(unescaped: source.identifier).notifications n where n.id = i.id offset 0)
            from (
                select i.id, min(i.ordinal) as ordinal
                from unnest(\(ids)::uuid[]) with ordinality as i (id, ordinal) group by i.id
            ) i
            order by i.ordinal
            """)
        var targets: [ActionTarget] = []
        for row in rows {
            let id = try row.uuid(0)
            let deliveries = try row.uuidArray(2)
            if try row.bool(1) {
                targets.append(.delivery(id))
            } else if try !deliveries.isEmpty || row.bool(3) {
                targets.append(.notification(id, deliveries))
            } else {
                // Decided and not tried: known by its decision alone.
                let isHeld = try await !connection.query(DeliverySQL.states([id])).isEmpty
                targets.append(isHeld ? .delivery(id) : .unknown(id))
            }
        }
        return targets
    }
}
