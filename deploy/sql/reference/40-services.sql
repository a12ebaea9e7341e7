-- Connected services: address books elsewhere (Google, iCloud …) that a phone keeps in step with the contacts here.
--
-- The phone talks to the service and holds its credential; no column here could. The server keeps two tables: which
-- services an account has connected, and which card there belongs to which contact here. Everything else is computed
-- when asked for. People write the tables through row-level security, directly or by the functions below, which run
-- with their caller's rights.
--
-- Apply after 10-people.sql, as that file says. It may be applied again.

do $$
begin
    perform set_config('search_path', format('%I, pg_temp', current_schema()), false);
end
$$;

-- MARK: Tables

create table if not exists sync_services (
    id uuid primary key default gen_random_uuid(),
    account_id uuid not null default current_account_id() references accounts (id) on delete cascade,
    provider text not null,
    label text not null,
    -- A phone that changes hands becomes a device with another id (register_device): then, too, nobody here holds the
    -- credential any more.
    device_id uuid references devices (id) on delete set null on update set null,
    circle_ids uuid[] not null default '{}',
    allow_delete boolean not null default false,
    last_sync_at timestamptz,
    created_at timestamptz not null default now(),
    constraint sync_services_label_key unique (account_id, label),
    constraint sync_services_provider_known check (provider in ('google', 'microsoft', 'icloud', 'carddav'))
);

create index if not exists sync_services_device on sync_services (device_id);

comment on table sync_services is 'An address book elsewhere that one of the account''s phones keeps in step.';
comment on column sync_services.label is
    'What people see: Google, and Google (2) for a second one. Given by the server when the row is made.';
comment on column sync_services.device_id is
    'The phone that holds the credential. Null when that phone signed out: another has to sign in to the service.';
comment on column sync_services.circle_ids is 'The circles whose contacts the service gets. Empty: none.';
comment on column sync_services.allow_delete is
    'Whether a card may be deleted there when the contact is gone here or has left the circles.';

create table if not exists sync_links (
    service_id uuid not null references sync_services (id) on delete cascade,
    external_id text not null,
    connection_id uuid references connections (id) on delete set null,
    profile_id uuid references profiles (id) on delete set null,
    synced_hash text,
    constraint sync_links_card_once primary key (service_id, external_id),
    -- An address within the address book: people/c123, or a path.
    constraint sync_links_external_id_plain check (external_id ~ '^[!-~]{1,255}$'),
    constraint sync_links_synced_hash_is_a_hash check (synced_hash ~ '^[0-9a-f]{64}$')
);

create unique index if not exists sync_links_contact_once on sync_links (service_id, connection_id)
    where connection_id is not null;
create index if not exists sync_links_connection on sync_links (connection_id);
create index if not exists sync_links_profile on sync_links (profile_id);
create index if not exists sync_links_orphans on sync_links (service_id) where connection_id is null;

comment on table sync_links is 'Which card of a service belongs to which contact.';
comment on column sync_links.external_id is 'The service''s own id of the card.';
comment on column sync_links.connection_id is
    'The contact. Emptied when the connection ends; filled again when the same person is connected anew.';
comment on column sync_links.profile_id is 'Whom the card shows: outlives the connection, so that it finds its way back.';
comment on column sync_links.synced_hash is
    'connections.snapshot_hash of what was written there last. Null: linked, not yet compared.';

-- MARK: What the tables keep true by themselves

create or replace function sync_service_name(p_provider text) returns text
language sql
immutable
parallel safe
set search_path from current
as $$
    select case p_provider
        when 'google' then 'Google'
        when 'microsoft' then 'Microsoft'
        when 'icloud' then 'iCloud'
        when 'carddav' then 'CardDAV'
    end
$$;

comment on function sync_service_name(text) is 'What people call a provider; null for an unknown one.';

create or replace function label_sync_service() returns trigger
language plpgsql
set search_path from current
as $$
begin
    -- Two phones that connect at once would both find the name free. Whoever comes second waits here until the first
    -- has committed, and sees its row then (read committed, PostgreSQL's default; in a stricter isolation the unique
    -- constraint refuses the second).
    perform pg_advisory_xact_lock(hashtextextended(concat_ws(' ', 'label_sync_service', new.account_id), 0));
    select sync_service_name(new.provider) || case when n = 1 then '' else format(' (%s)', n) end
    into new.label
    from generate_series(1, (select count(*) + 1 from sync_services where account_id = new.account_id)) n
    where not exists (
        select from sync_services
        where account_id = new.account_id
            and label = sync_service_name(new.provider) || case when n = 1 then '' else format(' (%s)', n) end
    )
    order by n
    limit 1;
    -- Unknown provider: the check of the table says so, which wants some label to get that far.
    new.label := coalesce(new.label, new.provider);
    return new;
