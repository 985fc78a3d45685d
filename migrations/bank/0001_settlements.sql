-- The bank's own books, in a database of its own: it is an external service, and no replica can see in here.

-- Every settlement that arrived, accepted or not. Nothing here is unique: whether a slot may be settled
-- twice is what the guards are about.
create table settlements (
    id                bigserial primary key,
    attempt           text not null,
    lock              text not null,
    schedule          text not null,
    fire_ms           bigint not null,
    epoch             bigint,
    token             text,
    accepted          boolean not null,
    -- The guard that rejected it.
    rejected_by       text,
    -- The guard that could not ask, which rejects too.
    guard_unreachable text,
    -- Accepted settlements of the slot, this one included if it was.
    nth               integer not null,
    at                timestamptz not null default clock_timestamp(),
    check (num_nonnulls(rejected_by, guard_unreachable) = (not accepted)::int)
);

-- One row a slot. Whoever settles locks it first, so that two at the same time are one after the other.
create table slots (
    schedule text not null,
    fire_ms  bigint not null,
    accepted integer not null default 0,
    primary key (schedule, fire_ms)
);

-- One row a lock, locked behind that of the slot: what guard max-seen compares with.
create table fences (
    lock          text primary key,
    highest_epoch bigint
);
