internal import DeliveryQueue
internal import Postgres
internal import PushModel

internal import struct FoundationEssentials.UUID

/// Retry and cancel of deliveries, each one statement inside a transaction that holds the lock of operators' actions.
/// What an action did is a line of the delivery's history, with the audit's id where a worker's would be.
struct DeliveryActions {
    let source: SourceSchema
    let lifetime: @Sendable (NotificationKind) -> Duration

    /// After the end of a lease a request of its worker may still be on the way, for as long as a request may last.
    private static let graceAfterLease = Duration.seconds(120)

    // MARK: - Retry

    func retry(
        _ deliveries: [UUID], audit: UUID, on connection: PostgresConnection
    ) async throws -> [ActionResult.Item] {
        let kinds = NotificationKind.all
        let rows = try await connection.query(
            """
            with wanted as materialized (
                select i.id, i.ordinal from unnest(\(deliveries)::uuid[]) with ordinality as i (id, ordinal)
            ), judged as materialized (
                select
                    i.id, i.ordinal, a.notification_id, a.device_id, n.account_id, n.kind, d.platform,
                    greatest(a.most, 0) as number, n.created_at + l.lifetime as expires_at, a.reason,
                    case
                        when d.platform = 'android' then 'fcm'
                        when d.apns_environment = 'development' then 'apns:development'
                        else 'apns:production'
                    end as endpoint,
                    case
                        when w.lease_token is not null and w.scheduled_at > now() then 'running'
                        when w.delivery_id is not null then 'hasten'
                        when a.state is null or a.state not in \(unescaped: DeliverySQL.finals) then 'running'
                        when a.state = 'accepted' then 'accepted'
                        when n.id is null then 'gone'
                        when n.read_at is not null then 'read'
                        when n.ignored_at is not null then 'ignored'
                        when l.lifetime is null then 'unknown_kind'
                        when n.created_at + l.lifetime <= now() then 'expired'
                        when d.id is null or d.platform not in ('ios', 'android') then 'no_device'
                        when d.push_token_invalidated_at is not null then 'dead_token'
                        when not coalesce(push.has_token(d.id), false) then 'no_token'
                        else 'retry'
                    end as verdict
                from wanted i
                left join lateral (select * from push.waiting w where w.delivery_id = i.id offset 0) w on true
                left join lateral (
                    select a.*, max(a.number) over () as most from push.attempts a
                    where a.delivery_id = i.id
                    order by (a.state in \(unescaped: DeliverySQL.finals)) desc, (a.state = 'accepted') desc,
                        a.finished_at desc, a.number desc
                    limit 1
                ) a on true
                left join lateral (
                    select id, account_id, kind, created_at, read_at, ignored_at
                    from \(unescaped: self.source.identifier).notifications where id = a.notification_id offset 0
                ) n on true
                left join lateral (
                    select id, platform, apns_environment, push_token_invalidated_at
                    from \(unescaped: self.source.identifier).devices where id = a.device_id offset 0
                ) d on true
                left join unnest(
                    \(kinds.map(\.name))::text[], \(kinds.map { self.lifetime($0) })::interval[]
                ) as l (kind, lifetime) on l.kind = n.kind
            ), hastened as (
                update push.waiting w set scheduled_at = now()
                where w.delivery_id = any (array(
                    select w.delivery_id
                    from judged j
                    cross join lateral (
                        select w.delivery_id from push.waiting w
                        where w.delivery_id = j.id and (w.lease_token is null or w.scheduled_at <= now())
                        for update skip locked
                    ) w
                    where j.verdict = 'hasten'
                    order by w.delivery_id
                ))
                returning w.*
            ), revived as (
                insert into push.waiting
                    (delivery_id, notification_id, device_id, account_id, platform, kind, endpoint, attempts, reason,
                    expires_at, scheduled_at)
                select id, notification_id, device_id, account_id, platform, kind, endpoint, number, 'operator', expires_at,
                    now()
                from judged where verdict = 'retry'
                order by id
                on conflict (delivery_id) do nothing
                returning *
            ), put_back as (
                select * from hastened union all select * from revived
            ), \(unescaped: Self.noting(from: "put_back", state: "available", outcome: "retried", audit: audit))
            select j.id, j.verdict, p.delivery_id is not null, j.expires_at
            from judged j left join put_back p on p.delivery_id = j.id
            order by j.ordinal
            """)
        return try rows.map { row in
            let isChanged = try row.bool(2)
            let expiry = try row.optionalDate(3).map(MomentText.tell) ?? ""
            return ActionResult.Item(
                id: try row.uuid(0), isChanged: isChanged,
                message: Self.retryMessage(try row.text(1), isChanged: isChanged, expiry: expiry))
        }
    }

    private static func retryMessage(_ verdict: String, isChanged: Bool, expiry: String) -> String {
        switch verdict {
        case "retry": isChanged ? "put back, to be sent now" : "it was put back by somebody else just now"
        case "hasten": isChanged ? "it waited and is due now" : "a worker has just taken it"
        case "accepted": "the provider has accepted it: a retry would show it twice"
        case "gone": "its notification is gone: there is nothing to send"
        case "read": "its notification has been read: nobody needs the push"
        case "ignored": "its notification has been ignored: nobody needs the push"
        case "unknown_kind": "its kind is none that is pushed"
        case "expired": "its lifetime ended at \(expiry), and a retry does not prolong it: write a new notification"
        case "no_device": "its device is gone: there is nobody to send to"
        case "dead_token": "its device's token is marked dead: the app must register again first"
        case "no_token": "its device has no token: the app must register first"
        default: "a worker holds it: it is being sent"
        }
    }

