internal import Postgres

extension QueueReader {
    /// What may slow the queue down. A worker's role sees other roles' sessions only with `grant pg_read_all_stats`.
    package func databaseHealth() async throws -> DatabaseHealth {
        // `reset_val`: what other sessions get; this one is read-only by its own choice.
        let row = try await self.run(
            """
            select now(), current_setting('server_version'), pg_is_in_recovery(),
                pg_is_in_recovery() or (select reset_val = 'on' from pg_settings where name = 'default_transaction_read_only'),
                pg_has_role(current_user, 'pg_read_all_stats', 'usage'), pg_notification_queue_usage()
            """
        ).single()
        return DatabaseHealth(
            readAt: try row.date(0), serverVersion: try row.text(1), role: try row.bool(2) ? .standby : .primary,
            isReadOnly: try row.bool(3), seesAllSessions: try row.bool(4),
            transactions: try await self.transactions(), horizon: try await self.horizon(),
            tables: try await self.tables(), notifyQueueUsage: try row.double(5), claim: try await self.claimPlan(),
            partitions: try await self.partitions())
    }

    /// Open transactions of other sessions, oldest first; those of other roles only with `pg_read_all_stats`. The
    /// statement is shown without what stands in quotes: that may be a token or a name.
    package func transactions() async throws -> [OpenTransaction] {
        let rows = try await self.run(
            """
            select pid, coalesce(usename, ''), coalesce(application_name, ''), coalesce(state, ''),
                extract(epoch from clock_timestamp() - xact_start)::double precision,
                case when state = 'active' and wait_event_type is not null
                    then wait_event_type || ': ' || coalesce(wait_event, '') end,
                left(regexp_replace(regexp_replace(left(query, 2000), $$'[^']*('|$)$$, $$'…'$$, 'g'), '\\s+', ' ', 'g'), 120)
            from pg_stat_activity
            where xact_start is not null and pid <> pg_backend_pid() and datname = current_database()
            order by xact_start limit 10
            """)
        return try rows.map { row in
            OpenTransaction(
                pid: try row.int(0), role: try row.text(1), application: try row.text(2), state: try row.text(3),
                seconds: try row.double(4), waitsFor: try row.optionalText(5), query: try row.optionalText(6) ?? "")
        }
    }

    private func horizon() async throws -> [HorizonHolder] {
        let rows = try await self.run(
            """
            select * from (
                select 'session' as kind, 'pid ' || pid || ', ' || coalesce(nullif(application_name, ''), usename, '') as name,
                    age(backend_xmin) as behind, extract(epoch from clock_timestamp() - xact_start)::double precision as seconds,
                    'end its transaction: select pg_terminate_backend(' || pid || ')' as fix
                from pg_stat_activity
                where backend_xmin is not null and pid <> pg_backend_pid() and datname = current_database()
                union all
                select 'slot', slot_name, greatest(age(xmin), age(catalog_xmin)), null,
                    case when active then 'its consumer is behind: look at it'
                        else 'nobody reads it: if it is not needed, select pg_drop_replication_slot('
                            || quote_literal(slot_name) || ')' end
                from pg_replication_slots where xmin is not null or catalog_xmin is not null
                union all
                select 'standby', coalesce(nullif(application_name, ''), 'pid ' || pid), age(backend_xmin), null,
                    'a long query runs on it, and hot_standby_feedback keeps its rows here'
                from pg_stat_replication where backend_xmin is not null
                union all
                select 'prepared', gid, age(transaction),
                    extract(epoch from clock_timestamp() - prepared)::double precision,
                    'nobody ended it: rollback prepared ' || quote_literal(gid)
                from pg_prepared_xacts where database = current_database()
            ) h
            where behind > 0
            order by behind desc limit 10
            """)
        return try rows.map { row in
            HorizonHolder(
                kind: HorizonHolder.Kind(rawValue: try row.text(0)) ?? .session, name: try row.text(1),
                transactionsBehind: try row.int(2), seconds: try row.optionalDouble(3), fix: try row.text(4))
        }
    }

    private func tables() async throws -> [TableHealth] {
        let rows = try await self.run(
            """
            select s.relname, s.n_live_tup, s.n_dead_tup, pg_total_relation_size(s.relid),
                greatest(s.last_vacuum, s.last_autovacuum), greatest(s.last_analyze, s.last_autoanalyze)
            from unnest(array['outbox', 'batches', 'waiting', 'workers', 'providers', 'counters', 'audit', 'bulk_actions'])
                with ordinality as t (name, place)
            join pg_stat_user_tables s on s.schemaname = 'push' and s.relname = t.name
            order by t.place
            """)
        return try rows.map { row in
            TableHealth(
                name: try row.text(0), liveRows: try row.int(1), deadRows: try row.int(2), bytes: try row.int(3),
                lastVacuum: try row.optionalDate(4), lastAnalyze: try row.optionalDate(5))
        }
    }

    /// The claim's own selection, less its locks: executed, so that the time is the truth.
    private func claimPlan() async throws -> ClaimPlan {
        let rows = try await self.run(
            """
            explain (analyze, timing off, costs off, summary on)
            select notification_id, lane, origin, rescues, position from push.outbox order by lane, position limit 500
            """)
        let lines = try rows.map { try $0.text(0) }
        let time = lines.first { $0.hasPrefix("Execution Time: ") }
        let milliseconds = time.flatMap { Double($0.dropFirst(16).prefix { $0 != " " }) } ?? 0
        let plan = lines.joined(separator: "\n")
        return ClaimPlan(
            lines: lines, milliseconds: milliseconds,
            isGood: plan.contains("using outbox_order") && !plan.contains("Sort"))
    }

    private func partitions() async throws -> [Partition] {
        let rows = try await self.run(
            """
            select p.relname, c.relname, to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp at time zone 'UTC',
                greatest(c.reltuples, 0)::bigint, pg_total_relation_size(c.oid)
            from pg_inherits i
            join pg_class c on c.oid = i.inhrelid
            join pg_class p on p.oid = i.inhparent
            where i.inhparent in ('push.fanouts'::regclass, 'push.attempts'::regclass)
                and c.relname ~ '^(fanouts|attempts)_[0-9]{8}$'
            order by right(c.relname, 8) desc, p.relname
            limit 400
            """)
        return try rows.map { row in
            Partition(
                table: try row.text(0), name: try row.text(1), day: try row.date(2), rows: try row.int(3),
                bytes: try row.int(4))
        }
    }
}
