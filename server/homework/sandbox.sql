-- What every attempt's database has before the exercise's own tables: a role that may do next to nothing, a log
-- that it can neither read nor write, and a gate inside of statements.

create role hw_learner login noinherit connection limit 8;
create role hw_grader login noinherit connection limit 8;

revoke all on database attempt from public;
grant connect on database attempt to hw_learner, hw_grader;
revoke all on schema public from public;
grant usage on schema public to hw_learner, hw_grader;

-- No code of the learner's own: DO and CREATE FUNCTION need a language.
revoke usage on language plpgsql, sql from public;

-- Functions that wait, that reach other sessions or what is not this attempt's, that change limits, or that run
-- statements of their own.
do $$
declare
    one record;
begin
    for one in
        select oid::regprocedure as name
        from pg_proc
        where pronamespace = 'pg_catalog'::regnamespace
          and prokind = 'f'
          and proname ~ ('^(lo_.*|loread|lowrite|pg_advisory_.*|pg_try_advisory_.*|pg_sleep.*|pg_notify'
              || '|pg_terminate_backend|pg_cancel_backend|pg_logical_.*|pg_export_snapshot|set_config'
              || '|query_to_.*|.*_to_xml.*|ts_stat|ts_rewrite|pg_replication_.*)$')
    loop
        execute format('revoke execute on function %s from public', one.name);
    end loop;
end
$$;

-- What statements changed, in order of their commit only as far as it is read after each.
create schema audit;
create table audit.change (
    seq  bigint generated always as identity primary key,
    name text not null,
    old  jsonb,
    new  jsonb
);

create function audit.note() returns trigger
language plpgsql security definer set search_path = pg_catalog
as $$
begin
    insert into audit.change (name, old, new) values (
        tg_table_name,
        case when tg_op <> 'INSERT' then to_jsonb(old) end,
        case when tg_op <> 'DELETE' then to_jsonb(new) end
    );
    return null;
end
$$;

-- The gate: a session that is listed waits, between what its statement read and what it writes, until the grader
-- lets go of the lock of that number.
create schema gate;
create table gate.closed (pid integer primary key);

create function gate.pass() returns boolean
language plpgsql security definer set search_path = pg_catalog
as $$
begin
    if exists (select from gate.closed where pid = pg_backend_pid()) then
        perform pg_advisory_xact_lock_shared(pg_backend_pid());
    end if;
    return true;
end
$$;
revoke execute on function gate.pass() from public;
grant execute on function gate.pass() to hw_learner, hw_grader;
