-- Accounts, profiles, details and circles; as people, over HTTP.
set role authenticated;

select gen_random_uuid() as anna, gen_random_uuid() as bram, gen_random_uuid() as carla \gset

-- Accounts
select test.fails('nobody is signed in: nothing can be done', 'select ensure_account()', '42501');
select test.as(:'anna', 'ensure_account(''Anna'', ''she'', ''nl-BE'')') as anna_main \gset
select test.equals('an account has a main profile',
    test.as(:'anna', 'kind || '' '' || pronoun from profiles'), 'main she'::text);
select test.equals('… with a default name', test.as(:'anna', 'value #>> ''{}'' || is_default from details'), 'Annatrue'::text);
select test.equals('… and three circles in its language, with updates on',
    test.as(:'anna', 'concat_ws('' '', name, seed, send_updates) from circles order by position'),
    'Familie family t,Vrienden friends t,Werk work t'::text);
select test.equals('signing in again changes nothing',
    test.as(:'anna', 'ensure_account(''Other'')'), :'anna_main'::text);
select test.equals('… not even the name', test.as(:'anna', 'value #>> ''{}'' from details'), 'Anna'::text);
select test.as(:'bram', 'ensure_account(''Bram'', ''he'')') as bram_main \gset
select test.equals('in any language but Dutch the circles are English',
    test.as(:'bram', 'name from circles order by position'), 'Family,Friends,Work'::text);
select set_config('request.jwt.claims', json_build_object('sub', :'bram')::text, false) as x \gset
update accounts set notify_invitations = false, notify_circle_changes = true;
select test.equals('switches can be turned by oneself',
    (select row(notify_invitations, notify_contact_updates, notify_circle_changes)::text from accounts), '(f,t,t)'::text);
select test.fails('nothing else of an account can be', 'update accounts set id = gen_random_uuid()', '42501');
reset request.jwt.claims;
select test.equals('… and nobody else''s were',
    test.as(:'anna', 'notify_invitations::text || notify_circle_changes from accounts'), 'truefalse'::text);

