//! Exercise 4: the statement that claims one due slot of a queue, exactly one under any query plan.

use super::{Exercise, Language};

/// See the module.
pub const EXERCISE: Exercise = Exercise {
    number: 4,
    slug: "claim",
    title: "Claim one slot",
    language: Language::Sql,
    starter: "\
-- $1 your replica's name text, $2 token text
-- Claim the earliest slot that is due and free, and return its id. None: no row. Never wait, never fail.
update slot
set state = 'claimed', claimed_by = $1, token = $2
where id = (
  select id from slot
  where state = 'due' and fire_at <= clock_timestamp()
  order by fire_at
  limit 1
)
returning id
",
    model: "\
with picked as materialized (
  select id from slot
  where state = 'due' and fire_at <= clock_timestamp()
  order by fire_at
  limit 1
  for update skip locked
)
update slot
set state = 'claimed', claimed_by = $1, token = $2
from picked
where slot.id = picked.id
returning slot.id
",
    hints: [
        "A's claim is not committed yet. What does B's statement do meanwhile, and what does it do then?",
        "FOR UPDATE SKIP LOCKED passes over rows that somebody else is taking.",
        "Pick one row once: select id ... order by fire_at limit 1 for update skip locked in a CTE, and update the \
         row with that id.",
    ],
};
