-- Connected services, called as the people they belong to; run by the superuser, who prepares and looks.
select gen_random_uuid() as anna, gen_random_uuid() as bram, gen_random_uuid() as carla, gen_random_uuid() as dirk \gset
select create_account(:'anna', 'Anna') as anna_profile, create_account(:'bram', 'Bram') as bram_profile,
    create_account(:'carla', 'Carla') as carla_profile, create_account(:'dirk', 'Dirk') as dirk_profile \gset
select id as family from circles where account_id = :'anna' and seed = 'family' \gset
select id as friends from circles where account_id = :'anna' and seed = 'friends' \gset
select id as work from circles where account_id = :'anna' and seed = 'work' \gset
select id as bram_circle from circles where account_id = :'bram' and seed = 'family' \gset
select register_device(:'anna', 'ios', 'aa00aa00aa00aa00', 'nl') as phone \gset
select register_device(:'bram', 'android', 'services-bram', 'en') as bram_phone \gset
select encode(sha256('one'), 'hex') as h1, encode(sha256('two'), 'hex') as h2 \gset

-- Connecting
set role authenticated;
select set_config('request.jwt.claims', json_build_object('sub', :'anna')::text, false) as claims \gset
select (connect_service('google', :'phone', array[:'family', :'friends']::uuid[])).id as google \gset
select test.equals('a service is connected with what was told of it',
    (select row(account_id, provider, label, device_id, circle_ids, allow_delete, last_sync_at)::text
     from sync_services where id = :'google'),
    row(:'anna'::uuid, 'google', 'Google', :'phone'::uuid, array[:'family', :'friends']::uuid[], false, null)::text);
select test.equals('a second service of the provider is labelled so',
    (connect_service('google', :'phone')).label, 'Google (2)'::text);
select test.equals('… and a third', (connect_service('google', :'phone')).label, 'Google (3)'::text);
select test.equals('another provider''s is a first', (connect_service('icloud', :'phone')).label, 'iCloud'::text);
select disconnect_service(id) as gone from sync_services where label = 'Google (2)' \gset
select test.equals('a label that became free is given again', (connect_service('google', null)).label, 'Google (2)'::text);
insert into sync_services (provider) values ('microsoft'), ('microsoft');
select test.equals('rows inserted together without the function are labelled as well',
    (select array_agg(label order by label) from sync_services where provider = 'microsoft'),
    array['Microsoft', 'Microsoft (2)']);
select test.fails('a label cannot be chosen',
    $$insert into sync_services (provider, label) values ('google', 'secret')$$, '42501', 'secret');
select test.fails('… nor changed', $$update sync_services set label = 'secret'$$, '42501', 'secret');
select test.fails('… nor a service given to somebody else',
    format('insert into sync_services (provider, account_id) values (%L, %L)', 'google', :'bram'), '42501');
select test.fails('an unknown provider is refused', $$select connect_service('facebook', null)$$, '23514');
select test.fails('another account''s device is refused',
    format('select connect_service(%L, %L)', 'google', :'bram_phone'), '23503');
select test.fails('… as one that does not exist',
    format('select connect_service(%L, %L)', 'google', gen_random_uuid()), '23503');
select test.fails('another account''s circle is refused',
    format('select connect_service(%L, null, array[%L]::uuid[])', 'google', :'bram_circle'), '23503');
select test.fails('… also later', format('update sync_services set circle_ids = array[%L]::uuid[]', :'bram_circle'), '23503');
select count(disconnect_service(id)) as gone from sync_services where id <> :'google' \gset
select test.equals('disconnecting twice says so', disconnect_service(gen_random_uuid()), false);

-- Buckets
reset role;
insert into connections (account_id, profile_id, circle_id, snapshot_hash) values (:'anna', :'bram_profile', :'family', :'h1')
    returning id as bram_contact \gset
insert into connections (account_id, profile_id, circle_id, snapshot_hash) values (:'anna', :'carla_profile', :'friends', :'h1')
    returning id as carla_contact \gset
insert into connections (account_id, profile_id, circle_id, snapshot_hash) values (:'anna', :'dirk_profile', :'work', :'h1')
    returning id as dirk_contact \gset
set role authenticated;
create function pg_temp.buckets(p_service uuid) returns text language sql as $$
    select concat_ws(' ', to_add, to_update, to_delete, to_link, in_sync, hidden, pending) from sync_buckets(p_service)
$$;
create function pg_temp.bucket(p_service uuid, p_contact uuid) returns text language sql as $$
    select bucket from sync_contacts where service_id = p_service and connection_id = p_contact
