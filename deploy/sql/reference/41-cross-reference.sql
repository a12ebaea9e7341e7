-- Who of the people in my phone's address book is here? The phone asks with hashes of e-mail addresses and numbers.
--
-- Apply after 10-people.sql, as that file says. It may be applied again.

do $$
begin
    perform set_config('search_path', format('%I, pg_temp', current_schema()), false);
end
$$;

-- MARK: Tokens

create or replace function normalized_address(p_category text, p_value text) returns text
language plpgsql
immutable
strict
parallel safe
set search_path from current
as $$
declare
    -- ICU's root collation, so that the answer depends neither on the database's locale nor on a language.
    v_value text := regexp_replace(p_value collate "und-x-icu", '^\s+|\s+$', '', 'g');
begin
    if p_category = 'phone' then
        return substring(v_value from '^\+[1-9][0-9]{6,14}$');
    end if;
    if p_category = 'email' then
        -- ICU writes a capital sigma at the end of a word as ς, Swift as σ: σ it is.
        v_value := lower(replace(normalize(v_value, nfc), 'Σ', 'σ') collate "und-x-icu");
        if length(v_value) <= 320 and v_value collate "und-x-icu" ~ '^[^@\s]+@[^@\s]+$' then
            return v_value;
        end if;
    end if;
    return null;
end
$$;

comment on function normalized_address(text, text) is
    'The one form of an address, category email or phone, that its token is made of; null for what is none. The rules are in Tests/Fixtures/cross-reference-vectors.json.';

create or replace function search_token(p_category text, p_value text) returns text
language plpgsql
immutable
strict
parallel safe
cost 1000
set search_path from current
as $$
begin
    return encode(sha256(convert_to(normalized_address(p_category, p_value), 'UTF8')), 'hex');
end
$$;

comment on function search_token(text, text) is
    'SHA-256, in hexadecimal digits, of the normalized address; null for what is none.';

-- Unsalted, since every phone has to come to the same token. It hides an address from a glance, not from who tries all
-- numbers of a country: that the limits below do. Tokens asked for are not stored.
create index if not exists details_search_token on details (search_token(category, value #>> '{}'))
    where verified_at is not null and category in ('email', 'phone');

-- MARK: Limits

create table if not exists call_limits (
    account_id uuid not null references accounts (id) on delete cascade,
    action text not null,
    called_at timestamptz[] not null,
    primary key (account_id, action)
);

comment on table call_limits is 'When an account last called a function that it may call only so often.';

create or replace function count_call(p_account_id uuid, p_action text, p_most integer, p_within interval)
returns integer
language plpgsql
volatile
set search_path from current
as $$
declare
    v_wait integer;
begin
    -- One statement: of calls that come at once each waits for the one before and counts it.
    insert into call_limits as calls (account_id, action, called_at)
    values (p_account_id, p_action, array[clock_timestamp()])
    on conflict (account_id, action) do update
    set called_at = array(
        select counted.at from unnest(calls.called_at) counted (at) where counted.at > clock_timestamp() - p_within
    ) || clock_timestamp()
    where p_most > (
        select count(*) from unnest(calls.called_at) counted (at) where counted.at > clock_timestamp() - p_within
    );
    if found then
        return 0;
    end if;
    select ceil(extract(epoch from min(counted.at) + p_within - clock_timestamp())) into v_wait
    from call_limits calls, unnest(calls.called_at) counted (at)
    where calls.account_id = p_account_id and calls.action = p_action and counted.at > clock_timestamp() - p_within;
    return greatest(coalesce(v_wait, 1), 1);
end
$$;

comment on function count_call(uuid, text, integer, interval) is
    'Counts a call and returns 0, if fewer than p_most were counted in the time p_within before; else counts nothing and returns the seconds to wait. Takes back its count when the transaction is rolled back.';

-- MARK: Asking

-- One value, not a set of rows. A count that is rolled back counts nothing, and over a set an interface such as
-- PostgREST lets its caller do just that after a look: by asking for "a single row" it tells how many rows there were,
-- by a cast of a column what was in them, and both undo the call.
create or replace function cross_reference(p_tokens text[]) returns jsonb
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account_id constant uuid := current_account_id();
    v_wait integer;
    v_found jsonb;
begin
    if v_account_id is null then
        raise exception 'nobody is signed in' using errcode = 'insufficient_privilege';
    end if;
    if cardinality(p_tokens) > 200 then
        raise exception 'at most 200 tokens a call' using errcode = 'invalid_parameter_value';
    end if;
    v_wait := count_call(v_account_id, 'cross_reference', 30, interval '1 hour');
    if v_wait > 0 then
        -- PostgREST answers PT429 with the status 429.
        raise exception 'at most 30 calls an hour'
            using errcode = 'PT429', detail = format('retry after %s seconds', v_wait);
    end if;

    select jsonb_agg(jsonb_build_object('token', found.token, 'profile_id', found.profile_id)
        order by found.token, found.profile_id)
    into v_found
    from (
        select distinct asked.token, profile.id as profile_id
        from (select distinct unnest(p_tokens) as token) asked
        -- One look into the index for each token. Left to choose, the planner may hash every address there is.
        cross join lateral (
            select detail.profile_id
            from details detail
            where search_token(detail.category, detail.value #>> '{}') = asked.token
                and detail.verified_at is not null
                and detail.category in ('email', 'phone')
            limit 100
        ) detail
        join profiles profile on profile.id = detail.profile_id
        where profile.account_id <> v_account_id
            and not exists (
                select from blocks
                where (account_id, blocked_account_id)
                    in ((profile.account_id, v_account_id), (v_account_id, profile.account_id))
            )
    ) found;
    return coalesce(v_found, '[]');
end
$$;

comment on function cross_reference(text[]) is
$$Which of these tokens are the e-mail address or phone number of somebody here: [{"token": …, "profile_id": …}], ordered, every pair once.

At most 200 tokens a call (22023) and 30 calls an hour for an account (PT429, the seconds to wait in the detail). Found are verified addresses only, of other accounts, on whichever profile; nobody who blocked the caller or whom the caller blocked. Nothing is said of a token that is not found.$$;

-- MARK: Access

alter table call_limits enable row level security;

do $$
declare
    v_role text;
    v_function text;
    functions constant text[] := array[
        'normalized_address(text, text)', 'search_token(text, text)', 'count_call(uuid, text, integer, interval)',
        'cross_reference(text[])'
    ];
begin
    foreach v_function in array functions loop
        execute format('revoke execute on function %s from public', v_function);
    end loop;
    for v_role in select rolname from pg_roles where rolname in ('anon', 'authenticated') loop
        execute format('revoke all on call_limits from %I', v_role);
        foreach v_function in array functions loop
            execute format('revoke execute on function %s from %I', v_function, v_role);
        end loop;
    end loop;
    if exists (select from pg_roles where rolname = 'authenticated') then
        grant execute on function cross_reference(text[]) to authenticated;
    end if;
end
$$;
