-- Inviting, answering, telling, moving and ending; as people, over HTTP.
set role authenticated;

select gen_random_uuid() as anna, gen_random_uuid() as bram, gen_random_uuid() as carla, gen_random_uuid() as dirk \gset
select test.as(:'anna', 'ensure_account(''Anna'', ''she'')') as anna_main,
    test.as(:'bram', 'ensure_account(''Bram'', ''he'')') as bram_main,
    test.as(:'carla', 'ensure_account(''Carla'')') as carla_main,
    test.as(:'dirk', 'ensure_account(''Dirk'')') as dirk_main \gset
select test.as(:'anna', 'id from circles where seed = ''family''') as anna_family,
    test.as(:'anna', 'id from circles where seed = ''friends''') as anna_friends,
    test.as(:'anna', 'id from circles where seed = ''work''') as anna_work,
    test.as(:'bram', 'id from circles where seed = ''friends''') as bram_friends,
    test.as(:'bram', 'id from circles where seed = ''work''') as bram_work,
    test.as(:'carla', 'id from circles where seed = ''friends''') as carla_friends,
    test.as(:'dirk', 'id from circles where seed = ''friends''') as dirk_friends \gset

-- Inviting
select test.fails_as(:'anna', 'oneself cannot be invited', format('send_invitation(%L, %L)', :'anna_main', :'anna_friends'), '22023');
select test.fails_as(:'anna', 'nobody can be invited', format('send_invitation(%L, %L)', gen_random_uuid(), :'anna_friends'), 'P0002');
select test.fails_as(:'anna', 'another one''s circle cannot hold it', format('send_invitation(%L, %L)', :'bram_main', :'bram_friends'), 'P0002');
select test.fails_as(:'anna', 'another one''s profile cannot be offered',
    format('send_invitation(%L, %L, %L)', :'bram_main', :'anna_friends', :'carla_main'), 'P0002');
select test.as(:'anna', format('send_invitation(%L, %L)', :'bram_main', :'anna_friends')) as invitation \gset
select test.equals('who is invited is told', test.told(:'bram'), 'invitation_received Anna'::text);
select test.equals('… and nobody else', concat(test.told(:'anna'), test.told(:'carla')), '');
select test.equals('sent twice it is one invitation',
    test.as(:'anna', format('send_invitation(%L, %L)', :'bram_main', :'anna_work')), :'invitation'::text);
select test.equals('… told once', test.told(:'bram'), 'invitation_received Anna'::text);
select test.as(:'anna', format('send_invitation(%L, %L)', :'bram_main', :'anna_friends')) as x \gset
select test.equals('it is listed where it came from', test.as(:'anna', 'state from sent_invitations()'), 'pending'::text);
select test.equals('… and where it went', test.as(:'bram', 'name || '' '' || state from received_invitations()'), 'Anna pending'::text);
select test.fails_as(:'bram', 'who is invited cannot invite back',
    format('send_invitation(%L, %L)', :'anna_main', :'bram_friends'), '23505');
select test.equals('nobody else can ignore it', test.as(:'carla', format('ignore_invitation(%L)', :'invitation')), 'false'::text);
select test.equals('… nor take it back', test.as(:'carla', format('cancel_invitation(%L)', :'invitation')), 'false'::text);
select test.equals('… not even who is invited', test.as(:'bram', format('cancel_invitation(%L)', :'invitation')), 'false'::text);
select test.fails_as(:'carla', '… nor accept it', format('accept_invitation(%L, %L)', :'invitation', :'carla_friends'), 'P0002');
select test.fails_as(:'anna', '… not even who sent it', format('accept_invitation(%L, %L)', :'invitation', :'anna_friends'), 'P0002');

-- Undo
select test.equals('who sent it can take it back', test.as(:'anna', format('cancel_invitation(%L)', :'invitation')), 'true'::text);
select test.equals('… then its notification is gone', test.as(:'bram', 'count(*) from notifications'), '0'::text);
select test.equals('… once', test.as(:'anna', format('cancel_invitation(%L)', :'invitation')), 'false'::text);
select test.fails_as(:'bram', 'it can no longer be accepted', format('accept_invitation(%L, %L)', :'invitation', :'bram_friends'), 'P0002');
select test.as(:'anna', format('send_invitation(%L, %L)', :'bram_main', :'anna_friends')) as invitation \gset
select test.as(:'bram', 'mark_all_read()') as x \gset
select test.as(:'anna', format('cancel_invitation(%L)', :'invitation')) as x \gset
select test.equals('what was read stays in the list', test.as(:'bram', 'concat_ws('' '', section, invitation_state) from notification_feed()'),
    'updates cancelled'::text);