$$;
select test.equals('at first contacts in the circles are to be added, the others hidden',
    pg_temp.buckets(:'google'), '2 0 0 0 0 1 2');
select test.equals('the phone reports what it wrote', record_sync(:'google', jsonb_build_array(
    jsonb_build_object('external_id', 'people/b', 'connection_id', :'bram_contact', 'hash', :'h1'),
    jsonb_build_object('external_id', 'people/c', 'connection_id', :'carla_contact'))), true);
select test.equals('… what was written is in sync, what was only found is to be linked',
    pg_temp.buckets(:'google'), '0 0 0 1 1 1 1');
select test.equals('… one each', array[pg_temp.bucket(:'google', :'bram_contact'), pg_temp.bucket(:'google', :'carla_contact'),
    pg_temp.bucket(:'google', :'dirk_contact')], array['in_sync', 'to_link', 'hidden']);
select test.equals('… and the time is noted', (select last_sync_at > now() - interval '1 minute' from sync_services where id = :'google'), true);
select (connect_service('icloud', :'phone', array[:'work']::uuid[], true)).id as icloud \gset
select record_sync(:'icloud', jsonb_build_array(
    jsonb_build_object('external_id', 'd.vcf', 'connection_id', :'dirk_contact', 'hash', :'h1'))) as reported \gset
reset role;
update connections set snapshot_hash = :'h2' where id = :'bram_contact';
set role authenticated;
select test.equals('a change is pending at the service whose circles include the contact',
    array[pg_temp.buckets(:'google'), pg_temp.bucket(:'google', :'bram_contact')], array['0 1 0 1 0 1 2', 'to_update']);
select test.equals('… and only there',
    array[pg_temp.buckets(:'icloud'), pg_temp.bucket(:'icloud', :'bram_contact')], array['0 0 0 0 1 2 0', 'hidden']);
reset role;
update connections set snapshot_hash = :'h2' where id = :'dirk_contact';
set role authenticated;
select test.equals('a change of another circle''s contact is pending at the other one only',
    array[pg_temp.buckets(:'google'), pg_temp.buckets(:'icloud')], array['0 1 0 1 0 1 2', '0 1 0 0 0 2 1']);
select record_sync(:'google', jsonb_build_array(
    jsonb_build_object('external_id', 'people/b', 'connection_id', :'bram_contact', 'hash', :'h1'))) as reported \gset
select test.equals('a change while the phone was writing stays pending', pg_temp.bucket(:'google', :'bram_contact'), 'to_update');
select record_sync(:'google', jsonb_build_array(
    jsonb_build_object('external_id', 'people/b2', 'connection_id', :'bram_contact', 'hash', :'h2'))) as reported \gset
select test.equals('a contact that got another card has that one only',
    (select array_agg(external_id) from sync_links where connection_id = :'bram_contact'), array['people/b2']);
update sync_services set circle_ids = array[:'friends']::uuid[] where id = :'google';
select test.equals('a circle taken away hides its contacts where nothing may be deleted',
    array[pg_temp.buckets(:'google'), pg_temp.bucket(:'google', :'bram_contact')], array['0 0 0 1 0 2 1', 'hidden']);
update sync_services set allow_delete = true where id = :'google';
select test.equals('… and asks for deletion where it may',
    array[pg_temp.buckets(:'google'), pg_temp.bucket(:'google', :'bram_contact')], array['0 0 1 1 0 1 2', 'to_delete']);
select record_sync(:'google', p_removed => array['people/b2']) as reported \gset
select test.equals('a card that is reported gone is forgotten',
    array[pg_temp.buckets(:'google'), pg_temp.bucket(:'google', :'bram_contact')], array['0 0 0 1 0 2 1', 'hidden']);
select test.equals('one query answers for all services', (select array_agg(label order by label) from sync_buckets()),
    array['Google', 'iCloud']);
select test.equals('every contact is in one bucket of each service',
    (select count(*) = 6 and count(distinct (service_id, connection_id)) = 6 from sync_contacts), true);

-- Removed and connected anew
reset role;
delete from connections where id = :'carla_contact';
set role authenticated;
select test.equals('a removed connection leaves its card, emptied',
    (select row(external_id, connection_id, profile_id)::text from sync_links where service_id = :'google'),
    row('people/c', null, :'carla_profile'::uuid)::text);
select test.equals('… to be deleted where it may be', pg_temp.buckets(:'google'), '0 0 1 0 0 2 1');
update sync_services set allow_delete = false where id = :'google';
select test.equals('… hidden where it may not', pg_temp.buckets(:'google'), '0 0 0 0 0 3 0');
reset role;
insert into sync_services (account_id, provider) values (:'dirk', 'google') returning id as dirk_google \gset
insert into sync_links (service_id, external_id, profile_id) values (:'dirk_google', 'people/c', :'carla_profile');
insert into connections (account_id, profile_id, circle_id, snapshot_hash) values (:'anna', :'carla_profile', :'friends', :'h1')
    returning id as carla_again \gset
