-- The app side: the three tables the worker reads. PostgreSQL 15 or later, Supabase included.
--
-- Apply the numbered files in order, as the owner of the app's schema, with that schema first in search_path:
--     psql -v ON_ERROR_STOP=1 -f 01-tables.sql -f 02-notifications.sql -f 03-devices.sql -f 04-access.sql
-- Each may be applied again. Names are unqualified on purpose, so that the tables land in the schema of your choice
-- (PUSH_SOURCE_SCHEMA of the worker, default `public`).
--
-- The worker needs these columns and nothing else of an app: a view that has them serves as well. What the worker
-- itself stores is in the schema `push`, made by `push-fanout migrate`.

create table if not exists accounts (
    id uuid primary key default gen_random_uuid(),
    notify_invitations boolean not null default true,
    notify_contact_updates boolean not null default true,
    notify_circle_changes boolean not null default false
);

comment on table accounts is
    'Who is told. A switch that is off stops the push of its kinds; the notification is written all the same.';
comment on column accounts.notify_invitations is 'Pushes of invitation_received and invitation_accepted.';
comment on column accounts.notify_contact_updates is 'Pushes of contact_updated.';
comment on column accounts.notify_circle_changes is 'Pushes of circle_changed.';

create table if not exists devices (
    id uuid primary key default gen_random_uuid(),
    account_id uuid not null references accounts (id) on delete cascade,
    platform text not null,
    push_token text,
    push_target text not null default 'token',
    locale text not null default 'en',
    apns_environment text not null default 'production',
    push_token_updated_at timestamptz not null default now(),
    push_token_invalidated_at timestamptz,
    push_token_invalid_reason text,
    constraint devices_push_token_key unique (push_token),
    constraint devices_platform_known check (platform in ('ios', 'android')),
    constraint devices_push_target_known check (push_target in ('token', 'fid')),
    constraint devices_apns_environment_known check (apns_environment in ('production', 'development'))
);

create index if not exists devices_account on devices (account_id);

comment on table devices is 'One row for each installation of the app that may be pushed to.';
comment on column devices.push_token is
    'The address. One owner at a time: a token held by two accounts would show the pushes of one to the other.';
comment on column devices.push_target is 'Android: whether push_token is a registration token or an installation id.';
comment on column devices.locale is 'BCP 47 tag of the language the phone shows, such as nl-BE.';
comment on column devices.apns_environment is 'iOS: which of the two APNs hosts knows the token.';
comment on column devices.push_token_updated_at is
    'When the token was last registered: outlives an "unregistered" answer of a provider that is older.';
comment on column devices.push_token_invalidated_at is
    'Set by the worker when a provider says that the token is dead; cleared by register_device.';

-- No check on `kind`. The functions below write the five kinds and refuse any other; a check on the table would only
-- add that a new kind needs a table lock, in step with the release of the app. The worker decides `unknown_kind` for
-- a name it does not know, so the order in which app, database and worker learn of a new kind does not matter.
create table if not exists notifications (
    id uuid primary key default gen_random_uuid(),
    account_id uuid not null references accounts (id) on delete cascade,
    kind text not null,
    connection_id uuid,
    actor_name text,
    actor_pronoun text,
    categories text[],
    title text,
    body text,
    translations jsonb,
    created_at timestamptz not null default now(),
    read_at timestamptz,
    ignored_at timestamptz
);

-- The badge: counted for every push.
create index if not exists notifications_unread on notifications (account_id)
    where read_at is null and ignored_at is null;
-- Coalescing: is there an unread one that says the same?
create index if not exists notifications_coalescing on notifications (account_id, kind, connection_id)
    where read_at is null;
-- The worker's sweep looks at recent rows only.
create index if not exists notifications_created_at on notifications (created_at);

comment on table notifications is
    'What an account is told, in the app''s list and as a push. Never holds a detail''s value: categories name what changed.';
comment on column notifications.kind is
    'invitation_received, invitation_accepted, contact_updated, circle_changed or system.';
comment on column notifications.connection_id is 'Whom it is about: contact updates and circle changes coalesce by it.';
comment on column notifications.actor_name is 'Name of the other person, shown as it is.';
comment on column notifications.actor_pronoun is 'she, he; anything else is neutral.';
comment on column notifications.categories is 'What changed: name, phone, email, address, date, photo.';
comment on column notifications.title is 'Words of a system notification; other kinds get theirs from language files.';
comment on column notifications.translations is
    'Words of a system notification by language: {"nl": {"title": "…", "body": "…"}}; title and body are the fallback.';
comment on column notifications.ignored_at is
    'Set on an invitation its receiver chose to ignore: it stays unanswered, but no longer counts as unread.';
