//! Exercise 5: the statement by which a sink accepts a write only from the lock's newest holder.

use super::{Exercise, Language};

/// See the module.
pub const EXERCISE: Exercise = Exercise {
    number: 5,
    slug: "fence",
    title: "Stop the stale writer",
    language: Language::Sql,
    starter: "\
-- $1 lock text, $2 slot text, $3 epoch bigint, $4 cents bigint, $5 replica text
-- Write and return the id if $3 is the lock's newest epoch; otherwise write nothing and return no row.
insert into ledger (lock, slot, epoch, cents, replica)
values ($1, $2, $3, $4, $5)
returning id
",
    model: "\
insert into ledger (lock, slot, epoch, cents, replica)
select $1, $2, $3, $4, $5
from lock
where name = $1 and epoch = $3
for share
returning id
",
    hints: [
        "The ledger knows only writers that came. Who knows that there is a newer holder who has not written yet?",
        "Ask the lock's row for its epoch: equal, not at least. And think of a takeover that commits between your \
         question and your commit.",
        "insert ... select ... from lock where name = $1 and epoch = $3 for share: what was read is held until commit.",
    ],
};
