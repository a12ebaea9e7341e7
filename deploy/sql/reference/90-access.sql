-- Who may see and do what. Row-level security is on for every table, and what is not opened here is closed.
--
-- `authenticated` is the role of everybody who is signed in (Supabase's name; in plain PostgreSQL make it with
-- `create role authenticated nologin` and apply this file again). It reads what is its own by the policies below, and
-- does everything else by functions, which run with their owner's rights: an account cannot write a detail without those
-- who see it being told, nor read what another one shares with other people. `anon`, who is not signed in, gets nothing.
--
-- Applied again, it makes all this anew. Grants that you add to these tables and functions stay, unless they are made to
-- `public`, `anon` or `authenticated`.

do $$
begin
    perform set_config('search_path', format('%I, pg_temp', current_schema()), false);
end
$$;

do $$
declare
    v_role text;
    v_name text;
    own_tables constant text[] := array[
        'accounts', 'devices', 'notifications', 'profiles', 'circles', 'details', 'detail_circles', 'connections',
        'invitations', 'blocks'
    ];
    read_tables constant text[] := array[
        'accounts', 'devices', 'notifications', 'profiles', 'circles', 'details', 'detail_circles', 'connections', 'blocks'
    ];
    -- Called with their caller's rights by policies, or doing for the one who is signed in what they say.
    for_people constant text[] := array[
        'current_account_id()',
        'ensure_account(text, text, text)',
        'create_profile(text, text, text)',
        'set_pronoun(uuid, text)',
        'save_detail(text, jsonb, text, uuid[], uuid[], uuid, uuid, boolean)',
        'save_details(jsonb, uuid)',
        'delete_detail(uuid)',
        'set_detail_circles(uuid, uuid[], uuid[])',
        'create_circle(text, boolean)',
        'update_circle(uuid, text, boolean, integer)',
        'delete_circle(uuid)',
        'move_connection(uuid, uuid)',
        'send_invitation(uuid, uuid, uuid)',
        'accept_invitation(uuid, uuid)',
        'ignore_invitation(uuid)',
        'cancel_invitation(uuid)',
        'received_invitations()',
        'sent_invitations()',
        'contact_card(uuid)',
        'end_connection(uuid)',
        'block(uuid)',
        'unblock(uuid)',
        'delete_managed_profile(uuid)',
        'delete_account()',
        'notification_feed(integer, timestamptz, uuid)',
        'unread_count()',
        'mark_read(uuid)',
        'mark_all_read()',
        'register_phone(text, text, text, text, text)',
        'set_phone_locale(text, text)',
        'remove_phone(text)'
    ];
    -- Parts of the others, and what only the operator and the app's own server call: their arguments say for whom.
    for_owner constant text[] := array[
        'signed_in_account()',
        'lock_accounts(uuid[])',
        'own_profile(uuid, uuid)',
        'own_circle(uuid, uuid)',
        'default_name(uuid)',
        'check_pronoun(text)',
        'create_account(uuid, text, text, text)',
        'visible_details(uuid)',
        'circle_views(uuid)',
        'snapshot_hash(jsonb)',
        'tell_of_changes(uuid, jsonb)',
        'write_detail(uuid, uuid, uuid, text, text, jsonb, boolean, uuid[], uuid[])',
        'share_detail(uuid, uuid, text, uuid[], uuid[])',
        'check_circle_name(text)',
        'refresh_hashes(uuid[])',
        'pair_connections(uuid, uuid)',
        'withdraw_invitations(uuid[])',
        'remove_connections(uuid[])',
        'sync_status(uuid)',
        'send_system_message(jsonb, text, text, uuid[])',
        'prune_notifications(interval)',
        'phone_of(uuid, text)'
    ];
begin
    foreach v_name in array for_people || for_owner loop
        execute format('revoke execute on function %s from public', v_name);
    end loop;
    for v_role in select rolname from pg_roles where rolname in ('anon', 'authenticated') loop
        foreach v_name in array own_tables loop
            execute format('revoke all on %I from %I', v_name, v_role);
        end loop;
        foreach v_name in array for_people || for_owner loop
            execute format('revoke execute on function %s from %I', v_name, v_role);
        end loop;
    end loop;
    if exists (select from pg_roles where rolname = 'authenticated') then
        foreach v_name in array read_tables loop
            execute format('grant select on %I to authenticated', v_name);
        end loop;
        grant update (notify_invitations, notify_contact_updates, notify_circle_changes) on accounts to authenticated;
        foreach v_name in array for_people loop
            execute format('grant execute on function %s to authenticated', v_name);
        end loop;
    end if;
end
$$;

-- Policies. The account that is signed in is looked up once a statement, not once a row.
do $$
declare
    v_policy record;
begin
    for v_policy in
        select * from (values
            ('accounts', 'own', 'all', 'id = (select current_account_id())'),
            ('devices', 'own', 'select', 'account_id = (select current_account_id())'),
            ('notifications', 'own', 'select', 'account_id = (select current_account_id())'),
            ('profiles', 'own', 'select', 'account_id = (select current_account_id())'),
            ('circles', 'own', 'select', 'account_id = (select current_account_id())'),
            ('connections', 'own', 'select', 'account_id = (select current_account_id())'),
            ('blocks', 'own', 'select', 'account_id = (select current_account_id())'),
            ('details', 'own', 'select',
                'profile_id in (select id from profiles where account_id = (select current_account_id()))'),
            ('detail_circles', 'own', 'select',
                'circle_id in (select id from circles where account_id = (select current_account_id()))')
        ) policies (relation, name, command, condition)
    loop
        execute format('drop policy if exists %I on %I', v_policy.name, v_policy.relation);
        if exists (select from pg_roles where rolname = 'authenticated') then
            execute format('create policy %I on %I for %s to authenticated using (%s)',
                v_policy.name, v_policy.relation, v_policy.command, v_policy.condition);
        end if;
    end loop;
end
$$;

-- The worker, the operator's tool and the app's own server see all rows of the worker's three tables, within their
-- grants. They need not exist yet, so they are told by what they are not: somebody who comes as anon or authenticated.
do $$
declare
    v_relation text;
begin
    foreach v_relation in array array['accounts', 'devices', 'notifications'] loop
        execute format('drop policy if exists servers on %I', v_relation);
        execute format(
            'create policy servers on %I to public using ((
                select not exists (
                    select from pg_catalog.pg_roles
                    where rolname in (''anon'', ''authenticated'') and pg_has_role(oid, ''usage'')
                )
            ))', v_relation);
    end loop;
end
$$;
