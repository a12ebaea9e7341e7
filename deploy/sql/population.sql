-- What deploy/sql/population runs; its parameters are psql variables. Every random choice is a hash of the seed, what is
-- chosen and for whom, so the same seed makes the same people on every server.
\set started `date +%s%N`
begin;
set local search_path = :"schema", pg_temp;
set local synchronous_commit = off;
set local work_mem = '64MB';

create function pg_temp.chance(p_what text, p_number bigint) returns double precision
language sql stable parallel safe as $$
    select (hashint8extended(p_number, hashtextextended(current_setting('population.seed') || p_what, 0)) & 1073741823)
        / 1073741824.0::double precision
$$;
create function pg_temp.made_id(p_what text, p_number bigint) returns uuid
language sql stable parallel safe as $$
    select md5(concat_ws(' ', current_setting('population.seed'), p_what, p_number))::uuid
$$;
create function pg_temp.pick(p_from text[], p_chance double precision) returns text
language sql stable parallel safe as $$
    select p_from[1 + floor(p_chance * cardinality(p_from))::integer]
$$;
select set_config('population.seed', :'seed', true) as seed \gset

select exists (select from accounts where id = pg_temp.made_id('account', 1)) as there \gset
\if :there
    do $$ begin raise exception 'the people of this seed are there already: take another --seed'; end $$;
\endif

-- All that refers to something refers to what this file has made before, so nothing is gained by looking it up again,
-- two times out of three of the time. Where the role may, that is: superusers, and `postgres` on Supabase.
select has_parameter_privilege('session_replication_role', 'set') as unchecked \gset
\if :unchecked
    set local session_replication_role = replica;
\endif

-- MARK: People

create temporary table person on commit drop as
select
    n,
    pg_temp.made_id('account', n) as account_id,
    pg_temp.made_id('profile', n) as profile_id,
    pg_temp.pick(array['nl', 'nl', 'nl', 'en', 'en', 'nl-BE', 'de'], pg_temp.chance('locale', n)) as locale,
    case when pg_temp.chance('pronoun', n) < 0.45 then 'she' when pg_temp.chance('pronoun', n) < 0.9 then 'he' end as pronoun
from generate_series(1::bigint, :accounts) n;
create unique index on person (n);
analyze person;

insert into accounts (id, notify_invitations, notify_contact_updates, notify_circle_changes, onboarding_completed)
select account_id, pg_temp.chance('invitations', n) < 0.95, pg_temp.chance('updates', n) < 0.85, pg_temp.chance('changes', n) < 0.2, true
from person;

insert into profiles (id, account_id, kind, pronoun)
select profile_id, account_id, 'main', pronoun from person;

insert into circles (id, account_id, name, seed, send_updates, position)
select pg_temp.made_id('circle', n * 100 + c), account_id, name, seed, pg_temp.chance('send updates', n * 100 + c) < 0.9, c
from person, (values
    (1, 'Family', 'family'), (2, 'Friends', 'friends'), (3, 'Work', 'work'), (4, 'Neighbours', null), (5, 'School', null), (6, 'Choir', null),
    (7, 'Football', null), (8, 'Holidays', null), (9, 'Study', null), (10, 'Parents', null), (11, 'Clients', null), (12, 'Allotment', null)
) as circle (c, name, seed)
where c <= :circles;

-- MARK: What they keep about themselves

create temporary table detail on commit drop as
select
    pg_temp.made_id('detail ' || category, n) as id, n, profile_id, category, label, value, category = 'name' as is_default,
    -- How many of the circles see it: the first ones, so that families know most.
    case category when 'name' then 0 when 'email' then :circles when 'phone' then 2 else 1 end as seen_by
