package import Postgres

/// Finds notifications that reached neither the outbox nor a decision: the trigger was disabled, or a webhook was lost.
package struct Sweep: Sendable {
    package var source: SourceSchema

    /// Younger ones are still on their way: their transaction may just have committed.
    private static let youngest = Duration.seconds(10)
    /// At most so many at once; the next sweep finds the rest.
    private static let most = 5000

    package init(source: SourceSchema) {
        self.source = source
    }

    /// Puts what was forgotten into the outbox; `affected` is how many.
    ///
    /// By the index on `notifications (created_at)`, back as far as `age`; never further than to when the schema was
    /// made, for what is older was there before the worker. Decisions are looked up in the partitions of that time only.
    package func query(age: Duration) -> PostgresQuery {
        """
        insert into push.outbox (notification_id, lane, origin)
        select n.id, coalesce(k.lane, 1), 'sweep'
        from \(unescaped: self.source.identifier).notifications n
        left join push.kinds k on k.name = n.kind
        where n.created_at >= greatest(
                now() - \(age)::interval, (select min(m.applied_at) from push.migrations m))
            and n.created_at < now() - \(Self.youngest)::interval
            and not exists (select from push.outbox o where o.notification_id = n.id)
            and not exists (
                select from push.fanouts f
                where f.notification_id = n.id and f.decided_at >= now() - \(age)::interval - interval '1 day')
            and not exists (
                select from (select unnest(b.notification_ids) as id from push.batches b) h where h.id = n.id)
        order by n.created_at
        limit \(unescaped: String(Self.most))
        on conflict (notification_id) do nothing
        """
    }
}
