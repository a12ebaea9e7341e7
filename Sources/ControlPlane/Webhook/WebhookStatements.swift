import DeliveryQueue
import Postgres

import struct FoundationEssentials.UUID

/// What the webhook writes: for many rows in one statement each.
struct WebhookStatements: Sendable {
    let source: SourceSchema

    /// Puts notifications into the outbox that are neither there, nor held by a worker, nor decided: so the webhook,
    /// the trigger and the sweep may all tell of the same row. A row that is not there (any more) is left out: what is
    /// sent to us makes no work. The decision is looked up in the partitions since the row was written.
    func enqueue(_ ids: [UUID]) -> PostgresQuery {
        """
        insert into push.outbox (notification_id, lane, origin)
        select n.id, coalesce(k.lane, 1), 'webhook'
        from \(unescaped: self.source.identifier).notifications n
        left join push.kinds k on k.name = n.kind
        where n.id = any (\(ids)::uuid[])
            and not exists (
                select from push.fanouts f
                where f.notification_id = n.id and f.decided_at >= least(n.created_at, now()) - interval '1 day'
                offset 0)
            and not exists (
                select from (select unnest(b.notification_ids) as id from push.batches b) h where h.id = n.id)
        order by n.id
        on conflict (notification_id) do nothing
        """
    }

    /// Looks anew at notifications that changed or went: deliveries that wait for another try end as cancelled where
    /// the row is gone, read or ignored, as they would at their next try; all others stay. The body of the request is
    /// not believed: the table is asked. A delivery that a worker has leased is its own to end, also after the lease: it
    /// may have been sent, and whoever leases it next looks at the row again.
    func recheck(_ ids: [UUID], origin: UUID) -> PostgresQuery {
        """
        with ended as (
            select w.delivery_id,
                case when n.id is null then 'gone' when n.read_at is not null then 'already_read' else 'ignored' end
                    as reason
            from push.waiting w
            left join \(unescaped: self.source.identifier).notifications n on n.id = w.notification_id
            where w.notification_id = any (\(ids)::uuid[])
                and w.lease_token is null
                and (n.id is null or n.read_at is not null or n.ignored_at is not null)
            order by w.delivery_id
            for update of w skip locked
        ), removed as (
            delete from push.waiting w using ended e where w.delivery_id = e.delivery_id
            returning w.delivery_id, w.notification_id, w.device_id, w.account_id, w.platform, w.kind, w.attempts, e.reason
        ), attempted as (
            insert into push.attempts
                (delivery_id, notification_id, device_id, account_id, platform, kind, number, state, outcome, reason,
                worker_id)
            select delivery_id, notification_id, device_id, account_id, platform, kind, attempts, 'cancelled', 'cancelled',
                reason, \(origin)::uuid
            from removed
            returning platform, outcome, state
        ), counted as (
            insert into push.counters (minute, name, labels, value)
            select date_trunc('minute', now()), 'attempts',
                case platform when 'ios' then 'apns' else 'fcm' end || ' ' || outcome || ' ' || state, count(*)
            from attempted group by 3
        )
        select count(*)::integer from removed
        """
    }
}