from person, lateral (values
    ('name', '', 1.0, to_jsonb(
        case pronoun
            when 'she' then pg_temp.pick(array['Anna', 'Eva', 'Fatima', 'Iris', 'Julia', 'Lotte', 'Maria', 'Noor', 'Sanne', 'Yasmin', 'Zoë', 'Marie-Claire'], pg_temp.chance('first', n))
            when 'he' then pg_temp.pick(array['Bram', 'Daan', 'Emre', 'Finn', 'Jan', 'José', 'Lars', 'Milan', 'Mohamed', 'Pieter', 'Sem', 'Jean-Luc'], pg_temp.chance('first', n))
            else pg_temp.pick(array['Alex', 'Charlie', 'Kim', 'Robin', 'Sam'], pg_temp.chance('first', n))
        end || ' ' || pg_temp.pick(array['Bakker', 'de Boer', 'Dijkstra', 'El Amrani', 'Jansen', 'Kaya', 'Kowalski', 'Mulder', 'O’Neil', 'Peters',
            'Smit', '’t Hart', 'van den Berg', 'van der Meer', 'Visser', 'de Vries', 'Wójcik', 'Yılmaz'], pg_temp.chance('last', n)))),
    ('phone', 'mobile', 0.9, to_jsonb(format('+316%s', lpad((:seed % 10 * 10000000 + n % 10000000)::text, 8, '0')))),
    ('email', 'home', 0.8, to_jsonb(format('person%s.%s@example.com', n, :seed))),
    ('address', 'home', 0.4, jsonb_build_object('street', 'Dorpsstraat ' || n % 200 + 1, 'city',
        pg_temp.pick(array['Utrecht', 'Gent', 'Leiden', 'Zwolle', 'Antwerpen'], pg_temp.chance('city', n)))),
    ('date', 'birthday', 0.5, jsonb_build_object('year', 1950 + n % 60, 'month', 1 + n % 12, 'day', 1 + n % 28)),
    ('photo', '', 0.6, jsonb_build_object('path', format('photos/%s.jpg', pg_temp.made_id('photo', n))))
) as kept (category, label, share, value)
where pg_temp.chance('keeps ' || category, n) < share;

create index on detail (profile_id);
analyze detail;
insert into details (id, profile_id, category, label, value, is_default, verified_at)
select id, profile_id, category, label, value, is_default,
    case when category in ('email', 'phone') and pg_temp.chance('verified ' || category, n) < 0.9 then now() end
from detail;

insert into detail_circles (detail_id, circle_id, part)
select detail.id, pg_temp.made_id('circle', n * 100 + c), part
from detail, generate_series(1, least(seen_by, :circles)) c, unnest(
    case when category <> 'date' then array['whole'] when c = 1 and n % 2 = 0 then array['day', 'year'] else array['day'] end
) part;

-- MARK: Phones

insert into devices (id, account_id, platform, push_token, locale, push_token_updated_at, push_token_invalidated_at, push_token_invalid_reason)
select
    pg_temp.made_id('device', number),
    account_id,
    platform,
    case platform
        when 'ios' then encode(sha256(convert_to(:'seed' || ' apns ' || number, 'UTF8')), 'hex')
        else 'fcm' || :'seed' || '-' || number || ':APA91b' || md5(:'seed' || number) || md5(number || :'seed')
    end,
    locale,
    now() - pg_temp.chance('registered', number) * interval '200 days',
    case when pg_temp.chance('dead', number) < 0.03 then now() end,
    case when pg_temp.chance('dead', number) < 0.03 then 'Unregistered' end
from person,
    generate_series(1, floor(:devices)::integer + (pg_temp.chance('devices', n) < :devices - floor(:devices))::integer) d,
    lateral (select n * 10 + d as number, case when pg_temp.chance('platform', n * 10 + d) < 0.45 then 'ios' else 'android' end as platform) phone;

-- MARK: Who knows whom

-- Most know people near them, few know people far away; the number is spread as an exponential distribution. Each pair
-- is made by one of the two, so half as many each.
create temporary table pair on commit drop as
select distinct least(n, other) as a, greatest(n, other) as b
from person,
    generate_series(1, least(round(-ln(1 - pg_temp.chance('knows', n)) * :connections / 2.0), :accounts / 2)::integer) k,
    lateral (
        select 1 + (n + floor(power(pg_temp.chance('whom', n * 10000 + k), 3) * (:accounts - 1))::bigint) % :accounts as other
    ) one
where other <> n;

