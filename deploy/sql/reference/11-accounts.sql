-- Accounts and profiles, and the small functions that all others begin with.
--
-- Who locks what, in all files from here: whatever changes what others see of an account locks that account's row first,
-- and whatever happens between two people locks both rows, in the order of their ids. So views, hashes and unread
-- notifications of one connection are never worked on by two sessions at once, and no two sessions wait for each other.
-- A transaction that calls several of these functions may still meet another one (40P01): try it again.

do $$
begin
    perform set_config('search_path', format('%I, pg_temp', current_schema()), false);
end
$$;

create or replace function signed_in_account() returns uuid
language plpgsql
stable
set search_path from current
as $$
declare
    v_account uuid := current_account_id();
begin
    if v_account is null then
        raise exception 'not signed in' using errcode = 'insufficient_privilege';
    end if;
    return v_account;
end
$$;

comment on function signed_in_account() is 'The account that is signed in; 42501 when nobody is.';

create or replace function lock_accounts(variadic p_account_ids uuid[]) returns void
language plpgsql
volatile
set search_path from current
as $$
begin
    -- Does not hold up those who only refer to an account, such as the insert of a notification.
    perform from accounts where id = any (p_account_ids) order by id for no key update;
end
$$;

comment on function lock_accounts(uuid[]) is 'Locks accounts in the order of their ids, until the transaction ends.';

create or replace function own_profile(p_account_id uuid, p_profile_id uuid) returns uuid
language plpgsql
stable
set search_path from current
as $$
declare
    v_profile uuid;
begin
    select id into v_profile from profiles
    where account_id = p_account_id and (id = p_profile_id or p_profile_id is null and kind = 'main');
    if v_profile is null then
        raise exception 'no such profile' using errcode = 'no_data_found';
    end if;
    return v_profile;
end
$$;

comment on function own_profile(uuid, uuid) is
    'A profile of the account, the main one for null; P0002 when it has none such, also when it is somebody else''s.';

create or replace function own_circle(p_account_id uuid, p_circle_id uuid) returns uuid
language plpgsql
stable
set search_path from current
as $$
begin
    if not exists (select from circles where id = p_circle_id and account_id = p_account_id) then
        raise exception 'no such circle' using errcode = 'no_data_found';
    end if;
    return p_circle_id;
end
$$;

comment on function own_circle(uuid, uuid) is
    'A circle of the account; P0002 when it has none such, also when it is somebody else''s.';

create or replace function default_name(p_profile_id uuid) returns text
language sql
stable
set search_path from current
as $$
    select value #>> '{}' from details where profile_id = p_profile_id and is_default
$$;

comment on function default_name(uuid) is 'The name that every connection of a profile sees.';

create or replace function check_pronoun(p_pronoun text) returns void
language plpgsql
immutable
set search_path from current
as $$
begin
    -- Here as well as on the table, whose check prints the whole row into the log.
    if p_pronoun not in ('she', 'he') then
        raise exception 'unknown pronoun: she, he or null expected' using errcode = 'invalid_parameter_value';
    end if;
end
$$;

comment on function check_pronoun(text) is 'Refuses what is no pronoun; null is one: neutral.';

create or replace function create_account(
    p_account_id uuid,
    p_name text default null,
    p_pronoun text default null,
    p_locale text default 'en'
) returns uuid
language plpgsql
volatile
set search_path from current
as $$
declare
    v_profile uuid;
begin
    perform check_pronoun(p_pronoun);
    insert into accounts (id) values (p_account_id) on conflict do nothing;
    perform lock_accounts(p_account_id);
    insert into profiles (account_id, kind, pronoun) values (p_account_id, 'main', p_pronoun)
    on conflict do nothing
    returning id into v_profile;
    if v_profile is null then
        -- Made before: nothing of it is changed, a circle that was deleted does not come back.
        return own_profile(p_account_id, null);
    end if;
    insert into circles (account_id, name, seed, position)
    select p_account_id, case when p_locale ~* '^nl(-|_|$)' then nl else en end, seed, position
    from (values
        ('family', 1, 'Family', 'Familie'), ('friends', 2, 'Friends', 'Vrienden'), ('work', 3, 'Work', 'Werk')
    ) seeds (seed, position, en, nl)
    on conflict do nothing;
    if p_name is not null then
        perform write_detail(p_account_id, v_profile, null, 'name', null, to_jsonb(p_name), true, null, null);
    end if;
    return v_profile;
end
$$;

comment on function create_account(uuid, text, text, text) is
    'Makes an account complete: its main profile, its default name if told, the circles Family, Friends and Work. Returns the main profile; called again, it changes nothing.';

create or replace function ensure_account(
    p_name text default null, p_pronoun text default null, p_locale text default 'en'
) returns uuid
language sql
volatile
security definer
set search_path from current
as $$
    select create_account(signed_in_account(), p_name, p_pronoun, p_locale)
$$;

comment on function ensure_account(text, text, text) is
    'create_account for the one who is signed in: the app calls it after every sign-in.';

create or replace function create_profile(p_kind text, p_name text, p_pronoun text default null) returns uuid
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
    v_profile uuid;
begin
    if p_kind is null or p_kind not in ('child', 'parent', 'partner', 'other') then
        raise exception 'unknown kind of profile: child, parent, partner or other expected'
            using errcode = 'invalid_parameter_value';
    end if;
    perform check_pronoun(p_pronoun);
    perform lock_accounts(v_account);
    insert into profiles (account_id, kind, pronoun) values (v_account, p_kind, p_pronoun) returning id into v_profile;
    perform write_detail(v_account, v_profile, null, 'name', null, to_jsonb(p_name), true, null, null);
    return v_profile;
end
$$;

comment on function create_profile(text, text, text) is
    'Makes a profile that the account manages for somebody else, with its default name.';

create or replace function set_pronoun(p_profile_id uuid, p_pronoun text) returns void
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_profile uuid := own_profile(signed_in_account(), p_profile_id);
begin
    perform check_pronoun(p_pronoun);
    update profiles set pronoun = p_pronoun where id = v_profile;
end
$$;

comment on function set_pronoun(uuid, text) is
    'she, he, or null for neutral; of the main profile when p_profile_id is null. Tells nobody: a pronoun is no detail.';
