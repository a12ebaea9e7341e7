-- What people keep about themselves, and telling those who see a change of it.

do $$
begin
    perform set_config('search_path', format('%I, pg_temp', current_schema()), false);
end
$$;

-- What is seen of a profile: the one place that says so. Hash, changed categories and contact card all come from it.
create or replace function visible_details(p_profile_id uuid)
returns table (circle_id uuid, category text, label text, value jsonb, is_default boolean)
language sql
stable
set search_path from current
as $$
    select circles.id, details.category, details.label,
        case
            when details.category = 'date' and not coalesce(bool_or(detail_circles.part = 'year'), false)
                then details.value - 'year'
            else details.value
        end,
        details.is_default
    from profiles
        join circles on circles.account_id = profiles.account_id
        join details on details.profile_id = profiles.id
        left join detail_circles on detail_circles.detail_id = details.id and detail_circles.circle_id = circles.id
    where profiles.id = p_profile_id
    group by circles.id, details.id
    having details.is_default or count(detail_circles.part) > 0
$$;

comment on function visible_details(uuid) is
    'What each circle of its account sees of a profile: what is shared with the circle, and the default name. A date comes without its year where only the day is shared.';

create or replace function circle_views(p_profile_id uuid) returns jsonb
language sql
stable
set search_path from current
as $$
    select coalesce(jsonb_object_agg(circle_id, categories), '{}')
    from (
        select circle_id, jsonb_object_agg(category, digest) as categories
        from (
            select circle_id, category,
                md5(jsonb_agg(
                    jsonb_build_array(label, value, is_default) order by label collate "C", value, is_default
                )::text) as digest
            from visible_details(p_profile_id)
            group by circle_id, category
        ) digests
        group by circle_id
    ) views
$$;

comment on function circle_views(uuid) is
    'What each circle sees of a profile, as digests: {"circle": {"category": "digest"}}. Two that are equal look the same.';

create or replace function snapshot_hash(p_view jsonb) returns text
language sql
immutable
set search_path from current
as $$
    select encode(sha256(convert_to(coalesce(p_view, '{}')::text, 'UTF8')), 'hex')
$$;

comment on function snapshot_hash(jsonb) is 'The hash of what one circle sees, from its part of circle_views.';

create or replace function tell_of_changes(p_profile_id uuid, p_before jsonb) returns void
language plpgsql
volatile
set search_path from current
as $$
declare
    v_after jsonb := circle_views(p_profile_id);
    v_name text := default_name(p_profile_id);
    v_pronoun text;
begin
    if v_after = p_before then
        return;
    end if;
    select pronoun into v_pronoun from profiles where id = p_profile_id;
    -- One statement however many see it: what is seen differs by circle, and circles are few. The account is locked, so
    -- nobody else tells of this profile meanwhile, and this statement sees what the one before us has told.
    with circle as (
        select key::uuid as id, p_before -> key as before, v_after -> key as after
        from (select jsonb_object_keys(p_before) union select jsonb_object_keys(v_after)) keys (key)
    ), changed as (
        select id, snapshot_hash(after) as hash, (
            select array_agg(category order by array_position(
                array['name', 'phone', 'email', 'address', 'date', 'photo'], category))
            from (
                select jsonb_object_keys(before) union select jsonb_object_keys(after)
            ) categories (category)
            where before -> category is distinct from after -> category
        ) as categories
        from circle
        where before is distinct from after
    ), seen as (
        update connections
        set snapshot_hash = changed.hash
        from changed
            join connections peer on peer.circle_id = changed.id
        where connections.profile_id = p_profile_id
            and connections.peer_connection_id = peer.id
            and connections.snapshot_hash is distinct from changed.hash
        returning connections.id, connections.account_id, connections.circle_id, changed.categories
    )
    insert into notifications (account_id, kind, connection_id, profile_id, actor_name, actor_pronoun, categories)
    select seen.account_id, 'contact_updated', seen.id, p_profile_id, v_name, v_pronoun, seen.categories
    from seen
        join circles on circles.id = seen.circle_id and circles.send_updates
    where not exists (
        select from notifications unread
        where unread.account_id = seen.account_id
            and unread.kind = 'contact_updated'
            and unread.connection_id = seen.id
            and unread.read_at is null
            and unread.ignored_at is null
    );
end
$$;

comment on function tell_of_changes(uuid, jsonb) is
$$Compares what circles see of a profile now with circle_views of before; renews the hash of every connection whose view has changed, and writes contact_updated, with the changed categories only, to those whose circle for it has updates on and who have no unread one of this connection.

Call it in the transaction of the change, with the profile's account locked since before p_before was taken.$$;

