-- One who has a thousand connections changes a detail: that is one statement, not one for each of them.
select gen_random_uuid() as anna \gset
select create_account(:'anna', 'Anna Hub', 'she') as anna_main \gset
select id as friends from circles where account_id = :'anna' and seed = 'friends' \gset
select id as work from circles where account_id = :'anna' and seed = 'work' \gset

create temp table person as
select n, gen_random_uuid() as account_id, gen_random_uuid() as profile_id, gen_random_uuid() as circle_id,
    gen_random_uuid() as sees, gen_random_uuid() as seen
from generate_series(1, 1000) n;
insert into accounts (id) select account_id from person;
insert into profiles (id, account_id) select profile_id, account_id from person;
insert into circles (id, account_id, name, seed, send_updates)
select circle_id, account_id, 'Friends', 'friends', n % 10 <> 0 from person;
insert into details (profile_id, category, value, is_default) select profile_id, 'name', '"Person"', true from person;
insert into connections (id, account_id, profile_id, circle_id, peer_connection_id)
select sees, account_id, :'anna_main'::uuid, circle_id, seen from person
union all
select seen, :'anna', profile_id, case when n % 4 = 0 then :'work'::uuid else :'friends' end, sees from person;
analyze accounts, profiles, circles, details, detail_circles, connections;
select test.equals('a thousand people''s views are worked out', count(*), 2000::bigint)
from refresh_hashes(array(select sees from person) || array(select seen from person));

-- A statement's milliseconds, for the one who is signed in.
create function test.timed(p_statement text, out milliseconds numeric)
language plpgsql as $$
declare
    v_start timestamptz := clock_timestamp();
begin
    execute p_statement;
    milliseconds := round(1000 * extract(epoch from clock_timestamp() - v_start), 1);
end
$$;
select test.as(:'anna', format('save_detail(''phone'', ''"+31611111111"'')')) as phone \gset
set role authenticated;
select test.as(:'anna', format('test.timed(%L)',
        format('select set_detail_circles(%L, array[%L]::uuid[])', :'phone', :'friends'))) as shared,
    test.as(:'anna', format('test.timed(%L)',
        format('select save_detail(''phone'', ''"+31622222222"'', p_detail_id => %L)', :'phone'))) as coalesced,
    test.as(:'anna', 'test.timed(''select count(*) from connections'')') as listed \gset
reset role;
select test.equals('all who see it and have updates on are told, once', (
    select count(*) from notifications where profile_id = :'anna_main' and kind = 'contact_updated'
), (
    select count(*) from person where n % 4 <> 0 and n % 10 <> 0
));
select test.equals(format('a change that 750 people see takes %s ms, a coalesced one %s ms, one''s list %s ms: less than 3 s', :'shared', :'coalesced', :'listed'),
    greatest(:'shared'::numeric, :'coalesced', :'listed') < 3000, true);
select test.equals('every view is hashed as it is', count(*), 0::bigint)
from connections c join connections peer on peer.id = c.peer_connection_id
where c.profile_id = :'anna_main' and c.snapshot_hash is distinct from snapshot_hash(circle_views(c.profile_id) -> peer.circle_id::text);
set role authenticated;
select test.as(:'anna', 'test.timed(''select delete_account()'')') as deleted \gset
reset role;
select test.equals(format('deleting an account with a thousand connections takes %s ms: less than 10 s', :'deleted'), :'deleted'::numeric < 10000, true);
select test.equals('… and leaves none of them', (select count(*) from connections where id in (select sees from person union all select seen from person)), 0::bigint);
-- What the other tests count is as before.
delete from accounts where id in (select account_id from person);
