-- The delivery queue. The normal way of a push updates no row twice: the outbox is inserted and deleted, a batch is one
-- row for hundreds of notifications, decisions and attempts are appended. Only what must wait has a row of its own.
-- No foreign keys: they cost four times the insert, and the app may delete its rows whenever it likes.

create table push.kinds (
    name text primary key,
    lane smallint not null,
    coalesces boolean not null
);
comment on table push.kinds is 'What SQL needs to know of a notification kind; written by `push-fanout migrate` from the worker''s own list.';

create table push.outbox (
    notification_id uuid primary key,
    lane smallint not null,
    origin text not null check (origin in ('trigger', 'webhook', 'sweep', 'rescue', 'operator')),
    rescues smallint not null default 0,
    position bigint generated always as identity,
    enqueued_at timestamptz not null default clock_timestamp()
) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);
create index outbox_order on push.outbox (lane, position);
comment on table push.outbox is 'Notifications waiting to be claimed.';

create table push.batches (
    id bigint generated always as identity primary key,
    token uuid not null default gen_random_uuid(),
    worker_id uuid not null,
    -- The second key of the session-level advisory lock its worker holds; null where sessions do not last (a pooler).
    lock_key integer,
    notification_ids uuid[] not null,
    lanes smallint[] not null,
    rescues smallint not null,
    opened_at timestamptz not null default now(),
    leased_until timestamptz not null
) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0
);
comment on table push.batches is 'Notifications a worker holds under one lease. Extended, closed and released only with its own token.';

create table push.fanouts (
    notification_id uuid not null,
    account_id uuid,
    kind text,
    decision text not null,
    origin text not null,
    delivery_ids uuid[] not null,
    device_ids uuid[] not null,
    worker_id uuid not null,
    decided_at timestamptz not null default now()
) partition by range (decided_at);
create index fanouts_notification on push.fanouts (notification_id);
comment on table push.fanouts is 'One decision per notification: why it was pushed, or why not. Append-only, a partition a day.';

create table push.attempts (
    delivery_id uuid not null,
    notification_id uuid not null,
    device_id uuid not null,
    account_id uuid,
    platform text not null,
    kind text not null,
    number smallint not null,
    state text not null,
    outcome text not null,
    status smallint,
    reason text,
    provider_id text,
    milliseconds integer,
    worker_id uuid not null,
    finished_at timestamptz not null default now()
) partition by range (finished_at);
create index attempts_delivery on push.attempts (delivery_id);
create index attempts_notification on push.attempts (notification_id);
comment on table push.attempts is 'Every try, and every end of a delivery without one (number 0 or that of the last try). Append-only, a partition a day. `state` is where the delivery stood after it.';

create table push.waiting (
    delivery_id uuid primary key,
    notification_id uuid not null,
    device_id uuid not null,
    account_id uuid not null,
    platform text not null,
    kind text not null,
    -- apns:production, apns:development or fcm: what the next try goes to.
    endpoint text not null,
    -- Tries so far that count.
    attempts smallint not null,
    reason text not null,
    expires_at timestamptz not null,
    -- When it is due. A lease moves it to the lease's end, so a lost lease is due again by itself.
    scheduled_at timestamptz not null,
    lease_token uuid,
    worker_id uuid,
    parked_at timestamptz not null default now()
) with (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0
);
create index waiting_due on push.waiting (endpoint, scheduled_at);
create index waiting_notification on push.waiting (notification_id);
comment on table push.waiting is 'Deliveries that must wait: a retry, or a paused provider.';

create table push.workers (
    id uuid primary key,
    name text not null,
    version text not null,
    lock_key integer,
    listening boolean not null default false,
    started_at timestamptz not null default now(),
    heartbeat_at timestamptz not null default now(),
    stopped_at timestamptz
);
comment on table push.workers is 'Who runs. For people: leases do not depend on it.';