    // MARK: - Cancel

    func cancel(
        _ deliveries: [UUID], audit: UUID, on connection: PostgresConnection
    ) async throws -> [ActionResult.Item] {
        let rows = try await connection.query(
            """
            with wanted as materialized (
                select i.id, i.ordinal from unnest(\(deliveries)::uuid[]) with ordinality as i (id, ordinal)
            ), taken as (
                delete from push.waiting w
                where w.delivery_id = any (array(
                    select w.delivery_id
                    from wanted i
                    cross join lateral (
                        select w.delivery_id from push.waiting w
                        where w.delivery_id = i.id
                            and (w.lease_token is null or w.scheduled_at < now() - \(Self.graceAfterLease)::interval)
                        for update skip locked
                    ) w
                    order by w.delivery_id
                ))
                returning w.*
            ), \(unescaped: Self.noting(from: "taken", state: "cancelled", outcome: "cancelled", audit: audit))
            select i.id, t.delivery_id is not null, w.delivery_id is not null, a.state
            from wanted i
            left join taken t on t.delivery_id = i.id
            left join lateral (select * from push.waiting w where w.delivery_id = i.id offset 0) w on true
            left join lateral (
                select a.state from push.attempts a
                where a.delivery_id = i.id and a.state in \(unescaped: DeliverySQL.finals)
                order by (a.state = 'accepted') desc, a.finished_at desc limit 1
            ) a on true
            order by i.ordinal
            """)
        return try rows.map { row in
            let isChanged = try row.bool(1)
            let message =
                if isChanged {
                    "cancelled"
                } else if try row.bool(2) {
                    "a worker holds it: its send may be under way"
                } else if let state = try row.optionalText(3) {
                    "it has ended already: \(state)"
                } else {
                    "a worker holds it: its send may be under way"
                }
            return ActionResult.Item(id: try row.uuid(0), isChanged: isChanged, message: message)
        }
    }

    /// A notification that is in the outbox for the first time. One that was rescued is not taken: what its lost worker
    /// has sent is not known. None is in any answer of ours: then there is no item.
    static func cancelInOutbox(
        _ id: UUID, audit: UUID, source: SourceSchema, on connection: PostgresConnection
    ) async throws -> [ActionResult.Item] {
        let rows = try await connection.query(
            """
            with queued as materialized (
                select o.notification_id, o.origin from push.outbox o where o.notification_id = \(id)::uuid
            ), taken as (
                delete from push.outbox o
                where o.notification_id = any (array(
                    select o.notification_id from push.outbox o
                    where o.notification_id = \(id)::uuid and o.origin <> 'rescue'
                        and not exists (
                            select from push.fanouts f where f.notification_id = o.notification_id offset 0)
                        and not exists (
                            select from push.batches b where o.notification_id = any (b.notification_ids) offset 0)
                    for update skip locked
                ))
                returning o.notification_id, o.origin
            ), decided as (
                insert into push.fanouts
                    (notification_id, account_id, kind, decision, origin, delivery_ids, device_ids, worker_id)
                select t.notification_id, n.account_id, n.kind, 'cancelled', t.origin, '{}', '{}', \(audit)::uuid
                from taken t
                left join lateral (
                    select account_id, kind from \(unescaped: source.identifier).notifications
                    where id = t.notification_id offset 0
                ) n on true
                returning kind
            ), counted as (
                insert into push.counters (minute, name, labels, value)
                select date_trunc('minute', now()), 'decisions', coalesce(k.name, 'other') || ' cancelled', 1
                from decided d left join push.kinds k on k.name = d.kind
            )
            select q.origin, t.notification_id is not null
            from queued q left join taken t on t.notification_id = q.notification_id
            """)
        return try rows.map { row in
            let isChanged = try row.bool(1)
            let message =
                if isChanged {
                    "cancelled before it was sent to anybody"
                } else if try row.text(0) == OutboxOrigin.rescue.rawValue {
                    "a worker was lost with it, and what that had sent is not known: it cannot be cancelled"
                } else {
                    "it was decided or claimed already"
                }
            return ActionResult.Item(id: id, isChanged: isChanged, message: message)
        }
    }

    // MARK: - History

    /// CTEs that append a line for each row (of the columns of `push.waiting`), and count them as workers do.
    private static func noting(from rows: String, state: String, outcome: String, audit: UUID) -> String {
        """
        noted as (
            insert into push.attempts
                (delivery_id, notification_id, device_id, account_id, platform, kind, number, state, outcome, reason, worker_id)
            select delivery_id, notification_id, device_id, account_id, platform, kind, attempts, '\(state)', '\(outcome)',
                'operator', '\(audit.text)'::uuid
            from \(rows)
            returning platform
        ), counted as (
            insert into push.counters (minute, name, labels, value)
            select date_trunc('minute', now()), 'attempts',
                case platform when 'ios' then 'apns' else 'fcm' end || ' \(outcome) \(state)', count(*)
            from noted group by platform
        )
        """
    }
}