-- Ignoring
select test.as(:'anna', format('send_invitation(%L, %L)', :'bram_main', :'anna_friends')) as invitation \gset
select test.equals('an invitation counts', test.as(:'bram', 'unread_count()'), '1'::text);
select test.equals('it can be ignored', test.as(:'bram', format('ignore_invitation(%L)', :'invitation')), 'true'::text);
select test.equals('… once', test.as(:'bram', format('ignore_invitation(%L)', :'invitation')), 'false'::text);
select test.equals('… then it no longer counts', test.as(:'bram', 'unread_count()'), '0'::text);
select test.equals('… nor needs anybody', test.as(:'bram', 'count(*) from notification_feed() where section = ''needs_you'''), '0'::text);
select test.equals('who sent it cannot tell', test.as(:'anna', 'state from sent_invitations()'), 'pending'::text);
select test.equals('… nor by sending it again',
    test.as(:'anna', format('send_invitation(%L, %L)', :'bram_main', :'anna_friends')), :'invitation'::text);
select test.equals('… which tells nobody again', test.as(:'bram', 'unread_count()'), '0'::text);

-- Accepting: also what was ignored
select test.fails_as(:'bram', 'another one''s circle cannot hold it',
    format('accept_invitation(%L, %L)', :'invitation', :'anna_friends'), 'P0002');
select test.as(:'bram', format('accept_invitation(%L, %L)', :'invitation', :'bram_friends')) as bram_sees \gset
select test.as(:'anna', 'id from connections') as anna_sees \gset
select test.equals('who invited is told', test.told(:'anna'), 'invitation_accepted Bram'::text);
select test.equals('… of the connection in one''s own list',
    test.as(:'anna', 'connection_id from notifications where kind = ''invitation_accepted'''), :'anna_sees'::text);
select test.equals('accepting twice is one connection',
    test.as(:'bram', format('accept_invitation(%L, %L)', :'invitation', :'bram_work')), :'bram_sees'::text);
select test.equals('… told once', test.told(:'anna'), 'invitation_accepted Bram'::text);
select test.equals('it cannot be taken back any more', test.as(:'anna', format('cancel_invitation(%L)', :'invitation')), 'false'::text);
select test.equals('… nor ignored', test.as(:'bram', format('ignore_invitation(%L)', :'invitation')), 'false'::text);
select test.equals('each is in the other''s list, in the circle that was chosen',
    test.as(:'anna', format('profile_id || seed from connections join circles on circles.id = circle_id')) || ' '
        || test.as(:'bram', format('profile_id || seed from connections join circles on circles.id = circle_id')),
    :'bram_main' || 'friends ' || :'anna_main' || 'friends');
select test.equals('… and its peer is the other',
    test.as(:'anna', 'peer_connection_id from connections') || test.as(:'bram', 'peer_connection_id from connections'),
    :'bram_sees' || :'anna_sees');
select test.fails_as(:'anna', 'who is connected cannot be invited', format('send_invitation(%L, %L)', :'bram_main', :'anna_friends'), '23505');
select test.equals('an answered invitation is read', test.as(:'bram', 'count(*) from notifications where read_at is null'), '0'::text);
select test.as(:'anna', 'mark_all_read()') as x \gset

-- The default name is seen at once, all else by circle
select test.equals('a new connection sees the default name', test.as(:'bram', format('category || value from contact_card(%L)', :'bram_sees')), 'name"Anna"'::text);
select test.fails_as(:'carla', 'others see nothing of it', format('1/count(*) from contact_card(%L)', :'bram_sees'), '22012');

-- Details: told to those who see a change
select test.as(:'anna', format('save_detail(''phone'', ''"+31612345678"'', ''mobile'', array[%L]::uuid[])', :'anna_work')) as phone \gset
select test.equals('what is shared with another circle tells nobody', test.told(:'bram'), null);
select test.as(:'anna', format('set_detail_circles(%L, array[%L, %L]::uuid[])', :'phone', :'anna_work', :'anna_friends')) as x \gset
select test.equals('what is shared with one''s own is told', test.told(:'bram'), 'contact_updated Anna phone'::text);
select test.equals('… about the connection in one''s own list',
    test.as(:'bram', 'connection_id from notifications where kind = ''contact_updated'''), :'bram_sees'::text);
