package import Postgres
package import PushModel

import struct FoundationEssentials.UUID

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

    /// Ends every kind of pause, and makes due what waited for it.
    package static func resume(_ endpoints: [ProviderEndpoint], source: SourceSchema) -> PostgresQuery {
        var record = QueueRecord()
        record.resumed = endpoints
        return RecordStatement(source: source, workerID: UUID()).query(record, repeated: false)
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
