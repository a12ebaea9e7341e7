-- A population for measuring: accounts with their circles, details and connections, made in a few statements.
--
--     psql -v accounts=10000 -v connections=50 -v circles=4 -f population.sql
--
-- connections is how many each account has on average; circles how many each has, three or more. The first account is a
-- hub: connected with up to :hub others (1000). Names, numbers and addresses are made up, the same every time.
\if :{?accounts} \else \set accounts 10000 \endif
\if :{?connections} \else \set connections 50 \endif
\if :{?circles} \else \set circles 4 \endif
\if :{?hub} \else \set hub 1000 \endif
begin;
create temp table person on commit drop as
select n, gen_random_uuid() as account_id, gen_random_uuid() as profile_id from generate_series(1, :accounts) n;
create unique index on person (n);
insert into accounts (id) select account_id from person;
insert into profiles (id, account_id, pronoun)
select profile_id, account_id, case n % 3 when 0 then 'she' when 1 then 'he' end from person;

create temp table place on commit drop as
select gen_random_uuid() as circle_id, account_id, person.n, position
from person cross join generate_series(1, greatest(:circles, 3)) position;
insert into circles (id, account_id, name, seed, position, send_updates)
select circle_id, account_id, coalesce((array['Family', 'Friends', 'Work'])[position], 'Circle ' || position),
    (array['family', 'friends', 'work'])[position], position, (n + position) % 10 <> 0
from place;
create unique index on place (n, position);

create temp table held on commit drop as
select gen_random_uuid() as detail_id, profile_id, n, category,
    case category
        when 'name' then to_jsonb((array['Anna', 'Bram', 'Carla', 'Dirk', 'Eva', 'Fons'])[1 + n % 6]
            || ' ' || (array['Jansen', 'de Vries', 'Bakker', 'Visser', 'Smit'])[1 + n % 5])
        when 'phone' then to_jsonb('+316' || lpad((10000000 + n)::text, 8, '0'))
        when 'email' then to_jsonb('person' || n || '@example.org')
        when 'address' then jsonb_build_object('street', 'Straat ' || n, 'city', 'Utrecht')
        when 'date' then jsonb_build_object('day', 1 + n % 28, 'month', 1 + n % 12, 'year', 1940 + n % 70)
    end as value
from person cross join unnest(array['name', 'phone', 'email', 'address', 'date']) category;
insert into details (id, profile_id, category, label, value, is_default)
select detail_id, profile_id, category, '', value, category = 'name' from held;
insert into detail_circles (detail_id, circle_id, part)
select detail_id, circle_id, part
from held join place using (n)
    cross join unnest(case when category = 'date' then array['day', 'year'] else array['whole'] end) part
where category <> 'name'
    and position <= case category when 'phone' then 3 when 'email' then 2 when 'address' then 1 else 2 end
    and (part <> 'year' or position = 1);

-- Each account with the next ones, at growing distances; the hub with the first ones.
create temp table pair on commit drop as
select distinct least(one, other) as one, greatest(one, other) as other, gen_random_uuid() as first_id, gen_random_uuid() as second_id
from (
    select distinct least(n, far) as one, greatest(n, far) as other
    from (
        select n, 1 + (n + step * step - 1) % :accounts as far
        from person cross join generate_series(1, (:connections + 1) / 2) step
        union all
        select 1, n from person where n between 2 and :hub + 1
    ) met
    where n <> far
) pairs;
insert into connections (id, account_id, profile_id, circle_id, peer_connection_id)
select first_id, a.account_id, b.profile_id, p.circle_id, second_id
from pair join person a on a.n = one join person b on b.n = other
    join place p on p.n = one and p.position = 1 + other % greatest(:circles, 3)
union all
select second_id, b.account_id, a.profile_id, p.circle_id, first_id
from pair join person a on a.n = one join person b on b.n = other
    join place p on p.n = other and p.position = 1 + one % greatest(:circles, 3);

-- What is seen: once for each profile, not for each connection.
analyze profiles, circles, details, detail_circles, connections;
create temp table seen on commit drop as select profile_id, circle_views(profile_id) as views from person;
analyze seen;
update connections
set snapshot_hash = snapshot_hash(seen.views -> peer.circle_id::text)
from connections peer, seen
where peer.id = connections.peer_connection_id and seen.profile_id = connections.profile_id;
select account_id as hub_account, profile_id as hub_profile from person where n = 1 \gset
commit;
analyze;
