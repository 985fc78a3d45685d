-- One row a lock, as lease-based strategies keep it. All times are the database's own.
create table locks (
    name       text primary key,
    -- Fresh for each acquisition; null once the holder has released.
    token      text,
    -- Who says that it holds, for people to read. Nothing is compared with it, except by a mutant.
    owner      text,
    granted_at timestamptz,
    expires_at timestamptz not null
);

-- The fencing number of each lock: the only rows that guards read.
create table lock_epochs (
    name  text primary key,
    epoch bigint not null
);

-- Numbers for strategies whose store has none: minted before each try, published after a grant.
create sequence lock_epochs_minted;
