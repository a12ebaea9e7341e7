-- Inviting, answering, and ending, of which nobody is told.

do $$
begin
    perform set_config('search_path', format('%I, pg_temp', current_schema()), false);
end
$$;

create or replace function send_invitation(
    p_to_profile_id uuid, p_circle_id uuid, p_profile_id uuid default null
) returns uuid
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
    v_profile uuid := own_profile(v_account, p_profile_id);
    v_to uuid;
    v_invitation uuid;
    v_blocked boolean;
begin
    perform own_circle(v_account, p_circle_id);
    select account_id into v_to from profiles where id = p_to_profile_id;
    perform lock_accounts(v_account, v_to);
    if not exists (select from profiles where id = p_to_profile_id and account_id = v_to) then
        raise exception 'no such profile' using errcode = 'no_data_found';
    end if;
    if v_to = v_account then
        raise exception 'that is your own profile' using errcode = 'invalid_parameter_value';
    end if;
    if exists (select from blocks where account_id = v_account and blocked_account_id = v_to) then
        raise exception 'you have blocked this person' using errcode = 'invalid_parameter_value';
    end if;
    if exists (select from connections where account_id = v_account and profile_id = p_to_profile_id)
        and exists (select from connections where account_id = v_to and profile_id = v_profile)
    then
        raise exception 'already connected' using errcode = 'unique_violation';
    end if;
    if exists (
        select from invitations
        where from_account_id = v_to and profile_id = p_to_profile_id and to_profile_id = v_profile
            and state in ('pending', 'ignored')
    ) then
        raise exception 'this person has invited you: accept that invitation' using errcode = 'unique_violation';
    end if;

    -- Sent twice it is one invitation, also when its receiver has set it aside.
    update invitations set circle_id = p_circle_id
    where from_account_id = v_account and profile_id = v_profile and to_profile_id = p_to_profile_id
        and state in ('pending', 'ignored')
    returning id into v_invitation;
    if found then
        return v_invitation;
    end if;

    -- To its sender, an invitation that does not arrive looks like one that is not answered.
    v_blocked := exists (select from blocks where account_id = v_to and blocked_account_id = v_account);
    insert into invitations (from_account_id, to_account_id, profile_id, to_profile_id, circle_id, state)
    values (v_account, v_to, v_profile, p_to_profile_id, p_circle_id,
        case when v_blocked then 'ignored' else 'pending' end)
    returning id into v_invitation;
    if not v_blocked then
        insert into notifications (account_id, kind, invitation_id, profile_id, actor_name, actor_pronoun)
        select v_to, 'invitation_received', v_invitation, id, default_name(id), pronoun
        from profiles
        where id = v_profile;
    end if;
    return v_invitation;
end
$$;

comment on function send_invitation(uuid, uuid, uuid) is
$$Invites the account of p_to_profile_id to connect; it will be held in one's circle p_circle_id and will see p_profile_id (the main profile when null). The account is told (invitation_received). Returns the invitation.

Sent again while open, it is the same invitation, and nobody is told twice.$$;

create or replace function accept_invitation(p_invitation_id uuid, p_circle_id uuid) returns uuid
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
    v_invitation invitations;
    v_mine uuid;
    v_theirs uuid;
