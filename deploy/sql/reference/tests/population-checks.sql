-- What deploy/sql/population made without looking everything up; run by the superuser after it.
select test.equals('as many people as asked for, with as many circles',
    (select row(count(distinct accounts.id), count(*), min(profiles.kind))::text
     from accounts join profiles on profiles.account_id = accounts.id join circles on circles.account_id = accounts.id
     where accounts.id in (select account_id from details join profiles on profiles.id = profile_id where value #>> '{}' like 'person%.7@example.com')
    ), row(count(*), count(*) * 4, 'main'::text)::text)
from details where value #>> '{}' like 'person%.7@example.com';
select test.equals('about as many phones and contacts a person',
    (select count(*) filter (where (select count(*) from devices where account_id = accounts.id) > 0) between 280 and 400 from accounts), true);
select test.equals('contacts are around the average, and differ',
    (select avg(n) between 7 and 13 and max(n) > 2 * avg(n) and min(n) < avg(n) / 2
     from (select count(*) n from connections group by account_id) counts), true);
select test.equals('every profile has one default name', (
    select count(*) from profiles where (select count(*) from details where profile_id = profiles.id and is_default) <> 1), 0::bigint);
select test.equals('every connection has its peer, which is the other way round', (
    select count(*) from connections seen
    left join connections peer on peer.id = seen.peer_connection_id and peer.peer_connection_id = seen.id
    left join profiles on profiles.id = seen.profile_id and profiles.account_id = peer.account_id
    where profiles.id is null), 0::bigint);
select test.equals('every hash is that of what is seen', (
    select count(*) from connections seen join connections peer on peer.id = seen.peer_connection_id
    where seen.snapshot_hash is distinct from snapshot_hash(circle_views(seen.profile_id) -> peer.circle_id::text)), 0::bigint);
select test.equals('views differ by circle', (select count(distinct snapshot_hash) > count(distinct profile_id) from connections), true);
select test.equals('every name, number and address is one that is allowed', (
    select count(*) from details
    where category = 'name' and not is_allowed_name(value #>> '{}')
        or category in ('phone', 'email') and normalized_address(category, value #>> '{}') is distinct from lower(value #>> '{}')), 0::bigint);
select test.equals('every service has its label, and pending work', (
    select count(*) > 0 and bool_and(label = sync_service_name(provider)) from sync_services), true);
select test.equals('some of the cards are behind', (select count(distinct bucket) >= 3 from sync_contacts), true);
select test.equals('nobody was told of anything', (select count(*) from notifications), 0::bigint);
-- Foreign keys were not looked up. Each is added anew, which does that for every row.
create function pg_temp.broken(p_constraint oid) returns text language plpgsql as $$
declare
    v_relation regclass;
    v_definition text;
begin
    select conrelid, pg_get_constraintdef(oid) into v_relation, v_definition from pg_constraint where oid = p_constraint;
    execute format('alter table %s add constraint once_more %s', v_relation, v_definition);
    execute format('alter table %s drop constraint once_more', v_relation);
    return null;
exception when foreign_key_violation then
    return sqlerrm;
end
$$;
select test.equals(format('%s of %s holds', conname, conrelid::regclass), pg_temp.broken(oid), null)
from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace;
