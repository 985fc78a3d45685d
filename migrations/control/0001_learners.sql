-- Who learns. A learner is a cookie, no account.
create table learners (
    id         text primary key,
    created_at timestamptz not null default now(),
    seen_at    timestamptz not null default now()
);

-- What a learner has done and chosen: lesson steps, exercises, settings, by key.
create table progress (
    learner    text not null references learners on delete cascade,
    key        text not null,
    value      jsonb not null,
    updated_at timestamptz not null default now(),
    primary key (learner, key)
);
