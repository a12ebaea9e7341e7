internal import Postgres
internal import PushModel

internal import struct FoundationEssentials.UUID

/// The pieces of SQL that searches and timelines share. Every piece that selects deliveries has the columns of
/// ``columns``, in that order.
///
/// `offset 0` keeps a look-up for each row what it is: as a join it would read whole partitions while the statistics say
/// that there is nothing in them.
enum DeliverySQL {
    static let columns = """
        id, notification_id, account_id, device_id, platform, kind, state, reason, attempt, scheduled_at, finished_at, time
        """

    static let finals = "('accepted', 'discarded', 'cancelled')"

    /// As the index of the newest ends has it, which a plain condition would not match.
    static let isFinal = "(t.state in \(finals)) is true"

    /// What follows `left join lateral`: the attempt that says where a delivery stands, its end if it has one. Only partitions from a day before
    /// `since` are looked at: a worker may have died between an attempt and its decision.
    static func deciding(_ delivery: String, since: String) -> String {
        """
        (
            select a.* from push.attempts a
            where a.delivery_id = \(delivery) and a.finished_at >= \(since) - interval '1 day'
            order by (a.state = 'accepted') desc, (a.state in \(Self.finals)) desc, a.finished_at desc, a.number desc
            limit 1
        )
        """
    }

    /// Of a row `w` of `push.waiting`.
    static let waitingState =
        "case when w.lease_token is not null and w.scheduled_at > now() then 'running' else 'available' end"

    static let waitingColumns = """
        w.delivery_id as id, w.notification_id, w.account_id, w.device_id, w.platform, w.kind, \(waitingState) as state,
        w.reason, w.attempts::integer as attempt, w.scheduled_at, null::timestamptz as finished_at, w.parked_at as time
        """

    /// Of a row `t` of `push.attempts` that is a delivery's end.
    static let endedColumns = """
        t.delivery_id as id, t.notification_id, t.account_id, t.device_id, t.platform, t.kind, t.state, t.reason,
        t.number::integer as attempt, null::timestamptz as scheduled_at, t.finished_at, t.finished_at as time
        """

    /// Whether `t` is not what its delivery's state is any more: it was retried, or another try came after all.
    static let isSuperseded = """
        exists (select from push.waiting w where w.delivery_id = t.delivery_id offset 0) or exists (
            select from push.attempts l
            where l.delivery_id = t.delivery_id and l.finished_at >= t.finished_at - interval '1 day'
                and l.state in \(finals) and (
                    (l.state = 'accepted' and t.state <> 'accepted')
                    or ((l.state = 'accepted') = (t.state = 'accepted')
                        and (l.finished_at, l.number) > (t.finished_at, t.number))
                )
            offset 0
        )
        """

    /// Deliveries that run for the first time, and those of a lost worker that are in the outbox again: known by their
    /// decision alone. A bounded number: workers hold few, and what was rescued stands at the head of its lane.
    static let held = """
        select
            d.delivery_id as id, f.notification_id, f.account_id, d.device_id, a.platform, f.kind, h.state, a.reason,
            coalesce(a.number, 0)::integer as attempt, null::timestamptz as scheduled_at,
            null::timestamptz as finished_at, f.decided_at as time
        from (
            (select n.id as notification_id, b.opened_at as since, 'running' as state
            from push.batches b cross join lateral unnest(b.notification_ids) as n (id)
            limit 5000)
            union all
            select o.notification_id, o.enqueued_at - interval '1 day', 'available'
            from (select * from push.outbox order by lane, position limit 2000) o
            where o.origin = 'rescue'
        ) h
        cross join lateral (
            select * from push.fanouts f
            where f.notification_id = h.notification_id and f.decided_at >= h.since - interval '1 day'
            order by f.decided_at limit 1
        ) f
        cross join lateral unnest(f.delivery_ids, f.device_ids) as d (delivery_id, device_id)
        left join lateral \(deciding("d.delivery_id", since: "f.decided_at")) a on true
        where coalesce(a.state, 'running') not in \(finals)
            and not exists (select from push.waiting w where w.delivery_id = d.delivery_id offset 0)
        """

    /// Where these deliveries stand.
    static func states(_ ids: [UUID]) -> PostgresQuery {
        """
        with wanted as materialized (
            select distinct i.id from unnest(\(ids)::uuid[]) as i (id)
        ), waits as materialized (
            select \(unescaped: Self.waitingColumns)
            from wanted i
            cross join lateral (select * from push.waiting w where w.delivery_id = i.id offset 0) w
        ), ended as materialized (
            select \(unescaped: Self.endedColumns)
            from wanted i
            cross join lateral (
                select a.* from push.attempts a
                where a.delivery_id = i.id and a.state in \(unescaped: Self.finals)
                order by (a.state = 'accepted') desc, a.finished_at desc, a.number desc
                limit 1
            ) t
            where not exists (select from waits w where w.id = i.id)
        )
        select \(unescaped: Self.columns), \(unescaped: Self.microseconds("time")) from waits
        union all
        select \(unescaped: Self.columns), \(unescaped: Self.microseconds("time")) from ended
        union all
        select \(unescaped: Self.columns), \(unescaped: Self.microseconds("time")) from (\(unescaped: Self.held)) h
        where h.id in (select id from wanted except select id from waits except select id from ended)
            and exists (select id from wanted except select id from waits except select id from ended)
        """
    }

    static func microseconds(_ column: String) -> String { "(extract(epoch from \(column)) * 1000000)::bigint" }

    /// A row and the microseconds of its time, which a `Date` would round.
    struct Found {
        var row: DeliveryRow
        var microseconds: Int
    }

    static func decode(_ rows: some Sequence<PostgresRow>) throws(PostgresError) -> [Found] {
        var found: [Found] = []
        for row in rows {
            // A state that this program does not know is one that still changes.
            let delivery = DeliveryRow(
                id: try row.uuid(0), notificationID: try row.uuid(1), accountID: try row.optionalUUID(2),
                deviceID: try row.uuid(3), platform: try row.optionalText(4).flatMap(Platform.init(rawValue:)),
                kind: try row.optionalText(5), state: DeliveryState(rawValue: try row.text(6)) ?? .running,
                reason: try row.optionalText(7), attempt: try row.int(8), scheduledAt: try row.optionalDate(9),
                finishedAt: try row.optionalDate(10), time: try row.date(11))
            found.append(Found(row: delivery, microseconds: try row.int(12)))
        }
        return found
    }
}
