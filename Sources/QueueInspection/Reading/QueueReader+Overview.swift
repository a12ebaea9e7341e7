internal import DeliveryQueue
internal import Postgres
internal import PushModel

internal import struct FoundationEssentials.UUID

extension QueueReader {
    /// Everything of the first page, by a handful of statements that each read a bounded number of rows.
    package func overview() async throws -> Overview {
        let lanes = try await self.lanes()
        return Overview(
            readAt: try await self.now(), lanes: lanes, endpoints: try await self.endpoints(),
            running: try await self.running(), oldestWaitingSeconds: lanes.compactMap(\.oldestSeconds).max(),
            series: try await self.series(), latency: try await self.latency(), providers: try await self.providers(),
            workers: try await self.workers())
    }

    private func lanes() async throws -> [LaneDepth] {
        let rows = try await self.run(
            """
            select l.lane,
                (select count(*) from (select from push.outbox o where o.lane = l.lane limit 10001) c),
                (select extract(epoch from now() - o.enqueued_at)::double precision from push.outbox o
                where o.lane = l.lane order by o.position limit 1)
            from unnest(\(Lane.allCases.map(\.rawValue))::integer[]) as l (lane) order by l.lane
            """)
        var lanes: [LaneDepth] = []
        for row in rows {
            guard let lane = Lane(rawValue: try row.int(0)) else { continue }
            lanes.append(
                LaneDepth(
                    lane: lane, count: CappedCount(counted: try row.int(1)),
                    oldestSeconds: try row.optionalDouble(2).map { max($0, 0) }))
        }
        return lanes
    }

    private func endpoints() async throws -> [EndpointDepth] {
        let rows = try await self.run(
            """
            select e.endpoint,
                (select count(*) from (select from push.waiting w where w.endpoint = e.endpoint limit 10001) c),
                (select count(*) from (
                    select from push.waiting w
                    where w.endpoint = e.endpoint and w.scheduled_at <= now() limit 10001) c),
                (select extract(epoch from now() - w.scheduled_at)::double precision from push.waiting w
                where w.endpoint = e.endpoint and w.scheduled_at <= now() order by w.scheduled_at limit 1)
            from unnest(\(ProviderEndpoint.allCases.map(\.rawValue))::text[]) as e (endpoint)
            """)
        var depths: [EndpointDepth] = []
        for row in rows {
            guard let endpoint = ProviderEndpoint(rawValue: try row.text(0)) else { continue }
            depths.append(
                EndpointDepth(
                    endpoint: endpoint, count: CappedCount(counted: try row.int(1)),
                    due: CappedCount(counted: try row.int(2)), oldestDueSeconds: try row.optionalDouble(3)))
        }
        return depths
    }

    private func running() async throws -> Int {
        try await self.run("select coalesce(sum(cardinality(notification_ids)), 0)::bigint from push.batches").single()
            .int(0)
    }

    /// From the counters: sixty minutes of few rows each, and those of the last minute that are not summed up yet.
    private func series() async throws -> MinuteSeries {
        let rows = try await self.run(
            """
            with counted as materialized (
                select minute, name, labels, value from push.counters
                where minute > date_trunc('minute', now()) - interval '60 minutes'
                limit 200000
            )
            select m.minute,
                coalesce(sum(c.value) filter (where c.name = 'decisions'), 0)::bigint,
                coalesce(sum(c.value) filter (where c.name = 'attempts' and c.labels like '% accepted'), 0)::bigint,
                coalesce(sum(c.value) filter (where c.name = 'attempts' and c.labels like '% discarded'), 0)::bigint,
                coalesce(sum(c.value) filter (where c.name = 'attempts' and c.labels like '% cancelled'), 0)::bigint,
                coalesce(sum(c.value) filter (where c.name = 'attempts' and c.labels like '% available'
                    and c.labels not like '% retried available'), 0)::bigint
            from generate_series(
                date_trunc('minute', now()) - interval '59 minutes', date_trunc('minute', now()), interval '1 minute'
            ) as m (minute)
            left join counted c on c.minute = m.minute
            group by m.minute order by m.minute
            """)
        return MinuteSeries(
            minutes: try rows.map { row in
                MinuteCounts(
                    minute: try row.date(0), decisions: try row.int(1), accepted: try row.int(2),
                    discarded: try row.int(3), cancelled: try row.int(4), retries: try row.int(5))
            })
    }

    /// The latest 200 ends that were an acceptance at the first try, of the last hour.
    private func latency() async throws -> LatencySample? {
        let rows = try await self.run(
            """
            select count(*), percentile_cont(0.5) within group (order by s.seconds),
                percentile_cont(0.95) within group (order by s.seconds), max(s.seconds)
            from (
                select greatest(extract(epoch from t.finished_at - n.created_at), 0)::double precision as seconds
                from (
                    select * from push.attempts t
                    where \(unescaped: DeliverySQL.isFinal) and t.finished_at > now() - interval '1 hour'
                    order by t.finished_at desc, t.delivery_id desc limit 200
                ) t
                cross join lateral (
                    select created_at from \(unescaped: self.source.identifier).notifications
                    where id = t.notification_id offset 0
                ) n
                where t.state = 'accepted' and t.number = 1
            ) s
            """)
        let row = try rows.single()
        guard try row.int(0) > 0 else { return nil }
        return LatencySample(
            count: try row.int(0), median: try row.double(1), p95: try row.double(2), longest: try row.double(3))
    }

    /// Every endpoint, paused or not.
    package func providers() async throws -> [ProviderState] {
        let rows = try await self.run(
            """
            select e.endpoint, p.paused_until > now(), nullif(p.paused_until, 'infinity'), p.reason, p.fix, p.paused_by,
                p.changed_at
            from unnest(\(ProviderEndpoint.allCases.map(\.rawValue))::text[]) as e (endpoint)
            left join push.providers p on p.endpoint = e.endpoint
            """)
        var states: [ProviderState] = []
        for row in rows {
            guard let endpoint = ProviderEndpoint(rawValue: try row.text(0)) else { continue }
            var pause: ProviderState.Pause?
            if try row.optionalBool(1) == true {
                let by = try row.optionalText(5) ?? ""
                // A worker signs with its id.
                pause = ProviderState.Pause(
                    until: try row.optionalDate(2),
                    by: by.isEmpty || UUID(uuidString: by) != nil ? .worker : .person(by),
                    reason: try row.optionalText(3) ?? "no reason given", fix: try row.optionalText(4))
            }
            states.append(ProviderState(endpoint: endpoint, pause: pause, changedAt: try row.optionalDate(6)))
        }
        return states
    }

    private func workers() async throws -> [WorkerState] {
        let rows = try await self.run(
            """
            select w.id, w.name, w.version, w.started_at, w.heartbeat_at, w.stopped_at, w.listening,
                (select coalesce(sum(cardinality(b.notification_ids)), 0)::bigint from push.batches b where b.worker_id = w.id),
                case when w.stopped_at is not null then 'stopped'
                    when w.heartbeat_at > now() - interval '15 seconds' then 'running' else 'lost' end
            from push.workers w
            where w.heartbeat_at > now() - interval '1 day'
            order by w.heartbeat_at desc limit 50
            """)
        return try rows.map { row in
            WorkerState(
                id: try row.uuid(0), name: try row.text(1), version: try row.text(2), startedAt: try row.date(3),
                heartbeatAt: try row.date(4), stoppedAt: try row.optionalDate(5), isListening: try row.bool(6),
                running: try row.int(7), condition: WorkerState.Condition(rawValue: try row.text(8)) ?? .lost)
        }
    }
}
