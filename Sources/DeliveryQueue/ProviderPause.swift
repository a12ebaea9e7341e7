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

    /// Makes due what waits for the end of a pause that is over: put aside by a worker that had not heard of the end yet,
    /// so it was not there when ``resume(_:)`` did the same. What waits for its next try is left alone.
    package static func hasten(_ endpoints: [ProviderEndpoint]) -> PostgresQuery {
        """
        update push.waiting set scheduled_at = now()
        where delivery_id = any (array(
            select d.delivery_id
            from push.providers p
            cross join lateral (
                select w.delivery_id from push.waiting w
                where w.endpoint = p.endpoint and w.scheduled_at > now() and w.lease_token is null
                    and (w.reason = 'provider_paused' or w.scheduled_at > now() + interval '1 hour')
                order by w.scheduled_at
                limit \(unescaped: String(Self.mostHastened))
                for update skip locked
            ) d
            where p.endpoint = any (\(endpoints.map(\.rawValue))::text[])
                and (p.paused_until is null or p.paused_until <= now())
        ))
        """
    }

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
}