end
$$;

comment on function label_sync_service() is
    'Gives a new service the first free name of Google, Google (2), Google (3) … of its account.';

create or replace trigger label_sync_service before insert on sync_services
    for each row execute function label_sync_service();

-- With its owner's rights: people may not read the table of devices, push tokens and all.
create or replace function check_sync_service() returns trigger
language plpgsql
security definer
set search_path from current
as $$
begin
    if new.device_id is not null and not exists (
        select from devices where id = new.device_id and account_id = new.account_id
    ) then
        raise exception 'no such device' using errcode = 'foreign_key_violation';
    end if;
    if exists (
        select from unnest(new.circle_ids) circle_id
        where not exists (select from circles where id = circle_id and account_id = new.account_id)
    ) then
        raise exception 'no such circle' using errcode = 'foreign_key_violation';
    end if;
    return new;
end
$$;

comment on function check_sync_service() is
    'Device and circles are the account''s own. Another account''s are answered as if they did not exist.';

create or replace trigger check_sync_service before insert or update of account_id, device_id, circle_ids on sync_services
    for each row execute function check_sync_service();

create or replace function forget_circle_of_services() returns trigger
language plpgsql
security definer
set search_path from current
as $$
begin
    update sync_services
    set circle_ids = array_remove(circle_ids, old.id)
    where account_id = old.account_id and old.id = any (circle_ids);
    return null;
end
$$;

comment on function forget_circle_of_services() is 'A circle that is deleted leaves the services it was chosen for.';

create or replace trigger forget_circle_of_services after delete on circles
    for each row execute function forget_circle_of_services();

create or replace function check_sync_link() returns trigger
language plpgsql
set search_path from current
as $$
begin
    -- The check of the table says the same, but prints the whole row into the log, whatever was put there.
    if new.external_id is null or new.external_id !~ '^[!-~]{1,255}$' then
        raise exception 'an external id is 1 to 255 printable ASCII characters without spaces'
            using errcode = 'invalid_parameter_value';
    end if;
    if new.synced_hash !~ '^[0-9a-f]{64}$' then
        raise exception 'not a hash' using errcode = 'invalid_parameter_value';
    end if;
    if new.connection_id is not null then
        select connection.profile_id into new.profile_id
        from connections connection
        join sync_services service on service.account_id = connection.account_id
        where connection.id = new.connection_id and service.id = new.service_id;
        if not found then
            raise exception 'no such connection' using errcode = 'foreign_key_violation';
        end if;
    end if;
    return new;
end
$$;

comment on function check_sync_link() is
    'Notes whom a card shows. Refuses a connection that is not of the service''s account, and anything but an id and a hash.';

create or replace trigger check_sync_link before insert or update on sync_links
    for each row execute function check_sync_link();

-- With its owner's rights: whoever accepts an invitation makes the inviter's connection too, but sees none of the
-- inviter's services.
create or replace function adopt_orphaned_links() returns trigger
language plpgsql
security definer
set search_path from current
as $$
begin
    update sync_links link
    set connection_id = orphan.connection_id, synced_hash = null
    from (
        -- Should several cards show that person, one is adopted; the others stay what they are.
        select distinct on (link.service_id, added.id) link.service_id, link.external_id, added.id as connection_id
        from added
        join sync_links link on link.profile_id = added.profile_id and link.connection_id is null
        join sync_services service on service.id = link.service_id and service.account_id = added.account_id
        order by link.service_id, added.id, link.external_id
    ) orphan
    where link.service_id = orphan.service_id
        and link.external_id = orphan.external_id
        and link.connection_id is null;
    return null;
end
$$;

comment on function adopt_orphaned_links() is
    'A person connected anew gets the cards back that were left behind, instead of second ones.';

create or replace trigger adopt_orphaned_links after insert on connections
    referencing new table as added
    for each statement execute function adopt_orphaned_links();

