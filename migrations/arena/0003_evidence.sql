-- What replicas say that they did, one row an attempt. The database stamps the time.
create table audit (
    id       bigserial primary key,
    attempt  text not null,
    schedule text not null,
    fire_at  timestamptz not null,
    replica  text not null,
    epoch    bigint,
    outcome  text not null,
    at       timestamptz not null default clock_timestamp()
);

create index audit_by_slot on audit (schedule, fire_at);

-- Sink `ledger`: effects that land in the arena's own database, accepted or rejected by a guard.
create table ledger (
    id          bigserial primary key,
    attempt     text not null,
    lock        text not null,
    schedule    text not null,
    fire_at     timestamptz not null,
    replica     text not null,
    epoch       bigint,
    accepted    boolean not null,
    -- The guard that rejected it.
    rejected_by text,
    at          timestamptz not null default clock_timestamp(),
    check (accepted = (rejected_by is null))
);

create index ledger_by_slot on ledger (schedule, fire_at);
