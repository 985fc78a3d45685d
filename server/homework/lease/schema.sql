create table lease (
    name       text primary key,
    holder     text not null,
    token      text not null,
    epoch      bigint not null,
    expires_at timestamptz not null
);
create trigger noted after insert or update or delete on lease
    for each row execute function audit.note();
grant select, insert on lease to hw_learner;
-- By columns: the right to update a table includes the right to lock all of it.
grant update (holder, token, epoch, expires_at) on lease to hw_learner;
