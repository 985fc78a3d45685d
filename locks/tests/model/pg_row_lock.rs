//! `pg-row-lock`: a lock that lives in a connection, which the server ends when its transaction was idle for
//! too long, whether or not its holder goes on. Lease 1 and so a bound of 3, margin 1, command timeout 1, a
//! moment is 1 ms; there are 3 moments behind the first.

use locks::setup::{Handler, Setup};
use locks::strategy::Strategy;
use locks::strategy::pg_row_lock::PgRowLock;

use crate::claims::*;
use crate::lab::{Bounds, Claim, Lab};
use crate::story::check;

fn lab(bounds: Bounds, mutant: Option<&'static str>, claims: Vec<Claim<PgRowLock>>) -> Lab<PgRowLock> {
    lab_of(Handler::Cooperative, bounds, mutant, claims)
}

fn lab_of(
    handler: Handler,
    bounds: Bounds,
    mutant: Option<&'static str>,
    claims: Vec<Claim<PgRowLock>>,
) -> Lab<PgRowLock> {
    let strategy = "pg-row-lock".into();
    let setup = Setup { strategy, lease_ms: 1, margin_ms: 1, store_timeout_ms: 1, handler, ..Setup::default() };
    let strategies = ["A", "B"].map(|host| PgRowLock::new(&setup, mutant, host));
    Lab { strategies, setup, bounds: Bounds { horizon: 3, ..bounds }, claims }
}

/// The bound ends the connection of a holder that is paused, and so the lock.
#[test]
fn grants_never_overlap_but_sections_do_when_a_holder_is_paused() {
    let claims = vec![grants(), own(), enters(), one_under_unique_slot()];
    check("pg-row-lock", lab(Bounds::paused(3), None, claims), &[sections, fresh]);
}

/// The replica's own deadline is the bound less the margin.
#[test]
fn who_is_not_paused_leaves_before_anyone_else_enters() {
    let claims = vec![grants(), own(), enters(), sections()];
    check("pg-row-lock, nobody paused", lab(Bounds::prompt(), None, claims), &[]);
}

#[test]
fn who_goes_on_beyond_the_bound_is_not_alone() {
    let lab = lab_of(Handler::Stubborn, Bounds::prompt(), None, vec![grants()]);
    check("pg-row-lock with a stubborn handler, nobody paused", lab, &[sections]);
}

#[test]
fn mutant_no_row_locks_nothing() {
    check("pg-row-lock/no-row", lab(Bounds::prompt(), Some("no-row"), vec![]), &[enters, sections]);
}