create or replace function write_detail(
    p_account_id uuid,
    p_profile_id uuid,
    p_detail_id uuid,
    p_category text,
    p_label text,
    p_value jsonb,
    p_is_default boolean,
    p_circle_ids uuid[],
    p_year_circle_ids uuid[]
) returns uuid
language plpgsql
volatile
set search_path from current
as $$
declare
    v_detail details;
    v_type text;
    v_makes_default boolean := coalesce(p_is_default, false);
begin
    -- Checked here although the table has checks too: theirs print the whole row, value included, into the log.
    if p_category is null or p_category not in ('name', 'phone', 'email', 'address', 'date', 'photo') then
        raise exception 'unknown category: name, phone, email, address, date or photo expected'
            using errcode = 'invalid_parameter_value';
    end if;
    v_type := case when p_category in ('name', 'phone', 'email') then 'string' else 'object' end;
    if jsonb_typeof(p_value) is distinct from v_type then
        raise exception 'the value of a % is a JSON %', p_category, v_type
            using errcode = 'invalid_parameter_value';
    end if;
    if length(p_label) > 100 or octet_length(p_value::text) > 16384 then
        raise exception 'too long: a label has 100 characters at most, a value 16 kB'
            using errcode = 'invalid_parameter_value';
    end if;
    if v_makes_default and p_category <> 'name' then
        raise exception 'only a name can be the default' using errcode = 'invalid_parameter_value';
    end if;

    if p_detail_id is null then
        -- A first name is the default: exactly one always is.
        if p_category = 'name' and not v_makes_default then
            v_makes_default :=
                not exists (select from details where profile_id = p_profile_id and is_default);
        end if;
    else
        select * into v_detail from details where id = p_detail_id and profile_id = p_profile_id;
        if not found then
            raise exception 'no such detail' using errcode = 'no_data_found';
        end if;
        if v_detail.category <> p_category then
            raise exception 'a detail keeps its category' using errcode = 'invalid_parameter_value';
        end if;
        if v_detail.is_default and p_is_default is false then
            raise exception 'one name is the default: make another one that' using errcode = 'invalid_parameter_value';
        end if;
        v_makes_default := v_makes_default and not v_detail.is_default;
    end if;
    if v_makes_default then
        update details set is_default = false where profile_id = p_profile_id and is_default;
    end if;

    if p_detail_id is null then
        insert into details (profile_id, category, label, value, is_default)
        values (p_profile_id, p_category, coalesce(p_label, ''), p_value, v_makes_default)
        returning * into v_detail;
    else
        update details
        set label = coalesce(p_label, label),
            value = p_value,
            is_default = is_default or v_makes_default,
            verified_at = case when value = p_value then verified_at end,
            updated_at = now()
        where id = p_detail_id
        returning * into v_detail;
    end if;
    if p_circle_ids is not null or p_year_circle_ids is not null then
        perform share_detail(p_account_id, v_detail.id, v_detail.category, coalesce(p_circle_ids, '{}'),
            coalesce(p_year_circle_ids, '{}'));
    end if;
    return v_detail.id;
end
$$;

comment on function write_detail(uuid, uuid, uuid, text, text, jsonb, boolean, uuid[], uuid[]) is
    'Makes a detail (p_detail_id null) or changes one, and with whom it is shared if that is told. Tells nobody: save_detail does.';

create or replace function share_detail(
    p_account_id uuid, p_detail_id uuid, p_category text, p_circle_ids uuid[], p_year_circle_ids uuid[]
) returns void
language plpgsql
volatile
set search_path from current
as $$
begin
    if exists (
        select from unnest(p_circle_ids || p_year_circle_ids) told (id)
        where not exists (select from circles where circles.id = told.id and circles.account_id = p_account_id)
    ) then
        raise exception 'no such circle' using errcode = 'no_data_found';
    end if;
    if p_category <> 'date' and cardinality(p_year_circle_ids) > 0 then
        raise exception 'only a date has a year' using errcode = 'invalid_parameter_value';
    end if;
    if not p_year_circle_ids <@ p_circle_ids then
        raise exception 'who sees the year sees day and month too' using errcode = 'invalid_parameter_value';
    end if;
    delete from detail_circles
    where detail_id = p_detail_id
        and not (circle_id = any (p_circle_ids) and part <> 'year' or circle_id = any (p_year_circle_ids));
    insert into detail_circles (detail_id, circle_id, part)
    select p_detail_id, id, case when p_category = 'date' then 'day' else 'whole' end
    from unnest(p_circle_ids) told (id)
    union
    select p_detail_id, id, 'year' from unnest(p_year_circle_ids) told (id)
    on conflict do nothing;
end
$$;

comment on function share_detail(uuid, uuid, text, uuid[], uuid[]) is
    'Sets the circles that see a detail; of a date, those that see day and month and, among them, those that see the year.';

-- MARK: What people call

