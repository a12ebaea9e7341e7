-- insert_notification, unread_count, mark_read, mark_all_read, ignore_notification; as the app's role.
insert into accounts default values returning id as anna \gset
insert into accounts default values returning id as bram \gset
select gen_random_uuid() as connection, gen_random_uuid() as other \gset

select test.equals('switches: invitations and contact updates on, circle changes off',
    (select row(notify_invitations, notify_contact_updates, notify_circle_changes)::text from accounts where id = :'anna'),
    '(t,t,f)');

-- Coalescing
select insert_notification(:'anna', 'contact_updated', :'connection', 'Bram', 'he', '{phone,address}') as first \gset
select test.equals('a first contact update is written',
    (select row(kind, connection_id, actor_name, actor_pronoun, categories, read_at, ignored_at)::text
     from notifications where id = :'first'),
    row('contact_updated', :'connection'::uuid, 'Bram', 'he', '{phone,address}'::text[], null, null)::text);
select test.equals('a second one of the same connection is dropped while the first is unread',
    insert_notification(:'anna', 'contact_updated', :'connection', 'Bram', 'he', '{photo}'), null);
select test.equals('… and nothing of the first has changed',
    (select categories from notifications where id = :'first'), '{phone,address}'::text[]);
select test.equals('another connection''s is written',
    insert_notification(:'anna', 'contact_updated', :'other') is not null, true);
select test.equals('another account''s is written',
    insert_notification(:'bram', 'contact_updated', :'connection') is not null, true);
select test.equals('another kind''s is written',
    insert_notification(:'anna', 'circle_changed', :'connection') is not null, true);
select test.equals('a second circle change is dropped',
    insert_notification(:'anna', 'circle_changed', :'connection'), null);
select mark_read(:'anna', :'first') as marked \gset
select test.equals('once read, the next one is written',
    insert_notification(:'anna', 'contact_updated', :'connection') is not null, true);
select test.equals('one unread contact update of the connection is left',
    (select count(*) from notifications
     where account_id = :'anna' and kind = 'contact_updated' and connection_id = :'connection' and read_at is null),
    1::bigint);
insert into notifications (account_id, kind, connection_id) values (:'bram', 'circle_changed', :'other');
select test.equals('an unread row written without the function counts as well',
    insert_notification(:'bram', 'circle_changed', :'other'), null);
insert into notifications (account_id, kind, connection_id) values (:'bram', 'circle_changed', :'other');
select test.equals('a second row written without the function is not refused',
    (select count(*) from notifications where account_id = :'bram' and kind = 'circle_changed'), 2::bigint);
update notifications set ignored_at = now() where account_id = :'bram' and kind = 'circle_changed';
select test.equals('what was ignored is not unread, so the next one is written',
    insert_notification(:'bram', 'circle_changed', :'other') is not null, true);
select test.equals('invitations do not coalesce',
    (select count(insert_notification(:'anna', 'invitation_received', :'connection')) from generate_series(1, 2)), 2::bigint);
select test.equals('updates without a connection do not coalesce',
    (select count(insert_notification(:'anna', 'contact_updated')) from generate_series(1, 2)), 2::bigint);

-- Kinds and words
select test.fails('the retired kind contact_removed is refused',
    format('select insert_notification(%L, %L)', :'anna', 'contact_removed'), '22023');
select test.fails('kinds are case-sensitive', format('select insert_notification(%L, %L)', :'anna', 'System'), '22023');
select test.fails('a null kind is refused', format('select insert_notification(%L, null)', :'anna'), '22023');
select test.fails('a system notification without words is refused',
    format('select insert_notification(%L, %L)', :'anna', 'system'), '22023');
select test.fails('an unknown account is refused',
    format('select insert_notification(%L, %L, p_title => %L)', gen_random_uuid(), 'system', 'Hello'), '23503');
select insert_notification(:'bram', 'system', p_title => 'Hello', p_body => 'World',
    p_translations => '{"nl": {"title": "Hallo"}}') as words \gset
select test.equals('a system notification keeps its words',
    (select row(title, body, translations)::text from notifications where id = :'words'),
    row('Hello'::text, 'World'::text, '{"nl": {"title": "Hallo"}}'::jsonb)::text);
select insert_notification(:'bram', 'invitation_received', p_title => '+31 6 12345678', p_body => '+31 6 12345678',
    p_translations => '{"nl": {"title": "+31 6 12345678"}}') as no_words \gset
select test.equals('any other kind keeps none, so no value can enter by this way',
    (select row(title, body, translations)::text from notifications where id = :'no_words'), '(,,)');
select test.fails('a kind that is refused is quoted only in part',
    format('select insert_notification(%L, %L)', :'anna', repeat('k', 1000)), '22023', repeat('k', 65));

-- Counting and reading
insert into accounts default values returning id as carla \gset
select test.equals('a new account has nothing unread', unread_count(:'carla'), 0);
select insert_notification(:'carla', 'invitation_received') as invitation \gset
select insert_notification(:'carla', 'invitation_accepted') as acceptance \gset
select insert_notification(:'carla', 'system', p_title => 'Hello') as message \gset
select test.equals('unread are all three', unread_count(:'carla'), 3);
select test.equals('another account cannot mark them read', mark_read(:'anna', :'message'), false);
select test.equals('another account cannot ignore them', ignore_notification(:'anna', :'invitation'), false);
select test.equals('… so three are unread still', unread_count(:'carla'), 3);
select test.equals('an invitation can be ignored', ignore_notification(:'carla', :'invitation'), true);
select test.equals('… and counts no longer', unread_count(:'carla'), 2);
select ignored_at as ignored_at from notifications where id = :'invitation' \gset
select test.equals('ignoring again changes nothing', ignore_notification(:'carla', :'invitation'), false);
select test.equals('… not even the time', (select ignored_at from notifications where id = :'invitation'), :'ignored_at'::timestamptz);
select test.equals('only received invitations can be ignored', ignore_notification(:'carla', :'message'), false);
select test.equals('marking as read counts one less', mark_read(:'carla', :'message'), true);
select test.equals('… one', unread_count(:'carla'), 1);
select read_at as read_at from notifications where id = :'message' \gset
select test.equals('marking as read again changes nothing', mark_read(:'carla', :'message'), false);
select test.equals('… not even the time', (select read_at from notifications where id = :'message'), :'read_at'::timestamptz);
select test.equals('a notification that is gone is not marked', mark_read(:'carla', gen_random_uuid()), false);
select test.equals('all that is left, the ignored one included, can be marked at once', mark_all_read(:'carla'), 2);
select test.equals('… then none is unread', unread_count(:'carla'), 0);
select test.equals('… and there is nothing left to mark', mark_all_read(:'carla'), 0);
select test.equals('… and the time of the first reading stands',
    (select read_at from notifications where id = :'message'), :'read_at'::timestamptz);
select test.equals('nobody else''s were marked', unread_count(:'bram') > 0, true);

-- An account that goes takes its rows along
delete from accounts where id = :'carla';
select test.equals('a deleted account leaves no notification',
    (select count(*) from notifications where account_id = :'carla'), 0::bigint);
