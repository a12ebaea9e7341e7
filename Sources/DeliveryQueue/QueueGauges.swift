package import Postgres
package import PushModel

/// What is in the queue, for gauges: cheap however much it is.
package enum QueueGauges {
    /// Counting ends here, for each lane of the outbox and each endpoint's waiting deliveries.
    package static let most = 10_000

    package struct Row: Equatable, Sendable {
        /// `outbox` and `batch` count notifications, `waiting` and `leased` deliveries.
        package var state: String
        package var lane: Lane
        /// Nil for notifications.
        package var platform: Platform?
        package var count: Int
        /// Since it was queued, or first put aside. Nil for batches, and where there is none.
        package var oldest: Duration?

        package init(state: String, lane: Lane, platform: Platform?, count: Int, oldest: Duration?) {
            self.state = state
            self.lane = lane
            self.platform = platform
            self.count = count
            self.oldest = oldest
        }
    }

    /// The outbox lane by lane and what waits endpoint by endpoint, each by its index and no further than ``most``; the
    /// head of a lane is its oldest, but for what was put back. Batches are few.
    package static let query: PostgresQuery = """
        select 'outbox', l.lane, null::text, c.count, extract(epoch from now() - h.enqueued_at)::double precision
        from unnest(\(Lane.allCases.map(\.rawValue))::smallint[]) as l (lane)
        cross join lateral (
            select count(*) from (
                select from push.outbox o where o.lane = l.lane order by o.position limit \(unescaped: String(Self.most))
            ) t
        ) c
        left join lateral (
            select o.enqueued_at from push.outbox o where o.lane = l.lane order by o.position limit 1
        ) h on true
        union all
        select 'batch', b.lane, null, count(*), null
        from (select unnest(lanes) as lane from push.batches) b
        group by b.lane
        union all
        select w.state, coalesce(k.lane, 1), w.platform, count(*),
            extract(epoch from now() - min(w.parked_at))::double precision
        from unnest(\(ProviderEndpoint.allCases.map(\.rawValue))::text[]) as e (endpoint)
        cross join lateral (
            select
                case when w.lease_token is not null and w.scheduled_at > now() then 'leased' else 'waiting' end as state,
                w.platform, w.kind, w.parked_at
            from push.waiting w
            where w.endpoint = e.endpoint order by w.scheduled_at limit \(unescaped: String(Self.most))
        ) w
        left join push.kinds k on k.name = w.kind
        group by w.state, coalesce(k.lane, 1), w.platform
        """

    package static func decode(_ rows: PostgresRows) throws(PostgresError) -> [Row] {
        var result: [Row] = []
        for row in rows {
            guard let lane = Lane(rawValue: try row.int(1)) else { continue }
            result.append(
                Row(
                    state: try row.text(0), lane: lane,
                    platform: try row.optionalText(2).flatMap(Platform.init(rawValue:)), count: try row.int(3),
                    oldest: try row.optionalDuration(4)))
        }
        return result
    }
}