select test.equals('an orphan of another account stays one',
    (select connection_id from sync_links where service_id = :'dirk_google'), null::uuid);
set role authenticated;
select test.equals('connected anew, the orphan is adopted',
    (select array_agg(row(external_id, connection_id, synced_hash)::text) from sync_links where service_id = :'google'),
    array[row('people/c', :'carla_again'::uuid, null)::text]);
select test.equals('… to be linked, not added', pg_temp.buckets(:'google'), '0 0 0 1 0 2 1');
reset role;
delete from connections where id = :'carla_again';
insert into sync_links (service_id, external_id, profile_id) values (:'google', 'people/c9', :'carla_profile');
insert into connections (account_id, profile_id, circle_id) values (:'anna', :'carla_profile', :'friends') returning id as carla_again \gset
select test.equals('of two cards that show the person one is adopted',
    (select array_agg(external_id || ' ' || (connection_id is not null) order by external_id)
     from sync_links where service_id = :'google'), array['people/c true', 'people/c9 false']);
set role authenticated;
select record_sync(:'google', jsonb_build_array(
    jsonb_build_object('external_id', 'people/c9', 'connection_id', :'carla_again', 'hash', :'h1'))) as reported \gset
select test.equals('an orphan that the phone reports is taken over, not doubled',
    (select array_agg(external_id || ' ' || coalesce(connection_id::text, '-')) from sync_links where service_id = :'google'),
    array['people/c9 ' || :'carla_again']);
select record_sync(:'google', jsonb_build_array(
    jsonb_build_object('external_id', 'people/x', 'connection_id', gen_random_uuid(), 'hash', :'h1'))) as reported \gset
select test.equals('a contact that ended while its card was written leaves an orphan',
    (select connection_id is null from sync_links where external_id = 'people/x'), true);
select record_sync(:'google', jsonb_build_array(
    jsonb_build_object('external_id', 'people/x', 'connection_id', :'carla_again', 'hash', :'h1'),
    jsonb_build_object('external_id', 'people/c9', 'connection_id', :'bram_contact', 'hash', :'h2'))) as reported \gset
select test.equals('two cards can change places',
    (select array_agg(external_id || ' ' || coalesce(connection_id::text, '-') order by external_id)
     from sync_links where service_id = :'google'),
    array['people/c9 ' || :'bram_contact', 'people/x ' || :'carla_again']);

-- Refused
select test.fails('a card twice in one report', format($$select record_sync(%L, '[{"external_id": "a"}, {"external_id": "a"}]')$$, :'google'), '22023');
select test.fails('a contact twice in one report', format($$select record_sync(%L, %L)$$, :'google', jsonb_build_array(
    jsonb_build_object('external_id', 'a', 'connection_id', :'bram_contact'),
    jsonb_build_object('external_id', 'b', 'connection_id', :'bram_contact'))), '22023');
select test.fails('a report that is no array', format($$select record_sync(%L, '{}')$$, :'google'), '22023');
select test.fails('a report that is null', format('select record_sync(%L, null)', :'google'), '22023');
select test.fails('a report of 5001 cards', format('select record_sync(%L, %L)', :'google',
    (select jsonb_agg(jsonb_build_object('external_id', n)) from generate_series(1, 5001) n)), '22023');
select test.fails('a credential where an id belongs', format($$insert into sync_links (service_id, external_id) values (%L, %L)$$,
    :'google', 'Bearer secret'), '22023', 'secret');
select test.fails('… however long', format($$insert into sync_links (service_id, external_id) values (%L, %L)$$,
    :'google', repeat('secret', 50)), '22023', 'secret');
select test.fails('… or where a hash belongs', format($$insert into sync_links (service_id, external_id, synced_hash) values (%L, 'a', %L)$$,
    :'google', 'secret'), '22023', 'secret');
select test.fails('a card of a contact twice', format('insert into sync_links (service_id, external_id, connection_id) values (%L, %L, %L)',
    :'google', 'people/z', :'bram_contact'), '23505');
select test.fails('a card twice', format('insert into sync_links (service_id, external_id) values (%L, %L)', :'google', 'people/x'), '23505');

-- What goes along
reset role;
delete from devices where id = :'phone';
select test.equals('a phone that signs out leaves its services without a holder',
    (select count(*) from sync_services where account_id = :'anna' and device_id is null), 2::bigint);
