package import Postgres
package import PushModel

package import struct FoundationEssentials.UUID

/// What a worker holds after a claim.
package struct ClaimedBatch: Sendable {
    package var lease: BatchLease
    package var facts: [NotificationFacts]
}

/// The right to a batch: extending, closing and releasing it take its own token.
package struct BatchLease: Hashable, Sendable {
    package var id: Int
    package var token: UUID

    package init(id: Int, token: UUID) {
        self.id = id
        self.token = token
    }
}

/// Who claims.
package struct WorkerIdentity: Sendable {
    /// New at every start, so that no lease is inherited.
    package var id: UUID
    /// The second key of the session-level advisory lock; nil where sessions do not last (a transaction pooler).
    package var lockKey: Int?

    package init(id: UUID, lockKey: Int?) {
        self.id = id
        self.lockKey = lockKey
    }
}

/// Takes notifications from the outbox, opens a leased batch and reads the facts, in one statement.
package struct OutboxClaim: Sendable {
    package var source: SourceSchema
    /// At most this many notifications.
    package var limit: Int
    package var lease: Duration

    /// A notification rescued so often is claimed alone.
    package static let suspectAfter = 3

    package init(source: SourceSchema, limit: Int, lease: Duration) {
        self.source = source
        self.limit = limit
        self.lease = lease
    }

    /// The limit stands in the text: as a parameter it would make the planner assume a tenth of the table. The picked
    /// rows are materialized and deleted by `= any (array(…))`: no plan can then claim more than the limit.
    ///
    /// A notification whose batch was rescued again and again may be what kills workers: it is claimed alone, so that it
    /// takes no others with it; the one before it ends a claim.
    ///
    /// Rows from the trigger are first by construction. Others are dropped if the notification was decided before or
    /// is held by a batch; a rescued one is planned again, less what is settled.
    package func query(worker: WorkerIdentity) -> PostgresQuery {
        """
        with next as materialized (
            select notification_id, lane, origin, rescues, position
            from push.outbox
            order by lane, position
            limit \(unescaped: String(self.limit))
            for update skip locked
        ), numbered as materialized (
            select *, row_number() over () as ordinal from next
        ), picked as materialized (
            select * from numbered
            where ordinal < (
                select greatest(coalesce(min(n.ordinal), \(unescaped: String(Int32.max))), 2) from numbered n
                where n.rescues >= \(unescaped: String(Self.suspectAfter))
            )
        ), taken as (
            delete from push.outbox where notification_id = any (array(select notification_id from picked))
        ), held as materialized (
            select unnest(notification_ids) as notification_id from push.batches
        ), wanted as materialized (
            select
                p.ordinal, p.notification_id, p.lane, p.origin, f.decision as prior_decision, true as plans,
                p.origin <> 'trigger' as comes_twice, p.rescues
            from picked p
            left join lateral (
                select d.decision from push.fanouts d
                where p.origin <> 'trigger' and d.notification_id = p.notification_id
                order by d.decided_at limit 1
            ) f on true
            where p.origin = 'trigger' or (
                not exists (select from held h where h.notification_id = p.notification_id)
                and (f.decision is null or p.origin = 'rescue')
            )
        ), batch as (
            insert into push.batches (worker_id, lock_key, notification_ids, lanes, rescues, leased_until)
            select
                \(worker.id)::uuid, \(worker.lockKey as Int?)::integer, array_agg(notification_id order by ordinal),
                array_agg(lane order by ordinal), max(rescues), now() + \(self.lease)::interval
            from wanted
            having count(*) > 0
            returning id, token
        ), \(unescaped: FactsQuery.select(
            source: self.source, from: Self.answer, extraColumns: ", b.id, b.token, t.taken, r.rescues"))
        """
    }

    /// One row at least, so that also a claim that dropped all it took tells how many those were.
    private static let answer =
        "(select count(*) as taken from picked) t left join (rows r cross join batch b) on true"

    /// Nil when nothing is to be sent: the outbox was empty, or what was taken was known already.
    package func decode(_ rows: PostgresRows) throws(PostgresError) -> ClaimedBatch? {
        guard let first = rows.first, let id = try first.optionalInt(31) else { return nil }
        var facts = try FactsQuery.decode(rows)
        // Only a suspect, claimed alone, needs its number.
        if facts.count == 1 { facts[0].rescues = try first.int(34) }
        return ClaimedBatch(lease: BatchLease(id: id, token: try first.uuid(32)), facts: facts)
    }

    /// How many rows the outbox has fewer now: 0 when it was empty, or others hold what is in it.
    package func taken(_ rows: PostgresRows) throws(PostgresError) -> Int {
        try rows.first?.int(33) ?? 0
    }
}

/// Reads the facts of notifications again, right before a send.
package struct FactsReading: Sendable {
    package var source: SourceSchema

    package init(source: SourceSchema) {
        self.source = source
    }

    package func query(notificationIDs: [UUID]) -> PostgresQuery {
        """
        with wanted as materialized (
            select
                i.ordinal, i.notification_id, 1 as lane, 'trigger' as origin, null::text as prior_decision,
                false as plans, false as comes_twice
            from unnest(\(notificationIDs)::uuid[]) with ordinality as i (notification_id, ordinal)
        ), \(unescaped: FactsQuery.select(source: self.source, from: "rows r", extraColumns: ""))
        """
    }

    package func decode(_ rows: PostgresRows) throws(PostgresError) -> [UUID: NotificationFacts] {
        Dictionary(try FactsQuery.decode(rows).map { ($0.notificationID, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
