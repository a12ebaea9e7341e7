package import Postgres
package import PushModel

package import struct FoundationEssentials.UUID

/// Writes a ``QueueRecord`` in one statement, so that a batch is closed in the same transaction in which the last of
/// its outcomes is stored. Counters count the rows that were really written. Devices are locked in the order of their
/// ids: two workers may find the same phones dead at once. `offset 0` keeps a look-up for each row what it is: as a join it
/// would read all of a day's partition while the statistics say that there is nothing in it.
///
/// What has ended is not parked: a worker whose lease ran out may come with a try that is to be repeated, while the
/// delivery was sent by another, or cancelled by an operator. Ends of the last day are asked for; what is in `push.waiting`
/// was put back after its end, or never ended.
package struct RecordStatement: Sendable {
    package var source: SourceSchema
    package var workerID: UUID
    /// How many deliveries the end of a pause makes due at once; the others come when they are due.
    private static let mostHastened = 10_000

    package init(source: SourceSchema, workerID: UUID) {
        self.source = source
        self.workerID = workerID
    }

    /// - Parameter repeated: whether the same record may have been written before, by a try whose end was not seen.
    ///   Attempts that are there already are then left out; the first try is spared the look-up.
    package func query(_ record: QueueRecord, repeated: Bool) -> PostgresQuery {
        let decisions = record.decisions
        let attempts = record.attempts
        let parked = Self.parked(in: record)
        let dead = record.deadTokens
        let environments = record.environments
        let pauses = record.pauses
        let released = record.released.flatMap { entry in entry.notificationIDs.map { (entry.lease, $0) } }
        let endedLeases = record.closed + record.released.map(\.lease)
        return """
            with decided as (
                insert into push.fanouts
                    (notification_id, account_id, kind, decision, origin, delivery_ids, device_ids, worker_id)
                select d.notification_id, d.account_id, d.kind, d.decision, d.origin, d.deliveries::uuid[], d.devices::uuid[],
                    \(self.workerID)::uuid
                from unnest(
                    \(decisions.map(\.notificationID))::uuid[], \(decisions.map(\.accountID))::uuid[],
                    \(decisions.map(\.kindName))::text[], \(decisions.map(\.decision.rawValue))::text[],
                    \(decisions.map(\.origin.rawValue))::text[], \(decisions.map { Self.array($0.deliveryIDs) })::text[],
                    \(decisions.map { Self.array($0.deviceIDs) })::text[]
                ) as d (notification_id, account_id, kind, decision, origin, deliveries, devices)
                where not exists (select from push.fanouts f where f.notification_id = d.notification_id offset 0)
                returning kind, decision
            ), attempted as (
                insert into push.attempts
                    (delivery_id, notification_id, device_id, account_id, platform, kind, number, state, outcome, status,
                    reason, provider_id, milliseconds, worker_id)
                select a.*, \(self.workerID)::uuid
                from unnest(
                    \(attempts.map(\.delivery.deliveryID))::uuid[], \(attempts.map(\.delivery.notificationID))::uuid[],
                    \(attempts.map(\.delivery.deviceID))::uuid[], \(attempts.map(\.delivery.accountID))::uuid[],
                    \(attempts.map(\.delivery.platform.rawValue))::text[], \(attempts.map(\.delivery.kindName))::text[],
                    \(attempts.map(\.number))::smallint[], \(attempts.map(\.state.rawValue))::text[],
                    \(attempts.map(\.outcome))::text[], \(attempts.map(\.status))::smallint[],
                    \(attempts.map { Self.storable($0.reason) })::text[],
                    \(attempts.map { Self.storable($0.providerID) })::text[],
                    \(attempts.map { $0.duration.map(Self.milliseconds) })::integer[]
                ) as a (delivery_id, notification_id, device_id, account_id, platform, kind, number, state, outcome, status,
                    reason, provider_id, milliseconds)
                where not \(repeated)::boolean or not exists (
                    select from push.attempts t
                    where t.delivery_id = a.delivery_id and t.number = a.number and t.state = a.state
                        and t.outcome = a.outcome and t.milliseconds is not distinct from a.milliseconds
                        and t.worker_id = \(self.workerID)::uuid
                    offset 0
                )
                returning platform, outcome, state
            ), parked as (
                insert into push.waiting
                    (delivery_id, notification_id, device_id, account_id, platform, kind, endpoint, attempts, reason,
                    expires_at, scheduled_at)
                select p.delivery_id, p.notification_id, p.device_id, p.account_id, p.platform, p.kind, p.endpoint,
                    p.attempts, p.reason, p.expires_at, now() + p.wait
                from unnest(
                    \(parked.map(\.delivery.deliveryID))::uuid[], \(parked.map(\.delivery.notificationID))::uuid[],
                    \(parked.map(\.delivery.deviceID))::uuid[], \(parked.map(\.delivery.accountID))::uuid[],
                    \(parked.map(\.delivery.platform.rawValue))::text[], \(parked.map(\.delivery.kindName))::text[],
                    \(parked.map(\.endpoint.rawValue))::text[], \(parked.map(\.attempts))::smallint[],
                    \(parked.map(\.reason))::text[], \(parked.map(\.expiresAt))::timestamptz[],
                    \(parked.map(\.wait))::interval[]
                ) as p (delivery_id, notification_id, device_id, account_id, platform, kind, endpoint, attempts, reason,
                    expires_at, wait)
                where not exists (
                    select from push.attempts t where t.delivery_id = p.delivery_id and t.state = 'accepted' offset 0
                ) and (
                    exists (select from push.waiting w where w.delivery_id = p.delivery_id offset 0)
                    or not exists (
                        select from push.attempts t
                        where t.delivery_id = p.delivery_id and t.state in ('accepted', 'discarded', 'cancelled')
                            and t.finished_at >= now() - interval '1 day'
                        offset 0
                    )
                )
                on conflict (delivery_id) do update set
                    endpoint = excluded.endpoint, attempts = excluded.attempts, reason = excluded.reason,
                    scheduled_at = excluded.scheduled_at, lease_token = null, worker_id = null
            ), settled as (
                delete from push.waiting where delivery_id = any (\(record.settled.sorted { $0.text < $1.text })::uuid[])
            ), snoozed as (
                update push.waiting w
                set scheduled_at = now() + s.wait, lease_token = null, worker_id = null
                from unnest(
                    \(record.snoozed.map(\.lease.deliveryID))::uuid[], \(record.snoozed.map(\.lease.token))::uuid[],
                    \(record.snoozed.map(\.wait))::interval[]
                ) as s (delivery_id, lease_token, wait)
                where w.delivery_id = s.delivery_id and w.lease_token = s.lease_token
            ), touched as materialized (
                select d.id from \(unescaped: self.source.identifier).devices d
                where d.id = any (\(dead.map(\.deviceID) + environments.map(\.deviceID))::uuid[])
                order by d.id
                for update
            ), buried as (
                update \(unescaped: self.source.identifier).devices d
                set push_token_invalidated_at = now(), push_token_invalid_reason = x.reason
                from unnest(
                    \(dead.map(\.deviceID))::uuid[], \(dead.map(\.storedToken))::text[], \(dead.map(\.reason))::text[],
                    \(dead.map(\.since))::timestamptz[]
                ) as x (device_id, token, reason, since)
                join touched t on t.id = x.device_id
                where d.id = t.id and d.push_token = x.token and d.push_token_invalidated_at is null
                    and (x.since is null or d.push_token_updated_at is null or d.push_token_updated_at < x.since)
                returning d.platform
            ), moved as (
                update \(unescaped: self.source.identifier).devices d
                set apns_environment = x.environment
                from unnest(
                    \(environments.map(\.deviceID))::uuid[], \(environments.map(\.storedToken))::text[],
                    \(environments.map(\.environment.rawValue))::text[]
                ) as x (device_id, token, environment)
                join touched t on t.id = x.device_id
                where d.id = t.id and d.push_token = x.token
                    and not exists (select from unnest(\(dead.map(\.deviceID))::uuid[]) as b (id) where b.id = d.id)
            ), paused as (
                insert into push.providers (endpoint, paused_until, reason, fix, paused_by)
                select p.endpoint, now() + max(p.duration), max(p.reason), max(p.fix), \(self.workerID)::text
                from unnest(
                    \(pauses.map(\.endpoint.rawValue))::text[], \(pauses.map(\.duration))::interval[],
                    \(pauses.map { Self.storable($0.reason) })::text[], \(pauses.map { Self.storable($0.fix) })::text[]
                ) as p (endpoint, duration, reason, fix)
                group by p.endpoint
                on conflict (endpoint) do update set
                    paused_until = greatest(push.providers.paused_until, excluded.paused_until),
                    reason = excluded.reason, fix = excluded.fix, paused_by = excluded.paused_by, changed_at = now()
                    -- An operator's pause has no end, and stays the operator's.
                    where push.providers.paused_until is distinct from 'infinity'
            ), resumed as (
                update push.providers
                set paused_until = null, reason = null, fix = null, resumes = resumes + 1, changed_at = now()
                where endpoint = any (\(record.resumed.map(\.rawValue))::text[])
                    and paused_until is distinct from 'infinity'
            ), hastened as (
                update push.waiting
                set scheduled_at = now()
                where delivery_id = any (array(
                    select d.delivery_id
                    from unnest(\(record.resumed.map(\.rawValue))::text[]) as e (endpoint)
                    cross join lateral (
                        select w.delivery_id from push.waiting w
                        where w.endpoint = e.endpoint and w.scheduled_at > now() and w.lease_token is null
                            and w.delivery_id <> all (\(parked.map(\.delivery.deliveryID) + record.settled)::uuid[])
                        order by w.scheduled_at
                        limit \(unescaped: String(Self.mostHastened))
                        for update skip locked
                    ) d
                    where not exists (
                        select from push.providers p where p.endpoint = e.endpoint and p.paused_until = 'infinity'
                    )
                ))
            ), ended as (
                delete from push.batches b
                using unnest(
                    \(endedLeases.map(\.id))::bigint[], \(endedLeases.map(\.token))::uuid[]
                ) as l (id, token)
                where b.id = l.id and b.token = l.token
                returning b.id, b.notification_ids, b.lanes
            ), returned as (
                insert into push.outbox (notification_id, lane, origin)
                select r.notification_id, n.lane, 'rescue'
                from unnest(
                    \(released.map(\.0.id))::bigint[], \(released.map(\.1))::uuid[]
                ) as r (batch_id, notification_id)
                join ended e on e.id = r.batch_id
                cross join lateral unnest(e.notification_ids, e.lanes) as n (notification_id, lane)
                where n.notification_id = r.notification_id
                order by n.notification_id
                on conflict (notification_id) do update set origin = excluded.origin
            ), counted as (
                insert into push.counters (minute, name, labels, value)
                select date_trunc('minute', now()), c.name, c.labels, count(*)
                from (
                    select 'decisions', coalesce(k.name, 'other') || ' ' || d.decision
                    from decided d left join push.kinds k on k.name = d.kind
                    union all
                    select 'attempts',
                        case platform when 'ios' then 'apns' else 'fcm' end || ' ' || outcome || ' ' || state
                    from attempted
                ) as c (name, labels)
                group by c.name, c.labels
            )
            select (select count(*) from ended), count(*) filter (where platform = 'ios'),
                count(*) filter (where platform = 'android')
            from buried
            """
    }

    /// How many tokens the statement marked dead.
    package static func buried(_ rows: PostgresRows) -> [Platform: Int] {
        guard let row = rows.first, let ios = try? row.int(1), let android = try? row.int(2) else { return [:] }
        return [.ios: ios, .android: android].filter { $0.value > 0 }
    }

    private static func array(_ ids: [UUID]) -> String {
        "{" + ids.map(\.text).joined(separator: ",") + "}"
    }

    private static func milliseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        return Int(clamping: seconds &* 1000 &+ attoseconds / 1_000_000_000_000_000)
    }

    /// What is to wait: each delivery once, as it was parked last, and none that is final in the same record. A delivery
    /// is there twice when its lease was lost for a while and both of its holders were this worker.
    private static func parked(in record: QueueRecord) -> [ParkedEntry] {
        guard !record.parked.isEmpty else { return [] }
        let final = Set(record.attempts.filter(\.state.isFinal).map(\.delivery.deliveryID)).union(record.settled)
        let latest = Dictionary(record.parked.map { ($0.delivery.deliveryID, $0) }) { _, later in later }
        return latest.values.filter { !final.contains($0.delivery.deliveryID) }
            .sorted { $0.delivery.deliveryID.text < $1.delivery.deliveryID.text }
    }

    /// PostgreSQL stores every character but U+0000; a provider's words with one must not keep all else from being written.
    private static func storable(_ text: String?) -> String? {
        guard let text, text.utf8.contains(0) else { return text }
        return String(decoding: text.utf8.filter { $0 != 0 }, as: UTF8.self)
    }
}
