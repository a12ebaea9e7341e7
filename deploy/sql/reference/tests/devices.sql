-- register_device, as the app's role.
insert into accounts default values returning id as anna \gset
insert into accounts default values returning id as bram \gset
\set hex 'ABCD1234ef567890ABCD1234ef567890'

select register_device(:'anna', 'ios', :'hex', 'nl-BE', 'development') as iphone \gset
select test.equals('a phone is stored with what was told of it',
    (select row(account_id, platform, push_token, push_target, locale, apns_environment, push_token_invalidated_at)::text
     from devices where id = :'iphone'),
    row(:'anna'::uuid, 'ios', lower(:'hex'), 'token', 'nl-BE', 'development', null)::text);
select register_device(:'anna', 'android', E' fcm:Token-1 \n', p_push_target => 'fid') as android \gset
select test.equals('an Android token keeps its case and loses the white space around it',
    (select row(push_token, push_target, locale, apns_environment)::text from devices where id = :'android'),
    row('fcm:Token-1'::text, 'fid'::text, 'en'::text, 'production'::text)::text);

-- One phone, one row
select push_token_updated_at as before from devices where id = :'iphone' \gset
select test.equals('the same token in another spelling is the same device',
    register_device(:'anna', 'ios', '<abcd1234 EF567890 abcd1234 ef567890>', 'en', 'production'), :'iphone'::uuid);
select test.equals('… in one row', (select count(*) from devices where push_token = lower(:'hex')), 1::bigint);
select test.equals('… with what was told last',
    (select row(locale, apns_environment)::text from devices where id = :'iphone'), '(en,production)');
select test.equals('… and registered later',
    (select push_token_updated_at from devices where id = :'iphone') > :'before'::timestamptz, true);
select test.equals('an empty locale is English',
    (select count(register_device(:'anna', 'ios', :'hex', '  '))), 1::bigint);
select test.equals('… as stored', (select locale from devices where id = :'iphone'), 'en'::text);

-- A token that was called dead
update devices set push_token_invalidated_at = now(), push_token_invalid_reason = 'Unregistered' where id = :'iphone';
select register_device(:'anna', 'ios', :'hex') as again \gset
select test.equals('a dead token that is registered again is alive',
    (select row(push_token_invalidated_at, push_token_invalid_reason)::text from devices where id = :'iphone'), '(,)');

-- A token that moves
update devices set push_token_invalidated_at = now(), push_token_invalid_reason = 'Unregistered' where id = :'iphone';
select register_device(:'bram', 'ios', :'hex', 'nl') as moved \gset
select test.equals('a token belongs to the account that registered it last',
    (select row(account_id, locale, push_token_invalidated_at)::text from devices where push_token = lower(:'hex')),
    row(:'bram'::uuid, 'nl', null)::text);
select test.equals('… as a new device', :'moved'::uuid <> :'iphone'::uuid, true);
select test.equals('… and the former account''s device is gone',
    (select count(*) from devices where id = :'iphone' or (account_id = :'anna' and platform = 'ios')), 0::bigint);
select test.equals('the former account''s other phone stays',
    (select account_id from devices where id = :'android'), :'anna'::uuid);

-- What is refused, and says nothing of the token
select test.fails('an unknown platform', format('select register_device(%L, %L, %L)', :'anna', 'windows', :'hex'), '22023', :'hex');
select test.fails('a null platform', format('select register_device(%L, null, %L)', :'anna', :'hex'), '22023', :'hex');
select test.fails('an unknown environment',
    format('select register_device(%L, %L, %L, %L, %L)', :'anna', 'ios', :'hex', 'nl', 'sandbox'), '22023', :'hex');
select test.fails('an unknown push target',
    format('select register_device(%L, %L, %L, p_push_target => %L)', :'anna', 'android', 'secret', 'topic'), '22023', 'secret');
select test.fails('a token of odd length', format('select register_device(%L, %L, %L)', :'anna', 'ios', :'hex' || 'a'), '22023', :'hex');
select test.fails('a token that is not hexadecimal',
    format('select register_device(%L, %L, %L)', :'anna', 'ios', :'hex' || 'xy'), '22023', :'hex');
select test.fails('a token that is too short', format('select register_device(%L, %L, %L)', :'anna', 'ios', 'abcd'), '22023', 'abcd');
select test.fails('an empty token', format('select register_device(%L, %L, %L)', :'anna', 'android', ' '), '22023');
select test.fails('a null token', format('select register_device(%L, %L, null)', :'anna', 'ios'), '22023');
select test.fails('an Android token with a space inside',
    format('select register_device(%L, %L, %L)', :'anna', 'android', 'secret token'), '22023', 'secret');
select test.fails('an Android token of 4097 characters',
    format('select register_device(%L, %L, %L)', :'anna', 'android', repeat('s', 4097)), '22023', 'sss');
select test.fails('an unknown account',
    format('select register_device(%L, %L, %L)', gen_random_uuid(), 'android', 'secret-token'), '23503', 'secret-token');
select test.equals('tokens of 160 digits are fine',
    register_device(:'anna', 'ios', repeat('a1', 80)) is not null, true);
select test.equals('tokens of 4096 characters are fine',
    register_device(:'anna', 'android', repeat('s', 4096)) is not null, true);

-- Deleting an account
delete from accounts where id = :'bram';
select test.equals('a deleted account leaves no device', (select count(*) from devices where account_id = :'bram'), 0::bigint);
