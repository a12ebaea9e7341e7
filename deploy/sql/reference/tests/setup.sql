-- The roles and the small vocabulary of the tests. Run by the superuser in a fresh database of a private server,
-- before the reference schema is applied.

-- As on Supabase: what the owner makes in `public` is granted to everybody who comes over HTTP.
create role anon nologin;
create role authenticated nologin;
create role reference_app login;
create role service_role nologin;
create role supabase_auth_admin nologin;
-- Over HTTP, every request comes in as this role, which has no rights but to become one of the two.
create role authenticator login noinherit;
grant anon, authenticated to authenticator;
alter default privileges in schema public grant all on tables to anon, authenticated;
alter default privileges in schema public grant all on functions to anon, authenticated;

create schema test;
grant usage on schema test to public;

create function test.equals(p_name text, p_actual anyelement, p_expected anyelement) returns text
language sql as $$
    select case
        when p_actual is not distinct from p_expected then 'ok      ' || p_name
        else format('not ok  %s: got %s, expected %s', p_name, coalesce(p_actual::text, 'null'),
            coalesce(p_expected::text, 'null'))
    end
$$;

-- The statement must fail with that SQLSTATE, and the message must not contain p_secret.
create function test.fails(p_name text, p_statement text, p_state text, p_secret text default null) returns text
language plpgsql as $$
declare
    v_message text;
    v_detail text;
    v_context text;
begin
    execute p_statement;
    return format('not ok  %s: no error', p_name);
exception when others then
    get stacked diagnostics v_message = message_text, v_detail = pg_exception_detail,
        v_context = pg_exception_context;
    if sqlstate <> p_state then
        return format('not ok  %s: %s %s', p_name, sqlstate, v_message);
    end if;
    -- The context repeats p_statement because of the execute above; a log shows what the function itself says.
    if p_secret is not null and position(p_secret in v_message || v_detail) > 0 then
        return format('not ok  %s: the message tells the secret', p_name);
    end if;
    return 'ok      ' || p_name;
end
$$;

-- The value of an expression for the account that is signed in; several rows are joined by commas.
create function test.as(p_account_id uuid, p_expression text) returns text
language plpgsql as $$
declare
    v_value text;
    v_before text := current_setting('request.jwt.claims', true);
begin
    perform set_config('request.jwt.claims', jsonb_build_object('sub', p_account_id, 'role', 'authenticated')::text, true);
    execute format('select string_agg(value::text, '','') from (select %s) rows (value)', p_expression) into v_value;
    perform set_config('request.jwt.claims', v_before, true);
    return v_value;
end
$$;

create function test.fails_as(
    p_account_id uuid, p_name text, p_expression text, p_state text, p_secret text default null
) returns text
language sql as $$
    select test.fails(p_name, format('select test.as(%L, %L)', p_account_id, p_expression), p_state, p_secret)
$$;

-- What an account has been told and has not read: "kind from categories", oldest first.
create function test.told(p_account_id uuid) returns text
language sql as $$
    select test.as(p_account_id, $told$
        concat_ws(' ', kind, actor_name, array_to_string(categories, '+')) from (
            select * from notifications where read_at is null and ignored_at is null order by created_at, id) unread
    $told$)
$$;

grant execute on all functions in schema test to public;