-- MARK: Buckets

create or replace view sync_contacts with (security_invoker = true) as
select
    service.id as service_id,
    service.account_id,
    connection.id as connection_id,
    link.external_id,
    case
        when link.external_id is null then
            case when connection.circle_id = any (service.circle_ids) then 'to_add' else 'hidden' end
        when connection.circle_id <> all (service.circle_ids) then
            case when service.allow_delete then 'to_delete' else 'hidden' end
        when link.synced_hash is null then 'to_link'
        when link.synced_hash is distinct from connection.snapshot_hash then 'to_update'
        else 'in_sync'
    end as bucket
from sync_services service
join connections connection on connection.account_id = service.account_id
-- Lateral: a look into the index for each contact. Left to choose, the planner may compare every contact with every card.
left join lateral (
    select external_id, synced_hash
    from sync_links
    where service_id = service.id and connection_id = connection.id
    limit 1
) link on true
union all
select
    service.id,
    service.account_id,
    null,
    link.external_id,
    case when service.allow_delete then 'to_delete' else 'hidden' end
from sync_services service
join sync_links link on link.service_id = service.id
where link.connection_id is null;

comment on view sync_contacts is
$$What is to be done about every contact of an account, and every card left behind, at each of its services: one bucket each.

to_add: in a circle of the service, no card there. to_update: its card shows an older view. to_delete: its connection ended or left the circles, and allow_delete is on. to_link: its card is known (found by the phone, or left from an earlier connection) but was not compared yet. in_sync: its card shows what is seen here. hidden: not this service's: outside its circles and without a card, or with one that may not be deleted.$$;

create or replace function sync_buckets(p_service_id uuid default null) returns table (
    service_id uuid,
    provider text,
    label text,
    device_id uuid,
    last_sync_at timestamptz,
    to_add bigint,
    to_update bigint,
    to_delete bigint,
    to_link bigint,
    in_sync bigint,
    hidden bigint,
    pending bigint
)
language sql
stable
set search_path from current
as $$
    select
        service.id,
        service.provider,
        service.label,
        service.device_id,
        service.last_sync_at,
        count(*) filter (where contact.bucket = 'to_add'),
        count(*) filter (where contact.bucket = 'to_update'),
        count(*) filter (where contact.bucket = 'to_delete'),
        count(*) filter (where contact.bucket = 'to_link'),
        count(*) filter (where contact.bucket = 'in_sync'),
        count(*) filter (where contact.bucket = 'hidden'),
        count(*) filter (where contact.bucket in ('to_add', 'to_update', 'to_delete', 'to_link'))
    from sync_services service
    left join sync_contacts contact on contact.service_id = service.id
    where service.account_id = current_account_id() and (p_service_id is null or service.id = p_service_id)
    group by service.id
    order by service.created_at, service.label
$$;

comment on function sync_buckets(uuid) is
    'How many contacts are in each bucket of sync_contacts, for every service of the caller or one of them. Pending: what the next sync has to do. A contact''s change is pending only at services whose circles include it.';

-- MARK: What the phone does

create or replace function connect_service(
    p_provider text,
    p_device_id uuid,
    p_circle_ids uuid[] default '{}',
    p_allow_delete boolean default false
) returns sync_services
language sql
volatile
set search_path from current
as $$
    insert into sync_services (provider, device_id, circle_ids, allow_delete)
    values (p_provider, p_device_id, p_circle_ids, p_allow_delete)
    returning *
$$;

comment on function connect_service(text, uuid, uuid[], boolean) is
    'Connects a service to the caller''s account: provider google, microsoft, icloud or carddav, the phone that holds the credential, the circles it gets. A second service of a provider is labelled "Google (2)".';

create or replace function disconnect_service(p_service_id uuid) returns boolean
language sql
volatile
set search_path from current
as $$
    with gone as (
        delete from sync_services where id = p_service_id and account_id = current_account_id() returning id
    )
    select exists (select from gone)
$$;

comment on function disconnect_service(uuid) is
    'Forgets a service and its links; the cards there stay. False when the caller has no such service.';