begin
    perform own_circle(v_account, p_circle_id);
    perform lock_accounts(v_account, (
        select from_account_id from invitations where id = p_invitation_id and to_account_id = v_account
    ));
    select * into v_invitation from invitations
    where id = p_invitation_id and to_account_id = v_account
    for update;
    if not found then
        raise exception 'no such invitation' using errcode = 'no_data_found';
    end if;
    if v_invitation.state = 'cancelled' then
        raise exception 'the invitation was withdrawn' using errcode = 'no_data_found';
    end if;
    if exists (
        select from blocks where account_id = v_account and blocked_account_id = v_invitation.from_account_id
    ) then
        raise exception 'you have blocked this person' using errcode = 'invalid_parameter_value';
    end if;

    if v_invitation.state <> 'accepted' then
        insert into connections (account_id, profile_id, circle_id)
        values
            (v_account, v_invitation.profile_id, p_circle_id),
            (v_invitation.from_account_id, v_invitation.to_profile_id, coalesce(
                v_invitation.circle_id,
                (
                    select id from circles where account_id = v_invitation.from_account_id
                    order by position, id limit 1
                )
            ))
        on conflict (account_id, profile_id) do nothing;
        perform pair_connections(v_account, v_invitation.from_account_id);
        update invitations set state = 'accepted', answered_at = now() where id = p_invitation_id;
        update notifications set read_at = now()
        where invitation_id = p_invitation_id and account_id = v_account and read_at is null;
    end if;

    select id into v_mine from connections
    where account_id = v_account and profile_id = v_invitation.profile_id;
    if v_invitation.state <> 'accepted' then
        select id into v_theirs from connections
        where account_id = v_invitation.from_account_id and profile_id = v_invitation.to_profile_id;
        insert into notifications
            (account_id, kind, connection_id, invitation_id, profile_id, actor_name, actor_pronoun)
        select v_invitation.from_account_id, 'invitation_accepted', v_theirs, p_invitation_id, id, default_name(id),
            pronoun
        from profiles
        where id = v_invitation.to_profile_id;
    end if;
    return v_mine;
end
$$;

comment on function accept_invitation(uuid, uuid) is
    'Connects with the one who invited, who is held in one''s circle p_circle_id and is told (invitation_accepted). Returns one''s own connection. Accepted twice it is one connection, told once; an ignored invitation can be accepted still.';

create or replace function pair_connections(p_account_id uuid, p_other_account_id uuid) returns void
language plpgsql
volatile
set search_path from current
as $$
declare
    v_connections uuid[];
begin
    -- Whoever sees several profiles of an account is still held by it in one circle that counts: that of the connection
    -- to the main profile, else of the first one made.
    with pair as (
        select connections.id, connections.account_id, connections.created_at, profiles.kind
        from connections join profiles on profiles.id = connections.profile_id
        where connections.account_id = p_account_id and profiles.account_id = p_other_account_id
            or connections.account_id = p_other_account_id and profiles.account_id = p_account_id
    ), holding as (
        select distinct on (account_id) account_id, id
        from pair
        order by account_id, kind = 'main' desc, created_at, id
    ), paired as (
        update connections
        set peer_connection_id = holding.id
        from pair join holding on holding.account_id <> pair.account_id
        where connections.id = pair.id
        returning connections.id
    )
    select array_agg(id) into v_connections from paired;
    perform refresh_hashes(v_connections);
end
$$;

comment on function pair_connections(uuid, uuid) is
    'Finds the peers of all connections between two accounts, and what is seen at them. Tells nobody.';

create or replace function ignore_invitation(p_invitation_id uuid) returns boolean
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
begin
    update invitations set state = 'ignored'
    where id = p_invitation_id and to_account_id = v_account and state = 'pending';
    if not found then
        return false;
    end if;
    update notifications set ignored_at = now()
    where invitation_id = p_invitation_id and account_id = v_account and kind = 'invitation_received'
        and ignored_at is null;
    return true;
end
$$;

comment on function ignore_invitation(uuid) is
    'Sets a received invitation aside: it counts neither for the bell nor for the badge, a push not yet sent is cancelled, and its sender is not told. False when it is not pending.';

create or replace function cancel_invitation(p_invitation_id uuid) returns boolean
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
    v_withdrawn integer;
begin
    select withdraw_invitations(array_agg(id)) into v_withdrawn
    from (
        select id from invitations
        where id = p_invitation_id and from_account_id = v_account and state in ('pending', 'ignored')
        for update
    ) open;
    return v_withdrawn > 0;
end
$$;

comment on function cancel_invitation(uuid) is
    'Takes an invitation back: its notification goes if it was not read, and with it a push not yet sent. False when it is not open: answered, say.';

