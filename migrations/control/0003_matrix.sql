-- What a learner said of a cell of the failure matrix before it was run.
create table predictions (
    learner  text not null references learners on delete cascade,
    fault    text not null,
    strategy text not null,
    -- `none`, or the guard at the sink.
    guard    text not null,
    covered  boolean not null,
    said_at  timestamptz not null default now(),
    primary key (learner, fault, strategy, guard)
);

-- What was measured for a learner last: a cell of the matrix, or a line of a race.
create table measured (
    learner     text not null references learners on delete cascade,
    -- A fault by its name, or the run whose scenario is raced.
    script      text not null,
    strategy    text not null,
    guard       text not null,
    -- covered, not-covered, inconclusive.
    coverage    text not null,
    -- Why it is inconclusive.
    why         text,
    figures     jsonb,
    run         text references runs on delete set null,
    measured_at timestamptz not null default now(),
    primary key (learner, script, strategy, guard)
);
