//! Exercise 2: one statement that takes a lease in Postgres. Catches the application's clock, `now()` in a long
//! transaction, a missing predicate, an epoch that does not grow, time without zone.

use super::{Exercise, Language};

/// See the module.
pub const EXERCISE: Exercise = Exercise {
    number: 2,
    slug: "lease",
    title: "Take the lease",
    language: Language::Sql,
    starter: "\
-- $1 name text, $2 holder text, $3 token text, $4 lease in ms bigint, $5 your replica's clock timestamptz
-- Granted: one row token, epoch. Busy: no row, and nothing changed.
insert into lease (name, holder, token, epoch, expires_at)
values ($1, $2, $3, 1, $5 + $4 * interval '1 ms')
on conflict (name) do update
  set holder = $2, token = $3, epoch = lease.epoch + 1, expires_at = $5 + $4 * interval '1 ms'
  where lease.expires_at <= $5
returning token, epoch
",
    model: "\
insert into lease (name, holder, token, epoch, expires_at)
values ($1, $2, $3, 1, clock_timestamp() + $4 * interval '1 ms')
on conflict (name) do update
  set holder = $2, token = $3, epoch = lease.epoch + 1, expires_at = clock_timestamp() + $4 * interval '1 ms'
  where lease.expires_at <= clock_timestamp()
returning token, epoch
",
    hints: [
        "Replicas' clocks differ. Whose clock must decide whether a lease is over?",
        "One upsert is enough: its WHERE decides whether an existing row is taken over. And now() stands still while \
         a transaction is open.",
        "on conflict (name) do update set ..., epoch = lease.epoch + 1 where lease.expires_at <= clock_timestamp()",
    ],
};