create or replace function record_sync(
    p_service_id uuid,
    p_written jsonb default '[]',
    p_removed text[] default '{}'
) returns boolean
language plpgsql
volatile
set search_path from current
as $$
begin
    if jsonb_typeof(p_written) is distinct from 'array' or jsonb_array_length(p_written) > 5000
        or cardinality(p_removed) > 5000
    then
        raise exception 'a report is an array of at most 5000 cards' using errcode = 'invalid_parameter_value';
    end if;
    if exists (
        select from jsonb_to_recordset(p_written) as written (external_id text, connection_id uuid)
        group by grouping sets (external_id, connection_id)
        having count(*) > 1 and (external_id is not null or connection_id is not null)
    ) then
        raise exception 'a card or a contact is reported twice' using errcode = 'invalid_parameter_value';
    end if;

    -- Two reports of one service, one after the other.
    perform from sync_services where id = p_service_id and account_id = current_account_id() for update;
    if not found then
        return false;
    end if;

    -- Cards that are gone, and the former card of a contact that got another one.
    delete from sync_links where service_id = p_service_id and external_id = any (p_removed);
    delete from sync_links link
    using jsonb_to_recordset(p_written) as written (external_id text, connection_id uuid)
    where link.service_id = p_service_id
        and link.connection_id = written.connection_id
        and link.external_id <> written.external_id;

    -- A contact that ended while its card was written leaves an orphan, like one that ended later. A connection that
    -- is not the caller's is treated as one that ended.
    insert into sync_links as link (service_id, external_id, connection_id, synced_hash)
    select p_service_id, written.external_id, connection.id, written.hash
    from jsonb_to_recordset(p_written) as written (external_id text, connection_id uuid, hash text)
    left join connections connection
        on connection.id = written.connection_id and connection.account_id = current_account_id()
    on conflict (service_id, external_id) do update
    set connection_id = excluded.connection_id, synced_hash = excluded.synced_hash;

    update sync_services set last_sync_at = now() where id = p_service_id;
    return true;
end
$$;

comment on function record_sync(uuid, jsonb, text[]) is
$$What a phone did at a service: cards written or found, [{"external_id": …, "connection_id": …, "hash": …}], and ids of cards removed. At most 5000 of each.

hash is the connection's snapshot_hash as it was read before writing, so that a change in between stays pending; without one the card is linked but not compared yet. A card known before is taken over, never doubled. False, and nothing is written, when the caller has no such service.$$;

-- MARK: Access

alter table sync_services enable row level security;
alter table sync_links enable row level security;

drop policy if exists sync_services_own on sync_services;
create policy sync_services_own on sync_services
    using (account_id = (select current_account_id()))
    with check (account_id = (select current_account_id()));

drop policy if exists sync_links_own on sync_links;
create policy sync_links_own on sync_links
    using (service_id in (select id from sync_services where account_id = (select current_account_id())))
    with check (service_id in (select id from sync_services where account_id = (select current_account_id())));

do $$
declare
    v_role text;
    v_function text;
    triggers constant text[] := array[
        'label_sync_service()', 'check_sync_service()', 'forget_circle_of_services()', 'check_sync_link()',
        'adopt_orphaned_links()'
    ];
    functions constant text[] := array[
        'sync_service_name(text)', 'sync_buckets(uuid)', 'connect_service(text, uuid, uuid[], boolean)',
        'disconnect_service(uuid)', 'record_sync(uuid, jsonb, text[])'
    ];
begin
    foreach v_function in array triggers || functions loop
        execute format('revoke execute on function %s from public', v_function);
    end loop;
    for v_role in select rolname from pg_roles where rolname in ('anon', 'authenticated') loop
        execute format('revoke all on sync_services, sync_links, sync_contacts from %I', v_role);
        foreach v_function in array triggers || functions loop
            execute format('revoke execute on function %s from %I', v_function, v_role);
        end loop;
    end loop;
    if exists (select from pg_roles where rolname = 'authenticated') then
        grant select, delete on sync_services, sync_links to authenticated;
        grant select on sync_contacts to authenticated;
        -- Neither label nor account: the server gives those.
        grant insert (provider, device_id, circle_ids, allow_delete) on sync_services to authenticated;
        grant update (device_id, circle_ids, allow_delete, last_sync_at) on sync_services to authenticated;
        grant insert (service_id, external_id, connection_id, synced_hash) on sync_links to authenticated;
        grant update (connection_id, synced_hash) on sync_links to authenticated;
        foreach v_function in array functions loop
            execute format('grant execute on function %s to authenticated', v_function);
        end loop;
    end if;
end
$$;