create table push.providers (
    endpoint text primary key,
    paused_until timestamptz,
    reason text,
    fix text,
    paused_by text,
    -- Counts the pauses that an operator has ended: workers forget their own when it changes.
    resumes bigint not null default 0,
    changed_at timestamptz not null default now()
);
comment on table push.providers is 'Pauses, shared by all workers and the operator.';

create table push.counters (
    minute timestamptz not null,
    name text not null,
    labels text not null,
    value bigint not null,
    -- Whether it is a minute's sum already.
    is_sum boolean not null default false
);
create index counters_minute on push.counters (minute);
create index counters_single on push.counters (minute) where not is_sum;
comment on table push.counters is 'What dashboards count: appended at each flush, rolled up by the minute.';

create view push.deliveries as
select
    d.delivery_id as id,
    f.notification_id,
    f.account_id,
    d.device_id,
    coalesce(w.platform, a.platform) as platform,
    f.kind,
    case
        when w.delivery_id is not null and w.lease_token is not null and w.scheduled_at > now() then 'running'
        when w.delivery_id is not null then 'available'
        when a.state in ('accepted', 'discarded', 'cancelled') then a.state
        -- Given back or rescued.
        when exists (select from push.outbox o where o.notification_id = f.notification_id) then 'available'
        else 'running'
    end as state,
    coalesce(w.reason, a.reason) as reason,
    coalesce(w.attempts, a.number, 0) as attempt,
    w.scheduled_at,
    case when w.delivery_id is null and a.state in ('accepted', 'discarded', 'cancelled') then a.finished_at end
        as finished_at
from push.fanouts f
cross join lateral unnest(f.delivery_ids, f.device_ids) as d (delivery_id, device_id)
left join push.waiting w on w.delivery_id = d.delivery_id
left join lateral (
    select * from push.attempts t
    where t.delivery_id = d.delivery_id
    order by (t.state = 'accepted') desc, t.finished_at desc, t.number desc
    limit 1
) a on true;
comment on view push.deliveries is 'The state of each delivery, for people.';

-- Makes the partitions of today and the next three days. Called by workers at start, every hour, and by any that finds
-- one missing. Owned by the schema's owner, since only the owner of a table may add a partition to it.
create function push.ensure_partitions() returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
declare
    made integer := 0;
    day date;
    parent text;
    part text;
begin
    perform pg_advisory_xact_lock(1347769160, 2);
    for day in select generate_series(current_date, current_date + 3, interval '1 day') loop
        foreach parent in array array['fanouts', 'attempts'] loop
            part := parent || '_' || to_char(day, 'YYYYMMDD');
            if to_regclass('push.' || part) is null then
                -- Made apart and attached: "create table … partition of" would lock the parent against readers, and
                -- behind a long read (a dump) every claim and every record would queue up after it.
                execute format(
                    'create table push.%I (like push.%I including defaults) with '
                    '(autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000)',
                    part, parent);
                execute format(
                    'alter table push.%I attach partition push.%I for values from (%L) to (%L)',
                    parent, part, day::timestamptz, (day + 1)::timestamptz);
                made := made + 1;
            end if;
        end loop;
    end loop;
    return made;
end
$$;
revoke execute on function push.ensure_partitions() from public;

-- Puts new notifications into the outbox. Runs as its owner, so that the app's roles need no right on schema push.
-- NOTIFY takes a lock held over the whole cluster until after the commit; so only the transaction that gets the
-- advisory lock notifies, and workers scan again after each wake to find what the others wrote.
create function push.enqueue() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    insert into push.outbox (notification_id, lane, origin)
    select n.id, coalesce(k.lane, 1), 'trigger'
    from new_notifications n
    left join push.kinds k on k.name = n.kind
    on conflict (notification_id) do nothing;
    if pg_try_advisory_xact_lock(1347769160, 3) then
        notify push_outbox;
    end if;
    return null;
end
$$;
revoke execute on function push.enqueue() from public;

select push.ensure_partitions();
