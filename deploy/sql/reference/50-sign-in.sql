-- Signing up, proving an e-mail address, what a name and a number may be, and how far a new account has come.
--
-- Apply after 41-cross-reference.sql, as 10-people.sql says. It may be applied again.

do $$
begin
    perform set_config('search_path', format('%I, pg_temp', current_schema()), false);
end
$$;

-- MARK: Disposable e-mail domains

create or replace function domain_in_ascii(p_domain text) returns text
language plpgsql
immutable
strict
parallel safe
set search_path from current
as $$
declare
    digits constant text := 'abcdefghijklmnopqrstuvwxyz0123456789';
    v_labels text[];
    v_label text;
    v_points integer[];
    v_encoded text;
    v_done integer;
    v_point integer;
    v_next integer;
    v_delta bigint;
    v_bias integer;
    v_rest bigint;
    v_base integer;
    v_threshold integer;
    v_first boolean;
begin
    -- ICU's root collation: the database's own may know the lower case of ASCII only. NFKC turns the wide forms of
    -- letters and full stops into plain ones; the ideographic full stop has none and is a full stop too.
    v_labels := string_to_array(
        btrim(translate(lower(normalize(p_domain, nfkc) collate "und-x-icu"), '。', '.'), E'. \t\r\n'), '.'
    );
    for i in 1 .. cardinality(v_labels) loop
        v_label := v_labels[i];
        continue when v_label !~ '[^\u0001-\u007f]' or length(v_label) > 63;

        -- Punycode, RFC 3492 section 6.3.
        v_points := array(select ascii(letter) from regexp_split_to_table(v_label, '') letter);
        v_encoded := regexp_replace(v_label, '[^\u0001-\u007f]', '', 'g');
        v_done := length(v_encoded);
        if v_done > 0 then
            v_encoded := v_encoded || '-';
        end if;
        v_point := 128;
        v_delta := 0;
        v_bias := 72;
        v_first := true;
        while v_done < cardinality(v_points) loop
            select min(point) into v_next from unnest(v_points) point where point >= v_point;
            v_delta := v_delta + (v_next - v_point)::bigint * (v_done + 1);
            v_point := v_next;
            foreach v_next in array v_points loop
                if v_next < v_point then
                    v_delta := v_delta + 1;
                elsif v_next = v_point then
                    v_rest := v_delta;
                    v_base := 36;
                    loop
                        v_threshold := least(greatest(v_base - v_bias, 1), 26);
                        exit when v_rest < v_threshold;
                        v_encoded := v_encoded || substr(
                            digits, (v_threshold + (v_rest - v_threshold) % (36 - v_threshold))::integer + 1, 1
                        );
                        v_rest := (v_rest - v_threshold) / (36 - v_threshold);
                        v_base := v_base + 36;
                    end loop;
                    v_encoded := v_encoded || substr(digits, v_rest::integer + 1, 1);
                    v_delta := case when v_first then v_delta / 700 else v_delta / 2 end;
                    v_delta := v_delta + v_delta / (v_done + 1);
                    v_bias := 0;
                    while v_delta > 455 loop
                        v_delta := v_delta / 35;
                        v_bias := v_bias + 36;
                    end loop;
                    v_bias := v_bias + (36 * v_delta / (v_delta + 38))::integer;
                    v_first := false;
                    v_delta := 0;
                    v_done := v_done + 1;
                end if;
            end loop;
            v_delta := v_delta + 1;
            v_point := v_point + 1;
        end loop;
        v_labels[i] := 'xn--' || v_encoded;
    end loop;
    return array_to_string(v_labels, '.');
end
$$;

comment on function domain_in_ascii(text) is
    'The one spelling of a domain: lower case, without a final dot, every label that is not ASCII as xn--… (RFC 3492).';

create table if not exists disposable_email_domains (
    domain text primary key
);

comment on table disposable_email_domains is
    'Domains, their subdomains included, whose addresses nobody keeps. Load a list of your choice; the few here are a start.';

create or replace function normalize_disposable_domain() returns trigger
language plpgsql
set search_path from current
as $$
begin
    new.domain := domain_in_ascii(new.domain);
    -- A mere `com`, by a slip in a list, would shut everybody out.
    if new.domain is null or new.domain !~ '^[^.]+(\.[^.]+)+$' then
        raise exception 'a domain of at least two parts expected, not %', quote_nullable(left(new.domain, 64))
            using errcode = 'invalid_parameter_value';
    end if;
    return new;
end
$$;

