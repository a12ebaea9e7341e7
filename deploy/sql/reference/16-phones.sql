-- The phones of the one who is signed in: registered when the person permits notifications and at every start of the
-- app, moved when somebody else signs in on the phone, removed on sign-out.

do $$
begin
    perform set_config('search_path', format('%I, pg_temp', current_schema()), false);
end
$$;

create or replace function register_phone(
    p_platform text,
    p_push_token text,
    p_locale text default 'en',
    p_apns_environment text default 'production',
    p_push_target text default 'token'
) returns uuid
language sql
volatile
security definer
set search_path from current
as $$
    select register_device(
        signed_in_account(), p_platform, p_push_token, p_locale, p_apns_environment, p_push_target)
$$;

comment on function register_phone(text, text, text, text, text) is
    'register_device for the one who is signed in. A phone that somebody else was signed in on moves, and is a new device.';

create or replace function phone_of(p_account_id uuid, p_push_token text) returns uuid
language sql
stable
set search_path from current
as $$
    select id from devices
    where account_id = p_account_id
        and push_token in (btrim(p_push_token, E' \t\r\n'), lower(regexp_replace(p_push_token, '[\s<>]', '', 'g')))
$$;

comment on function phone_of(uuid, text) is
    'The device of an account with that token, spelled in any of the ways that register_device takes.';

create or replace function set_phone_locale(p_push_token text, p_locale text) returns boolean
language plpgsql
volatile
security definer
set search_path from current
as $$
begin
    update devices set locale = coalesce(nullif(btrim(p_locale), ''), 'en')
    where id = phone_of(signed_in_account(), p_push_token);
    return found;
end
$$;

comment on function set_phone_locale(text, text) is
    'Keeps a phone''s language current. False when the one who is signed in has no phone with that token.';

create or replace function remove_phone(p_push_token text) returns boolean
language plpgsql
volatile
security definer
set search_path from current
as $$
begin
    delete from devices where id = phone_of(signed_in_account(), p_push_token);
    return found;
end
$$;

comment on function remove_phone(text) is
    'For sign-out: nothing more is pushed to this phone, and a push not yet sent is cancelled. False when the one who is signed in has no phone with that token.';
