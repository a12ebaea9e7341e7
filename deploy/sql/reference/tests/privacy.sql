-- What one account can find out about another, or change of it: nothing but what was shared. Tables and functions are
-- found in the catalog, so that a new one is tried too, and one that nobody thought of fails here. Run by the superuser.

-- MARK: What holds for every table, view and function

select test.equals(format('%s has row-level security', oid::regclass), relrowsecurity, true)
from pg_class
where relnamespace = 'public'::regnamespace and relkind in ('r', 'p');

select test.equals(format('%s is read with its reader''s rights', oid::regclass), 'security_invoker=true' = any (reloptions), true)
from pg_class
where relnamespace = 'public'::regnamespace and relkind in ('v', 'm');

select test.equals(format('who is not signed in may not %s %s', privilege, oid::regclass), has_table_privilege('anon', oid, privilege), false)
from pg_class, unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) privilege
where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm');

select test.equals(format('who is signed in may not %s %s', privilege, oid::regclass), has_table_privilege('authenticated', oid, privilege), false)
from pg_class, unnest(array['truncate', 'references', 'trigger']) privilege
where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm');

create view test.functions as
select oid, oid::regprocedure as signature, proname, proargtypes, proargnames, pronargs, prosecdef, proconfig, prorettype, proacl,
    pronamespace, has_function_privilege('authenticated', oid, 'execute') as for_people
from pg_proc
where pronamespace = 'public'::regnamespace and prokind = 'f'
    and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e');

select test.equals(format('%s is not everybody''s to call', signature), exists (
    select from aclexplode(coalesce(proacl, acldefault('f', 10))) where grantee = 0
), false)
from test.functions;

select test.equals(format('who is not signed in may not call %s', signature), has_function_privilege('anon', oid, 'execute'), false)
from test.functions;

select test.equals(format('%s keeps a search_path that nobody else can put a table in', signature),
    exists (select from unnest(proconfig) setting where setting = 'search_path=public, pg_temp'), true)
from test.functions;

select test.equals(format('%s says what it is', signature), obj_description(oid, 'pg_proc') is not null, true)
from test.functions;

-- MARK: Three people: one with secrets, one who is connected with her, one who is not

set role authenticated;
select gen_random_uuid() as anna, gen_random_uuid() as friend, gen_random_uuid() as stranger, gen_random_uuid() as other \gset
select test.as(:'anna', 'ensure_account(''Secretive Person'', ''she'')') as anna_main,
    test.as(:'friend', 'ensure_account(''Friend'')') as friend_main,
    test.as(:'stranger', 'ensure_account(''Stranger'')') as stranger_main,
    test.as(:'other', 'ensure_account(''Other Person'')') as other_main \gset
select test.as(:'anna', 'id from circles where seed = ''work''') as anna_work,
    test.as(:'anna', 'id from circles where seed = ''family''') as anna_family,
    test.as(:'friend', 'id from circles where seed = ''work''') as friend_work,
    test.as(:'stranger', 'id from circles where seed = ''work''') as stranger_work,
    test.as(:'other', 'id from circles where seed = ''work''') as other_work \gset
select test.as(:'anna', 'create_profile(''child'', ''Secretive Child'')') as child,
    test.as(:'friend', format('accept_invitation(%L, %L)',
        test.as(:'anna', format('send_invitation(%L, %L)', :'friend_main', :'anna_work')), :'friend_work')) as friend_sees,
    test.as(:'other', format('accept_invitation(%L, %L)',
        test.as(:'anna', format('send_invitation(%L, %L)', :'other_main', :'anna_family')), :'other_work')) as other_sees \gset
select test.as(:'anna', format('save_detail(''phone'', ''"+31612399999"'', ''secretlabel'', array[%L]::uuid[])', :'anna_family')) as phone,
    test.as(:'anna', format('save_detail(''email'', ''"secretive@example.org"'', p_circle_ids => array[%L]::uuid[])', :'anna_family')) as email,
    test.as(:'anna', format('save_detail(''date'', ''{"day": 12, "month": 5, "year": 1971}'', ''birthday'', array[%L, %L]::uuid[], array[%L]::uuid[])',
        :'anna_work', :'anna_family', :'anna_family')) as birthday,
    test.as(:'anna', 'register_phone(''ios'', ''5ec2e75ec2e75ec2e75ec2e75ec2e75e'')') as phone_id,
    test.as(:'other', format('save_detail(''phone'', ''"+31612388888"'', p_circle_ids => array[%L]::uuid[])', :'other_work')) as x \gset
