-- Who may do what, over all tables and functions there are; run by the superuser.
select test.equals(format('anon may not call %s', p.oid::regprocedure), has_function_privilege('anon', p.oid, 'execute'), false)
from pg_proc p where p.pronamespace = 'public'::regnamespace;
select test.equals(format('anon may do nothing with %s', c.oid::regclass), (
    select bool_or(has_table_privilege('anon', c.oid, privilege))
    from unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) privilege
), false)
from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v');
select test.equals(format('%s has row-level security', c.oid::regclass), c.relrowsecurity, true)
from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r';
select test.equals(format('%s shows its reader''s rows only', c.oid::regclass), 'security_invoker=true' = any (c.reloptions), true)
from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'v';
select test.equals(format('%s finds no table of somebody else''s', p.oid::regprocedure), exists (
    select from unnest(p.proconfig) setting where setting ~ '^search_path=.*, ?pg_temp$'), true)
from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prosecdef;
select test.equals(format('%s says what it is', p.oid::regprocedure), obj_description(p.oid, 'pg_proc') is not null, true)
from pg_proc p where p.pronamespace = 'public'::regnamespace;
select test.equals(format('%s says what it is', c.oid::regclass), obj_description(c.oid, 'pg_class') is not null, true)
from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v');
select test.equals('what people may call of services, cross-reference and sign-in',
    (select array_agg(p.proname::text order by p.proname) from pg_proc p
     where p.pronamespace = 'public'::regnamespace and has_function_privilege('authenticated', p.oid, 'execute')
        and p.proname ~ 'service|sync|token|cross_|code|domain|email|hook|onboarding|allowed_name|name_key|check_detail|count_call|address|adopt'),
    array['complete_onboarding_step', 'connect_service', 'cross_reference', 'disconnect_service', 'onboarding_steps', 'record_sync',
        'sync_buckets', 'sync_service_name', 'verify_email_detail']);
select test.equals('what Supabase Auth may call', (select array_agg(p.proname::text order by p.proname) from pg_proc p
    where p.pronamespace = 'public'::regnamespace and has_function_privilege('supabase_auth_admin', p.oid, 'execute')),
    array['before_user_created_hook', 'domain_in_ascii', 'is_disposable_email']);