-- Managed profiles
select test.as(:'anna', 'create_profile(''child'', ''Mia'', ''she'')') as mia \gset
select test.equals('a managed profile has a kind and a name',
    test.as(:'anna', format('profiles.kind || '' '' || (value #>> ''{}'')
        from profiles join details on profile_id = profiles.id where profiles.id = %L', :'mia')), 'child Mia'::text);
select test.fails_as(:'anna', 'a second main profile is refused', 'create_profile(''main'', ''Two'')', '22023');
select test.fails_as(:'anna', 'an unknown kind is refused', 'create_profile(''cat'', ''Tom'')', '22023');
select test.fails_as(:'anna', 'the main profile cannot be deleted', format('delete_managed_profile(%L)', :'anna_main'), '22023');
select test.fails_as(:'bram', 'another one''s profile cannot be deleted', format('delete_managed_profile(%L)', :'mia'), 'P0002');
select test.fails_as(:'bram', '… nor get a pronoun', format('set_pronoun(%L, ''he'')', :'mia'), 'P0002');

-- Circles
select test.as(:'anna', 'id from circles where seed = ''family''') as family \gset
select test.as(:'anna', 'id from circles where seed = ''friends''') as friends \gset
select test.as(:'anna', 'id from circles where seed = ''work''') as work \gset
select test.as(:'bram', 'id from circles where seed = ''friends''') as bram_friends \gset
select test.as(:'anna', 'create_circle('' Club '', false)') as club \gset
select test.equals('a new circle comes last, without the white space around its name',
    test.as(:'anna', format('concat_ws('' '', name, send_updates, position) from circles where id = %L', :'club')), 'Club f 4'::text);
select test.fails_as(:'anna', 'a name is used once', 'create_circle(''club'')', '23505');
select test.fails_as(:'anna', 'an empty name is refused', 'create_circle('' '')', '22023');
select test.fails_as(:'anna', 'a long name is refused, and not repeated in a log', format('create_circle(%L)', repeat('secret', 20)), '22023', 'secret');
select test.as(:'anna', format('update_circle(%L, ''Choir'', true, 9)', :'club')) as x \gset
select test.equals('a circle can be changed',
    test.as(:'anna', format('concat_ws('' '', name, send_updates, position) from circles where id = %L', :'club')), 'Choir t 9'::text);
select test.fails_as(:'bram', 'another one''s circle cannot be changed', format('update_circle(%L, ''Mine'')', :'club'), 'P0002');
select test.fails_as(:'bram', '… nor deleted', format('delete_circle(%L)', :'club'), 'P0002');
select test.as(:'anna', format('delete_circle(%L)', :'club')) as x \gset
select test.equals('an empty circle can be deleted', test.as(:'anna', 'count(*) from circles'), '3'::text);

-- Details
select test.as(:'anna', format('save_detail(''phone'', ''"+31612345678"'', ''mobile'', array[%L, %L]::uuid[])', :'family', :'friends')) as phone \gset
select test.equals('a detail is shared with circles',
    test.as(:'anna', format('seed || part from detail_circles join circles on id = circle_id where detail_id = %L order by position', :'phone')),
    'familywhole,friendswhole'::text);
select test.as(:'anna', format('save_detail(''phone'', ''"+31687654321"'', p_detail_id => %L)', :'phone')) as same \gset
select test.equals('changing it keeps its label and its circles',
    test.as(:'anna', format('concat_ws('' '', label, value #>> ''{}'', (select count(*) from detail_circles where detail_id = id))
        from details where id = %L', :'phone')), 'mobile +31687654321 2'::text);
select test.equals('… and its id', :'same'::uuid, :'phone'::uuid);
select test.fails_as(:'bram', 'another one''s detail cannot be changed',
    format('save_detail(''phone'', ''"+31600000000"'', p_detail_id => %L)', :'phone'), 'P0002');
select test.fails_as(:'bram', '… nor into one''s own profile',
    format('save_detail(''phone'', ''"+31600000000"'', p_detail_id => %L, p_profile_id => %L)', :'phone', :'bram_main'), 'P0002');
select test.equals('… nor deleted', test.as(:'bram', format('delete_detail(%L)', :'phone')), 'false'::text);
select test.fails_as(:'bram', '… nor shared', format('set_detail_circles(%L, array[%L]::uuid[])', :'phone', :'bram_friends'), 'P0002');
select test.fails_as(:'bram', 'no detail can be made in another one''s profile',
    format('save_detail(''phone'', ''"+31600000000"'', p_profile_id => %L)', :'anna_main'), 'P0002');
select test.fails_as(:'anna', 'nothing is shared with another one''s circle',
    format('set_detail_circles(%L, array[%L]::uuid[])', :'phone', :'bram_friends'), 'P0002');
select test.fails_as(:'anna', 'nothing is shared with a null circle', format('set_detail_circles(%L, array[null]::uuid[])', :'phone'), 'P0002');
select test.fails_as(:'anna', 'a phone number has no year',
    format('set_detail_circles(%L, array[%L]::uuid[], array[%L]::uuid[])', :'phone', :'family', :'family'), '22023');
select test.fails_as(:'anna', 'an unknown category is refused, its value not repeated', 'save_detail(''iban'', ''"secret"'')', '22023', 'secret');
select test.fails_as(:'anna', 'a value of the wrong shape is refused, not repeated', 'save_detail(''phone'', ''{"secret": 1}'')', '22023', 'secret');
select test.fails_as(:'anna', 'a null value is refused', 'save_detail(''phone'', null)', '22023');
select test.fails_as(:'anna', 'a huge value is refused, not repeated', format('save_detail(''email'', %L)', to_jsonb(repeat('secret', 4000))), '22023', 'secret');
select test.fails_as(:'anna', 'a detail keeps its category',
    format('save_detail(''email'', ''"a@example.org"'', p_detail_id => %L)', :'phone'), '22023');

-- Names
select test.as(:'anna', 'id from details where is_default and value = ''"Anna"''') as name \gset
select test.fails_as(:'anna', 'the default name cannot be deleted', format('delete_detail(%L)', :'name'), '22023');
select test.fails_as(:'anna', '… nor be no default any more',
    format('save_detail(''name'', ''"Anna"'', p_detail_id => %L, p_is_default => false)', :'name'), '22023');
select test.as(:'anna', 'save_detail(''name'', ''"Annie"'', ''nickname'')') as nickname \gset
select test.equals('a second name is not the default',
    test.as(:'anna', format('is_default from details where id = %L', :'nickname')), 'false'::text);
select test.as(:'anna', format('save_detail(''name'', ''"Annie"'', p_detail_id => %L, p_is_default => true)', :'nickname')) as x \gset
select test.equals('it can be made the default, and the first no longer is',
    test.as(:'anna', format('value #>> ''{}'' from details where profile_id = %L and is_default', :'anna_main')), 'Annie'::text);
select test.equals('then the first name can be deleted', test.as(:'anna', format('delete_detail(%L)', :'name')), 'true'::text);
select test.fails_as(:'anna', 'only a name can be the default', 'save_detail(''phone'', ''"+31612345678"'', p_is_default => true)', '22023');

-- Dates
select test.as(:'anna', format('save_detail(''date'', ''{"year": 1990, "month": 5, "day": 12}'', ''birthday'',
    array[%L, %L]::uuid[], array[%L]::uuid[])', :'family', :'friends', :'family')) as birthday \gset
select test.equals('a date has two sets of circles',
    test.as(:'anna', format('seed || '' '' || part from detail_circles join circles on id = circle_id where detail_id = %L order by position, part', :'birthday')),
    'family day,family year,friends day'::text);
select test.fails_as(:'anna', 'nobody sees the year without the day',
    format('set_detail_circles(%L, array[%L]::uuid[], array[%L]::uuid[])', :'birthday', :'friends', :'family'), '22023');
select test.as(:'anna', format('set_detail_circles(%L, array[%L]::uuid[])', :'birthday', :'family')) as x \gset
select test.equals('what is not told is taken away',
    test.as(:'anna', format('part from detail_circles where detail_id = %L', :'birthday')), 'day'::text);
reset role;
