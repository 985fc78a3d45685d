-- One row a slot, as pg-claim keeps it. All times are the database's own.
create table slot_claims (
    -- The lock's name: `schedule@milliseconds`.
    slot         text primary key,
    -- due, claimed, sending (the slot's key: its effect may be out), done, doubtful (nobody knows whether it is).
    state        text not null default 'due' check (state in ('due', 'claimed', 'sending', 'done', 'doubtful')),
    -- What claims compare and set. Each claim raises it: it is the epoch, too.
    version      bigint not null default 0,
    -- The token of whoever picked it.
    picked_by    text,
    -- Who that is, for people to read. Nothing is compared with it.
    owner        text,
    -- The claim is dead once its last heartbeat is older than this.
    heartbeat_at timestamptz,
    lease_ms     bigint,
    -- Every final state that it was ever given: one at most, unless something is broken.
    ended        text[] not null default '{}'
);

-- Rows that pg-row-lock locks: nothing stands in them, and the lock stands in no row.
create table row_locks (
    name text primary key
);

create trigger tell after insert or update or delete on slot_claims
    for each row execute function tell_row('slot');
create trigger tell after insert or update or delete on row_locks
    for each row execute function tell_row('name');

grant select, insert, update on slot_claims to aegis_replica;
-- FOR UPDATE takes the right to update.
grant select, insert, update on row_locks to aegis_replica;
