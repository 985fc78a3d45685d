-- Runs that ended, each with its verdict. A run outlives its learner: its link may be in others' hands.
create table runs (
    -- 128 random bits, hexadecimal. Whoever knows it may read the run.
    id         text primary key,
    owner      text references learners on delete set null,
    name       text not null,
    title      text not null,
    -- The lesson step, exercise or matrix cell that it belongs to.
    tag        text,
    -- SHA-256 of the scenario, hexadecimal.
    script     text not null,
    strategy   text not null,
    started_at timestamptz not null,
    ended_at   timestamptz not null,
    -- Why it ended.
    reason     text not null,
    verdict    jsonb not null,
    setup      jsonb not null,
    events     bigint not null,
    -- The scenario as a file, as far as there is one.
    scenario   text not null
);

create index runs_by_owner on runs (owner, ended_at desc);
create index runs_by_tag on runs (tag, ended_at desc) where tag is not null;

-- The event log of a run, in parts of one JSON object a line, in order.
create table run_logs (
    run    text not null references runs on delete cascade,
    part   integer not null,
    events text not null,
    primary key (run, part)
);
