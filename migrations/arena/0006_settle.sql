-- Sink `ledger`: takes an effect, or rejects it by the first guard of the list that objects, and writes down
-- which. Returns that guard; null: accepted. A function and not a bare insert, because each of its statements
-- sees what was committed while the one before waited.
create function settle(
    attempt text, lock text, schedule text, fire_at timestamptz, replica text, epoch bigint, guards text[]
) returns text
language plpgsql as $$
declare
    guard    text;
    objects  boolean := false;
begin
    if cardinality(guards) > 0 then
        -- Guarded effects of one lock come one after the other. Two keys: strategies use single ones.
        perform pg_advisory_xact_lock(1, hashtext(settle.lock));
    end if;
    foreach guard in array guards loop
        objects := case guard
            when 'max-seen' then exists (
                select from ledger l
                 where l.lock = settle.lock and l.accepted
                   and (l.epoch > settle.epoch or (l.epoch is not null and settle.epoch is null)))
            -- Shared, so that no newer grant can be given until this is committed.
            when 'current-epoch' then not exists (
                select from lock_epochs e where e.name = settle.lock and e.epoch = settle.epoch for share)
            when 'unique-slot' then exists (
                select from ledger l
                 where l.schedule = settle.schedule and l.fire_at = settle.fire_at and l.accepted)
        end;
        exit when objects;
    end loop;
    insert into ledger (attempt, lock, schedule, fire_at, replica, epoch, accepted, rejected_by)
    values (settle.attempt, settle.lock, settle.schedule, settle.fire_at, settle.replica, settle.epoch,
            not objects, case when objects then guard end);
    return case when objects then guard end;
end
$$;
