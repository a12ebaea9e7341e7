-- Tokens, and asking who is here; run by the superuser, who prepares and looks.
\set vectors `cat ../../../../Tests/Fixtures/cross-reference-vectors.json`

-- The vectors that the phones are tested with
select test.equals(format('the token of %s %s: %s', v ->> 'category', v -> 'input', v ->> 'why'),
    row(normalized_address(v ->> 'category', v ->> 'input'), search_token(v ->> 'category', v ->> 'input'))::text,
    row(v ->> 'normalized', v ->> 'token')::text)
from jsonb_array_elements(:'vectors'::jsonb -> 'vectors') v;
select test.equals('there are vectors of both kinds, with and without a token',
    (select count(distinct (v ->> 'category', v ->> 'token' is null)) from jsonb_array_elements(:'vectors'::jsonb -> 'vectors') v),
    4::bigint);
select test.equals('other categories have no token', search_token('name', 'anna@example.com'), null::text);

select gen_random_uuid() as anna, gen_random_uuid() as bram, gen_random_uuid() as carla, gen_random_uuid() as dirk \gset
select create_account(:'anna', 'Anna') as anna_profile, create_account(:'bram', 'Bram') as bram_profile,
    create_account(:'carla', 'Carla') as carla_profile, create_account(:'dirk', 'Dirk') as dirk_profile \gset
insert into details (profile_id, category, value, verified_at) values
    (:'anna_profile', 'email', '"anna@example.com"', now()),
    (:'bram_profile', 'email', '"Bram@Example.com"', now()),
    (:'bram_profile', 'email', '"unverified@example.com"', null),
    (:'bram_profile', 'phone', '"+31612345678"', now()),
    (:'bram_profile', 'phone', '"+31600000000"', null),
    (:'carla_profile', 'email', '"family@example.com"', now()),
    (:'dirk_profile', 'email', '"family@example.com"', now());
select search_token('email', 'anna@example.com') as anna_token, search_token('email', 'bram@example.com') as bram_token,
    search_token('phone', '+31612345678') as bram_phone, search_token('email', 'family@example.com') as family_token,
    array[search_token('email', 'unverified@example.com'), search_token('phone', '+31600000000')] as unverified \gset

set role authenticated;
select set_config('request.jwt.claims', json_build_object('sub', :'anna')::text, false) as claims \gset
select test.equals('a token that matches is answered beside its profile',
    cross_reference(array[:'bram_token', repeat('0', 64)]),
    jsonb_build_array(jsonb_build_object('token', :'bram_token', 'profile_id', :'bram_profile')));
select test.equals('a number is found like an address',
    cross_reference(array[:'bram_phone']), jsonb_build_array(jsonb_build_object('token', :'bram_phone', 'profile_id', :'bram_profile')));
select test.equals('an address of two people answers both, once each',
    cross_reference(array[:'family_token', :'family_token']),
    (select jsonb_agg(jsonb_build_object('token', :'family_token', 'profile_id', id) order by id)
     from unnest(array[:'carla_profile', :'dirk_profile']::uuid[]) id));
select test.equals('what is not verified is not found', cross_reference(:'unverified'), '[]'::jsonb);
select test.equals('oneself is not found', cross_reference(array[:'anna_token']), '[]'::jsonb);
select test.equals('what is no token is not found', cross_reference(array['', null, 'bram@example.com', upper(:'bram_token')]), '[]'::jsonb);
select test.equals('nothing asked, nothing answered', cross_reference('{}'), '[]'::jsonb);
select test.equals('… nor of null', cross_reference(null), '[]'::jsonb);
reset role;
insert into blocks values (:'bram', :'anna');
set role authenticated;
select test.equals('who blocked the caller is not found', cross_reference(array[:'bram_token', :'bram_phone']), '[]'::jsonb);
reset role;
delete from blocks;
insert into blocks values (:'anna', :'bram');
set role authenticated;
select test.equals('whom the caller blocked is not found either', cross_reference(array[:'bram_token']), '[]'::jsonb);
reset role;
delete from blocks;
select test.equals('every call so far was counted', (select cardinality(called_at) from call_limits where account_id = :'anna'), 10);

