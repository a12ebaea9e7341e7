package import Postgres
package import PushModel

package import struct FoundationEssentials.UUID

/// Keeps leases alive and returns those of the dead.
package struct LeaseKeeping: Sendable {
    package var lease: Duration

    /// The first key of the session-level advisory lock that says "this worker's session lives".
    package static let lockClass = 1_347_769_161

    /// A worker whose lock is gone is dead once its heartbeat, too, is older than this: a worker that has lost its
    /// connection for a moment keeps its batches.
    package static let graceForReconnection: Duration = .seconds(5)

    package init(lease: Duration) {
        self.lease = lease
    }

    /// Takes the lock. One row, one boolean.
    package func lock(key: Int) -> PostgresQuery {
        "select pg_try_advisory_lock(\(Self.lockClass)::integer, \(key)::integer)"
    }

    /// Says that the worker lives, extends the leases it names, and reads the pauses. A row for each lease that is still
    /// its own and each endpoint; a pause without end counts as a day.
    ///
    /// What is locked is just being ended, here or by a rescue: it is skipped, so that a heartbeat never waits for one
    /// row with another locked, which a record that takes them the other way round would make a deadlock.
    package func heartbeat(
        worker: WorkerIdentity, name: String, version: String, listening: Bool, batches: [BatchLease],
        waiting: [WaitingLease]
    ) -> PostgresQuery {
        """
        with me as (
            insert into push.workers (id, name, version, lock_key, listening)
            values (\(worker.id)::uuid, \(name), \(version), \(worker.lockKey as Int?)::integer, \(listening)::boolean)
            on conflict (id) do update set
                heartbeat_at = now(), lock_key = excluded.lock_key, listening = excluded.listening
        ), extended as (
            update push.batches set leased_until = now() + \(self.lease)::interval
            where id = any (array(
                select id from push.batches
                where id = any (\(batches.map(\.id))::bigint[]) and worker_id = \(worker.id)::uuid
                for update skip locked
            ))
            returning id
        ), retained as (
            update push.waiting set scheduled_at = now() + \(self.lease)::interval
            where delivery_id = any (array(
                select w.delivery_id
                from unnest(\(waiting.map(\.deliveryID))::uuid[], \(waiting.map(\.token))::uuid[]) as l (delivery_id, token)
                join push.waiting w on w.delivery_id = l.delivery_id and w.lease_token = l.token
                for update of w skip locked
            ))
            returning lease_token
        )
        select id, null::uuid, null::text, null::double precision, null::bigint, null::text, null::text, null::text
        from extended
        union all
        select null, lease_token, null, null, null, null, null, null from retained
        union all
        select null, null, endpoint,
            -- least() passes over null, and would make a day's pause of none.
            case when paused_until is not null
                then extract(epoch from least(paused_until, now() + interval '1 day') - now()) end,
            resumes, reason, fix, paused_by
        from push.providers
        """
    }

    package struct Heartbeat: Sendable {
        package var batchIDs: Set<Int> = []
        package var waitingTokens: Set<UUID> = []
        package var pauses: [ProviderEndpoint: Pause] = [:]

        /// What `push.providers` says of an endpoint.
        package struct Pause: Sendable {
            /// Nil or negative when it is over.
            package var remaining: Duration?
            /// How often an operator has ended a pause: a change ends what a worker believes of its own.
            package var resumes: Int
            package var reason = ""
            package var fix: String?
            /// A worker's id or an operator's name.
            package var by: String?

            package init(
                remaining: Duration?, resumes: Int, reason: String = "", fix: String? = nil, by name: String? = nil
            ) {
                self.remaining = remaining
                self.resumes = resumes
                self.reason = reason
                self.fix = fix
                self.by = name
            }
        }
    }

    package func decodeHeartbeat(_ rows: PostgresRows) throws(PostgresError) -> Heartbeat {
        var result = Heartbeat()
        for row in rows {
            if let id = try row.optionalInt(0) { result.batchIDs.insert(id) }
            if let token = try row.optionalUUID(1) { result.waitingTokens.insert(token) }
            if let endpoint = try row.optionalText(2).flatMap(ProviderEndpoint.init(rawValue:)) {
                result.pauses[endpoint] = Heartbeat.Pause(
                    remaining: try row.optionalDuration(3), resumes: try row.int(4),
                    reason: try row.optionalText(5) ?? "", fix: try row.optionalText(6), by: try row.optionalText(7))
            }
        }
        return result
    }

    /// Returns to the outbox what batches hold whose lease ended or whose worker is dead. `affected` is the number of
    /// notifications. `push.batches` has a row per open batch: a scan of it is nothing.
    ///
    /// A row that a webhook or sweep put there meanwhile becomes a rescued one: as a repeated one it would be dropped
    /// when it is claimed, and what had not been sent would be lost.
    package func rescue(worker: WorkerIdentity) -> PostgresQuery {
        """
        with lost as materialized (
            select b.id from push.batches b
            left join push.workers w on w.id = b.worker_id
            where b.leased_until < now() or (
                b.lock_key is not null and b.worker_id <> \(worker.id)::uuid
                and coalesce(w.heartbeat_at < now() - \(Self.graceForReconnection)::interval, true)
                and not exists (
                    select from pg_locks l
                    where l.locktype = 'advisory' and l.granted and l.objsubid = 2
                        and l.database = (select oid from pg_database where datname = current_database())
                        and l.classid = \(Self.lockClass)::integer::oid and l.objid = b.lock_key::oid
                )
            )
            for update of b skip locked
        ), ended as (
            delete from push.batches where id = any (array(select id from lost))
            returning notification_ids, lanes, rescues
        )
        insert into push.outbox (notification_id, lane, origin, rescues)
        select n.notification_id, n.lane, 'rescue', e.rescues + 1
        from ended e cross join lateral unnest(e.notification_ids, e.lanes) as n (notification_id, lane)
        order by n.notification_id
        on conflict (notification_id) do update set origin = excluded.origin, rescues = excluded.rescues
        """
    }

    /// Says that the worker has stopped.
    package func farewell(worker: WorkerIdentity) -> PostgresQuery {
        "update push.workers set stopped_at = now(), listening = false where id = \(worker.id)::uuid"
    }
}
