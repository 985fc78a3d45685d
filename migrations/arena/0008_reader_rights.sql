-- Assertions of scenarios, also of those who only visit a page, are put by a role that may read the arena and
-- do nothing else: it owns nothing, writes nothing, and reads no file. As with `aegis_replica`, another arena
-- of the same cluster may be making it at this very moment.
do $$
begin
    create role aegis_reader login noinherit;
exception
    when duplicate_object or unique_violation then null;
end
$$;

grant usage on schema public to aegis_reader;
grant select on all tables in schema public to aegis_reader;
grant select on all sequences in schema public to aegis_reader;
alter default privileges in schema public grant select on tables to aegis_reader;
alter default privileges in schema public grant select on sequences to aegis_reader;
