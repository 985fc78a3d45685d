-- What a learner said to a question of the lesson, by step and question: `1/p1`.
create table lesson_answers (
    learner  text not null references learners on delete cascade,
    question text not null,
    -- As the form has it; several with commas between.
    answer   text not null,
    -- After a run of the step had begun.
    late     boolean not null,
    said_at  timestamptz not null default now(),
    primary key (learner, question)
);

-- What a learner's runs proved, by step, task and mark: `1/a/done`. The first proof stays.
create table lesson_proofs (
    learner   text not null references learners on delete cascade,
    mark      text not null,
    -- A live run proves before it is stored, and a stored one may be deleted: no reference.
    run       text not null,
    -- The event that completes the proof; 0: it was not found in a log.
    event     bigint not null,
    proved_at timestamptz not null default now(),
    primary key (learner, mark)
);
