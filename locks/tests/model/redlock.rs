//! `redlock`: two quorums have a node in common, and all rests on that node's memory and time. A moment is
//! 2 ms: lease 3 moments, margin 1 (the drift), node timeout 1; there are 4 moments behind the first, 3 where
//! holders may be paused, 1 where two nodes are common. A reaches nodes 1, 2 and 3, B reaches 3, 4 and 5: bare
//! quorums, which have the least in common. One fault of node 3 at most; those of others cannot make both hold.

use locks::guard::Guard;
use locks::setup::{Handler, Setup};
use locks::strategy::redlock::Redlock;
use locks::strategy::{Strategy, restart_delay_ms};

use crate::claims::*;
use crate::lab::{Bounds, Claim, Fault, Lab};
use crate::story::check;

const LEASE: u64 = 6;
/// Two for the drift.
const MARGIN: u64 = 2;

fn setup() -> Setup {
    let strategy = "redlock".into();
    Setup { strategy, lease_ms: LEASE, margin_ms: 0, node_timeout_ms: 2, store_timeout_ms: 2, ..Setup::default() }
}

fn bare(bounds: Bounds) -> Bounds {
    Bounds { moment_ms: 2, reach: [&[1, 2, 3], &[3, 4, 5]], ..bounds }
}

fn faulty(fault: Fault) -> Bounds {
    bare(Bounds::faulty(fault))
}

fn lab(bounds: Bounds, mutant: Option<&'static str>, claims: Vec<Claim<Redlock>>) -> Lab<Redlock> {
    lab_of(setup(), bounds, mutant, claims)
}

fn lab_of(setup: Setup, bounds: Bounds, mutant: Option<&'static str>, claims: Vec<Claim<Redlock>>) -> Lab<Redlock> {
    let strategies = ["A", "B"].map(|host| Redlock::new(&setup, mutant, host));
    Lab { strategies, setup, bounds, claims }
}

/// Nobody is paused, but the one common node loses its memory and answers again at once.
pub fn forgetful() -> Lab<Redlock> {
    lab(faulty(Fault::Forgets { node: 3, away_ms: 0 }), None, vec![own()])
}

#[test]
fn grants_never_overlap_but_sections_do_when_a_holder_is_paused() {
    let claims = vec![grants(), own(), enters(), one_under_unique_slot()];
    check("redlock", lab(bare(Bounds::paused(3)), None, claims), &[sections, fresh]);
}

/// Nobody is paused: an effect that is long under way is as late as one whose sender was.
#[test]
fn with_epochs_nothing_stale_passes_current_epoch() {
    let setup = Setup { guard: vec![Guard::CurrentEpoch], ..setup() };
    let bounds = bare(Bounds { deaths: 0, ..Bounds::prompt() });
    let lab = lab_of(setup, bounds, None, vec![grants(), fresh_under_current_epoch(), one_under_unique_slot()]);
    check("redlock with epochs", lab, &[fresh_under_max_seen]);
}

#[test]
fn who_is_not_paused_leaves_before_anyone_else_enters() {
    let claims = vec![grants(), own(), enters(), sections()];
    check("redlock, nobody paused", lab(bare(Bounds::prompt()), None, claims), &[]);
}

#[test]
fn a_node_of_a_bare_quorum_that_loses_its_memory_votes_twice() {
    check("redlock, a node loses its memory", forgetful(), &[grants, sections]);
}

/// B needs all of its three nodes, and one that A has kept its memory.
#[test]
fn a_node_of_a_wider_quorum_may_lose_its_memory() {
    let faulty = Bounds::faulty(Fault::Forgets { node: 3, away_ms: 0 });
    let bounds = Bounds { moment_ms: 2, horizon: 1, reach: [&[1, 2, 3, 4], &[3, 4, 5]], ..faulty };
    check("redlock, four nodes of which one loses its memory", lab(bounds, None, vec![wide_grants()]), &[grants]);
}

#[test]
fn who_restarts_later_than_any_lease_votes_once() {
    let setup = Setup { strategy: "redlock/delayed-restart".into(), ..setup() };
    let bounds = faulty(Fault::Forgets { node: 3, away_ms: restart_delay_ms(&setup) });
    let lab = lab_of(setup, bounds, Some("delayed-restart"), vec![grants(), own(), enters(), sections()]);
    check("redlock/delayed-restart, a node loses its memory", lab, &[]);
}

/// Drift is allowed for, jumps are not.
#[test]
fn a_jump_of_one_nodes_clock_is_covered_up_to_the_margin() {
    let jump = |by_ms| faulty(Fault::Jumps { node: 3, by_ms });
    check("redlock, a jump within the margin", lab(jump(MARGIN), None, vec![sections()]), &[]);
    check("redlock, a jump beyond the margin", lab(jump(2 * MARGIN), None, vec![]), &[sections]);
    let lab = lab(jump(2 * MARGIN), Some("delayed-restart"), vec![]);
    check("redlock/delayed-restart, a jump beyond the margin", lab, &[sections]);
}

#[test]
fn mutant_elapsed_unchecked_enters_on_an_expired_grant() {
    let lab = lab(bare(Bounds::paused(3)), Some("elapsed-unchecked"), vec![]);
    check("redlock/elapsed-unchecked", lab, &[enters]);
}

#[test]
fn mutant_plain_del_frees_anothers_lock() {
    let setup = Setup { handler: Handler::Stubborn, ..setup() };
    check("redlock/plain-del", lab_of(setup, bare(Bounds::paused(3)), Some("plain-del"), vec![]), &[own]);
}