select register_device(:'anna', 'ios', 'aa00aa00aa00aa01') as phone \gset
update sync_services set device_id = :'phone' where id = :'google';
select register_device(:'bram', 'ios', 'aa00aa00aa00aa01') as moved \gset
select test.equals('a phone that changes hands does too',
    (select device_id from sync_services where id = :'google'), null::uuid);
select set_config('request.jwt.claims', json_build_object('sub', :'anna')::text, false) as claims \gset
select create_circle('Neighbours') as neighbours \gset
update sync_services set circle_ids = circle_ids || :'neighbours'::uuid where id = :'google';
select delete_circle(:'neighbours') as deleted \gset
select test.equals('a circle that is deleted leaves the service',
    (select circle_ids from sync_services where id = :'google'), array[:'friends'::uuid]);

-- Bram reads and changes nothing of Anna's
set role authenticated;
select set_config('request.jwt.claims', json_build_object('sub', :'bram')::text, false) as claims \gset
select test.equals('another account sees no service, link, contact or bucket',
    (select (select count(*) from sync_services) + (select count(*) from sync_links) + (select count(*) from sync_contacts)
        + (select count(*) from sync_buckets()) + (select count(*) from sync_buckets(:'google'))), 0::bigint);
select test.equals('… cannot report', record_sync(:'google', '[{"external_id": "people/evil"}]', array['people/x']), false);
select test.equals('… cannot disconnect', disconnect_service(:'google'), false);
select test.fails('… cannot link', format('insert into sync_links (service_id, external_id) values (%L, %L)', :'google', 'people/evil'), '42501');
select (connect_service('google', null)).id as bram_google \gset
select test.fails('… cannot link a contact of another account to its own service',
    format('insert into sync_links (service_id, external_id, connection_id) values (%L, %L, %L)',
        :'bram_google', 'people/evil', :'carla_again'), '23503');
select record_sync(:'bram_google', jsonb_build_array(jsonb_build_object('external_id', 'people/evil', 'connection_id', :'carla_again'))) as reported \gset
select test.equals('… and learns by a report no more than that the contact is not its own',
    (select connection_id is null and profile_id is null from sync_links where external_id = 'people/evil'), true);
with changed as (update sync_services set allow_delete = true returning id)
select test.equals('… changes its own only', (select array_agg(id) from changed), array[:'bram_google'::uuid]);
with changed as (delete from sync_links returning external_id)
select test.equals('… deletes its own only', (select array_agg(external_id) from changed), array['people/evil']);
select set_config('request.jwt.claims', '', false) as claims \gset
select test.equals('nobody signed in sees nothing', (select count(*) from sync_services), 0::bigint);
set role anon;
select test.fails('anon may not even ask', 'select count(*) from sync_services', '42501');
select test.fails('… nor call', 'select sync_buckets()', '42501');
reset role;
select test.equals('Anna''s links are untouched',
    (select array_agg(external_id order by external_id) from sync_links where service_id = :'google'), array['people/c9', 'people/x']);

-- Disconnecting
set role authenticated;
select set_config('request.jwt.claims', json_build_object('sub', :'anna')::text, false) as claims \gset
select test.equals('a service can be disconnected', disconnect_service(:'google'), true);
reset role;
select test.equals('… and takes its links along', (select count(*) from sync_links where service_id = :'google'), 0::bigint);
delete from accounts where id = :'anna';
select test.equals('an account that is deleted leaves none', (select count(*) from sync_services where account_id = :'anna'), 0::bigint);

-- No credential could be kept. Whoever adds a column reads this.
select test.equals('the columns of connected services, all of them',
    (select array_agg(format('%s.%s %s', table_name, column_name, data_type) order by table_name, ordinal_position)
     from information_schema.columns where table_schema = current_schema() and table_name in ('sync_services', 'sync_links')),
    array[
        'sync_links.service_id uuid', 'sync_links.external_id text', 'sync_links.connection_id uuid',
        'sync_links.profile_id uuid', 'sync_links.synced_hash text',
        'sync_services.id uuid', 'sync_services.account_id uuid', 'sync_services.provider text',
        'sync_services.label text', 'sync_services.device_id uuid', 'sync_services.circle_ids ARRAY',
        'sync_services.allow_delete boolean', 'sync_services.last_sync_at timestamp with time zone',
        'sync_services.created_at timestamp with time zone'
    ]);
select test.equals('no column of any table is for a credential but the push token',
    (select array_agg(table_name || '.' || column_name order by 1) from information_schema.columns
     where table_schema = current_schema() and column_name ~* 'token|secret|passw|credential|refresh|api_?key'
        and column_name !~ '^push_token'), null::text[]);
