//! `pg-claim`: a slot ends once, and nothing that was cut short behind its key is run again. Lease 2, margin 1,
//! command timeout 1, a moment is 1 ms; there are 3 moments behind the first: a claim of the first moment is
//! found dead at 2 and rescued at 3.

use locks::setup::Setup;
use locks::strategy::Strategy;
use locks::strategy::pg_claim::PgClaim;

use crate::claims::*;
use crate::lab::{Bounds, Claim, Lab};
use crate::story::check;

fn lab(bounds: Bounds, mutant: Option<&'static str>, claims: Vec<Claim<PgClaim>>) -> Lab<PgClaim> {
    let strategy = "pg-claim".into();
    let setup = Setup { strategy, lease_ms: 2, margin_ms: 1, store_timeout_ms: 1, ..Setup::default() };
    let strategies = ["A", "B"].map(|host| PgClaim::new(&setup, mutant, host));
    Lab { strategies, setup, bounds: Bounds { horizon: 3, ..bounds }, claims }
}

pub fn ends_once() -> Claim<PgClaim> {
    ("a slot ends in one final state", |_, world| world.store.slots.values().all(|row| row.ended.len() < 2))
}

/// Two may be inside, one after the other rescued its claim; but only who wrote the key sends an effect, and
/// behind the key nobody is rescued.
#[test]
fn a_slot_ends_once_and_has_one_effect_though_sections_overlap_when_a_claimer_is_paused() {
    let claims = vec![grants(), own(), enters(), ends_once(), one()];
    check("pg-claim", lab(Bounds::paused(3), None, claims), &[sections]);
}

#[test]
fn who_is_not_paused_leaves_before_anyone_else_enters() {
    let claims = vec![grants(), own(), sections(), ends_once(), one()];
    check("pg-claim, nobody paused", lab(Bounds::prompt(), None, claims), &[]);
}

#[test]
fn mutant_claims_by_id_claims_twice() {
    check("pg-claim/claims-by-id", lab(Bounds::prompt(), Some("claims-by-id"), vec![]), &[grants]);
}

#[test]
fn mutant_unchecked_complete_ends_a_slot_twice() {
    check("pg-claim/unchecked-complete", lab(Bounds::paused(3), Some("unchecked-complete"), vec![]), &[ends_once]);
}

#[test]
fn mutant_effect_before_key_runs_again_what_was_cut_short() {
    check("pg-claim/effect-before-key", lab(Bounds::prompt(), Some("effect-before-key"), vec![]), &[one]);
}
