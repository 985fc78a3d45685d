//! Runs checks, says how many states were seen, and tells counterexamples as stories.

use std::fmt::Write as _;

use locks::setup::Setup;
use locks::strategy::{Op, Strategy};
use stateright::{Checker, Model, Path};

use crate::command::Command;
use crate::lab::{Claim, Lab};
use crate::scenario::{Frame, Untold, told};
use crate::world::{Letter, Message, NAMES, RUNGS, Step, World};

/// A strategy that a lab can be made of.
pub trait Checkable: Strategy<Op: Sync + Command<Store: Send + Sync>> + Sync {}
impl<S: Strategy<Op: Sync + Command<Store: Send + Sync>> + Sync> Checkable for S {}

/// Check a lab's claims, which must hold in the whole space, and those of `refuted`, which must turn out wrong.
pub fn check<S: Checkable>(name: &str, lab: Lab<S>, refuted: &[fn() -> Claim<S>]) {
    let right = lab.claims.clone();
    let wrong = refuted.iter().map(|claim| claim());
    if !right.is_empty() {
        let checker = Lab { claims: right.clone(), ..lab.clone() }.checker().threads(2).spawn_bfs().join();
        println!("{name}: {} states, {} of them different", checker.state_count(), checker.unique_state_count());
        for (claim, _) in right {
            match checker.discovery(claim) {
                None => println!("  holds: {claim}"),
                Some(path) => panic!("{name}: refuted: {claim}\n{}", story(&path)),
            }
        }
    }
    for claim in wrong {
        match refutation(&lab, claim) {
            None => panic!("{name}: no counterexample to: {}", claim.0),
            Some(path) => println!("{name}: refuted: {}\n{}{}", claim.0, story(&path), staged(&lab, &path)),
        }
    }
}

/// A shortest counterexample, always the same one: one claim and one thread.
pub fn refutation<S: Checkable>(lab: &Lab<S>, claim: Claim<S>) -> Option<Path<World<S>, Step>> {
    let checker = Lab { claims: vec![claim], ..lab.clone() }.checker().spawn_bfs().join();
    println!("  {} states until a counterexample", checker.state_count());
    checker.discovery(claim.0)
}

/// With `PRINT_SCENARIOS` set: the path as a scenario file, or why it is none.
fn staged<S: Checkable>(lab: &Lab<S>, path: &Path<World<S>, Step>) -> String {
    if std::env::var_os("PRINT_SCENARIOS").is_none() {
        return String::new();
    }
    let setup = Setup { strategy: lab.setup.strategy.clone(), lease_ms: 6000, ..Setup::default() };
    match told(lab, path, Frame { name: "counterexample", title: "A counterexample", setup }) {
        Ok(scenario) => scenario.to_toml(),
        Err(Untold(why)) => format!("    no scenario: {why}\n"),
    }
}

/// A path in words, a line a step.
fn story<S: Checkable>(path: &Path<World<S>, Step>) -> String {
    let mut text = String::new();
    let states = path.clone().into_states();
    for (step, (before, after)) in path.clone().into_actions().iter().zip(states.iter().zip(&states[1..])) {
        if *step == Step::Time {
            continue;
        }
        let _ = write!(text, "    t={} {}", before.now.0, describe(step, before));
        for (r, (was, is)) in before.replicas.iter().zip(&after.replicas).enumerate() {
            if was.strategy.state() != is.strategy.state() {
                let _ = write!(text, "; {} {} → {}", NAMES[r], was.strategy.state(), is.strategy.state());
            }
            if let (None, Some(outcome)) = (was.outcome, is.outcome) {
                let _ = write!(text, " ({})", outcome.name());
            }
        }
        for ((was, is), guard) in before.sinks.iter().zip(&after.sinks).zip(RUNGS) {
            let guard = guard.map_or("none".to_owned(), |guard| guard.to_string());
            if was.effects < is.effects {
                let _ = write!(
                    text,
                    "; accepted under {guard}{}",
                    if is.stale > was.stale { ", though stale" } else { "" }
                );
            }
        }
        if before.inside() < after.inside() {
            let _ = write!(text, "; inside: {}", after.inside());
        }
        text.push('\n');
    }
    text
}

fn describe<S: Checkable>(step: &Step, before: &World<S>) -> String {
    let message = |letter: &Letter| match before.flying.get(letter) {
        Some(Message::Ask { op, .. }) => format!("{}'s {}", NAMES[letter.replica], op.wire().name),
        Some(Message::Reply { reply, .. }) => format!("the answer {reply:?} to {}", NAMES[letter.replica]),
        Some(Message::Effect { epoch: Some(epoch) }) => {
            format!("{}'s effect with epoch {epoch}", NAMES[letter.replica])
        }
        Some(Message::Effect { epoch: None }) => format!("{}'s effect", NAMES[letter.replica]),
        Some(Message::Close { .. }) => format!("the end of {}'s connection", NAMES[letter.replica]),
        None => "nothing".to_owned(),
    };
    match step {
        Step::Time => "time passes".to_owned(),
        Step::Fire(r) => format!("{} is given the slot", NAMES[*r]),
        Step::Tick(r) => format!("{} looks at its clock", NAMES[*r]),
        Step::Enter(r) => format!("{} enters", NAMES[*r]),
        Step::Finish(r) => format!("{} has worked", NAMES[*r]),
        Step::SendEffect(r) => format!("{} sends its effect", NAMES[*r]),
        Step::Arrive(letter) => format!("{} arrives", message(letter)),
        Step::TimedOut(r) => format!("{} waits no longer for the store", NAMES[*r]),
        Step::EffectTimedOut(r) => format!("{} waits no longer for the sink", NAMES[*r]),
        Step::Die(r) => format!("{} is killed", NAMES[*r]),
        Step::Fault => "a node is disturbed".to_owned(),
        Step::CatchUp => "the node's replica catches up".to_owned(),
    }
}
