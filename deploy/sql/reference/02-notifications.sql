-- Writing, counting and reading notifications.
--
-- The functions run with the rights of their caller and find the tables they were created beside, whatever the caller's
-- search_path is: for the rest of this session it is their schema alone, temporary tables last, and they keep that. (A
-- temporary table of one of these names would be found first otherwise, also by functions with their owner's rights that
-- call these.)

do $$
begin
    perform set_config('search_path', format('%I, pg_temp', current_schema()), false);
end
$$;

create or replace function insert_notification(
    p_account_id uuid,
    p_kind text,
    p_connection_id uuid default null,
    p_actor_name text default null,
    p_actor_pronoun text default null,
    p_categories text[] default null,
    p_title text default null,
    p_body text default null,
    p_translations jsonb default null
) returns uuid
language plpgsql
volatile
set search_path from current
as $$
declare
    kinds constant text[] :=
        array['invitation_received', 'invitation_accepted', 'contact_updated', 'circle_changed', 'system'];
    coalescing constant text[] := array['contact_updated', 'circle_changed'];
    v_id uuid;
begin
    if p_kind is null or p_kind <> all (kinds) then
        raise exception 'unknown notification kind: %', coalesce(quote_literal(left(p_kind, 64)), 'null')
            using errcode = 'invalid_parameter_value', hint = 'one of ' || array_to_string(kinds, ', ');
    end if;
    if p_kind = 'system' and p_title is null and p_body is null and p_translations is null then
        raise exception 'a system notification needs its words: a title, a body or translations'
            using errcode = 'invalid_parameter_value';
    end if;

    -- Without a connection there is nothing that an earlier row could say the same of.
    if p_kind = any (coalescing) and p_connection_id is not null then
        -- Two sessions that find no unread row would both insert one. So whoever comes second waits here until the
        -- first has committed, and then finds its row: in read committed, PostgreSQL's default, each statement below
        -- sees what was committed before it. (A unique index cannot do this: it would also refuse rows that are
        -- written without this function, in the middle of somebody's transaction.)
        perform pg_advisory_xact_lock(
            hashtextextended(concat_ws(' ', 'insert_notification', p_account_id, p_kind, p_connection_id), 0)
        );
        perform from notifications
        where account_id = p_account_id
            and kind = p_kind
            and connection_id = p_connection_id
            and read_at is null
            and ignored_at is null;
        if found then
            return null;
        end if;
    end if;

    insert into notifications
        (account_id, kind, connection_id, actor_name, actor_pronoun, categories, title, body, translations)
    values (
        p_account_id, p_kind, p_connection_id, p_actor_name, p_actor_pronoun, p_categories,
        -- Kept for system alone, so that no value of a detail can enter by this way.
        case when p_kind = 'system' then p_title end,
        case when p_kind = 'system' then p_body end,
        case when p_kind = 'system' then p_translations end
    )
    returning id into v_id;
    return v_id;
end
$$;

comment on function insert_notification(uuid, text, uuid, text, text, text[], text, text, jsonb) is
$$Writes a notification and returns its id.

Returns null, and writes nothing, when an unread contact_updated or circle_changed of the same account and connection is there already: it says the same. However many sessions call at once, one unread row is left.

A lock on account, kind and connection is held until the transaction ends. A transaction that tells many accounts should call in the order of account_id and connection_id, or two of them can block each other (40P01, try again), and should commit every thousand calls or so.

In a repeatable read transaction the check sees the snapshot of its start only; what slips through is coalesced by the worker, which pushes the earliest of several unread rows.$$;

create or replace function unread_count(p_account_id uuid) returns integer
language sql
stable
set search_path from current
as $$
    select count(*)::integer
    from notifications
    where account_id = p_account_id and read_at is null and ignored_at is null
$$;

comment on function unread_count(uuid) is
    'What the bell and the badge show: notifications neither read nor ignored.';

create or replace function mark_read(p_account_id uuid, p_notification_id uuid) returns boolean
language sql
volatile
set search_path from current
as $$
    with marked as (
        update notifications
        set read_at = now()
        where id = p_notification_id and account_id = p_account_id and read_at is null
        returning id
    )
    select exists (select from marked)
$$;

comment on function mark_read(uuid, uuid) is
    'Marks one notification of the account as read. True the first time; false, and nothing changes, when it was read before, is gone, or is another account''s.';

create or replace function mark_all_read(p_account_id uuid) returns integer
language sql
volatile
set search_path from current
as $$
    with marked as (
        update notifications
        set read_at = now()
        where account_id = p_account_id and read_at is null
        returning id
    )
    select count(*)::integer from marked
$$;

comment on function mark_all_read(uuid) is
    'Marks every unread notification of the account as read; returns how many there were.';

create or replace function ignore_notification(p_account_id uuid, p_notification_id uuid) returns boolean
language sql
volatile
set search_path from current
as $$
    with ignored as (
        update notifications
        set ignored_at = now()
        where id = p_notification_id
            and account_id = p_account_id
            and kind = 'invitation_received'
            and ignored_at is null
        returning id
    )
    select exists (select from ignored)
$$;

comment on function ignore_notification(uuid, uuid) is
    'Sets a received invitation aside: it counts neither for the bell nor for the badge, and a push not yet sent is cancelled. True the first time; false for other kinds, other accounts'' rows, and invitations ignored before.';
