package import Postgres
package import PushModel

/// An operator's pause of endpoints, for all workers and without an end, and its end. Workers read it with their next
/// heartbeat.
package enum ProviderPause {
    package static func pause(_ endpoints: [ProviderEndpoint], reason: String, by operatorName: String) -> PostgresQuery
    {
        """
        insert into push.providers (endpoint, paused_until, reason, fix, paused_by)
        select e, 'infinity', \(reason), 'push-fanout queue resume ends it', \(operatorName)
        from unnest(\(endpoints.map(\.rawValue))::text[]) e
        on conflict (endpoint) do update set
            paused_until = excluded.paused_until, reason = excluded.reason, fix = excluded.fix,
            paused_by = excluded.paused_by, changed_at = now()
        """
    }

    /// How many deliveries the end of a pause makes due at once; the others come when they are due.
    private static let mostHastened = 10_000

    /// Ends every kind of pause, and makes due what waited for it; answers how many endpoints were paused.
    package static func resume(_ endpoints: [ProviderEndpoint]) -> PostgresQuery {
        """
        with resumed as (
            update push.providers p
            set paused_until = null, reason = null, fix = null, resumes = resumes + 1, changed_at = now()
            from (
                select endpoint, paused_until > now() as was_paused from push.providers
                where endpoint = any (\(endpoints.map(\.rawValue))::text[]) for update
            ) before
            where p.endpoint = before.endpoint
            returning before.was_paused
        ), hastened as (
            update push.waiting set scheduled_at = now()
            where delivery_id = any (array(
                select d.delivery_id
                from unnest(\(endpoints.map(\.rawValue))::text[]) as e (endpoint)
                cross join lateral (
                    select w.delivery_id from push.waiting w
                    where w.endpoint = e.endpoint and w.scheduled_at > now() and w.lease_token is null
                    order by w.scheduled_at
                    limit \(unescaped: String(Self.mostHastened))
                    for update skip locked
                ) d
            ))
        )
        select count(*) filter (where was_paused) from resumed
        """
    }

    /// One row: what waits and what runs, each counted up to 10,001; then the pauses.
    package static let statistics: PostgresQuery = """
        select
            (select count(*) from (select from push.outbox limit 10001) o)::integer,
            (select count(*) from (select from push.waiting limit 10001) w)::integer,
            (select coalesce(sum(cardinality(notification_ids)), 0) from push.batches)::integer,
            (select coalesce(extract(epoch from now() - min(enqueued_at)), 0) from push.outbox)::integer,
            (select count(*) from push.workers where heartbeat_at > now() - interval '15 seconds' and stopped_at is null)
                ::integer
        """

    /// A row for each paused endpoint: endpoint, until (nil: until resumed), reason, fix.
    package static let pauses: PostgresQuery = """
        select endpoint, nullif(paused_until, 'infinity'), coalesce(reason, ''), coalesce(fix, '')
        from push.providers where paused_until > now() order by endpoint
        """
}