create or replace function withdraw_invitations(p_invitation_ids uuid[]) returns integer
language sql
volatile
set search_path from current
as $$
    with withdrawn as (
        update invitations set state = 'cancelled', answered_at = now()
        where id = any (p_invitation_ids) and state in ('pending', 'ignored')
        returning id, to_account_id
    ), unread as (
        delete from notifications
        using withdrawn
        where notifications.invitation_id = withdrawn.id
            and notifications.account_id = withdrawn.to_account_id
            and notifications.kind = 'invitation_received'
            and notifications.read_at is null
    )
    select count(*)::integer from withdrawn
$$;

comment on function withdraw_invitations(uuid[]) is
    'Cancels those of the invitations that are open and removes their notifications, except those that were read.';

create or replace function received_invitations()
returns table (invitation_id uuid, profile_id uuid, name text, state text, created_at timestamptz)
language sql
stable
security definer
set search_path from current
as $$
    select id, profile_id, default_name(profile_id), state, created_at
    from invitations
    where to_account_id = current_account_id() and state in ('pending', 'ignored')
    order by created_at desc, id
$$;

comment on function received_invitations() is 'The open invitations to the one who is signed in, ignored ones included.';

create or replace function sent_invitations()
returns table (invitation_id uuid, to_profile_id uuid, profile_id uuid, circle_id uuid, state text, created_at timestamptz)
language sql
stable
security definer
set search_path from current
as $$
    select id, to_profile_id, profile_id, circle_id, case when state = 'ignored' then 'pending' else state end, created_at
    from invitations
    where from_account_id = current_account_id() and state in ('pending', 'ignored')
    order by created_at desc, id
$$;

comment on function sent_invitations() is
    'The open invitations from the one who is signed in. That one was ignored, or never arrived, does not show.';

create or replace function contact_card(p_connection_id uuid)
returns table (category text, label text, value jsonb, is_default boolean)
language sql
stable
security definer
set search_path from current
as $$
    select visible.category, visible.label, visible.value, visible.is_default
    from connections
        join connections peer on peer.id = connections.peer_connection_id
        cross join visible_details(connections.profile_id) visible
    where connections.id = p_connection_id
        and connections.account_id = current_account_id()
        and visible.circle_id = peer.circle_id
    order by array_position(array['name', 'phone', 'email', 'address', 'date', 'photo'], visible.category),
        visible.is_default desc, visible.label, visible.value
$$;

comment on function contact_card(uuid) is 'What one sees of a contact: what it shares with the circle that one is in.';

-- MARK: Endings

create or replace function remove_connections(p_connection_ids uuid[]) returns integer
language plpgsql
volatile
set search_path from current
as $$
declare
    v_kept uuid[];
    v_removed integer;
begin
    -- Who loses sight of a managed profile, but not of its account, keeps holding that account.
    with kept as (
        update connections
        set peer_connection_id = other.id
        from connections removed
            join profiles on profiles.id = removed.profile_id and profiles.kind <> 'main'
            cross join lateral (
                select others.id
                from connections others join profiles other_profiles on other_profiles.id = others.profile_id
                where others.account_id = removed.account_id
                    and other_profiles.account_id = profiles.account_id
                    and others.id <> all (p_connection_ids)
                order by other_profiles.kind = 'main' desc, others.created_at, others.id
                limit 1
            ) other
        where removed.id = any (p_connection_ids) and connections.peer_connection_id = removed.id
        returning connections.id
    )
    select array_agg(id) into v_kept from kept;
    perform refresh_hashes(v_kept);
    -- Without such another one, the other side goes along by connections_peer.
    delete from connections where id = any (p_connection_ids);
    get diagnostics v_removed = row_count;
    return v_removed;
end
$$;

comment on function remove_connections(uuid[]) is
    'Deletes connections and, where nothing else is left between two accounts, the other side''s. Tells nobody.';