comment on function normalize_disposable_domain() is 'Stores a domain in the spelling that is looked for.';

create or replace trigger normalize_disposable_domain before insert or update on disposable_email_domains
    for each row execute function normalize_disposable_domain();

insert into disposable_email_domains (domain)
values
    ('10minutemail.com'), ('burnermail.io'), ('discard.email'), ('dispostable.com'), ('emailondeck.com'),
    ('fakeinbox.com'), ('getnada.com'), ('grr.la'), ('guerrillamail.biz'), ('guerrillamail.com'),
    ('guerrillamail.net'), ('guerrillamail.org'), ('mailcatch.com'), ('maildrop.cc'), ('mailinator.com'),
    ('mailnesia.com'), ('mintemail.com'), ('mohmal.com'), ('mytemp.email'), ('sharklasers.com'), ('spam4.me'),
    ('spamgourmet.com'), ('temp-mail.org'), ('tempmail.com'), ('tempr.email'), ('throwawaymail.com'),
    ('trash-mail.com'), ('trashmail.com'), ('trashmail.de'), ('wegwerfemail.de'), ('yopmail.com'), ('yopmail.fr'),
    ('yopmail.net')
on conflict do nothing;

create or replace function is_disposable_email(p_email text) returns boolean
language sql
stable
set search_path from current
as $$
    with labels as (
        -- After the last @. No domain has more than 255 characters.
        select string_to_array(domain_in_ascii(right(substring(p_email from '[^@]*$'), 255)), '.') as label
    )
    select exists (
        select from disposable_email_domains
        where domain = any (
            select array_to_string(label[n:], '.') from labels, generate_series(1, cardinality(label)) n
        )
    )
$$;

comment on function is_disposable_email(text) is
    'Whether the address belongs to one of disposable_email_domains or to a subdomain of one, however it is spelled.';

create or replace function before_user_created_hook(event jsonb) returns jsonb
language plpgsql
stable
set search_path from current
as $$
declare
    v_user constant jsonb := event -> 'user';
    v_locale constant text := coalesce(
        nullif(v_user -> 'user_metadata' ->> 'locale', ''), v_user -> 'user_metadata' ->> 'language', ''
    );
begin
    if not is_disposable_email(v_user ->> 'email') then
        return '{}';
    end if;
    return jsonb_build_object('error', jsonb_build_object(
        'http_code', 403,
        'message', case
            when v_locale ~* '^nl([-_]|$)'
                then 'Wegwerp-e-mailadressen worden niet geaccepteerd. Gebruik een adres dat je houdt.'
            else 'Disposable e-mail addresses are not accepted. Use an address you keep.'
        end
    ));
end
$$;

comment on function before_user_created_hook(jsonb) is
    'Supabase''s hook "Before User Created": refuses disposable addresses in the language of user_metadata.locale (or language), Dutch or else English. Supabase Auth calls it before it makes a user, whether by code, password or link.';

-- MARK: What a name, a number and an address may be

create or replace function is_allowed_name(p_name text) returns boolean
language plpgsql
immutable
strict
parallel safe
set search_path from current
as $$
declare
    -- Letters of every script ([:alpha:] by ICU), and the signs that go on letters: categories Mn and Mc of Unicode,
    -- without those that are invisible or for symbols. Ranges run over letters and unassigned positions.
    signs constant text :=
        '\u0300-\u034e\u0350-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a'
        || '\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07b0\u07eb-\u07f3\u07fd\u0816-\u082d'
        || '\u0859-\u085b\u0898-\u08e1\u08e3-\u0963\u0981-\u09e3\u09fe-\u0a51\u0a70-\u0a75\u0a81-\u0ae3\u0afa-\u0b63'
        || '\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0ce3\u0d00-\u0d4d\u0d57\u0d62-\u0d63\u0d81-\u0ddf'
        || '\u0df2-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ecd\u0f18-\u0f19\u0f35\u0f37\u0f39\u0f3e-\u0f84'
        || '\u0f86-\u0fbc\u0fc6\u102b-\u103e\u1056-\u108f\u109a-\u109d\u135d-\u135f\u1712-\u1734\u1752-\u17d3\u17dd'
        || '\u1885-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1abd\u1abf-\u1b44\u1b6b-\u1b73\u1b80-\u1bad\u1be6-\u1bf3'
        || '\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1dff\u2cef-\u2cf1\u2d7f-\u2dff\u302a-\u302f\u3099-\u309a\ua66f'
        || '\ua674-\ua67d\ua69e-\ua69f\ua6f0-\ua6f1\ua802-\ua827\ua82c\ua880-\ua8c5\ua8e0-\ua8f1\ua8ff\ua926-\ua92d'
        || '\ua947-\ua953\ua980-\ua9c0\ua9e5\uaa29-\uaa4d\uaa7b-\uaac1\uaaeb-\uaaef\uaaf5-\uaaf6\uabe3-\uabea'
        || '\uabec-\uabed\ufb1e\ufe20-\ufe2f';
    v_name constant text := normalize(p_name, nfc);
