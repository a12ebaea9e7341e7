-- Registering the phones.

do $$
begin
    perform set_config('search_path', format('%I, pg_temp', current_schema()), false);
end
$$;

create or replace function register_device(
    p_account_id uuid,
    p_platform text,
    p_push_token text,
    p_locale text default 'en',
    p_apns_environment text default 'production',
    p_push_target text default 'token'
) returns uuid
language plpgsql
volatile
set search_path from current
as $$
declare
    v_token text;
    v_id uuid;
begin
    -- Checked here although the table has checks too: theirs print the whole row, token included, into the log.
    if p_platform is null or p_platform not in ('ios', 'android') then
        raise exception 'unknown platform: ios or android expected' using errcode = 'invalid_parameter_value';
    end if;
    if p_push_target is null or p_push_target not in ('token', 'fid') then
        raise exception 'unknown push target: token or fid expected' using errcode = 'invalid_parameter_value';
    end if;
    if p_apns_environment is null or p_apns_environment not in ('production', 'development') then
        raise exception 'unknown APNs environment: production or development expected'
            using errcode = 'invalid_parameter_value';
    end if;

    -- One form for one phone, or the same token in two spellings would be two devices and two pushes.
    if p_platform = 'ios' then
        v_token := lower(regexp_replace(p_push_token, '[\s<>]', '', 'g'));
        if v_token is null or v_token !~ '^([0-9a-f]{2}){8,200}$' then
            raise exception 'an APNs token is an even number of hexadecimal digits, 16 to 400'
                using errcode = 'invalid_parameter_value';
        end if;
    else
        v_token := btrim(p_push_token, E' \t\r\n');
        if v_token is null or v_token !~ '^[!-~]+$' or length(v_token) > 4096 then
            raise exception 'an FCM token is 1 to 4096 printable ASCII characters without spaces'
                using errcode = 'invalid_parameter_value';
        end if;
    end if;

    -- One statement: of two accounts that register a token at once, the second waits for the first and takes it over.
    insert into devices as device
        (account_id, platform, push_token, push_target, locale, apns_environment, push_token_updated_at)
    values (
        p_account_id, p_platform, v_token, p_push_target, coalesce(nullif(btrim(p_locale), ''), 'en'),
        p_apns_environment, clock_timestamp()
    )
    on conflict (push_token) do update
    set
        -- A phone that changes hands is a new device: a push already on its way to the former account's device
        -- finds that device gone, and is not shown to the new account.
        id = case when device.account_id = excluded.account_id then device.id else excluded.id end,
        account_id = excluded.account_id,
        platform = excluded.platform,
        push_target = excluded.push_target,
        locale = excluded.locale,
        apns_environment = excluded.apns_environment,
        -- Not excluded's: the row may have been waited for, and this registration is the later one.
        push_token_updated_at = clock_timestamp(),
        push_token_invalidated_at = null,
        push_token_invalid_reason = null
    returning id into v_id;
    return v_id;
end
$$;

comment on function register_device(uuid, text, text, text, text, text) is
$$Registers a phone for an account and returns the device's id; call it at every start of the app, so that language and token are current.

A token has one owner: registered by another account, it moves there and becomes a new device. A token that a provider had called dead is trusted again. APNs tokens are stored as lower-case hexadecimal digits without spaces. Errors never contain the token.$$;
