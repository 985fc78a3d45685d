-- What a learner is writing, as it was saved last.
create table homework_drafts (
    learner  text not null references learners on delete cascade,
    -- The exercise, by name.
    exercise text not null,
    text     text not null,
    saved_at timestamptz not null default now(),
    primary key (learner, exercise)
);

-- What a learner handed in, with what came of it.
create table homework_submissions (
    id           bigint generated always as identity primary key,
    learner      text not null references learners on delete cascade,
    exercise     text not null,
    text         text not null,
    -- passed, failed, your_error, lab_failed.
    result       text not null,
    -- The whole result; the log of a schedule that failed is a run of its own.
    graded       jsonb not null,
    run          text references runs on delete set null,
    -- How good it is where answers differ; less is better.
    score        integer,
    submitted_at timestamptz not null default now()
);

create index homework_submissions_by_learner on homework_submissions (learner, exercise, id desc);
