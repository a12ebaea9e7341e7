-- Who may do what before anything was granted by hand; run by the superuser.
select test.equals(format('%s may not %s %s', role, privilege, relation),
    has_table_privilege(role, relation, privilege), false)
from unnest(array['anon', 'authenticated']) role,
    unnest(array['accounts', 'devices', 'notifications']) relation,
    unnest(array['select', 'insert', 'update', 'delete', 'truncate']) privilege;

select test.equals(format('%s may not call %s', role, p.oid::regprocedure),
    has_function_privilege(role, p.oid, 'execute'), false)
from unnest(array['anon', 'authenticated', 'reference_app']) role, pg_proc p
where p.pronamespace = 'public'::regnamespace;

select test.equals(format('%s runs with its caller''s rights and a fixed search_path', p.oid::regprocedure),
    not p.prosecdef and exists (select from unnest(p.proconfig) c where c like 'search_path=%'), true)
from pg_proc p
where p.pronamespace = 'public'::regnamespace;

select test.equals(format('%s says what it is', p.oid::regprocedure),
    obj_description(p.oid, 'pg_proc') is not null, true)
from pg_proc p
where p.pronamespace = 'public'::regnamespace;
