-- Replicas log in as a role that can do what strategies do, and nothing else: no table is theirs, the
-- catalog and the evidence cannot be rewritten. A role belongs to the whole cluster, and on shared stores
-- another arena may be making it at this very moment, so its being there already is no error.
do $$
begin
    create role aegis_replica login noinherit;
exception
    when duplicate_object or unique_violation then null;
end
$$;

revoke all on schema public from public;
grant usage on schema public to aegis_replica;
grant select on schedules to aegis_replica;
grant select, insert, update, delete on locks to aegis_replica;
grant select, insert, update on lock_epochs to aegis_replica;
grant usage on sequence lock_epochs_minted to aegis_replica;
grant select, insert on audit, ledger to aegis_replica;
grant usage on sequence audit_id_seq, ledger_id_seq to aegis_replica;
