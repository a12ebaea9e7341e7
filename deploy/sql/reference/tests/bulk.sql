-- One who has a thousand connections changes a detail: one statement, and no more of them for more connections.
\set accounts 3000
\set connections 10
\ir population.sql
select test.equals('the population''s connections are seen as they are', count(*), 0::bigint)
from (select * from connections order by id limit 300) c join connections peer on peer.id = c.peer_connection_id
where c.snapshot_hash is distinct from snapshot_hash(circle_views(c.profile_id) -> peer.circle_id::text);
select test.equals('the hub has a thousand connections', count(*) >= 1000, true) from connections where profile_id = :'hub_profile';
select id as phone from details where profile_id = :'hub_profile' and category = 'phone' \gset
create function test.timed(p_statement text, out milliseconds numeric)
language plpgsql as $$
declare
    v_start timestamptz := clock_timestamp();
begin
    execute p_statement;
    milliseconds := 1000 * extract(epoch from clock_timestamp() - v_start);
end
$$;
select set_config('request.jwt.claims', json_build_object('sub', :'hub_account')::text, false) as x \gset
set role authenticated;
select milliseconds as first from test.timed(format('select save_detail(''phone'', ''"+31699999999"'', p_detail_id => %L)', :'phone')) \gset
select milliseconds as coalesced from test.timed(format('select save_detail(''phone'', ''"+31688888888"'', p_detail_id => %L)', :'phone')) \gset
select milliseconds as feed from test.timed('select count(*) from notification_feed()') \gset
reset role;
select test.equals('all who see it are told, once', (
    select count(*) from notifications where profile_id = :'hub_profile'
), (
    select count(*) from connections c join connections peer on peer.id = c.peer_connection_id
        join circles held on held.id = peer.circle_id and held.position <= 3
        join circles own on own.id = c.circle_id and own.send_updates
    where c.profile_id = :'hub_profile'
));
select test.equals(format('a change that a thousand see takes %s ms, a coalesced one %s ms, a list %s ms: less than 3 s', :'first', :'coalesced', :'feed'),
    greatest(:'first'::numeric, :'coalesced', :'feed') < 3000, true);
reset request.jwt.claims;
-- What the other tests count is as before.
delete from accounts where id in (select account_id from profiles join details on profile_id = profiles.id
    where value #>> '{}' ~ '^person[0-9]+@example.org$');