create or replace function save_detail(
    p_category text,
    p_value jsonb,
    p_label text default null,
    p_circle_ids uuid[] default null,
    p_year_circle_ids uuid[] default null,
    p_detail_id uuid default null,
    p_profile_id uuid default null,
    p_is_default boolean default null
) returns uuid
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
    v_profile uuid;
    v_before jsonb;
    v_detail uuid;
begin
    perform lock_accounts(v_account);
    -- The profile of a detail that is changed need not be told.
    v_profile := own_profile(v_account, coalesce(
        p_profile_id, (select profile_id from details where id = p_detail_id)));
    v_before := circle_views(v_profile);
    v_detail := write_detail(v_account, v_profile, p_detail_id, p_category, p_label, p_value, p_is_default,
        p_circle_ids, p_year_circle_ids);
    perform tell_of_changes(v_profile, v_before);
    return v_detail;
end
$$;

comment on function save_detail(text, jsonb, text, uuid[], uuid[], uuid, uuid, boolean) is
$$Makes a detail, or changes p_detail_id, and tells those who see the change; returns the detail's id.

Without p_profile_id it is a detail of the main profile. What is null stays as it is: the label, with whom it is shared (a new one: with nobody). For a date, p_circle_ids see day and month and p_year_circle_ids, among them, the year. A profile's first name is its default; p_is_default makes another one that.$$;

create or replace function save_details(p_details jsonb, p_profile_id uuid default null) returns uuid[]
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
    v_profile uuid;
    v_before jsonb;
    v_detail jsonb;
    v_saved uuid[] := '{}';
begin
    if jsonb_typeof(p_details) is distinct from 'array' or jsonb_array_length(p_details) > 200 then
        raise exception 'an array of 200 details at most expected' using errcode = 'invalid_parameter_value';
    end if;
    perform lock_accounts(v_account);
    v_profile := own_profile(v_account, p_profile_id);
    v_before := circle_views(v_profile);
    for v_detail in select value from jsonb_array_elements(p_details) loop
        v_saved := v_saved || write_detail(
            v_account, v_profile, (v_detail ->> 'id')::uuid, v_detail ->> 'category', v_detail ->> 'label',
            v_detail -> 'value', (v_detail ->> 'is_default')::boolean,
            case when jsonb_typeof(v_detail -> 'circle_ids') = 'array' then
                array(select jsonb_array_elements_text(v_detail -> 'circle_ids'))::uuid[] end,
            case when jsonb_typeof(v_detail -> 'year_circle_ids') = 'array' then
                array(select jsonb_array_elements_text(v_detail -> 'year_circle_ids'))::uuid[] end
        );
    end loop;
    perform tell_of_changes(v_profile, v_before);
    return v_saved;
end
$$;

comment on function save_details(jsonb, uuid) is
    'save_detail for what was changed together, so that it is told together: an array of {"id", "category", "label", "value", "circle_ids", "year_circle_ids", "is_default"}, all but category and value may be missing.';

create or replace function delete_detail(p_detail_id uuid) returns boolean
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
    v_profile uuid;
    v_is_default boolean;
    v_before jsonb;
begin
    perform lock_accounts(v_account);
    select profile_id, is_default into v_profile, v_is_default
    from details join profiles on profiles.id = profile_id
    where details.id = p_detail_id and profiles.account_id = v_account;
    if not found then
        return false;
    end if;
    if v_is_default then
        raise exception 'one name is the default: make another one that' using errcode = 'invalid_parameter_value';
    end if;
    v_before := circle_views(v_profile);
    delete from details where id = p_detail_id;
    perform tell_of_changes(v_profile, v_before);
    return true;
end
$$;

comment on function delete_detail(uuid) is
    'Deletes a detail and tells those who saw it. False when there is none such; the default name is refused.';

create or replace function set_detail_circles(
    p_detail_id uuid, p_circle_ids uuid[], p_year_circle_ids uuid[] default '{}'
) returns void
language plpgsql
volatile
security definer
set search_path from current
as $$
declare
    v_account uuid := signed_in_account();
    v_profile uuid;
    v_category text;
    v_before jsonb;
begin
    perform lock_accounts(v_account);
    select profile_id, category into v_profile, v_category
    from details join profiles on profiles.id = profile_id
    where details.id = p_detail_id and profiles.account_id = v_account;
    if not found then
        raise exception 'no such detail' using errcode = 'no_data_found';
    end if;
    v_before := circle_views(v_profile);
    perform share_detail(v_account, p_detail_id, v_category, coalesce(p_circle_ids, '{}'),
        coalesce(p_year_circle_ids, '{}'));
    perform tell_of_changes(v_profile, v_before);
end
$$;

comment on function set_detail_circles(uuid, uuid[], uuid[]) is
    'Sets with which circles a detail is shared, and tells those who see a change by it.';