-- What every circle sees of everybody: snapshot_hash(circle_views(profile) -> circle), which takes a millisecond a
-- profile, for all at once. The tests compare the two.
create temporary table looks on commit drop as
select profile_id, circle_id, snapshot_hash(jsonb_object_agg(category, digest)) as hash
from (
    select profile_id, circle_id, category,
        md5(jsonb_agg(jsonb_build_array(label, value, is_default) order by label collate "C", value, is_default)::text) as digest
    from (
        select detail.profile_id, circles.id as circle_id, detail.category, detail.label, detail.is_default,
            case when detail.category = 'date' and not (seen.parts @> '{year}') then detail.value - 'year' else detail.value end as value
        from person
        join circles on circles.account_id = person.account_id
        join detail on detail.profile_id = person.profile_id
        left join (
            select detail_id, circle_id, array_agg(part) as parts from detail_circles group by detail_id, circle_id
        ) seen on seen.detail_id = detail.id and seen.circle_id = circles.id
        where detail.is_default or seen.parts is not null
    ) visible
    group by profile_id, circle_id, category
) digests
group by profile_id, circle_id;
create index on looks (circle_id);
analyze looks;

create temporary table contact on commit drop as
select
    pg_temp.made_id('connection', holder * 10000000 + seen) as id,
    pg_temp.made_id('connection', seen * 10000000 + holder) as peer_id,
    holder,
    seen,
    -- More friends than relatives and colleagues.
    pg_temp.made_id('circle', holder * 100 + 1 + floor(power(pg_temp.chance('holds', holder * 10000000 + seen), 0.8) * :circles)::bigint) as circle_id,
    pg_temp.made_id('circle', seen * 100 + 1 + floor(power(pg_temp.chance('holds', seen * 10000000 + holder), 0.8) * :circles)::bigint) as peer_circle_id
from (select a, b from pair union all select b, a from pair) both_ways (holder, seen);

analyze contact;
analyze circles, devices;
insert into connections (id, account_id, profile_id, circle_id, peer_connection_id, snapshot_hash, created_at)
select contact.id, holder.account_id, seen.profile_id, contact.circle_id, contact.peer_id, looks.hash,
    now() - pg_temp.chance('since', least(contact.holder, contact.seen) * 10000000 + greatest(contact.holder, contact.seen)) * interval '700 days'
from contact
join person holder on holder.n = contact.holder
join person seen on seen.n = contact.seen
join looks on looks.circle_id = contact.peer_circle_id and looks.profile_id = seen.profile_id;

-- MARK: Address books elsewhere

analyze connections;

create temporary table service on commit drop as
select pg_temp.made_id('service', n) as id, n, account_id,
    pg_temp.pick(array['google', 'google', 'icloud', 'microsoft'], pg_temp.chance('provider', n)) as provider,
    array(select pg_temp.made_id('circle', n * 100 + c) from generate_series(1, least(2, :circles)) c) as circle_ids
from person
where pg_temp.chance('service', n) * 100 < :services;

-- Their trigger gives them their labels.
\if :unchecked
    set local session_replication_role = origin;
\endif
insert into sync_services (id, account_id, provider, device_id, circle_ids, allow_delete, last_sync_at)
select service.id, service.account_id, provider, (select devices.id from devices where devices.account_id = service.account_id order by devices.id limit 1),
    circle_ids, pg_temp.chance('allow delete', n) < 0.3, now() - pg_temp.chance('synced', n) * interval '3 days'
from service;

\if :unchecked
    set local session_replication_role = replica;
\endif
insert into sync_links (service_id, external_id, connection_id, profile_id, synced_hash)
select service.id, 'people/c' || connections.id, connections.id, connections.profile_id,
    -- One in twenty has changed since.
    case when pg_temp.chance('changed', service.n * 10000 + row_number() over (partition by service.id order by connections.id)) < 0.95
        then connections.snapshot_hash else encode(sha256(''), 'hex') end
from service
join connections on connections.account_id = service.account_id and connections.circle_id = any (service.circle_ids);

commit;

set search_path = :"schema", pg_temp;
analyze accounts, profiles, circles, details, detail_circles, devices, connections, sync_services, sync_links;
\set ended `date +%s%N`
select format('%s accounts with %s circles, %s details, %s devices, %s connections, %s services (%s cards); all in %s s',
    (select count(*) from accounts), (select count(*) from circles), (select count(*) from details),
    (select count(*) from devices), (select count(*) from connections), (select count(*) from sync_services),
    (select count(*) from sync_links), round((:ended - :started) / 1e9, 1));
