//! Random walks through labs that are too wide to be searched: longer, with handlers and renewals of every
//! kind, with pauses and a death at any gate, and for `redlock` with all five nodes in everybody's reach. At
//! every step what must hold is looked at, and each machine is told things twice: ticks that are not due,
//! answers that it has had, and answers to what it waits for no longer. It must ignore them.

use std::cell::Cell;

use locks::guard::Guard;
use locks::setup::{Handler, Setup};
use locks::strategy::pg_claim::PgClaim;
use locks::strategy::pg_lease::PgLease;
use locks::strategy::pg_row_lock::PgRowLock;
use locks::strategy::redis_set_nx::RedisSetNx;
use locks::strategy::redlock::Redlock;
use locks::strategy::{Input, Param, Reply};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use stateright::Model;

use crate::claims::*;
use crate::lab::{Bounds, Claim, Lab};
use crate::pg_claim::ends_once;
use crate::story::Checkable;
use crate::world::{Step, World};

const WALKS: u32 = 1000;
const STEPS: usize = 250;
/// One step of so many may be a death.
const RARE: u16 = 64;

/// What differs from walk to walk.
#[derive(Clone, Copy, Debug)]
struct Kind {
    prompt: bool,
    renew: bool,
    stubborn: bool,
    epochs: bool,
    waits: bool,
}

fn kinds() -> impl Strategy<Value = Kind> {
    any::<[bool; 5]>().prop_map(|[prompt, renew, stubborn, epochs, waits]| Kind {
        prompt,
        renew,
        stubborn,
        epochs,
        waits,
    })
}

/// Whatever strategy: who is neither paused nor stubborn is alone inside.
fn claims_of<S: Checkable>(kind: Kind) -> Vec<Claim<S>> {
    let mut claims = vec![grants(), own(), enters(), one_under_unique_slot(), fresh_under_current_epoch()];
    claims.extend((kind.prompt && !kind.stubborn).then(sections));
    claims
}

fn walks<S: Checkable>(setup: Setup, moment_ms: u64, own_claims: &[Claim<S>]) {
    let entered = Cell::new(0);
    let config = Config { cases: WALKS, failure_persistence: None, ..Config::default() };
    let choices = proptest::collection::vec(any::<u16>(), STEPS);
    let walk = |(kind, choices): (Kind, Vec<u16>)| {
        let handler = if kind.stubborn { Handler::Stubborn } else { Handler::Cooperative };
        let guard = if kind.epochs { vec![Guard::CurrentEpoch] } else { Vec::new() };
        let acquire_timeout_ms = if kind.waits { setup.acquire_timeout_ms } else { 0 };
        let setup = Setup { renew: kind.renew, handler, guard, acquire_timeout_ms, ..setup.clone() };
        let strategies = ["A", "B"].map(|host| S::new(&setup, None, host));
        let bounds = Bounds { horizon: 12, moment_ms, prompt: kind.prompt, ..Bounds::prompt() };
        let claims = [&claims_of(kind)[..], own_claims].concat();
        let world = one_walk(&Lab { strategies, setup, bounds, claims }, &choices)?;
        entered.set(entered.get() + u32::from(world.seen.latest.is_some()));
        Ok(())
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    runner.run(&(kinds(), choices), walk).unwrap();
    assert!(entered.get() > WALKS / 2, "only {} walks came to a grant", entered.get());
}

fn one_walk<S: Checkable>(lab: &Lab<S>, choices: &[u16]) -> Result<World<S>, TestCaseError> {
    let mut world = lab.init_states().remove(0);
    for choice in choices {
        let mut steps = Vec::new();
        lab.actions(&world, &mut steps);
        if steps.is_empty() {
            break;
        }
        if steps.iter().any(|step| is_likely(step, *choice)) {
            steps.retain(|step| is_likely(step, *choice));
        }
        let step = steps.swap_remove(usize::from(*choice / RARE) % steps.len());
        let after = lab.next_state(&world, step.clone()).expect("it was possible");
        for (says, holds) in &lab.claims {
            prop_assert!(holds(lab, &after), "behind {step:?}: refuted: {says}");
        }
        ignores_what_it_knows(&world, &after)?;
        world = after;
    }
    Ok(world)
}

/// Messages arrive more often than time passes, and that more often than anybody dies: otherwise few walks
/// would come far.
fn is_likely(step: &Step, choice: u16) -> bool {
    match step {
        Step::Die(_) => choice.is_multiple_of(RARE),
        Step::Time | Step::TimedOut(_) | Step::EffectTimedOut(_) => choice.is_multiple_of(4),
        _ => true,
    }
}

/// Ticks that are not due, and answers to commands that were answered in this step.
fn ignores_what_it_knows<S: Checkable>(before: &World<S>, after: &World<S>) -> Result<(), TestCaseError> {
    for (was, is) in before.replicas.iter().zip(&after.replicas).filter(|(_, is)| is.alive) {
        let mut inputs = Vec::new();
        if is.strategy.next_timer().is_none_or(|at| at > after.now) {
            inputs.push(Input::Tick);
        }
        for &(command, sent, _) in was.asked.iter().filter(|asked| !is.asked.contains(asked)) {
            let yes = Reply::Rows { affected: 1, row: vec![Param::Int(1)] };
            for reply in [yes, Reply::Redis(Param::Text("OK".to_owned())), Reply::Unknown] {
                inputs.push(Input::Reply { command, sent, reply });
            }
        }
        for input in inputs {
            let mut strategy = is.strategy.clone();
            let outputs = strategy.on(after.now, input.clone());
            prop_assert!(outputs.is_empty() && strategy == is.strategy, "{input:?} made {strategy:?} do {outputs:?}");
        }
    }
    Ok(())
}

fn setup(strategy: &str, lease_ms: u64, acquire_timeout_ms: u64) -> Setup {
    Setup {
        strategy: strategy.into(),
        lease_ms,
        margin_ms: 1,
        store_timeout_ms: 1,
        acquire_timeout_ms,
        ..Setup::default()
    }
}

#[test]
fn walks_of_pg_lease() {
    walks::<PgLease>(setup("pg-lease", 3, 6), 1, &[]);
}

#[test]
fn walks_of_pg_claim() {
    walks::<PgClaim>(setup("pg-claim", 3, 6), 1, &[ends_once(), one()]);
}

#[test]
fn walks_of_pg_row_lock() {
    walks::<PgRowLock>(setup("pg-row-lock", 2, 0), 1, &[]);
}

#[test]
fn walks_of_redis_set_nx() {
    walks::<RedisSetNx>(setup("redis-set-nx", 3, 6), 1, &[]);
}

/// Nobody tries twice: the onlooker counts votes, whatever try they were given to.
#[test]
fn walks_of_redlock() {
    let setup = Setup { margin_ms: 0, node_timeout_ms: 2, store_timeout_ms: 2, ..setup("redlock", 6, 0) };
    walks::<Redlock>(setup, 2, &[]);
}