-- Limits
set role authenticated;
select test.equals('200 tokens are answered',
    jsonb_array_length(cross_reference(array_append(array_fill('x'::text, array[199]), :'bram_token'))), 1);
select test.fails('201 tokens are refused', format('select cross_reference(array_fill(%L::text, array[201]))', :'bram_token'), '22023', :'bram_token');
select test.fails('… however they are arranged', format('select cross_reference(array_fill(%L::text, array[3, 67]))', :'bram_token'), '22023', :'bram_token');
reset role;
select test.equals('a call that is refused is not counted', (select cardinality(called_at) from call_limits where account_id = :'anna'), 11);
set role authenticated;
select count(cross_reference('{}')) as calls from generate_series(12, 29) \gset
select test.equals('the thirtieth call of an hour is answered', jsonb_array_length(cross_reference(array[:'bram_token'])), 1);
select test.fails('the one after is refused', format('select cross_reference(array[%L])', :'bram_token'), 'PT429', :'bram_token');
select set_config('request.jwt.claims', json_build_object('sub', :'carla')::text, false) as claims \gset
select test.equals('another account is not held up', jsonb_array_length(cross_reference(array[:'bram_token'])), 1);
reset role;
update call_limits set called_at[1] = called_at[1] - interval '59 minutes 59 seconds' where account_id = :'anna';
select test.equals('the time to wait is that of the first call', count_call(:'anna', 'cross_reference', 30, '1 hour') <= 1, true);
update call_limits set called_at[1] = called_at[1] - interval '1 second' where account_id = :'anna';
select set_config('request.jwt.claims', json_build_object('sub', :'anna')::text, false) as claims \gset
set role authenticated;
select test.equals('an hour after the first call there is room for one', jsonb_array_length(cross_reference(array[:'bram_token'])), 1);
select test.fails('… and not for two', format('select cross_reference(array[%L])', :'bram_token'), 'PT429', :'bram_token');
reset role;
select test.equals('no more than thirty times are kept', (select cardinality(called_at) from call_limits where account_id = :'anna'), 30);

-- Who may
set role authenticated;
select set_config('request.jwt.claims', '', false) as claims \gset
select test.fails('nobody signed in may ask', 'select cross_reference(''{}'')', '42501');
select test.fails('people do not read the limits', 'select * from call_limits', '42501');
select test.fails('… nor count calls of others', format('select count_call(%L, %L, 1, %L)', :'bram', 'cross_reference', '1 hour'), '42501');
select test.fails('… nor hash with the server', 'select search_token(''email'', ''anna@example.com'')', '42501');
set role anon;
select test.fails('anon may not ask', 'select cross_reference(''{}'')', '42501');
reset role;
select test.equals('what was asked is stored nowhere',
    (select array_agg(column_name || ' ' || data_type order by ordinal_position) from information_schema.columns
     where table_schema = current_schema() and table_name = 'call_limits'),
    array['account_id uuid', 'action text', 'called_at ARRAY']);
-- The index must serve, or a call reads all details of everybody.
create function pg_temp.plan(p_statement text) returns setof text language plpgsql as $$
begin
    return query execute 'explain ' || p_statement;
end
$$;
select test.equals('a token is looked up by the index', exists (
    select from pg_temp.plan($$select asked.token, detail.profile_id from (select distinct unnest(array['a', 'b']) as token) asked
        cross join lateral (select detail.profile_id from details detail
            where search_token(detail.category, detail.value #>> '{}') = asked.token
                and detail.verified_at is not null and detail.category in ('email', 'phone') limit 100) detail$$) line
    where line ~ 'Index Cond: .search_token'), true);
