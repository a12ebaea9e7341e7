-- The in-app list, marking it read, the operator's messages, and pruning.

do $$
begin
    perform set_config('search_path', format('%I, pg_temp', current_schema()), false);
end
$$;

-- What became of a contact's change, from the tables of the connected services if they are there.
create or replace function sync_status(p_connection_id uuid) returns jsonb
language plpgsql
stable
set search_path from current
as $$
declare
    v_status jsonb;
begin
    if to_regclass('sync_contacts') is null then
        return null;
    end if;
    select case
            when bool_or(contacts.bucket <> 'in_sync') then jsonb_build_object('state', 'waits_for_sync')
            when count(*) > 0 then
                jsonb_build_object('state', 'written', 'services', jsonb_agg(services.label order by services.label))
        end
    into v_status
    from sync_contacts contacts
        join sync_services services on services.id = contacts.service_id
    where contacts.connection_id = p_connection_id
        and contacts.bucket in ('to_add', 'to_update', 'to_link', 'in_sync');
    return v_status;
end
$$;

comment on function sync_status(uuid) is
    'What the list says below a contact update: {"state": "written", "services": ["Google"]} for “written to Google”, {"state": "waits_for_sync"}, or null when the contact is in no connected service.';

create or replace function notification_feed(
    p_limit integer default 50, p_before_created_at timestamptz default null, p_before_id uuid default null
) returns table (
    section text,
    id uuid,
    kind text,
    connection_id uuid,
    invitation_id uuid,
    invitation_state text,
    actor_name text,
    actor_pronoun text,
    categories text[],
    title text,
    body text,
    translations jsonb,
    created_at timestamptz,
    is_new boolean,
    is_gone boolean,
    sync jsonb,
    number_new integer
)
language sql
stable
security definer
set search_path from current
as $$
    with needing as (
        select notifications.id
        from invitations
            join notifications on notifications.invitation_id = invitations.id
                and notifications.account_id = invitations.to_account_id
                and notifications.kind = 'invitation_received'
        where invitations.to_account_id = current_account_id() and invitations.state = 'pending'
    ), listed as (
        select 'needs_you' as section, notifications.*
        from notifications
        where notifications.id in (select needing.id from needing)
            and p_before_created_at is null
        union all (
            select 'updates', notifications.*
            from notifications
            where notifications.account_id = current_account_id()
                and notifications.id not in (select needing.id from needing)
                and (
                    p_before_created_at is null
                    or (notifications.created_at, notifications.id) < (p_before_created_at, p_before_id)
                )
            order by notifications.created_at desc, notifications.id desc
            limit least(greatest(coalesce(p_limit, 50), 1), 200)
        )
    )
    select listed.section, listed.id, listed.kind, listed.connection_id, listed.invitation_id, invitations.state,
        listed.actor_name, listed.actor_pronoun, listed.categories, listed.title, listed.body, listed.translations,
        listed.created_at,
        listed.read_at is null and listed.ignored_at is null,
        case listed.kind
            when 'invitation_received' then invitations.id is null
            when 'system' then false
            else connections.id is null
        end,
        case when listed.kind = 'contact_updated' and connections.id is not null then sync_status(connections.id) end,
        (
            select count(*)::integer
            from notifications unread
            where unread.account_id = current_account_id()
                and unread.read_at is null
                and unread.ignored_at is null
                and (unread.id in (select needing.id from needing)) = (listed.section = 'needs_you')
        )
    from listed
        left join invitations on invitations.id = listed.invitation_id
            and invitations.to_account_id = current_account_id()
        left join connections on connections.id = listed.connection_id
            and connections.account_id = current_account_id()
    order by listed.section, listed.created_at desc, listed.id desc
$$;

comment on function notification_feed(integer, timestamptz, uuid) is
$$The list of the one who is signed in: first “needs_you”, the received invitations neither answered nor ignored, then “updates”, the rest, both newest first. number_new is how many of its section are new, on this page or not.

A page has p_limit updates, 200 at most; the next page is asked for with created_at and id of the last update, and has no “needs_you”. is_gone: the person has ended the connection, withdrawn the invitation or deleted the profile, and nothing can be opened. sync is what became of a contact update, see sync_status.$$;

create or replace function unread_count() returns integer
language sql
stable
set search_path from current
as $$
    select count(*)::integer
    from notifications
    where account_id = current_account_id() and read_at is null and ignored_at is null
$$;

comment on function unread_count() is 'The bell and the badge of the one who is signed in.';

create or replace function mark_read(p_notification_id uuid) returns boolean
language sql
volatile
security definer
set search_path from current
as $$
    select mark_read(signed_in_account(), p_notification_id)
$$;

comment on function mark_read(uuid) is 'Marks one notification of the one who is signed in as read; true the first time.';

create or replace function mark_all_read() returns integer
language sql
volatile
security definer
set search_path from current
as $$
    select mark_all_read(signed_in_account())
$$;

comment on function mark_all_read() is
    'Marks all notifications of the one who is signed in as read; returns how many there were.';

-- MARK: For the operator and for a scheduled job

create or replace function send_system_message(
    p_translations jsonb,
    p_title text default null,
    p_body text default null,
    p_account_ids uuid[] default null
) returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    v_written bigint;
begin
    if p_translations is null and p_title is null and p_body is null then
        raise exception 'a system notification needs its words: a title, a body or translations'
            using errcode = 'invalid_parameter_value';
    end if;
    insert into notifications (account_id, kind, title, body, translations)
    select id, 'system', p_title, p_body, p_translations
    from (
        -- Locked as the foreign key will, so that an account that is being deleted is waited for and left out.
        select id from accounts where p_account_ids is null or id = any (p_account_ids) for key share
    ) reached;
    get diagnostics v_written = row_count;
    return v_written;
end
$$;

comment on function send_system_message(jsonb, text, text, uuid[]) is
    'Writes an operator''s message to these accounts, or to all of them; returns to how many.';

create or replace function prune_notifications(p_older_than interval default '90 days') returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    v_pruned bigint;
begin
    if p_older_than is null or p_older_than < interval '1 day' then
        raise exception 'at least one day is kept' using errcode = 'invalid_parameter_value';
    end if;
    delete from notifications where created_at < now() - p_older_than;
    get diagnostics v_pruned = row_count;
    return v_pruned;
end
$$;

comment on function prune_notifications(interval) is
    'Deletes notifications that are older, read or not; returns how many. For a job that runs every night.';
