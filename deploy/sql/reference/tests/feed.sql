-- The in-app list, counting, reading, pruning, the operator's messages; as people over HTTP, and as the app's server.
set role authenticated;

select gen_random_uuid() as anna, gen_random_uuid() as bram \gset
select test.as(:'anna', 'ensure_account(''Anna'', ''she'')') as anna_main, test.as(:'bram', 'ensure_account(''Bram'', ''he'')') as bram_main \gset
select test.as(:'anna', 'id from circles where seed = ''work''') as anna_work, test.as(:'bram', 'id from circles where seed = ''work''') as bram_work \gset
select test.equals('a new list is empty', test.as(:'bram', 'count(*) from notification_feed()') || test.as(:'bram', 'unread_count()'), '00');

select test.as(:'anna', format('send_invitation(%L, %L)', :'bram_main', :'anna_work')) as invitation \gset
reset role;
set session authorization reference_app;
select test.equals('the server writes to whom it chooses', send_system_message('{"nl": {"title": "Hallo"}}', 'Hello', p_account_ids => array[:'bram'::uuid]), 1::bigint);
select test.equals('… or to everybody', send_system_message(null, 'Hello') = (select count(*) from accounts), true);
select test.fails('… but not without words', 'select send_system_message(null)', '22023');
reset session authorization;
set role authenticated;
select test.equals('an invitation needs an answer, the rest are updates, the newest first',
    test.as(:'bram', 'concat_ws('' '', section, kind, invitation_state, actor_name, translations #>> ''{nl,title}'', is_new, number_new) from notification_feed()'),
    'needs_you invitation_received pending Anna t 1,updates system t 2,updates system Hallo t 2'::text);
select test.equals('the bell counts all', test.as(:'bram', 'unread_count()'), '3'::text);
select test.as(:'bram', 'id from notification_feed() where section = ''updates'' offset 1') as message \gset
select test.equals('one can be read', test.as(:'bram', format('mark_read(%L)', :'message')) || test.as(:'bram', format('mark_read(%L)', :'message')), 'truefalse');
select test.equals('… not by another one', test.as(:'anna', format('mark_read(%L)', test.as(:'bram', 'id from notification_feed() where section = ''updates'' limit 1'))), 'false'::text);
select test.equals('… and is no longer new', test.as(:'bram', 'concat_ws('' '', is_new, number_new) from notification_feed() where section = ''updates'''), 't 1,f 1'::text);
select test.as(:'bram', format('accept_invitation(%L, %L)', :'invitation', :'bram_work')) as sees \gset
select test.equals('an answered invitation needs nobody',
    test.as(:'bram', 'concat_ws('' '', section, invitation_state, is_new) from notification_feed() where kind = ''invitation_received'''), 'updates accepted f'::text);
select test.as(:'anna', format('save_detail(''phone'', ''"+31612345678"'', p_circle_ids => array[%L]::uuid[])', :'anna_work')) as phone \gset
select test.equals('a contact update says what changed, and by whom; without a connected service no more than that',
    test.as(:'bram', 'concat_ws('' '', section, actor_name, actor_pronoun, categories, is_gone, sync, connection_id) from notification_feed() where kind = ''contact_updated'''),
    'updates Anna she {phone} f ' || :'sees');
select test.equals('all can be read at once', test.as(:'bram', 'mark_all_read()') || test.as(:'bram', 'unread_count()'), '20');
reset role;

-- Pages
set session authorization reference_app;
select count(send_system_message(null, n::text, p_account_ids => array[:'bram'::uuid])) as x from generate_series(1, 5) n \gset
reset session authorization;
set role authenticated;
select test.as(:'bram', 'count(*) from notifications') as rows \gset
reset role;
create function test.pages(p_account_id uuid, p_limit integer) returns text
language plpgsql as $$
declare
    v_ids uuid[] := '{}';
    v_row record;
    v_at timestamptz;
    v_id uuid;
    v_pages integer := 0;
    v_found boolean;
begin
    perform set_config('request.jwt.claims', jsonb_build_object('sub', p_account_id)::text, true);
    loop
        v_found := false;
        for v_row in select * from notification_feed(p_limit, v_at, v_id) where section = 'updates' loop
            v_found := true;
            v_ids := v_ids || v_row.id;
            v_at := v_row.created_at;
            v_id := v_row.id;
        end loop;
        exit when not v_found or v_pages > 100;
        v_pages := v_pages + 1;
    end loop;
    return v_pages || ' pages, ' || cardinality(v_ids) || ' rows, ' || (select count(distinct id) from unnest(v_ids) id);
end
$$;
set role authenticated;
select test.equals('pages leave out nothing and repeat nothing', test.pages(:'bram', 2), '5 pages, 9 rows, 9'::text);
select test.equals('… of all that is in the list', :'rows'::text, '9'::text);
reset role;

-- Sync state
insert into sync_services (id, account_id, provider, circle_ids)
values ('00000000-0000-4000-8000-0000000000aa', :'bram', 'google', array(select id from circles where account_id = :'bram'));
insert into sync_links (service_id, external_id, connection_id, synced_hash)
values ('00000000-0000-4000-8000-0000000000aa', 'x', :'sees', repeat('0', 64));
set role authenticated;
select test.equals('a change that no service has yet waits for it',
    test.as(:'bram', 'sync from notification_feed() where kind = ''contact_updated'''), '{"state": "waits_for_sync"}'::text);
reset role;
update sync_links set synced_hash = (select snapshot_hash from connections where id = :'sees') where connection_id = :'sees';
set role authenticated;
select test.equals('… and was then written there',
    test.as(:'bram', 'sync from notification_feed() where kind = ''contact_updated'''), '{"state": "written", "services": ["Google"]}'::text);
reset role;
update sync_services set circle_ids = '{}';
set role authenticated;
select test.equals('… and is no matter of a service whose circles leave the contact out',
    test.as(:'bram', 'sync from notification_feed() where kind = ''contact_updated'''), null::text);
reset role;
delete from sync_services;

-- Tables of one's own, with the names of the app's
reset role;
set role authenticated;
create temp table notifications (id uuid, account_id uuid, kind text, read_at timestamptz, ignored_at timestamptz);
create temp table accounts (id uuid);
select test.equals('a temporary table deceives no function', test.as(:'bram', 'mark_all_read()') || test.as(:'bram', 'unread_count()'), '50');
drop table pg_temp.notifications, pg_temp.accounts;
reset role;

-- Whose profile is gone
set role authenticated;
select test.as(:'anna', 'delete_account()') as x \gset
select test.equals('a notification whose profile is gone says so',
    test.as(:'bram', 'kind || is_gone from notification_feed() where kind <> ''system'''), 'contact_updatedtrue,invitation_receivedtrue'::text);
reset role;

-- Pruning
set session authorization reference_app;
update notifications set created_at = now() - interval '91 days' where account_id = :'bram' and kind = 'system';
update notifications set created_at = now() - interval '89 days' where account_id = :'bram' and kind = 'contact_updated';
select test.equals('what is older than 90 days is pruned, read or not', prune_notifications(), 7::bigint);
select test.equals('… and nothing else', (select count(*) from notifications where account_id = :'bram'), 2::bigint);
select test.equals('… once', prune_notifications(), 0::bigint);
select test.fails('not everything can be pruned', 'select prune_notifications(interval ''0'')', '22023');
select test.fails('… nor what is not told', 'select prune_notifications(null)', '22023');
reset session authorization;