begin
    return length(v_name) <= 100
        and v_name collate "und-x-icu" ~ ('^[-[:alpha:]' || signs || ' ''’‘.‐‑]+$')
        and v_name collate "und-x-icu" ~ '[[:alpha:]]'
        -- Letters by category, blank to the eye.
        and v_name !~ '[\u115f\u1160\u3164\uffa0]';
end
$$;

comment on function is_allowed_name(text) is
    'At most 100 characters: letters of any script, spaces, hyphens, apostrophes and periods; at least one letter.';

create or replace function name_key(p_name text) returns text
language plpgsql
immutable
strict
parallel safe
set search_path from current
as $$
begin
    return encode(sha256(convert_to(
        regexp_replace(
            lower(translate(normalize(p_name, nfkc), '’‘‐‑', '''''--') collate "und-x-icu"), ' +', ' ', 'g'
        ),
        'UTF8'
    )), 'hex');
end
$$;

comment on function name_key(text) is
    'Equal for names that a person would call the same. A hash, because PostgreSQL logs what violates a unique index.';

create unique index if not exists details_name_once on details (profile_id, name_key(value #>> '{}'))
    where category = 'name';

-- In a trigger and not in checks of the table, because those print the whole row into the log.
create or replace function check_detail() returns trigger
language plpgsql
set search_path from current
as $$
declare
    v_text text;
begin
    if new.category in ('name', 'phone', 'email') then
        if jsonb_typeof(new.value) is distinct from 'string' then
            raise exception 'the value of a detail of category % is a string', new.category
                using errcode = 'check_violation';
        end if;
        v_text := regexp_replace(new.value #>> '{}' collate "und-x-icu", '^\s+|\s+$', '', 'g');
        if new.category = 'name' then
            v_text := normalize(v_text, nfc);
            if not is_allowed_name(v_text) then
                raise exception 'a name has at most 100 letters, spaces, hyphens, apostrophes and periods'
                    using errcode = 'check_violation';
            end if;
            if exists (
                select from details
                where profile_id = new.profile_id
                    and category = 'name'
                    and name_key(value #>> '{}') = name_key(v_text)
                    and id <> new.id
            ) then
                raise exception 'the profile has this name already' using errcode = 'unique_violation';
            end if;
        elsif normalized_address(new.category, v_text) is null then
            raise exception '%', case new.category
                when 'phone' then 'a phone number is in E.164: +, the country and the number, 7 to 15 digits'
                else 'an e-mail address has one @ and no spaces'
            end using errcode = 'check_violation';
        end if;
        new.value := to_jsonb(v_text);
    end if;
    if tg_op = 'UPDATE' and (
        new.category <> old.category
        or new.profile_id <> old.profile_id
        or normalized_address(new.category, new.value #>> '{}')
            is distinct from normalized_address(old.category, old.value #>> '{}')
    ) then
        new.verified_at := null;
    end if;
    return new;
end
$$;

comment on function check_detail() is
    'Refuses names, numbers and addresses that are none, and a second name that is the same; the message never repeats them. An address that changes is no longer verified.';

create or replace trigger check_detail before insert or update of profile_id, category, value on details
    for each row execute function check_detail();

-- MARK: Proving an e-mail address

create table if not exists email_codes (
    detail_id uuid primary key references details (id) on delete cascade,
    code_hash bytea not null,
    salt uuid not null,
    wrong_tries integer not null default 0,
    sent_at timestamptz not null,
    expires_at timestamptz not null
);

comment on table email_codes is 'Codes that were sent to e-mail addresses and not given back yet.';
comment on column email_codes.code_hash is
    'Of salt, address and code, so that a code proves the address it was sent to. It keeps a code from a glance only, six digits being few: what protects are five tries and fifteen minutes.';

create or replace function email_code_hash(p_salt uuid, p_address text, p_code text) returns bytea
language sql
immutable
parallel safe
set search_path from current
as $$
    select sha256(convert_to(concat_ws(' ', p_salt, normalized_address('email', p_address), p_code), 'UTF8'))
$$;

comment on function email_code_hash(uuid, text, text) is 'What is stored of a code.';

-- With its owner's rights, so that the server that sends mails needs none on the tables.
create or replace function issue_email_code(p_account_id uuid, p_detail_id uuid) returns jsonb
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    -- 48 bits of a random UUID, those before its version, from the operating system's strong source.
    v_code constant text := lpad(
        ((('x' || left(replace(gen_random_uuid()::text, '-', ''), 12))::bit(48)::bigint) % 1000000)::text, 6, '0'
    );
    v_salt constant uuid := gen_random_uuid();
    v_address text;
    v_wait integer;
    v_now timestamptz;
begin
    -- The lock makes requests for one detail wait for each other, and for a try that is under way.
    select detail.value #>> '{}' into v_address
    from details detail
    join profiles profile on profile.id = detail.profile_id
    where detail.id = p_detail_id
        and profile.account_id = p_account_id
        and detail.category = 'email'
        and detail.verified_at is null
    for update of detail;
    if not found then
        return null;
    end if;

    v_now := clock_timestamp();
    select ceil(extract(epoch from sent_at + interval '60 seconds' - v_now)) into v_wait
    from email_codes
    where detail_id = p_detail_id;
    if coalesce(v_wait, 0) <= 0 then
        -- Sixty seconds a detail do not stop who makes details: ten codes an hour for an account.
        v_wait := count_call(p_account_id, 'issue_email_code', 10, interval '1 hour');
    end if;
    if v_wait > 0 then
        return jsonb_build_object('retry_after', v_wait);
    end if;

    insert into email_codes (detail_id, code_hash, salt, sent_at, expires_at)
    values (
        p_detail_id, email_code_hash(v_salt, v_address, v_code), v_salt, v_now, v_now + interval '15 minutes'
    )
    on conflict (detail_id) do update
    set
        code_hash = excluded.code_hash,
        salt = excluded.salt,
        wrong_tries = 0,
        sent_at = excluded.sent_at,
        expires_at = excluded.expires_at;
    return jsonb_build_object('email', v_address, 'code', v_code, 'expires_in', 900);
end
$$;

comment on function issue_email_code(uuid, uuid) is
$$A new code for an e-mail detail of the account that is not verified yet: {"email": …, "code": …, "expires_in": 900}. For the server that sends the mail (service_role), never for the app: whoever sees the code needs no mail.

{"retry_after": seconds} within 60 seconds of the last code of this detail, or after ten codes of the account in an hour; then nothing was issued. Null when the account has no such detail to verify. A new code replaces the one before. The code itself is stored nowhere.$$;

create or replace function verify_email_detail(p_detail_id uuid, p_code text) returns text
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_address text;
    v_row email_codes;
    v_right boolean;
begin
    select detail.value #>> '{}' into v_address
    from details detail
    join profiles profile on profile.id = detail.profile_id
    where detail.id = p_detail_id and profile.account_id = current_account_id() and detail.category = 'email'
    for update of detail;
    if found then
        select * into v_row
        from email_codes
        where detail_id = p_detail_id and wrong_tries < 5 and expires_at > clock_timestamp()
        for update;
    end if;
    -- As much work for what is not there as for what is.
    v_right := coalesce(
        email_code_hash(
            coalesce(v_row.salt, p_detail_id),
            coalesce(v_address, 'nobody@example.com'),
            regexp_replace(left(p_code, 32), '\s', '', 'g')
        ) = v_row.code_hash,
        false
    );
    if v_row.detail_id is null then
        return 'invalid';
    end if;
    if v_right then
        delete from email_codes where detail_id = p_detail_id;
        update details set verified_at = now() where id = p_detail_id;
        return 'verified';
    end if;
    -- Returned and not raised: an error would take the count back.
    update email_codes set wrong_tries = wrong_tries + 1 where detail_id = p_detail_id;
    return case when v_row.wrong_tries < 4 then 'wrong' else 'invalid' end;
end
$$;

comment on function verify_email_detail(uuid, text) is
$$Gives back the code that was sent to an e-mail detail of the caller: verified, wrong (try again) or invalid (ask for a new code).

Invalid is the answer from the fifth wrong try on, after fifteen minutes, when no code was sent, and for a detail that is not the caller's or does not exist: these cannot be told apart. A code sent to an address that was changed since is wrong.$$;

-- MARK: Onboarding

alter table accounts add column if not exists onboarding_step text;
alter table accounts add column if not exists onboarding_completed boolean not null default false;

comment on column accounts.onboarding_step is 'Where a new account goes on; null at the very start and at the end.';
comment on column accounts.onboarding_completed is 'Set with the last step, and never taken back.';

create or replace function onboarding_steps() returns text[]
language sql
immutable
parallel safe
set search_path from current
as $$
    select array['name', 'photo', 'phone', 'email', 'circles', 'services', 'notifications']
$$;

comment on function onboarding_steps() is 'The steps, in order. Replace it when the app''s change.';

create or replace function complete_onboarding_step(p_step text) returns jsonb
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    steps constant text[] := onboarding_steps();
    v_at constant integer := array_position(steps, p_step);
    v_account accounts;
    v_resume integer;
begin
    if v_at is null then
        raise exception 'unknown step' using errcode = 'invalid_parameter_value',
            hint = 'one of ' || array_to_string(steps, ', ');
    end if;
    select * into v_account from accounts where id = current_account_id() for no key update;
    if not found then
        raise exception 'nobody is signed in' using errcode = 'insufficient_privilege';
    end if;
    if not v_account.onboarding_completed then
        -- A step that the app no longer has: from the start, where what was done is soon done again.
        v_resume := coalesce(array_position(steps, v_account.onboarding_step), 1);
        if v_at > v_resume then
            raise exception 'the step % comes first', steps[v_resume]
                using errcode = 'object_not_in_prerequisite_state';
        end if;
        if p_step = 'name' and not exists (
            select from details detail
            join profiles profile on profile.id = detail.profile_id
            where profile.account_id = v_account.id and profile.kind = 'main' and detail.is_default
        ) then
            raise exception 'a default name comes first' using errcode = 'object_not_in_prerequisite_state';
        end if;
        if v_at = v_resume then
            update accounts
            set onboarding_step = steps[v_at + 1], onboarding_completed = v_at = cardinality(steps)
            where id = v_account.id
            returning * into v_account;
        end if;
    end if;
    return jsonb_build_object('step', v_account.onboarding_step, 'completed', v_account.onboarding_completed);
end
$$;

comment on function complete_onboarding_step(text) is
    'Notes that the caller is done with a step, filled in or skipped, and answers where to go on: {"step": …, "completed": …}. Going back and doing a step again loses nothing; the last step completes.';

-- MARK: Access

alter table disposable_email_domains enable row level security;
alter table email_codes enable row level security;

drop policy if exists disposable_email_domains_read on disposable_email_domains;
create policy disposable_email_domains_read on disposable_email_domains for select using (true);

do $$
declare
    v_role text;
    v_function text;
    hook constant text[] := array[
        'before_user_created_hook(jsonb)', 'is_disposable_email(text)', 'domain_in_ascii(text)'
    ];
    app constant text[] := array[
        'verify_email_detail(uuid, text)', 'onboarding_steps()', 'complete_onboarding_step(text)'
    ];
    server constant text[] := array['issue_email_code(uuid, uuid)'];
    inner_parts constant text[] := array[
        'email_code_hash(uuid, text, text)', 'normalize_disposable_domain()', 'is_allowed_name(text)',
        'name_key(text)', 'check_detail()'
    ];
begin
    foreach v_function in array hook || app || server || inner_parts loop
        execute format('revoke execute on function %s from public', v_function);
    end loop;
    for v_role in select rolname from pg_roles where rolname in ('anon', 'authenticated') loop
        execute format('revoke all on disposable_email_domains, email_codes from %I', v_role);
        foreach v_function in array hook || app || server || inner_parts loop
            execute format('revoke execute on function %s from %I', v_function, v_role);
        end loop;
    end loop;
    if exists (select from pg_roles where rolname = 'authenticated') then
        foreach v_function in array app loop
            execute format('grant execute on function %s to authenticated', v_function);
        end loop;
    end if;
    if exists (select from pg_roles where rolname = 'service_role') then
        foreach v_function in array server loop
            execute format('grant execute on function %s to service_role', v_function);
        end loop;
    end if;
    if exists (select from pg_roles where rolname = 'supabase_auth_admin') then
        execute format('grant usage on schema %I to supabase_auth_admin', current_schema());
        grant select on disposable_email_domains to supabase_auth_admin;
        foreach v_function in array hook loop
            execute format('grant execute on function %s to supabase_auth_admin', v_function);
        end loop;
    end if;
end
$$;