-- Somebody she has blocked, and invitations that are open, from her and to her
select gen_random_uuid() as third, gen_random_uuid() as blocked \gset
select test.as(:'blocked', 'ensure_account(''Blocked Person'')') as blocked_main, test.as(:'third', 'ensure_account(''Third Person'')') as third_main \gset
select test.as(:'third', 'create_profile(''other'', ''Fourth Person'')') as fourth, test.as(:'third', 'id from circles where seed = ''work''') as third_work,
    test.as(:'anna', format('block(%L)', :'blocked_main')) as x \gset
select test.as(:'anna', format('send_invitation(%L, %L)', :'third_main', :'anna_work')) as x,
    test.as(:'third', format('send_invitation(%L, %L, %L)', :'anna_main', :'third_work', :'fourth')) as y \gset
reset role;

-- The tables of connected services and of sign-in, if they are there
select to_regclass('sync_links') is not null as services, to_regclass('call_limits') is not null as limits,
    to_regclass('email_codes') is not null as codes \gset
\if :services
insert into sync_services (account_id, provider, label, device_id) values (:'anna', 'google', 'Google', :'phone_id');
insert into sync_links (service_id, external_id, connection_id, synced_hash)
select s.id, 'secretlink', c.id, repeat('5e', 32) from sync_services s join connections c using (account_id) where account_id = :'anna' limit 1;
\endif
\if :limits
insert into call_limits (account_id, action, called_at) values (:'anna', 'cross_reference', array[now()]);
\endif
\if :codes
insert into email_codes (detail_id, code_hash, salt, sent_at, expires_at)
values (:'email', '\x5ec2e75ec2e75ec2e75ec2e7', gen_random_uuid(), now(), now() + interval '1 hour');
\endif

-- MARK: What nobody else may find out

create table test.secrets (value text primary key, from_friend boolean not null default true);
create table test.ids (owner text, what text, id uuid);

-- Every row that is Anna's: one that names her account, a profile, circle, detail, service or connection of hers.
create function test.rows_of_anna(p_relation regclass) returns setof text
language plpgsql as $$
begin
    return query execute format('select t::text from %s t where t::text ~ (select pattern from test.anna)', p_relation);
end
$$;

create function test.gather(p_owner text, p_account uuid) returns void
language plpgsql as $$
begin
    insert into test.ids
    select p_owner, 'account', p_account
    union all select p_owner, 'profile', id from profiles where account_id = p_account
    union all select p_owner, 'circle', id from circles where account_id = p_account
    union all select p_owner, 'connection', id from connections where account_id = p_account
    union all select p_owner, 'detail', d.id from details d join profiles p on p.id = d.profile_id where p.account_id = p_account
    union all select p_owner, 'invitation', id from invitations where p_account in (from_account_id, to_account_id)
    union all select p_owner, 'notification', id from notifications where account_id = p_account
    union all select p_owner, 'device', id from devices where account_id = p_account;
    if to_regclass('sync_services') is not null then
        execute 'insert into test.ids select $1, ''service'', id from sync_services where account_id = $2' using p_owner, p_account;
    end if;
end
$$;
select test.gather('anna', :'anna'), test.gather('friend', :'friend'), test.gather('stranger', :'stranger') \g /dev/null
insert into test.secrets
select distinct id::text from test.ids where owner = 'anna'
union values ('Secretive Person'), ('Secretive Child'), ('+31612399999'), ('secretlabel'), ('secretive@example.org'), ('1971'),
    ('"day": 12'), ('+31612388888'), ('Other Person'), ('Third Person'), ('Fourth Person'), ('5ec2e7'), ('secretlink'), (repeat('5e', 32));
create table test.anna as
select string_agg(distinct id::text, '|') as pattern, null::text as digest
from test.ids
where owner = 'anna' and what in ('account', 'profile', 'circle', 'detail', 'connection', 'service');
-- What she shares with her friend
update test.secrets set from_friend = false
where value in (:'anna_main', 'Secretive Person', '"day": 12')
    or value in (select peer_connection_id::text from connections where account_id = :'friend')
    or value in (select id::text from invitations where to_account_id = :'friend');

select test.equals(format('%s has a row whose secrets are kept here', oid::regclass), (select count(*) > 0 from test.rows_of_anna(oid::regclass)), true)
from pg_class
where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname <> 'disposable_email_domains';

create function test.leaks(p_reader text, p_text text) returns text
language sql as $$
    select string_agg(value, ', ') from test.secrets
    where (p_reader <> 'friend' or from_friend) and position(value in p_text) > 0
