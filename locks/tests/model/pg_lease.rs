//! `pg-lease`: what its lease promises, what it cannot promise, which guard closes the rest, and what each
//! mutant breaks. Lease 3, margin 1, command timeout 1, a moment is 1 ms; there are 4 moments behind the first, 3
//! where holders may be paused.

use locks::setup::{Handler, Setup};
use locks::strategy::Strategy;
use locks::strategy::pg_lease::PgLease;

use crate::claims::*;
use crate::lab::{Bounds, Claim, Lab};
use crate::story::check;

const LEASE: u64 = 3;

fn setup() -> Setup {
    Setup { lease_ms: LEASE, margin_ms: 1, store_timeout_ms: 1, ..Setup::default() }
}

/// Two replicas under everything that may happen.
fn lab(setup: Setup, mutant: Option<&'static str>, claims: Vec<Claim<PgLease>>) -> Lab<PgLease> {
    let hosts = if mutant == Some("host-token") { ["host", "host"] } else { ["A", "B"] };
    let strategies = hosts.map(|host| PgLease::new(&setup, mutant, host));
    Lab { strategies, setup, bounds: Bounds::paused(3), claims }
}

/// The same where nobody is paused, but messages are lost and one replica may die.
fn prompt(setup: Setup, mutant: Option<&'static str>, claims: Vec<Claim<PgLease>>) -> Lab<PgLease> {
    Lab { bounds: Bounds::prompt(), ..lab(setup, mutant, claims) }
}

/// Max-seen is late when the stale effect comes first. Under current-epoch nothing stale passes, but two
/// holders, one after the other, have two fresh effects of one slot: a lock is no dedupe.
#[test]
fn grants_never_overlap_but_sections_do_when_a_holder_is_paused() {
    let right = vec![grants(), own(), enters(), fresh_under_current_epoch(), one_under_unique_slot()];
    check("pg-lease", lab(setup(), None, right), &[sections, fresh_under_max_seen, one_under_current_epoch]);
}

/// C17: a holder that is cut off leads on until its deadline, and no longer.
#[test]
fn who_is_not_paused_leaves_before_anyone_else_enters() {
    check("pg-lease, nobody paused", prompt(setup(), None, vec![grants(), own(), sections()]), &[]);
}

#[test]
fn renewals_keep_what_the_lease_promises() {
    let lab = prompt(Setup { renew: true, ..setup() }, None, vec![grants(), own(), sections()]);
    check("pg-lease with renewals, nobody paused", lab, &[]);
}

#[test]
fn mutant_no_owner_check_frees_anothers_lock() {
    let setup = Setup { handler: Handler::Stubborn, ..setup() };
    check("pg-lease/no-owner-check", lab(setup, Some("no-owner-check"), vec![]), &[own]);
}

#[test]
fn mutant_host_token_lets_two_in() {
    check("pg-lease/host-token", lab(setup(), Some("host-token"), vec![]), &[grants]);
}

#[test]
fn mutant_replica_clock_takes_what_still_holds() {
    let mut lab = lab(setup(), Some("replica-clock"), vec![]);
    let [a, b] = lab.strategies;
    lab.strategies = [a, b.with_clock_ahead(LEASE as i64)];
    check("pg-lease/replica-clock", lab, &[grants]);
}

#[test]
fn mutant_timeout_as_granted_enters_without_a_grant() {
    check("pg-lease/timeout-as-granted", prompt(setup(), Some("timeout-as-granted"), vec![]), &[enters, sections]);
}

#[test]
fn mutant_leads_on_stays_beyond_its_lease() {
    check("pg-lease/leads-on", prompt(setup(), Some("leads-on"), vec![]), &[sections]);
}
