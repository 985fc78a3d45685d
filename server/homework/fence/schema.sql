create table lock (
    name       text primary key,
    epoch      bigint not null,
    token      text not null,
    holder     text not null,
    expires_at timestamptz not null,
    touched_at timestamptz not null default clock_timestamp()
);
create table ledger (
    id      bigint generated always as identity primary key,
    lock    text not null,
    slot    text not null,
    epoch   bigint not null,
    cents   bigint not null,
    replica text not null
);
create trigger noted after insert or update or delete on ledger
    for each row execute function audit.note();
grant select on lock, ledger to hw_learner;
-- FOR SHARE needs the right to update one column.
grant update (touched_at) on lock to hw_learner;
grant insert on ledger to hw_learner;
-- Takeovers are the grader's.
grant select, update on lock to hw_grader;