$$;

create function test.digest_of_anna() returns text
language sql as $$
    select md5(string_agg(r, ' ' order by r))
    from pg_class, lateral (select oid::regclass || r from test.rows_of_anna(oid::regclass) r) rows (r)
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
$$;

update test.anna set digest = test.digest_of_anna();

-- Runs a statement as somebody who is signed in, and undoes it. What it was answered, and whether anything of Anna’s changed.
create function test.try(p_account uuid, p_statement text, p_reads boolean, out answer text, out changed boolean)
language plpgsql as $$
declare
    v_message text;
    v_detail text;
    v_hint text;
begin
    begin
        perform set_config('request.jwt.claims', jsonb_build_object('sub', p_account, 'role', 'authenticated')::text, true);
        set local role authenticated;
        begin
            execute p_statement into answer;
        exception when others then
            get stacked diagnostics v_message = message_text, v_detail = pg_exception_detail, v_hint = pg_exception_hint;
            answer := concat('error ', sqlstate, ' ', v_message, ' ', v_detail, ' ', v_hint);
        end;
        reset role;
        changed := not p_reads and test.digest_of_anna() <> (select digest from test.anna);
        raise exception 'undo' using errcode = 'P9999';
    exception when sqlstate 'P9999' then
        null;
    end;
end
$$;

-- MARK: By tables

create table test.statements (reader text, relation regclass, what text, statement text);
insert into test.statements
select reader, oid::regclass, 'read',
    format('select string_agg(concat_ws('' '', %s), '' '') from %s',
        string_agg(quote_ident(attname), ', ' order by attnum) filter (where has_column_privilege('authenticated', oid, attnum, 'select')), oid::regclass)
from pg_class join pg_attribute on attrelid = oid and attnum > 0 and not attisdropped, unnest(array['friend', 'stranger']) reader
where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm') and has_any_column_privilege('authenticated', oid, 'select')
group by reader, oid
union all
select reader, oid::regclass, 'changed', format('with t as (update %s set %I = %I returning 1) select count(*) from t', oid::regclass, attname, attname)
from pg_class join pg_attribute on attrelid = oid and attnum > 0 and not attisdropped, unnest(array['friend', 'stranger']) reader
where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v') and has_column_privilege('authenticated', oid, attnum, 'update')
    and attgenerated = ''
union all
select reader, oid::regclass, 'deleted', format('with t as (delete from %s returning 1) select count(*) from t', oid::regclass)
from pg_class, unnest(array['friend', 'stranger']) reader
where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v') and has_table_privilege('authenticated', oid, 'delete');
-- As if it were hers: a copy of each of her rows.
create function test.copies(p_relation regclass, p_columns text) returns setof text
language plpgsql as $$
begin
    return query execute format(
        'select format(''with t as (insert into %1$s (%2$s) select %2$s from jsonb_populate_record(null::%1$s, %%L) returning 1) select count(*) from t'', to_jsonb(t)) from %1$s t where t::text in (select test.rows_of_anna(%3$L))',
        p_relation, p_columns, p_relation::text);
end
$$;
insert into test.statements
select reader, relation, 'added', copy
from (
    select oid::regclass as relation, string_agg(quote_ident(attname), ', ' order by attnum) as columns
    from pg_class join pg_attribute on attrelid = oid and attnum > 0 and not attisdropped
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and attgenerated = '' and attname <> 'id'
        and has_column_privilege('authenticated', oid, attnum, 'insert')
    group by oid
) insertable, unnest(array['friend', 'stranger']) reader, lateral test.copies(relation, columns) copy;

select test.equals(format('%s reads only what is its own in %s', reader, relation),
    test.leaks(reader, (test.try(case reader when 'friend' then :'friend'::uuid else :'stranger' end, statement, true)).answer), null)
from test.statements where what = 'read';
select test.equals(format('%s changes nothing of another one in %s: %s', reader, relation, statement),
    (test.try(case reader when 'friend' then :'friend'::uuid else :'stranger' end, statement, false)).changed, false)
from test.statements where what <> 'read';
select test.equals('tables were tried', (select count(*) > 15 from test.statements), true);

-- MARK: By functions

-- Every call of a function with Anna's ids and with one's own. Which id an argument takes is in
-- its name; a type that is not known here fails, until somebody says what to call with.
create function test.calls(p_function oid, p_reader text) returns setof text
language plpgsql as $$
declare
    v_function record;
    v_calls text[] := array[''];
    v_type text;
    v_name text;
    v_what text;
    v_values text[];
    v_index integer;
    v_ids integer;
