//! `redis-set-nx`: what holds while its node keeps its memory and its time, and what does not. Lease 3,
//! margin 1, command timeout 1, a moment is 1 ms; there are 4 moments behind the first. One fault of
//! the node at most.

use locks::guard::Guard;
use locks::setup::{Handler, Setup};
use locks::strategy::Strategy;
use locks::strategy::redis_set_nx::RedisSetNx;

use crate::claims::*;
use crate::lab::{Bounds, Claim, Fault, Lab};
use crate::story::check;

const LEASE: u64 = 3;
const MARGIN: u64 = 1;

fn setup() -> Setup {
    let strategy = "redis-set-nx".into();
    Setup { strategy, lease_ms: LEASE, margin_ms: MARGIN, store_timeout_ms: 1, ..Setup::default() }
}

fn lab(bounds: Bounds, mutant: Option<&'static str>, claims: Vec<Claim<RedisSetNx>>) -> Lab<RedisSetNx> {
    lab_of(setup(), bounds, mutant, claims)
}

fn lab_of(
    setup: Setup,
    bounds: Bounds,
    mutant: Option<&'static str>,
    claims: Vec<Claim<RedisSetNx>>,
) -> Lab<RedisSetNx> {
    let hosts = if mutant == Some("host-token") { ["host", "host"] } else { ["A", "B"] };
    let strategies = hosts.map(|host| RedisSetNx::new(&setup, mutant, host));
    Lab { strategies, setup, bounds, claims }
}

/// Somebody is paused for long enough.
pub fn paused() -> Lab<RedisSetNx> {
    lab(Bounds::paused(4), None, vec![grants(), own(), enters(), one_under_unique_slot()])
}

/// Nobody is paused, but the node loses its memory and answers again at once.
pub fn forgetful() -> Lab<RedisSetNx> {
    lab(Bounds::faulty(Fault::Forgets { node: 1, away_ms: 0 }), None, vec![own()])
}

/// Nobody is paused, but the node's replica takes its place.
fn failover() -> Bounds {
    Bounds::faulty(Fault::FailsOver { node: 1 })
}

#[test]
fn grants_never_overlap_but_sections_do_when_a_holder_is_paused() {
    check("redis-set-nx", paused(), &[sections, fresh]);
}

/// Nobody is paused: an effect that is long under way is as late as one whose sender was.
#[test]
fn with_epochs_nothing_stale_passes_current_epoch() {
    let setup = Setup { guard: vec![Guard::CurrentEpoch], ..setup() };
    let bounds = Bounds { deaths: 0, ..Bounds::prompt() };
    let lab = lab_of(setup, bounds, None, vec![grants(), fresh_under_current_epoch(), one_under_unique_slot()]);
    check("redis-set-nx with epochs", lab, &[fresh_under_max_seen, one_under_current_epoch]);
}

#[test]
fn who_is_not_paused_leaves_before_anyone_else_enters() {
    let claims = vec![grants(), own(), enters(), sections()];
    check("redis-set-nx, nobody paused", lab(Bounds::prompt(), None, claims), &[]);
}

#[test]
fn renewals_keep_what_the_lease_promises() {
    let setup = Setup { renew: true, ..setup() };
    let lab = lab_of(setup, Bounds::prompt(), None, vec![grants(), own(), sections()]);
    check("redis-set-nx with renewals, nobody paused", lab, &[]);
}

#[test]
fn what_the_node_forgets_the_lock_forgets() {
    check("redis-set-nx, its node loses its memory", forgetful(), &[grants, sections]);
}

/// What the replica has not heard of yet, a failover undoes.
#[test]
fn a_failover_undoes_what_was_not_replicated() {
    check("redis-set-nx, a failover", lab(failover(), None, vec![]), &[grants, sections]);
}

/// A grant that was confirmed stands on the replica too, and is all that one failover finds there, up to four moments
/// behind the first. Nobody asks for that again when a grant is renewed.
#[test]
fn wait_1_covers_a_failover_but_not_of_renewals() {
    let wait = |setup, claims| lab_of(setup, failover(), Some("wait-1"), claims);
    check("redis-set-nx/wait-1, a failover", wait(setup(), vec![enters(), sections()]), &[]);
    let renewed = Setup { renew: true, ..setup() };
    check("redis-set-nx/wait-1 with renewals, a failover", wait(renewed, vec![]), &[sections]);
}

/// Only a jump that the margin covers is harmless.
#[test]
fn a_jump_of_the_nodes_clock_is_covered_up_to_the_margin() {
    let jump = |by_ms| Bounds::faulty(Fault::Jumps { node: 1, by_ms });
    check("redis-set-nx, a jump within the margin", lab(jump(MARGIN), None, vec![sections()]), &[]);
    check("redis-set-nx, a jump beyond the margin", lab(jump(MARGIN + 1), None, vec![]), &[sections]);
}

#[test]
fn mutant_plain_del_frees_anothers_lock() {
    let setup = Setup { handler: Handler::Stubborn, ..setup() };
    check("redis-set-nx/plain-del", lab_of(setup, Bounds::paused(4), Some("plain-del"), vec![]), &[own]);
}

#[test]
fn mutant_host_token_lets_two_in() {
    check("redis-set-nx/host-token", lab(Bounds::paused(4), Some("host-token"), vec![]), &[grants]);
}

#[test]
fn mutant_late_count_enters_on_an_expired_grant() {
    check("redis-set-nx/late-count", lab(Bounds::paused(4), Some("late-count"), vec![]), &[enters]);
}

#[test]
fn mutant_leads_on_stays_beyond_its_lease() {
    check("redis-set-nx/leads-on", lab(Bounds::prompt(), Some("leads-on"), vec![]), &[sections]);
}
