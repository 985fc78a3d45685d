create table slot (
    id         bigint primary key,
    schedule   text not null,
    fire_at    timestamptz not null,
    state      text not null check (state in ('due', 'claimed', 'done')),
    claimed_by text,
    token      text,
    constraint gate_write check (gate.pass())
);
create trigger noted after update or delete on slot
    for each row execute function audit.note();
grant select on slot to hw_learner;
grant update (state, claimed_by, token) on slot to hw_learner;
