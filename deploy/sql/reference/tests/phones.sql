-- The phones of the one who is signed in; as people, over HTTP.
set role authenticated;
select gen_random_uuid() as anna, gen_random_uuid() as bram, repeat('ab', 32) as token \gset
select test.as(:'anna', 'ensure_account(''Anna'')') as x, test.as(:'bram', 'ensure_account(''Bram'')') as y \gset
select test.as(:'anna', format('register_phone(''ios'', %L, ''nl-NL'')', :'token')) as phone \gset
select test.equals('a phone is registered for the one who is signed in',
    test.as(:'anna', 'concat_ws('' '', platform, push_token, locale) from devices'), 'ios ' || :'token' || ' nl-NL');
select test.equals('its language is kept current',
    test.as(:'anna', format('set_phone_locale(%L, ''en-GB'')', upper(:'token'))) || test.as(:'anna', 'locale from devices'), 'trueen-GB');
select test.equals('… not by another one', test.as(:'bram', format('set_phone_locale(%L, ''fr'')', :'token')), 'false'::text);
select test.equals('another one cannot remove it', test.as(:'bram', format('remove_phone(%L)', :'token')), 'false'::text);
select test.equals('signing in on it moves it, as a new device',
    test.as(:'bram', format('register_phone(''ios'', %L)', :'token')) <> :'phone', true);
select test.equals('… away from who was signed in before', test.as(:'anna', 'count(*) from devices') || test.as(:'bram', 'count(*) from devices'), '01');
select test.equals('… who can no longer remove it', test.as(:'anna', format('remove_phone(%L)', :'token')), 'false'::text);
select test.equals('signing out removes it',
    test.as(:'bram', format('remove_phone(%L)', '<' || upper(:'token') || '>')) || test.as(:'bram', 'count(*) from devices'), 'true0');
select test.fails_as(:'anna', 'a token that cannot be one is refused, not repeated', 'register_phone(''ios'', ''secret'')', '22023', 'secret');
select test.fails('nobody is signed in: no phone is registered', format('select register_phone(''ios'', %L)', :'token'), '42501');
reset role;
