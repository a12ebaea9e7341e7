-- Incico's side: people, what they keep about themselves, whom they share it with. Files 10 and up make the events that
-- notifications tell of; the worker depends on none of them.
--
-- Apply them after 01 to 04, in order, with the app's schema first in search_path, as the owner of that schema. Each may
-- be applied again. On Supabase: the SQL editor or a migration, as `postgres`.
--
-- Functions that run with their owner's rights must not find a table of that name in a schema that somebody else may
-- write to. So this session keeps the app's schema alone, temporary tables last, and every function keeps that.
do $$
begin
    perform set_config('search_path', format('%I, pg_temp', current_schema()), false);
end
$$;

-- Who is calling: what `auth.uid()` answers on Supabase, in plain PostgreSQL too.
create or replace function current_account_id() returns uuid
language sql
stable
set search_path from current
as $$
    select nullif(nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub', '')::uuid
$$;

comment on function current_account_id() is
    'The account that is signed in, from the setting request.jwt.claims of the session; null when nobody is.';

create table if not exists profiles (
    id uuid primary key default gen_random_uuid(),
    account_id uuid not null references accounts (id) on delete cascade,
    kind text not null default 'main',
    pronoun text,
    created_at timestamptz not null default now(),
    constraint profiles_kind_known check (kind in ('main', 'child', 'parent', 'partner', 'other')),
    constraint profiles_pronoun_known check (pronoun in ('she', 'he'))
);

create unique index if not exists profiles_main on profiles (account_id) where kind = 'main';
create index if not exists profiles_account on profiles (account_id);

comment on table profiles is 'Whom others see: an account''s main profile, and those it manages for somebody else.';
comment on column profiles.pronoun is 'she, he; null is neutral.';

create table if not exists circles (
    id uuid primary key default gen_random_uuid(),
    account_id uuid not null references accounts (id) on delete cascade,
    name text not null,
    seed text,
    send_updates boolean not null default true,
    position integer not null default 0,
    constraint circles_of_account unique (id, account_id),
    constraint circles_seed_known check (seed in ('family', 'friends', 'work')),
    constraint circles_name_length check (length(name) between 1 and 100)
);

create unique index if not exists circles_seed on circles (account_id, seed);
create unique index if not exists circles_name on circles (account_id, lower(name));

comment on table circles is 'How an account groups its connections: what is shared is shared with circles.';
comment on column circles.seed is 'Which of the three circles of a new account it is, whatever it is called now.';
comment on column circles.send_updates is
    '“Send me updates about people in this circle”: off, contact_updated of these people is not written.';

create table if not exists details (
    id uuid primary key default gen_random_uuid(),
    profile_id uuid not null references profiles (id) on delete cascade,
    category text not null,
    label text not null default '',
    value jsonb not null,
    is_default boolean not null default false,
    verified_at timestamptz,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    constraint details_category_known check (category in ('name', 'phone', 'email', 'address', 'date', 'photo')),
    constraint details_default_is_name check (not is_default or category = 'name'),
    constraint details_value_shape check (
        case
            when category in ('name', 'phone', 'email') then jsonb_typeof(value) = 'string'
            else jsonb_typeof(value) = 'object'
        end
    ),
    constraint details_size check (length(label) <= 100 and octet_length(value::text) <= 16384)
);

create unique index if not exists details_default_name on details (profile_id) where is_default;
create index if not exists details_profile on details (profile_id);

comment on table details is 'What a profile holds. Changed by the functions of 12-details.sql, which tell those who see it.';
comment on column details.value is
    'name, phone, email: a JSON string. date: {"year": 1990, "month": 5, "day": 12}, the year may be missing. address, photo: an object of the app''s choice.';
comment on column details.is_default is 'The one name that every connection sees, whatever its circles.';
comment on column details.verified_at is 'When a code sent to the address was given back; null after any change of the value.';

create table if not exists detail_circles (
    detail_id uuid not null references details (id) on delete cascade,
    circle_id uuid not null references circles (id) on delete cascade,
    part text not null default 'whole',
    needs text generated always as (case when part = 'year' then 'day' end) stored,
    primary key (detail_id, circle_id, part),
    constraint detail_circles_part_known check (part in ('whole', 'day', 'year')),
    -- Who may see the year may see the day: taking the day away takes the year along.
    constraint detail_circles_year_needs_day foreign key (detail_id, circle_id, needs)
        references detail_circles (detail_id, circle_id, part) on delete cascade
);

create index if not exists detail_circles_circle on detail_circles (circle_id);

comment on table detail_circles is 'Which circles see a detail.';
comment on column detail_circles.part is 'A date is shared in two parts, day (and month) and year; all else as a whole.';

create table if not exists connections (
    id uuid primary key default gen_random_uuid(),
    account_id uuid not null references accounts (id) on delete cascade,
    profile_id uuid not null references profiles (id) on delete cascade,
    circle_id uuid not null,
    peer_connection_id uuid,
    snapshot_hash text,
    created_at timestamptz not null default now(),
    constraint connections_profile_once unique (account_id, profile_id),
    constraint connections_circle foreign key (circle_id, account_id) references circles (id, account_id),
    -- Who is no longer held in the other's list no longer sees the other: one ending ends both.
    constraint connections_peer foreign key (peer_connection_id) references connections (id) on delete cascade
-- One change renews the hash of all who see it: with room on the page, no index is touched by that.
) with (fillfactor = 70);

create index if not exists connections_profile on connections (profile_id);
create index if not exists connections_in_circle on connections (circle_id);
create index if not exists connections_peer on connections (peer_connection_id);

comment on table connections is 'An account''s list of contacts: one row for each profile it sees.';
comment on column connections.account_id is 'In whose list it is.';
comment on column connections.profile_id is 'Who is seen.';
comment on column connections.circle_id is 'The circle of account_id''s that holds this connection.';
comment on column connections.peer_connection_id is
    'The connection the other way round: its circle decides what of profile_id is seen here; without one only the default name is.';
comment on column connections.snapshot_hash is 'Hash of what is seen here now. Changes exactly when the view changes.';

create table if not exists invitations (
    id uuid primary key default gen_random_uuid(),
    from_account_id uuid not null references accounts (id) on delete cascade,
    to_account_id uuid not null references accounts (id) on delete cascade,
    profile_id uuid not null references profiles (id) on delete cascade,
    to_profile_id uuid not null references profiles (id) on delete cascade,
    circle_id uuid references circles (id) on delete set null,
    state text not null default 'pending',
    created_at timestamptz not null default now(),
    answered_at timestamptz,
    constraint invitations_state_known check (state in ('pending', 'accepted', 'ignored', 'cancelled')),
    constraint invitations_other check (from_account_id <> to_account_id)
);

-- An ignored invitation is still open: its sender cannot tell it from one that was not answered.
create unique index if not exists invitations_open on invitations (from_account_id, profile_id, to_profile_id)
    where state in ('pending', 'ignored');
create index if not exists invitations_from on invitations (from_account_id);
create index if not exists invitations_to on invitations (to_account_id);
create index if not exists invitations_profile on invitations (profile_id);
create index if not exists invitations_to_profile on invitations (to_profile_id);
create index if not exists invitations_circle on invitations (circle_id);

comment on table invitations is 'Who asked whom to connect.';
comment on column invitations.profile_id is 'The profile that the one who is invited will see.';
comment on column invitations.to_profile_id is 'The profile that will be seen in return.';
comment on column invitations.circle_id is 'The circle of from_account_id''s that will hold the new connection.';

create table if not exists blocks (
    account_id uuid not null references accounts (id) on delete cascade,
    blocked_account_id uuid not null references accounts (id) on delete cascade,
    created_at timestamptz not null default now(),
    primary key (account_id, blocked_account_id),
    constraint blocks_other check (account_id <> blocked_account_id)
);

create index if not exists blocks_blocked on blocks (blocked_account_id);

comment on table blocks is 'Whose invitations never arrive; their sender is not told.';

-- Without foreign keys: a notification outlives what it is about, and says so.
alter table notifications add column if not exists invitation_id uuid;
alter table notifications add column if not exists profile_id uuid;

comment on column notifications.invitation_id is 'Which invitation an invitation_received or invitation_accepted is about.';
comment on column notifications.profile_id is 'Whose profile it is about.';

create index if not exists notifications_invitation on notifications (invitation_id) where invitation_id is not null;
-- The in-app list.
create index if not exists notifications_feed on notifications (account_id, created_at desc, id desc);

do $$
begin
    if not exists (
        select from pg_constraint
        where conrelid = 'notifications'::regclass and conname = 'notifications_endings_untold'
    ) then
        alter table notifications add constraint notifications_endings_untold check (kind <> 'contact_removed');
    end if;
end
$$;

comment on constraint notifications_endings_untold on notifications is
    'Whoever ends a connection tells nobody. A kind that is merely unknown is left to the worker, as 01-tables.sql says.';

-- Closed until 90-access.sql opens what people may read. On Supabase a new table of `public` is open to the internet.
alter table accounts enable row level security;
alter table devices enable row level security;
alter table notifications enable row level security;
alter table profiles enable row level security;
alter table circles enable row level security;
alter table details enable row level security;
alter table detail_circles enable row level security;
alter table connections enable row level security;
alter table invitations enable row level security;
alter table blocks enable row level security;