select test.equals('… which shows it', test.as(:'bram', format('label || value from contact_card(%L) where category = ''phone''', :'bram_sees')), 'mobile"+31612345678"'::text);
select test.as(:'anna', format('save_detail(''phone'', ''"+31687654321"'', p_detail_id => %L)', :'phone')) as x \gset
select test.equals('while it is unread, no other is written', test.told(:'bram'), 'contact_updated Anna phone'::text);
select test.as(:'bram', 'mark_all_read()') as x \gset
select test.as(:'anna', format('save_detail(''phone'', ''"+31687654321"'', p_detail_id => %L)', :'phone')) as x \gset
select test.equals('saving what is there already tells nobody', test.told(:'bram'), null);
select test.as(:'bram', 'snapshot_hash from connections') as hash \gset
select test.as(:'anna', format('save_detail(''address'', ''{"city": "Utrecht"}'', ''home'', array[%L]::uuid[])', :'anna_work')) as address \gset
select test.equals('… nor does what is not seen', test.told(:'bram'), null);
select test.equals('… whose hash stays', test.as(:'bram', 'snapshot_hash from connections'), :'hash'::text);
select test.as(:'anna', format($$save_details('[
    {"id": "%s", "category": "phone", "value": "+31611111111"},
    {"id": "%s", "category": "address", "value": {"city": "Zeist"}},
    {"category": "email", "value": "anna@example.org", "circle_ids": ["%s"]},
    {"category": "email", "value": "anna@example.com", "circle_ids": ["%s"]}
]')$$, :'phone', :'address', :'anna_friends', :'anna_friends')) as x \gset
select test.equals('what is saved together is told together: what one sees, each category once',
    test.told(:'bram'), 'contact_updated Anna phone+email'::text);
select test.as(:'bram', 'mark_all_read()') as x \gset
select test.as(:'anna', format('save_detail(''name'', ''"Anna Jansen"'', p_detail_id => %L)', test.as(:'anna', 'id from details where is_default'))) as x \gset
select test.equals('a new default name is told, by the new name', test.told(:'bram'), 'contact_updated Anna Jansen name'::text);
select test.as(:'bram', 'mark_all_read()') as x \gset
select test.equals('what is deleted is told',
    test.as(:'anna', format('delete_detail(%L)', :'phone')) || ' ' || test.told(:'bram'), 'true contact_updated Anna Jansen phone'::text);
select test.as(:'bram', 'mark_all_read()') as x \gset
select test.equals('… and shown no more', test.as(:'bram', format('count(*) from contact_card(%L) where category = ''phone''', :'bram_sees')), '0'::text);
select test.as(:'anna', format('save_detail(''date'', ''{"year": 1990, "month": 5, "day": 12}'', ''birthday'', array[%L]::uuid[])', :'anna_friends')) as birthday \gset
select test.equals('who sees the day does not see the year',
    test.as(:'bram', format('value from contact_card(%L) where category = ''date''', :'bram_sees')), '{"day": 12, "month": 5}'::text);
select test.as(:'bram', 'mark_all_read()') as x \gset
select test.as(:'anna', format('save_detail(''date'', ''{"year": 1991, "month": 5, "day": 12}'', p_detail_id => %L)', :'birthday')) as x \gset
select test.equals('… and is not told of another year', test.told(:'bram'), null);
select test.as(:'anna', format('set_detail_circles(%L, array[%L]::uuid[], array[%L]::uuid[])', :'birthday', :'anna_friends', :'anna_friends')) as x \gset
select test.equals('… but of seeing it', test.told(:'bram') || test.as(:'bram', format('value from contact_card(%L) where category = ''date''', :'bram_sees')),
    'contact_updated Anna Jansen date{"day": 12, "year": 1991, "month": 5}'::text);
select test.as(:'bram', 'mark_all_read()') as x \gset

-- “Send me updates about people in this circle”
select test.as(:'bram', format('update_circle(%L, p_send_updates => false)', :'bram_friends')) as x,
    test.as(:'anna', format('save_detail(''email'', ''"a@example.net"'', ''work'', array[%L]::uuid[])', :'anna_friends')) as email \gset
select test.equals('a circle without updates is not told', test.told(:'bram'), null);
select test.equals('… but sees it', test.as(:'bram', format('count(*) from contact_card(%L) where category = ''email''', :'bram_sees')), '3'::text);
select test.equals('… and its hash says so', test.as(:'bram', 'snapshot_hash from connections') <> :'hash', true);
select test.as(:'bram', format('update_circle(%L, p_send_updates => true)', :'bram_friends')) as x \gset

-- Moving
select test.equals('moving somebody to where it is does nothing', test.as(:'anna', format('move_connection(%L, %L)', :'anna_sees', :'anna_friends')), 'false'::text);
select test.equals('another one''s contact cannot be moved', test.as(:'carla', format('move_connection(%L, %L)', :'anna_sees', :'carla_friends')), 'false'::text);
select test.fails_as(:'anna', '… nor one''s own to another one''s circle', format('move_connection(%L, %L)', :'anna_sees', :'carla_friends'), 'P0002');
select test.as(:'anna', format('move_connection(%L, %L)', :'anna_sees', :'anna_work')) as moved \gset
select test.equals('who sees something else by it is told', test.told(:'bram'), 'circle_changed Anna Jansen'::text);
select test.equals('… and sees what the other circle sees',
    test.as(:'bram', format('category || value from contact_card(%L)', :'bram_sees')), 'name"Anna Jansen",address{"city": "Zeist"}'::text);
select test.as(:'anna', format('move_connection(%L, %L)', :'anna_sees', :'anna_family')) as x \gset
select test.equals('one unread at a time', test.told(:'bram'), 'circle_changed Anna Jansen'::text);
select test.as(:'bram', 'mark_all_read()') as x,
    test.as(:'anna', format('set_detail_circles(%L, array[%L, %L]::uuid[])', :'address', :'anna_work', :'anna_family')) as y \gset
select test.as(:'bram', 'mark_all_read()') as x, test.as(:'anna', format('move_connection(%L, %L)', :'anna_sees', :'anna_work')) as moved \gset
select test.equals('who sees the same in both circles is not told', :'moved' || coalesce(test.told(:'bram'), ''), 'true');
select test.equals('who moves is never told', test.told(:'anna'), null);
select test.equals('moving within one''s own circles changes nothing for oneself',
    test.as(:'bram', format('move_connection(%L, %L)', :'bram_sees', :'bram_work')) || coalesce(test.told(:'bram'), '') || coalesce(test.told(:'anna'), ''), 'true');
select test.fails_as(:'anna', 'a circle with people in it is not deleted', format('delete_circle(%L)', :'anna_work'), '23503');

-- Endings tell nobody
select test.as(:'carla', format('accept_invitation(%L, %L)',
    test.as(:'anna', format('send_invitation(%L, %L)', :'carla_main', :'anna_friends')), :'carla_friends')) as carla_sees \gset
select test.as(:'anna', 'mark_all_read()') as x, test.as(:'carla', 'mark_all_read()') as y, test.as(:'bram', 'mark_all_read()') as z \gset
select test.as(:'bram', 'count(*) from notifications') as bram_rows, test.as(:'carla', 'count(*) from notifications') as carla_rows,
    test.as(:'anna', 'count(*) from notifications') as anna_rows \gset
select test.equals('another one''s connection cannot be ended', test.as(:'carla', format('end_connection(%L)', :'anna_sees')), 'false'::text);
select test.equals('a contact can be removed', test.as(:'anna', format('end_connection(%L)', :'anna_sees')), 'true'::text);
select test.equals('… then neither sees the other', test.as(:'bram', 'count(*) from connections') || test.as(:'bram', format('count(*) from contact_card(%L)', :'bram_sees')), '00');
select test.equals('… and what was told before says that it is gone',
    test.as(:'bram', 'distinct is_gone from notification_feed() where kind in (''contact_updated'', ''circle_changed'')'), 'true'::text);
select test.as(:'anna', format('save_detail(''email'', ''"a@example.net"'', p_detail_id => %L, p_circle_ids => array[%L]::uuid[])', :'email', :'anna_work')) as x \gset
select test.equals('… nobody was told', test.as(:'bram', 'count(*) from notifications') || test.as(:'anna', 'count(*) from notifications'), :'bram_rows' || :'anna_rows');

select test.as(:'dirk', format('send_invitation(%L, %L)', :'anna_main', :'dirk_friends')) as from_dirk,
    test.as(:'anna', format('send_invitation(%L, %L)', :'bram_main', :'anna_friends')) as to_bram,
    test.as(:'carla', 'mark_all_read()') as x, test.as(:'carla', 'count(*) from notifications') as carla_rows \gset
select test.as(:'anna', format('block(%L)', :'carla_main')) as x, test.as(:'anna', format('block(%L)', :'dirk_main')) as y,
    test.as(:'anna', format('block(%L)', :'bram_main')) as z \gset
select test.equals('who is blocked loses the connection', test.as(:'carla', 'count(*) from connections') || test.as(:'anna', 'count(*) from connections'), '00');
select test.equals('… and is not told', test.as(:'carla', 'count(*) from notifications'), :'carla_rows'::text);
select test.equals('an invitation from it no longer counts', test.as(:'anna', 'unread_count()'), '0'::text);
select test.equals('… which it cannot tell', test.as(:'dirk', 'state from sent_invitations()'), 'pending'::text);
select test.equals('an invitation to it is withdrawn', test.as(:'bram', 'count(*) from received_invitations()'), '0'::text);
select test.equals('a new one does not arrive, and looks as if it had',
    test.as(:'carla', format('send_invitation(%L, %L) is not null', :'anna_main', :'carla_friends')) || test.as(:'carla', 'state from sent_invitations()') || test.as(:'anna', 'unread_count()'),
    'truepending0');
select test.fails_as(:'anna', 'who blocks cannot accept',
    format('accept_invitation(%L, %L)', test.as(:'carla', 'invitation_id from sent_invitations()'), :'anna_friends'), '22023');
select test.fails_as(:'anna', 'who blocks cannot invite', format('send_invitation(%L, %L)', :'carla_main', :'anna_friends'), '22023');
select test.equals('a block can be taken back', test.as(:'anna', format('unblock(%L)', :'carla_main')) || test.as(:'anna', format('unblock(%L)', :'carla_main')), 'truefalse');
select test.fails_as(:'anna', 'oneself cannot be blocked', format('block(%L)', :'anna_main'), 'P0002');

-- Managed profiles
select test.as(:'bram', 'create_profile(''child'', ''Mia'')') as mia, test.as(:'bram', 'create_profile(''parent'', ''Opa'')') as opa \gset
select test.as(:'carla', format('accept_invitation(%L, %L)',
    test.as(:'bram', format('send_invitation(%L, %L, %L)', :'carla_main', :'bram_friends', :'mia')), :'carla_friends')) as sees_mia,
    test.as(:'carla', format('accept_invitation(%L, %L)',
    test.as(:'bram', format('send_invitation(%L, %L, %L)', :'carla_main', :'bram_work', :'opa')), :'carla_friends')) as sees_opa \gset
select test.equals('one who sees two managed profiles is in one circle of their account',
    test.as(:'bram', 'count(*) || max(seed) from connections join circles on circles.id = circle_id'), '1friends'::text);
select test.as(:'bram', format('save_detail(''phone'', ''"+31612345678"'', p_profile_id => %L, p_circle_ids => array[%L]::uuid[])', :'opa', :'bram_friends')) as x \gset
select test.equals('a change of a managed profile is told by its name',
    test.as(:'carla', 'actor_name || connection_id from notifications where kind = ''contact_updated'' and read_at is null'), 'Opa' || :'sees_opa');
select test.as(:'carla', 'count(*) from notifications') as carla_rows \gset
select test.as(:'bram', format('delete_managed_profile(%L)', :'mia')) as x \gset
select test.equals('deleting a managed profile ends its connections and leaves the others',
    test.as(:'carla', 'id from connections'), :'sees_opa'::text);
select test.equals('… and the one who managed it still holds the other', test.as(:'bram', 'count(*) from connections'), '1'::text);
select test.equals('… who still sees what the circle sees', test.as(:'carla', format('count(*) from contact_card(%L)', :'sees_opa')), '2'::text);
select test.equals('… nobody was told', test.as(:'carla', 'count(*) from notifications'), :'carla_rows'::text);
select test.as(:'carla', format('end_connection(%L)', :'sees_opa')) as x \gset
select test.equals('when the last of them is removed, all is ended', test.as(:'bram', 'count(*) from connections'), '0'::text);

-- Deleting an account
select test.as(:'carla', format('accept_invitation(%L, %L)',
    test.as(:'bram', format('send_invitation(%L, %L)', :'carla_main', :'bram_friends')), :'carla_friends')) as carla_sees,
    test.as(:'bram', format('send_invitation(%L, %L)', :'dirk_main', :'bram_friends')) as to_dirk \gset
select test.as(:'carla', 'count(*) from notifications') as carla_rows \gset
select test.as(:'bram', 'delete_account()') as x \gset
select test.equals('a deleted account is in nobody''s list', test.as(:'carla', 'count(*) from connections'), '0'::text);
select test.equals('… and nobody was told', test.as(:'carla', 'count(*) from notifications'), :'carla_rows'::text);
select test.equals('its open invitations are withdrawn', test.as(:'dirk', 'count(*) from notifications'), '0'::text);
select test.equals('nothing of it is left', test.as(:'bram', 'count(*) from details'), '0'::text);
reset role;
