-- What operators read and do: indexes for their searches, a record of what they did, and the end of old history.

create table push.audit (
    -- Stands as `worker_id` in the attempts that an action wrote: so a delivery's history says who it was.
    id uuid primary key default gen_random_uuid(),
    at timestamptz not null default now(),
    actor text not null,
    action text not null check (action in ('retry', 'cancel', 'pause', 'resume', 'stop', 'prune')),
    target_kind text not null check (target_kind in ('delivery', 'notification', 'provider', 'filter', 'history')),
    -- A delivery's or notification's id, an endpoint, or the id of a bulk action.
    target_id text,
    filter jsonb,
    matched integer not null default 1,
    changed integer not null default 1,
    note text
);
create index audit_newest on push.audit (at, id);
create index audit_target on push.audit (target_id, at);
comment on table push.audit is 'Who did what, when, and to how many. Append-only.';

create table push.bulk_actions (
    id uuid primary key default gen_random_uuid(),
    action text not null check (action in ('retry', 'cancel')),
    filter jsonb not null,
    state text not null default 'running' check (state in ('running', 'stopping', 'stopped', 'finished', 'failed')),
    -- Counted before it began; whether counting ended before all was looked at.
    matched integer not null,
    is_capped boolean not null default false,
    done integer not null default 0,
    changed integer not null default 0,
    actor text not null,
    -- Where the next slice begins; null: at the newest.
    position text,
    started_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    error text
);
create index bulk_actions_newest on push.bulk_actions (started_at, id);
comment on table push.bulk_actions is 'Retries and cancellations of all that a filter matches, done in slices; one that was interrupted goes on from `position`.';

-- Lists go from the newest backwards; what failed is few among many, so it has an index of its own. An account's
-- deliveries are found through its decisions, of which there are fewer than tries.
-- `is true` keeps it from statements that do not ask for just this: for a look-up of a delivery's ends in a partition
-- that is empty yet, it would seem as good as the index on deliveries.
create index attempts_newest on push.attempts (finished_at, delivery_id)
    where (state in ('accepted', 'discarded', 'cancelled')) is true;
create index attempts_failed on push.attempts (finished_at, delivery_id) where state in ('discarded', 'cancelled');
create index fanouts_account on push.fanouts (account_id, decided_at);
create index waiting_newest on push.waiting (parked_at, delivery_id);

-- Drops the oldest day of the history that ended before `keep` and that no open work refers to: returns its name, or null
-- when there is none left. One day a call, so that its lock on the parent is held for a moment only; if the lock is not
-- had within 200 ms (a dump is reading), it fails with lock_not_available, and the caller tries again later: whoever
-- queues for it holds up every claim behind it. Owned by the schema's owner, as only the owner of a table may drop it.
create function push.prune_partition(keep interval) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '200ms' as $$
declare
    -- Never younger: whatever is asked for, what was just decided must not look new again.
    cutoff timestamptz := now() - greatest(keep, interval '2 days');
    part text;
    is_open boolean;
begin
    if not pg_try_advisory_xact_lock(1347769160, 5) then
        return null;
    end if;
    for part in
        select c.relname
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where i.inhparent in ('push.fanouts'::regclass, 'push.attempts'::regclass)
            and c.relname ~ '^(fanouts|attempts)_[0-9]{8}$'
            and to_date(right(c.relname, 8), 'YYYYMMDD') + 1 <= cutoff
        order by right(c.relname, 8), c.relname
    loop
        execute format(
            'select exists (
                select from push.waiting w
                where exists (select from push.%1$I t where t.notification_id = w.notification_id)
            ) or exists (
                select from push.batches b cross join unnest(b.notification_ids) as n (id)
                where exists (select from push.%1$I t where t.notification_id = n.id)
            ) or exists (
                select from push.outbox o
                where o.origin <> ''trigger''
                    and exists (select from push.%1$I t where t.notification_id = o.notification_id)
            )', part) into is_open;
        if not is_open then
            execute format('drop table push.%I', part);
            return part;
        end if;
    end loop;
    return null;
end
$$;
revoke execute on function push.prune_partition(interval) from public;

-- Deletes a slice of what is small but grows: counters after a week, workers that have stopped after `keep`, the record
-- of what operators did after `keep`, 90 days at least. Returns how many rows; 0 when there are none left.
create function push.prune_rows(keep interval) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
declare
    kept interval := greatest(keep, interval '2 days');
    slice constant integer := 5000;
    total integer := 0;
    deleted integer;
begin
    if not pg_try_advisory_xact_lock(1347769160, 5) then
        return 0;
    end if;
    delete from push.counters where ctid = any (array(
        select ctid from push.counters where minute < now() - least(kept, interval '7 days') order by minute limit slice));
    get diagnostics deleted = row_count;
    total := total + deleted;
    delete from push.workers where id = any (array(
        select id from push.workers
        where heartbeat_at < now() - kept and not exists (select from push.batches b where b.worker_id = workers.id)
        limit slice));
    get diagnostics deleted = row_count;
    total := total + deleted;
    delete from push.audit where id = any (array(
        select id from push.audit where at < now() - greatest(kept, interval '90 days') order by at limit slice));
    get diagnostics deleted = row_count;
    total := total + deleted;
    delete from push.bulk_actions where id = any (array(
        select id from push.bulk_actions
        where started_at < now() - greatest(kept, interval '90 days') order by started_at limit slice));
    get diagnostics deleted = row_count;
    return total + deleted;
end
$$;
revoke execute on function push.prune_rows(interval) from public;
