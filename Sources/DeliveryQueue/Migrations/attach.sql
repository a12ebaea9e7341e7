-- Joins the schema push with the app's tables. Not a migration: it is run at every `push-fanout migrate`, since it
-- depends on where the tables are. `source` in braces becomes the quoted name of PUSH_SOURCE_SCHEMA.

do $$
declare
    role text;
begin
    foreach role in array array['push_worker', 'push_operator'] loop
        -- Looked up first, so that only making them takes the right to make roles.
        continue when exists (select from pg_roles where rolname = role);
        begin
            execute format('create role %I nologin', role);
        exception when duplicate_object or unique_violation then null;  -- made by another migration just now
        end;
    end loop;
end
$$;

grant usage on schema push to push_worker, push_operator;
grant select on all tables in schema push to push_worker, push_operator;
grant insert, update, delete on
    push.outbox, push.batches, push.waiting, push.workers, push.providers, push.counters to push_worker;
grant insert on push.fanouts, push.attempts to push_worker;
grant execute on function push.ensure_partitions() to push_worker;
-- What operators do: the worker serves their pages, `push-fanout queue` runs as either role. What they did can be added
-- to, and not changed.
grant insert on push.audit to push_worker, push_operator;
grant insert, update on push.bulk_actions to push_worker, push_operator;
grant insert, update, delete on push.waiting to push_operator;
grant update, delete on push.outbox to push_operator;
grant insert on push.fanouts, push.attempts, push.counters to push_operator;
grant insert, update on push.providers to push_operator;
grant execute on function push.prune_partition(interval), push.prune_rows(interval) to push_worker, push_operator;

grant usage on schema {source} to push_worker, push_operator;
grant select on {source}.notifications, {source}.accounts, {source}.devices to push_worker;
grant update (push_token_invalidated_at, push_token_invalid_reason, apns_environment) on {source}.devices to push_worker;
-- Whether a phone has an address, for those who may not see it.
create or replace function push.has_token(device uuid) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
as 'select push_token is not null from '
'{source}'
'.devices where id = $1';
revoke execute on function push.has_token(uuid) from public;
grant execute on function push.has_token(uuid) to push_worker, push_operator;

-- `push-fanout queue` says why a phone did not buzz: without anybody's name, text or token.
grant select (id, account_id, kind, connection_id, created_at, read_at, ignored_at)
    on {source}.notifications to push_operator;
grant select (id, account_id, platform, locale, apns_environment, push_token_updated_at, push_token_invalidated_at,
    push_token_invalid_reason) on {source}.devices to push_operator;
-- `push-fanout notify` writes an operator's message.
grant select (id) on {source}.accounts to push_operator;
grant insert (id, account_id, kind, title, body, translations) on {source}.notifications to push_operator;

-- A view cannot carry a statement-level trigger with a transition table: then the table behind it needs the trigger. See
-- the README. The name goes in by a setting: inside the block's own quotes, a
-- name with $$ in it would end them.
select set_config('push.source', '{source}', true);
do $$
declare
    notifications text := current_setting('push.source') || '.notifications';
begin
    if (select relkind from pg_class where oid = notifications::regclass) in ('r', 'p') then
        execute 'create or replace trigger push_enqueue after insert on ' || notifications
            || ' referencing new table as new_notifications for each statement execute function push.enqueue()';
    end if;
end
$$;

-- Under row-level security (Supabase's way) a grant alone shows no row: policies let the two roles through, for what
-- they are granted. A name that is taken stays as it is. On a view its owner's rights count.
do $$
declare
    wanted record;
    name text;
begin
    for wanted in
        select * from (values
            ('notifications', 'push_worker_reads', 'for select to push_worker using (true)'),
            ('accounts', 'push_worker_reads', 'for select to push_worker using (true)'),
            ('devices', 'push_worker_reads', 'for select to push_worker using (true)'),
            ('devices', 'push_worker_marks', 'for update to push_worker using (true)'),
            ('notifications', 'push_operator_reads', 'for select to push_operator using (true)'),
            ('accounts', 'push_operator_reads', 'for select to push_operator using (true)'),
            ('devices', 'push_operator_reads', 'for select to push_operator using (true)'),
            ('notifications', 'push_operator_writes', 'for insert to push_operator with check (kind = ''system'')')
        ) as policies (of_table, policy, clause)
    loop
        name := current_setting('push.source') || '.' || wanted.of_table;
        if (select relrowsecurity from pg_class where oid = name::regclass)
            and not exists (select from pg_policy where polrelid = name::regclass and polname = wanted.policy)
        then
            execute format('create policy %I on ', wanted.policy) || name || ' ' || wanted.clause;
        end if;
    end loop;
end
$$;
