-- Circles, and moving people between them.

do $$
begin
    perform set_config('search_path', format('%I, pg_temp', current_schema()), false);
end
$$;

create or replace function create_circle(p_name text, p_send_updates boolean default true) returns uuid
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
    v_circle uuid;
begin
    perform check_circle_name(p_name);
    perform lock_accounts(v_account);
    insert into circles (account_id, name, send_updates, position)
    select v_account, btrim(p_name), coalesce(p_send_updates, true), coalesce(max(position), 0) + 1
    from circles
    where account_id = v_account
    having count(*) < 100
    returning id into v_circle;
    if v_circle is null then
        raise exception 'an account has 100 circles at most' using errcode = 'invalid_parameter_value';
    end if;
    return v_circle;
end
$$;

comment on function create_circle(text, boolean) is
    'Makes a circle, as the last one. 23505 when there is one of that name.';

create or replace function check_circle_name(p_name text) returns void
language plpgsql
immutable
set search_path from current
as $$
begin
    -- Here as well as on the table, whose check prints the whole row into the log.
    if p_name is null or length(btrim(p_name)) not between 1 and 100 then
        raise exception 'a circle''s name has 1 to 100 characters' using errcode = 'invalid_parameter_value';
    end if;
end
$$;

comment on function check_circle_name(text) is 'Refuses an empty name and one of more than 100 characters.';

create or replace function update_circle(
    p_circle_id uuid,
    p_name text default null,
    p_send_updates boolean default null,
    p_position integer default null
) returns void
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
begin
    if p_name is not null then
        perform check_circle_name(p_name);
    end if;
    perform own_circle(v_account, p_circle_id);
    update circles
    set name = coalesce(btrim(p_name), name),
        send_updates = coalesce(p_send_updates, send_updates),
        position = coalesce(p_position, position)
    where id = p_circle_id and account_id = v_account;
end
$$;

comment on function update_circle(uuid, text, boolean, integer) is
    'Renames a circle, turns “Send me updates about people in this circle” on or off, moves it in the list; what is null stays.';

create or replace function delete_circle(p_circle_id uuid) returns void
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
begin
    perform lock_accounts(v_account);
    perform own_circle(v_account, p_circle_id);
    if exists (select from connections where circle_id = p_circle_id) then
        raise exception 'somebody is in this circle: move everybody to another one first'
            using errcode = 'foreign_key_violation';
    end if;
    if not exists (select from circles where account_id = v_account and id <> p_circle_id) then
        raise exception 'an account keeps one circle at least' using errcode = 'invalid_parameter_value';
    end if;
    delete from circles where id = p_circle_id;
end
$$;

comment on function delete_circle(uuid) is
    'Deletes a circle that nobody is in. So nobody''s view changes; an invitation that named it uses the first circle.';

create or replace function move_connection(p_connection_id uuid, p_circle_id uuid) returns boolean
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
begin
    perform own_circle(v_account, p_circle_id);
    perform lock_accounts(v_account, (
        select profiles.account_id
        from connections join profiles on profiles.id = connections.profile_id
        where connections.id = p_connection_id and connections.account_id = v_account
    ));
    update connections
    set circle_id = p_circle_id
    where id = p_connection_id and account_id = v_account and circle_id <> p_circle_id;
    if not found then
        return false;
    end if;
    insert into notifications (account_id, kind, connection_id, profile_id, actor_name, actor_pronoun)
    select seen.account_id, 'circle_changed', seen.id, seen.profile_id, default_name(seen.profile_id), profiles.pronoun
    from refresh_hashes(array(select id from connections where peer_connection_id = p_connection_id)) changed (id)
        join connections seen on seen.id = changed.id
        join profiles on profiles.id = seen.profile_id
    where not exists (
        select from notifications unread
        where unread.account_id = seen.account_id
            and unread.kind = 'circle_changed'
            and unread.connection_id = seen.id
            and unread.read_at is null
            and unread.ignored_at is null
    );
    return true;
end
$$;

comment on function move_connection(uuid, uuid) is
    'Moves a contact to another circle of one''s own. If what the contact sees changes by it, it is told (circle_changed, one unread at a time). False when it was there already, or there is no such contact.';

create or replace function refresh_hashes(p_connection_ids uuid[]) returns setof uuid
language sql
volatile
set search_path from current
as $$
    update connections
    set snapshot_hash = renewed.hash
    from (
        select seen.id, snapshot_hash(circle_views(seen.profile_id) -> peer.circle_id::text) as hash
        from connections seen join connections peer on peer.id = seen.peer_connection_id
        where seen.id = any (p_connection_ids)
    ) renewed
    where connections.id = renewed.id and connections.snapshot_hash is distinct from renewed.hash
    returning connections.id
$$;

comment on function refresh_hashes(uuid[]) is
    'Computes what is seen at these connections; returns those where it has changed.';
