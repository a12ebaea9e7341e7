-- Signing up, what a detail may be, codes, onboarding; run by the superuser, who prepares and looks.

-- Disposable addresses, as Supabase Auth's own role
create function pg_temp.answer(p_email text, p_metadata jsonb default '{}') returns text language sql as $$
    select before_user_created_hook(jsonb_build_object(
        'metadata', jsonb_build_object('name', 'before-user-created', 'ip_address', '127.0.0.1'),
        'user', jsonb_build_object('id', gen_random_uuid(), 'email', p_email, 'phone', '', 'user_metadata', p_metadata)
    ))::text
$$;
insert into disposable_email_domains (domain) values ('WEGWERF-Müll.example.'), ('wegwerf-brief.example');
set role supabase_auth_admin;
\set english '{"error": {"message": "Disposable e-mail addresses are not accepted. Use an address you keep.", "http_code": 403}}'
\set dutch '{"error": {"message": "Wegwerp-e-mailadressen worden niet geaccepteerd. Gebruik een adres dat je houdt.", "http_code": 403}}'
select test.equals('an address that is kept is let in', pg_temp.answer('anna@example.com'), '{}');
select test.equals('a disposable one is refused in English', pg_temp.answer('anna@mailinator.com'), :'english');
select test.equals(format('… and in %s for %s', language, metadata), pg_temp.answer('anna@mailinator.com', metadata), sentence)
from (values
    ('Dutch', '{"locale": "nl"}'::jsonb, :'dutch'), ('Dutch', '{"locale": "nl-BE"}', :'dutch'), ('Dutch', '{"locale": "NL_nl"}', :'dutch'),
    ('Dutch', '{"language": "nl"}', :'dutch'), ('Dutch', '{"locale": "", "language": "nl"}', :'dutch'),
    ('English', '{"locale": "en-NL"}', :'english'), ('English', '{"locale": "nld"}', :'english'), ('English', '{"locale": null}', :'english'),
    ('English', '{"locale": {"nl": 1}}', :'english'), ('English', 'null', :'english'), ('English', '"nl"', :'english')
) cases (language, metadata, sentence);
select test.equals('spelled so it is refused too: ' || email, pg_temp.answer(email), :'english')
from unnest(array['anna@MailInator.COM', 'anna@mail.mailinator.com', 'anna@a.b.c.mailinator.com', 'anna@mailinator.com.',
    'anna@mailinator.com..', '"anna@home"@mailinator.com', ' anna@mailinator.com ', 'anna@ｍａｉｌｉｎａｔｏｒ.com', 'anna@mailinator。com',
    'anna@wegwerf-müll.example', 'anna@WEGWERF-MÜLL.example', E'anna@wegwerf-mu\u0308ll.example', 'anna@xn--wegwerf-mll-1hb.example',
    'anna@XN--WEGWERF-MLL-1HB.example', 'anna@post.wegwerf-müll.example',
    'anna@' || repeat('a.', 120) || 'mailinator.com']) email;
select test.equals('not refused: ' || coalesce(email, 'null'), pg_temp.answer(email), '{}')
from unnest(array['anna@notmailinator.com', 'anna@mailinator.com.example', 'mailinator.com@example.com', 'anna@com', 'anna@', '', '@',
    'anna@...', 'anna@müll.example', 'anna@😀.example', null, repeat('😀', 300)]) email;