create or replace function end_connection(p_connection_id uuid) returns boolean
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
begin
    perform lock_accounts(v_account, (
        select profiles.account_id
        from connections join profiles on profiles.id = connections.profile_id
        where connections.id = p_connection_id and connections.account_id = v_account
    ));
    return remove_connections(array(
        select id from connections where id = p_connection_id and account_id = v_account)) > 0;
end
$$;

comment on function end_connection(uuid) is
    'Removes a contact; neither sees the other any more. Of several profiles of one person, removing a managed one leaves the others. Nobody is told. False when there is no such contact.';

create or replace function block(p_profile_id uuid) returns void
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
    v_other uuid;
begin
    select account_id into v_other from profiles where id = p_profile_id;
    perform lock_accounts(v_account, v_other);
    if v_other is null or v_other = v_account then
        raise exception 'no such profile' using errcode = 'no_data_found';
    end if;
    insert into blocks (account_id, blocked_account_id) values (v_account, v_other) on conflict do nothing;
    delete from connections
    using profiles
    where profiles.id = connections.profile_id
        and (
            connections.account_id = v_account and profiles.account_id = v_other
            or connections.account_id = v_other and profiles.account_id = v_account
        );
    perform withdraw_invitations(array(
        select id from invitations where from_account_id = v_account and to_account_id = v_other));
    -- Theirs stay as they were for them to see.
    update invitations set state = 'ignored'
    where from_account_id = v_other and to_account_id = v_account and state = 'pending';
    delete from notifications
    using invitations
    where invitations.id = notifications.invitation_id
        and invitations.from_account_id = v_other
        and notifications.account_id = v_account
        and notifications.kind = 'invitation_received'
        and notifications.read_at is null;
end
$$;

comment on function block(uuid) is
    'Ends all that is between one and the account of that profile, and lets no invitation from it arrive. It is not told.';

create or replace function unblock(p_profile_id uuid) returns boolean
language plpgsql
volatile
security definer
set search_path from current
as $$
begin
    delete from blocks
    using profiles
    where profiles.id = p_profile_id
        and blocks.blocked_account_id = profiles.account_id
        and blocks.account_id = signed_in_account();
    return found;
end
$$;

comment on function unblock(uuid) is 'Lets invitations of that profile''s account arrive again. True when it was blocked.';

create or replace function delete_managed_profile(p_profile_id uuid) returns void
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
    v_profile uuid := own_profile(v_account, p_profile_id);
begin
    if exists (select from profiles where id = v_profile and kind = 'main') then
        raise exception 'the main profile goes with the account only' using errcode = 'invalid_parameter_value';
    end if;
    perform lock_accounts(variadic array(
        select account_id from connections where profile_id = v_profile
        union
        select v_account
    ));
    perform withdraw_invitations(array(
        select id from invitations where profile_id = v_profile or to_profile_id = v_profile));
    perform remove_connections(array(select id from connections where profile_id = v_profile));
    delete from profiles where id = v_profile and account_id = v_account;
end
$$;

comment on function delete_managed_profile(uuid) is
    'Deletes a profile, its details and its connections. Nobody is told; open invitations are withdrawn.';

create or replace function delete_account() returns void
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
begin
    -- Everybody it is connected with, so that nobody is at work on a row that goes.
    perform lock_accounts(variadic array(
        select connections.account_id
        from connections join profiles on profiles.id = connections.profile_id
        where profiles.account_id = v_account
        union
        select v_account
    ));
    perform withdraw_invitations(array(select id from invitations where from_account_id = v_account));
    delete from connections
    using profiles
    where profiles.id = connections.profile_id
        and (connections.account_id = v_account or profiles.account_id = v_account);
    delete from accounts where id = v_account;
end
$$;

comment on function delete_account() is
    'Deletes the account of the one who is signed in, and all that is its. Nobody is told; open invitations are withdrawn. What was told before stays in others'' lists, which say that the person is gone.';