begin
    select * into v_function from test.functions where oid = p_function;
    v_ids := (select count(*) from unnest(v_function.proargtypes) type where format_type(type, null) in ('uuid', 'uuid[]'));
    for v_index in 0 .. v_function.pronargs - 1 loop
        v_type := format_type(v_function.proargtypes[v_index], null);
        v_name := coalesce(v_function.proargnames[v_index + 1], '');
        v_what := (regexp_match(v_name, '([a-z]+)_ids?$'))[1];
        if v_what = 'before' then
            v_what := 'notification';
        end if;
        if v_type in ('uuid', 'uuid[]') then
            select array_agg(format(case v_type when 'uuid' then '%L::uuid' else 'array[%L]::uuid[]' end, id))
            into v_values
            from (
                select id, row_number() over (partition by owner order by id) as number
                from test.ids
                where what = v_what and owner in ('anna', p_reader)
                    or owner = 'anna' and not exists (select from test.ids known where known.what = v_what)
            ) known
            -- All of them, one by one; where several have to be combined, one of hers and one of one's own.
            where number = 1 or v_ids = 1;
            if v_type = 'uuid' then
                v_values := array_append(v_values, 'null');
            end if;
        else
            v_values := case
                when v_name = 'p_category' then array['''phone''']
                when v_name = 'p_kind' then array['''child''']
                when v_name = 'p_platform' then array['''ios''']
                when v_name = 'p_push_token' then array['''5ec2e75ec2e75ec2e75ec2e75ec2e75e''']
                when v_name = 'p_apns_environment' then array['''production''']
                when v_name = 'p_push_target' then array['''token''']
                when v_name = 'p_provider' then array['''google''']
                when v_type = 'text' then array['''Probe''']
                when v_type = 'text[]' then array[format('array[%L, %L]',
                    encode(sha256('+31612399999'), 'hex'), encode(sha256('secretive@example.org'), 'hex'))]
                when v_type = 'jsonb' then array['''"+31612399999"''', '''[]''', format('''[{"id": "%s", "connection_id": "%s", "external_id": "x", "category": "phone", "value": "+31612399999"}]''',
                    (select id from test.ids where owner = 'anna' and what = 'detail' limit 1), (select id from test.ids where owner = 'anna' and what = 'connection' limit 1))]
                when v_type = 'boolean' then array['true']
                when v_type in ('integer', 'bigint') then array['1']
                when v_type = 'timestamp with time zone' then array['now()']
                when v_type = 'interval' then array['interval ''1 day''']
                -- Takes a whole row: of which other tests are about.
                else null
            end;
            if v_values is null then
                raise exception 'no value is known for % % of %', v_name, v_type, v_function.signature;
            end if;
        end if;
        v_calls := array(
            select concat_ws(', ', nullif(call, ''), value) from unnest(v_calls) call, unnest(v_values) value
        );
    end loop;
    if cardinality(v_calls) > 1000 then
        raise exception '% has % calls', v_function.signature, cardinality(v_calls);
    end if;
    return query
        select format('select string_agg(r::text, '' '') from %I(%s) r', v_function.proname, call) from unnest(v_calls) call;
end
$$;

create table test.tries as
select reader, oid as function, call, tried.answer, tried.changed
from test.functions, unnest(array['friend', 'stranger']) reader, lateral test.calls(oid, reader) call,
    lateral test.try(case reader when 'friend' then :'friend'::uuid else :'stranger' end, call, reader = 'friend') tried
where for_people and prorettype <> 'trigger'::regtype;

select test.equals(format('%s finds out nothing by %s', reader, function::regprocedure),
    (select string_agg(format('%s in %s: %s', test.leaks(reader, answer), call, answer), '; ') from test.tries other
     where (other.reader, other.function) = (tries.reader, tries.function) and test.leaks(reader, answer) is not null), null)
from test.tries tries
group by reader, function;

-- A stranger may invite her, which she is told of, and block her, which she is not, and takes over a phone whose token it
-- has. A friend's own doings reach her, too: connections.sql tells how.
select test.equals(format('a stranger changes nothing of hers by %s', function::regprocedure),
    string_agg(call, '; ') filter (where changed and proname not in ('send_invitation', 'block', 'register_phone')), null)
from test.tries join test.functions on oid = function
where reader = 'stranger'
group by function;
select test.equals('functions were tried, and did something: ' || reader, count(*) > 100 and count(*) filter (where answer not like 'error%') > 30, true)
from test.tries
group by reader;