select test.equals('a user without an address is let in', before_user_created_hook('{"user": {"phone": "31612345678"}}'), '{}'::jsonb);
select test.equals('… and so is whatever is no user', before_user_created_hook(event), '{}'::jsonb)
from unnest(array['{}', 'null', '[]', '{"user": null}', '{"user": {"email": null}}', '{"user": {"email": 1}}']::jsonb[]) event;
select test.fails('Supabase Auth''s role sees no more than the list', 'select * from details', '42501');
reset role;
-- From Python's codec of the same name
select test.equals('in ASCII: ' || domain, domain_in_ascii(domain), ascii)
from (values ('münchen.de', 'xn--mnchen-3ya.de'), ('例え.テスト', 'xn--r8jz45g.xn--zckzah'), ('правда.рф', 'xn--80aafi6cg.xn--p1ai'),
    ('😀.la', 'xn--e28h.la'), ('faß.de', 'xn--fa-hia.de'), ('bücher。example', 'xn--bcher-kva.example'), ('Example.COM', 'example.com'),
    ('', ''), ('xn--mnchen-3ya.de', 'xn--mnchen-3ya.de'),
    ('ليهمابتكلموشعربي؟', 'xn--egbpdaj6bu4bxfgehfvwxn'), ('他们为什么不说中文', 'xn--ihqwcrb4cv8a8dqg056pqjye'),
    ('ПочемужеонинеговорятпоРусски', 'xn--b1abfaaepdrnnbgefbadotcwatmq2g4l'), ('3年B組金八先生', 'xn--3b-ww4c5e180e575a65lsy2b')
) cases (domain, ascii);
select test.fails('a top-level domain is not taken into the list', 'insert into disposable_email_domains values (''com.'')', '22023');
select test.fails('… nor an empty one', 'insert into disposable_email_domains values ('''')', '22023');
set role authenticated;
select test.fails('people may not call the hook', 'select before_user_created_hook(''{}'')', '42501');
select test.fails('… nor read the list', 'select * from disposable_email_domains', '42501');
reset role;

-- Names, numbers, addresses
select test.equals('a name: ' || name, is_allowed_name(name), true)
from unnest(array['Anna', 'Anne-Marie', 'O''Neil', 'O’Neil', '‘t Hooft', 'J. P. de Vries', 'José', E'Jose\u0301', 'Đặng Thị Hồng', 'प्रिया', 'Дмитрий', '山田太郎',
    'أحمد', 'מַרְתָּא', 'ไพศาล', 'தமிழ்', 'ʻOkina', 'Ægir‑Þór', '𠮷野', repeat('é', 100), repeat(E'e\u0301', 100)]) name;
select test.equals('no name: ' || replace(left(name, 20), E'\n', ' '), is_allowed_name(name), false)
from unnest(array['', ' ', '-', '...', 'Anna1', 'Anna 🎉', 'Anna_B', 'Anna@home', 'A, B', 'A/B', '<b>', E'A\nB', E'A\tB', 'Anna٣', 'ㅤ', E'An\u200bna', E'An\u202ena',
    E'\u0301', 'A·B', '½', '№', '€', repeat('a', 101)]) name;
select gen_random_uuid() as anna, gen_random_uuid() as bram \gset
select create_account(:'anna', 'Anna') as anna_profile, create_account(:'bram', 'Bram') as bram_profile \gset
set role authenticated;
select set_config('request.jwt.claims', json_build_object('sub', :'anna')::text, false) as claims \gset
select test.fails('a name with a digit is refused, and not repeated in a log', 'select save_detail(''name'', ''"secret 007"'')', '23514', 'secret');
select test.fails('a name is there once', 'select save_detail(''name'', ''"Anna"'')', '23505', 'Anna');
select test.fails('… in any case, and with white space around it', 'select save_detail(''name'', ''"  ANNA "'')', '23505', 'ANNA');
select save_detail('name', '"Anna O’Neil"') as second_name \gset
select test.fails('… with any apostrophe', 'select save_detail(''name'', ''"anna  o''''neil"'')', '23505', 'neil');
select test.fails('… changed into it too', format('select save_detail(''name'', ''"anna"'', p_detail_id => %L)', :'second_name'), '23505', 'anna');
select save_detail('name', '"Anna o''Neil"', p_detail_id => :'second_name') as same \gset
select test.equals('a name can be respelled', (select value #>> '{}' from details where id = :'second_name'), 'Anna o''Neil');
select test.fails('a number that is not E.164 is refused, and not repeated', 'select save_detail(''phone'', ''"0612345678"'')', '23514', '0612345678');
select test.fails('an address without @ is refused, and not repeated', 'select save_detail(''email'', ''"secret.example.com"'')', '23514', 'secret');
select save_detail('phone', '" +31612345678 "') as phone \gset
select test.equals('white space around a number goes', (select value #>> '{}' from details where id = :'phone'), '+31612345678');
select set_config('request.jwt.claims', json_build_object('sub', :'bram')::text, false) as claims \gset
select test.equals('another profile may have the same name', save_detail('name', '"Anna"') is not null, true);
reset role;

-- Codes
create function pg_temp.wrong(p_code text) returns text language sql as $$ select lpad(((p_code::integer + 1) % 1000000)::text, 6, '0') $$;
create function pg_temp.later(p_detail uuid, p_seconds integer) returns void language sql as $$
    update email_codes set sent_at = sent_at - make_interval(secs => p_seconds), expires_at = expires_at - make_interval(secs => p_seconds)
    where detail_id = p_detail
$$;
set role authenticated;
select set_config('request.jwt.claims', json_build_object('sub', :'anna')::text, false) as claims \gset
select save_detail('email', '"Codes@Example.com"') as mail \gset
select test.fails('the app cannot issue a code, or it would see it', format('select issue_email_code(%L, %L)', :'anna', :'mail'), '42501');
select test.fails('… nor read what is stored of one', 'select * from email_codes', '42501');
select test.fails('… nor call its own address verified', 'update details set verified_at = now()', '42501');
set role service_role;
select issue_email_code(:'anna', :'mail') as issued \gset
select :'issued'::jsonb ->> 'code' as code \gset
select test.equals('the server is told address and code', :'issued'::jsonb - 'code', '{"email": "Codes@Example.com", "expires_in": 900}'::jsonb);
select test.equals('a code has six digits', :'code' ~ '^[0-9]{6}$', true);
select test.equals('another within a minute is refused, with the time to wait',
    (issue_email_code(:'anna', :'mail') ->> 'retry_after')::integer between 55 and 60, true);
reset role;
update email_codes set sent_at = clock_timestamp() - interval '59.5 seconds' where detail_id = :'mail';
set role service_role;
select test.equals('… to the last second', issue_email_code(:'anna', :'mail'), '{"retry_after": 1}'::jsonb);
select test.equals('another account''s detail is as good as none', issue_email_code(:'bram', :'mail'), null::jsonb);
select test.equals('… like one that does not exist', issue_email_code(:'anna', gen_random_uuid()), null::jsonb);
select test.equals('a number gets no code', issue_email_code(:'anna', :'phone'), null::jsonb);
reset role;
select test.equals('the code is stored nowhere', (select count(*) from email_codes where email_codes::text ~ :'code'
    or encode(code_hash, 'hex') = encode(sha256(convert_to(:'code', 'UTF8')), 'hex')), 0::bigint);
set role authenticated;
select test.equals('a wrong code is wrong', verify_email_detail(:'mail', pg_temp.wrong(:'code')), 'wrong');
select test.equals('… so is none', verify_email_detail(:'mail', null), 'wrong');
select test.equals('the address is not verified by that', (select verified_at from details where id = :'mail'), null::timestamptz);
select set_config('request.jwt.claims', json_build_object('sub', :'bram')::text, false) as claims \gset
select test.equals('another account with the right code is told nothing', verify_email_detail(:'mail', :'code'), 'invalid');
select test.equals('… as for a detail that does not exist', verify_email_detail(gen_random_uuid(), :'code'), 'invalid');
select set_config('request.jwt.claims', '', false) as claims \gset
select test.equals('… or when nobody is signed in', verify_email_detail(:'mail', :'code'), 'invalid');
select set_config('request.jwt.claims', json_build_object('sub', :'anna')::text, false) as claims \gset
select test.equals('a detail without a code is invalid too', verify_email_detail(:'phone', :'code'), 'invalid');
select test.equals('the right code verifies, white space and all', verify_email_detail(:'mail', ' ' || left(:'code', 3) || ' ' || right(:'code', 3)), 'verified');
select test.equals('… as the detail says', (select verified_at is not null from details where id = :'mail'), true);
select test.equals('a code is good once', verify_email_detail(:'mail', :'code'), 'invalid');
select test.equals('it tells nobody anything', (select count(*) from notifications), 0::bigint);
select set_config('request.jwt.claims', json_build_object('sub', :'bram')::text, false) as claims \gset
reset role;
select search_token('email', 'codes@example.com') as token \gset
set role authenticated;
select test.equals('… and the address is found', jsonb_array_length(cross_reference(array[:'token'])), 1);
set role service_role;
select test.equals('a verified address needs no code', issue_email_code(:'anna', :'mail'), null::jsonb);

-- Changed, it is verified no longer
select set_config('request.jwt.claims', json_build_object('sub', :'anna')::text, false) as claims \gset
set role authenticated;
select save_detail('email', '"other@example.com"', p_detail_id => :'mail') as same \gset
select test.equals('a changed address is no longer verified', (select verified_at from details where id = :'mail'), null::timestamptz);
reset role;
update details set verified_at = now() where id = :'mail';
update details set value = '"OTHER@example.com"' where id = :'mail';
select test.equals('the same address in another spelling stays verified', (select verified_at is not null from details where id = :'mail'), true);
update details set value = '"another@example.com"' where id = :'mail';
select test.equals('another one is not verified, whoever writes it', (select verified_at from details where id = :'mail'), null::timestamptz);
update details set value = '"other@example.com"' where id = :'mail';
set role service_role;
select issue_email_code(:'anna', :'mail') ->> 'code' as code \gset
set role authenticated;
select save_detail('email', '"victim@example.com"', p_detail_id => :'mail') as same \gset
select test.equals('a code does not prove an address it was not sent to', verify_email_detail(:'mail', :'code'), 'wrong');
select save_detail('email', '"OTHER@example.com"', p_detail_id => :'mail') as same \gset
select test.equals('… but proves the one it was sent to, in any case', verify_email_detail(:'mail', :'code'), 'verified');

-- Five wrong tries, fifteen minutes, a new code
select save_detail('email', '"third@example.com"', p_detail_id => :'mail') as same \gset
set role service_role;
select issue_email_code(:'anna', :'mail') ->> 'code' as code \gset
set role authenticated;
select test.equals('four wrong tries are told as wrong',
    (select string_agg(verify_email_detail(:'mail', pg_temp.wrong(:'code')), ' ') from generate_series(1, 4)), 'wrong wrong wrong wrong');
select test.equals('the fifth ends it', verify_email_detail(:'mail', pg_temp.wrong(:'code')), 'invalid');
select test.equals('… also for the right code', verify_email_detail(:'mail', :'code'), 'invalid');
reset role;
select pg_temp.later(:'mail', 58) as later \gset
set role service_role;
select test.equals('five wrong tries give no new code within the minute', issue_email_code(:'anna', :'mail') ? 'retry_after', true);
reset role;
select pg_temp.later(:'mail', 2) as later \gset
set role service_role;
select issue_email_code(:'anna', :'mail') ->> 'code' as newer \gset
set role authenticated;
select test.equals('after it there is one', length(:'newer'), 6);
select test.equals('… with five tries of its own', verify_email_detail(:'mail', pg_temp.wrong(:'newer')), 'wrong');
reset role;
select pg_temp.later(:'mail', 900) as later \gset
set role authenticated;
select test.equals('after fifteen minutes a code is invalid', verify_email_detail(:'mail', :'newer'), 'invalid');
reset role;
select pg_temp.later(:'mail', 60) as later \gset
set role service_role;
select issue_email_code(:'anna', :'mail') ->> 'code' as newest \gset
set role authenticated;
select test.equals('a code before the newest is wrong', case when :'newer' = :'newest' then 'wrong' else verify_email_detail(:'mail', :'newer') end, 'wrong');
select test.equals('… the newest right', verify_email_detail(:'mail', :'newest'), 'verified');
select count(save_detail('email', to_jsonb(format('n%s@example.com', n)))) as details from generate_series(1, 6) n \gset
set role service_role;
reset role;
select test.equals('ten codes an hour for an account, however many addresses',
    (select string_agg((issue_email_code(:'anna', id) ? 'code')::text, ' ' order by value)
     from details where profile_id = :'anna_profile' and category = 'email' and verified_at is null),
    'true true true true true false');
select test.equals('of a thousand codes most differ', (
    select count(distinct code) > 990 from (
        select (issue_email_code(:'bram', id) ->> 'code') as code
        from details where false
        union all
        select lpad(((('x' || left(replace(gen_random_uuid()::text, '-', ''), 12))::bit(48)::bigint) % 1000000)::text, 6, '0') from generate_series(1, 1000)
    ) codes), true);

-- Onboarding
select gen_random_uuid() as carla \gset
set role authenticated;
select set_config('request.jwt.claims', json_build_object('sub', :'carla')::text, false) as claims \gset
select test.fails('without an account there is no onboarding', 'select complete_onboarding_step(''name'')', '42501');
select ensure_account() as carla_profile \gset
select test.equals('a new account is at the start', (select row(onboarding_step, onboarding_completed)::text from accounts), '(,f)');
select test.fails('an unknown step is refused', 'select complete_onboarding_step(''secret'')', '22023', 'secret');
select test.fails('a step cannot be jumped to', 'select complete_onboarding_step(''notifications'')', '55000');
select test.fails('the name comes first', 'select complete_onboarding_step(''name'')', '55000');
select save_detail('name', '"Carla"') as name \gset
select test.equals('a step that is done says where to go on', complete_onboarding_step('name'), '{"step": "photo", "completed": false}');
select test.equals('… and is remembered', (select onboarding_step from accounts), 'photo');
select test.equals('done again it loses nothing', complete_onboarding_step('name'), '{"step": "photo", "completed": false}');
select test.equals('all but the last leave it uncompleted',
    (select string_agg(complete_onboarding_step(step) ->> 'completed', ' ') from unnest(array['photo', 'phone', 'email', 'circles', 'services']) step),
    'false false false false false');
select test.fails('nobody completes it by hand', 'update accounts set onboarding_completed = true', '42501');
select test.equals('the last completes it', complete_onboarding_step('notifications'), '{"step": null, "completed": true}');
select test.equals('… for good', complete_onboarding_step('name'), '{"step": null, "completed": true}');
select set_config('request.jwt.claims', json_build_object('sub', :'bram')::text, false) as claims \gset
select test.equals('… and for nobody else', (select array_agg(onboarding_completed) from accounts), array[false]);
reset role;
update accounts set onboarding_step = 'a step of an older app' where id = :'bram';
set role authenticated;
select test.equals('a step that the app no longer has starts anew', complete_onboarding_step('name'), '{"step": "photo", "completed": false}');
set role anon;
select test.fails('anon cannot verify', format('select verify_email_detail(%L, %L)', :'mail', '000000'), '42501');
select test.fails('… nor complete', 'select complete_onboarding_step(''name'')', '42501');
reset role;
select test.equals('what people may call of services, cross-reference and sign-in',
    (select array_agg(p.proname::text order by p.proname) from pg_proc p
     where p.pronamespace = 'public'::regnamespace and has_function_privilege('authenticated', p.oid, 'execute')
        and p.proname ~ 'service|sync|token|cross_|code|domain|email|hook|onboarding|allowed_name|name_key|check_detail|count_call|address|adopt'),
    array['complete_onboarding_step', 'connect_service', 'cross_reference', 'disconnect_service', 'onboarding_steps', 'record_sync',
        'sync_buckets', 'sync_service_name', 'verify_email_detail']);
select test.equals('what Supabase Auth may call', (select array_agg(p.proname::text order by p.proname) from pg_proc p
    where p.pronamespace = 'public'::regnamespace and has_function_privilege('supabase_auth_admin', p.oid, 'execute')),
    array['before_user_created_hook', 'domain_in_ascii', 'is_disposable_email']);
