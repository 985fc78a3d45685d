//! `pg-lease`: what its lease promises, what it cannot promise, which guard closes the rest, and what each
//! mutant breaks. Lease 3, margin 1, command timeout 1, six or eight moments.

use locks::guard::Guard;
use locks::setup::{Handler, Setup};
use locks::strategy::Strategy;
use locks::strategy::pg_lease::PgLease;

use crate::lab::{Claim, Lab};
use crate::story::check;

const LEASE: u64 = 3;

fn setup() -> Setup {
    Setup { lease_ms: LEASE, margin_ms: 1, store_timeout_ms: 1, ..Setup::default() }
}

/// Two replicas under everything that may happen.
fn lab(setup: Setup, mutant: Option<&'static str>, claims: Vec<Claim<PgLease>>) -> Lab<PgLease> {
    let hosts = if mutant == Some("host-token") { ["host", "host"] } else { ["A", "B"] };
    let strategies = hosts.map(|host| PgLease::new(&setup, mutant, host));
    Lab { strategies, setup, horizon: 7, prompt: false, deaths: 0, claims }
}

/// The same where nobody is paused, but messages are lost and one replica may die.
fn prompt(setup: Setup, mutant: Option<&'static str>, claims: Vec<Claim<PgLease>>) -> Lab<PgLease> {
    Lab { prompt: true, deaths: 1, horizon: 8, ..lab(setup, mutant, claims) }
}

const GRANTS: Claim<PgLease> = ("grants never overlap", |_, world| !world.seen.grants_overlapped);
const OWN: Claim<PgLease> = ("nobody's lock is released or renewed by another", |_, world| !world.seen.foreign);
const SECTIONS: Claim<PgLease> = ("sections never overlap", |_, world| world.inside() < 2);
const STALE_MAX_SEEN: Claim<PgLease> =
    ("under max-seen no stale effect is accepted", |_, world| !world.sink(Some(Guard::MaxSeen)).stale);
const STALE_CURRENT_EPOCH: Claim<PgLease> =
    ("under current-epoch no stale effect is accepted", |_, world| !world.sink(Some(Guard::CurrentEpoch)).stale);
const ONE_CURRENT_EPOCH: Claim<PgLease> =
    ("under current-epoch a slot has one effect at most", |_, world| world.sink(Some(Guard::CurrentEpoch)).effects < 2);
const ONE_UNIQUE_SLOT: Claim<PgLease> =
    ("under unique-slot a slot has one effect at most", |_, world| world.sink(Some(Guard::UniqueSlot)).effects < 2);

/// Max-seen is late when the stale effect comes first. Under current-epoch nothing stale passes, but two
/// holders, one after the other, have two fresh effects of one slot: a lock is no dedupe.
#[test]
fn grants_never_overlap_but_sections_do_when_a_holder_is_paused() {
    let right = [GRANTS, OWN, STALE_CURRENT_EPOCH, ONE_UNIQUE_SLOT];
    let wrong = [SECTIONS, STALE_MAX_SEEN, ONE_CURRENT_EPOCH];
    let lab = lab(setup(), None, [&right[..], &wrong].concat());
    check("pg-lease", lab, &wrong.map(|(claim, _)| claim));
}

/// C17: a holder that is cut off leads on until its deadline, and no longer.
#[test]
fn who_is_not_paused_leaves_before_anyone_else_enters() {
    check("pg-lease, nobody paused", prompt(setup(), None, vec![GRANTS, OWN, SECTIONS]), &[]);
}

#[test]
fn renewals_keep_what_the_lease_promises() {
    let setup = Setup { renew: true, ..setup() };
    let lab = Lab { horizon: 5, ..prompt(setup, None, vec![GRANTS, OWN, SECTIONS]) };
    check("pg-lease with renewals, nobody paused", lab, &[]);
}

#[test]
fn mutant_no_owner_check_frees_anothers_lock() {
    let setup = Setup { handler: Handler::Stubborn, ..setup() };
    let lab = lab(setup, Some("no-owner-check"), vec![OWN]);
    check("pg-lease/no-owner-check", lab, &["nobody's lock is released or renewed by another"]);
}

#[test]
fn mutant_host_token_lets_two_in() {
    check("pg-lease/host-token", lab(setup(), Some("host-token"), vec![GRANTS]), &["grants never overlap"]);
}

#[test]
fn mutant_replica_clock_takes_what_still_holds() {
    let mut lab = lab(setup(), Some("replica-clock"), vec![GRANTS]);
    let [a, b] = lab.strategies;
    lab.strategies = [a, b.with_clock_ahead(LEASE as i64)];
    check("pg-lease/replica-clock", lab, &["grants never overlap"]);
}

#[test]
fn mutant_timeout_as_granted_enters_without_a_grant() {
    let lab = prompt(setup(), Some("timeout-as-granted"), vec![SECTIONS]);
    check("pg-lease/timeout-as-granted", lab, &["sections never overlap"]);
}

#[test]
fn mutant_leads_on_stays_beyond_its_lease() {
    let lab = prompt(setup(), Some("leads-on"), vec![SECTIONS]);
    check("pg-lease/leads-on", lab, &["sections never overlap"]);
}
