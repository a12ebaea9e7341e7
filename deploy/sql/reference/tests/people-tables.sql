-- What the tables themselves refuse, whoever writes: run by the superuser.
select create_account(gen_random_uuid(), 'Rolf') as main \gset
select account_id as account from profiles where id = :'main' \gset
select id as circle from circles where account_id = :'account' and seed = 'work' \gset
insert into details (profile_id, category, value) values (:'main', 'date', '{"month": 5, "day": 12}') returning id as date \gset
select test.fails('a second main profile', format('insert into profiles (account_id) values (%L)', :'account'), '23505');
select test.fails('a second default name',
    format('insert into details (profile_id, category, value, is_default) values (%L, ''name'', ''"R"'', true)', :'main'), '23505');
select test.fails('a default phone number',
    format('insert into details (profile_id, category, value, is_default) values (%L, ''phone'', ''"R"'', true)', :'main'), '23514');
select test.fails('a year without its day',
    format('insert into detail_circles (detail_id, circle_id, part) values (%L, %L, ''year'')', :'date', :'circle'), '23503');
insert into detail_circles (detail_id, circle_id, part) values (:'date', :'circle', 'day'), (:'date', :'circle', 'year');
delete from detail_circles where detail_id = :'date' and part = 'day';
select test.equals('the year goes with its day', (select count(*) from detail_circles where detail_id = :'date'), 0::bigint);
select test.fails('a connection in another one''s circle',
    format('insert into connections (account_id, profile_id, circle_id) values (%L, %L, %L)',
        (select id from accounts where id <> :'account' limit 1), :'main', :'circle'), '23503');
select test.fails('a notification of an ending',
    format('insert into notifications (account_id, kind) values (%L, ''contact_removed'')', :'account'), '23514');
insert into details (profile_id, category, value, verified_at) values (:'main', 'email', '"r@example.org"', now())
returning id as email \gset
select test.as(:'account', format('save_detail(''email'', ''"r@example.org"'', ''home'', p_detail_id => %L)', :'email')) as x \gset
select test.equals('a label changes nothing of what was verified',
    (select verified_at is not null from details where id = :'email'), true);
select test.as(:'account', format('save_detail(''email'', ''"s@example.org"'', p_detail_id => %L)', :'email')) as x \gset
select test.equals('another value was never verified',
    (select verified_at is not null from details where id = :'email'), false);
-- As when auth.users loses a row on Supabase: without delete_account, in whatever order the foreign keys come.
select gen_random_uuid() as first, gen_random_uuid() as second \gset
select create_account(:'first', 'First') as first_main, create_account(:'second', 'Second') as second_main \gset
select test.as(:'second', format('accept_invitation(%L, %L)',
    test.as(:'first', format('send_invitation(%L, %L)', :'second_main', (select id from circles where account_id = :'first' limit 1))),
    (select id from circles where account_id = :'second' limit 1))) as x \gset
delete from accounts where id = :'first';
select test.equals('an account that is deleted by hand takes its connections along',
    (select count(*) from connections where account_id = :'second' or profile_id = :'second_main'), 0::bigint);

select test.equals('every foreign key has its index: ' || conrelid::regclass || ' ' || conname, exists (
    select from pg_index
    where indrelid = conrelid and indpred is null and (indkey::int2[])[0] = conkey[1]
), true)
from pg_constraint
where contype = 'f' and connamespace = 'public'::regnamespace;
