-- Closed until opened: of the roles that are not the owner, only those may use the tables and functions that you
-- grant them to. PostgreSQL lets everybody execute a new function, and Supabase grants every new table and function
-- of `public` to `anon` and `authenticated`, which its HTTP interface turns into the whole internet.
--
-- Applied again, it closes them to `anon` and `authenticated` again: make your own grants after it.
--
-- Grants for the worker are not made here: `push-fanout migrate` makes the role and its grants.

do $$
declare
    v_role text;
    v_function text;
    functions constant text[] := array[
        'insert_notification(uuid, text, uuid, text, text, text[], text, text, jsonb)',
        'unread_count(uuid)',
        'mark_read(uuid, uuid)',
        'mark_all_read(uuid)',
        'ignore_notification(uuid, uuid)',
        'register_device(uuid, text, text, text, text, text)'
    ];
begin
    foreach v_function in array functions loop
        execute format('revoke execute on function %s from public', v_function);
    end loop;
    for v_role in select rolname from pg_roles where rolname in ('anon', 'authenticated') loop
        execute format('revoke all on accounts, devices, notifications from %I', v_role);
        foreach v_function in array functions loop
            execute format('revoke execute on function %s from %I', v_function, v_role);
        end loop;
    end loop;
end
$$;
