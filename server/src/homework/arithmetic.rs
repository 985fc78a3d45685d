//! Exercise 6: graded by properties, so that a busy machine changes no result. Where a time-out fails, or a grant is
//! trusted when its keys are gone, the same is played on five real nodes and its run is attached, to be opened like
//! every other. What passes is put once more to the numbers of a real run: of whoever was paused while it asked.

use std::sync::Arc;

use locks::event::{Event, Kind, Param, Reply};
use locks::homework::redlock::{self, Answer};
use locks::homework::{Failure, Graded};
use locks::judge::Verdict;
use locks::scenario::{Problem, Scenario};

use super::cli::commented;
use crate::lab::Lab;
use crate::run::runner::{Finished, Outcome, run};

const NODE_DEAD: &str = include_str!("../../homework/node-dead.toml");
const NODES_SLOW: &str = include_str!("../../homework/nodes-slow.toml");
const PAUSED_ASKING: &str = include_str!("../../homework/paused-asking.toml");

/// The lease of the trial, and the longest time-out that is played: a longer one only takes longer.
const LEASE_MS: u64 = 1500;
const LONGEST_MS: u64 = 5000;

/// Grade an answer.
pub(super) async fn grade(lab: &Lab, text: &str) -> Graded {
    let graded = redlock::grade(text);
    let Ok(answer) = Answer::read(text) else { return graded };
    match graded {
        Graded::Failed(failure) => Graded::Failed(Box::new(shown(lab, *failure, &answer).await)),
        Graded::Passed { schedules, score, said } => match paused(lab, &answer).await {
            Ok(more) => {
                let said = said.map(|said| format!("{said} {more}"));
                Graded::Passed { schedules: schedules + 1, score, said }
            }
            Err(failure) => Graded::Failed(failure),
        },
        other => other,
    }
}

/// The failure with a run that shows it, if there is one.
async fn shown(lab: &Lab, failure: Failure, answer: &Answer) -> Failure {
    let missed = |verdict: &Verdict| !verdict.missed_slots.is_empty();
    let clash = |verdict: &Verdict| !verdict.overlaps.is_empty();
    let trusts_dead_keys = || matches!(answer.holds(5, LEASE_MS as i64, LEASE_MS as i64 + 1), Ok(true));
    let (script, strategy, shows): (_, _, &(dyn Fn(&Verdict) -> bool + Sync)) = match failure.schedule.as_str() {
        "one node dead" => (NODE_DEAD, "redlock", &missed),
        "slow nodes" => (NODES_SLOW, "redlock", &missed),
        // Nobody who looks at the time that is left does this.
        "validity" | "acquired" if trusts_dead_keys() => (PAUSED_ASKING, "redlock/elapsed-unchecked", &clash),
        _ => return failure,
    };
    let timeout_ms = u64::try_from(answer.node_timeout_ms).unwrap_or(1).clamp(1, LONGEST_MS);
    let Some((scenario, finished)) = played(lab, script, strategy, timeout_ms).await else { return failure };
    // The nodes may have had better luck than the property allows.
    if !shows(&finished.verdict) {
        return failure;
    }
    let clash = finished.verdict.overlaps.first().and_then(|found| found.events.last().copied());
    let at = clash.or(finished.events.last().map(|event| event.seq)).unwrap_or_default();
    let evidence = finished.events.iter().map(Arc::as_ref).cloned().collect();
    Failure { steps: format!("{}\n{}", commented(&failure.steps), scenario.to_toml()), evidence, at, ..failure }
}

/// A run of a script that came to its end.
async fn played(lab: &Lab, script: &str, strategy: &str, timeout_ms: u64) -> Option<(Scenario, Finished)> {
    let mut scenario = match Scenario::parse(script) {
        Ok(scenario) => scenario,
        Err(problems) => {
            tracing::error!(problems = Problem::render_all(&problems, "the script"), "a trial cannot be read");
            return None;
        }
    };
    scenario.setup.strategy = strategy.into();
    if scenario.setup.replica.is_empty() {
        scenario.setup.lease_ms = LEASE_MS;
        scenario.setup.node_timeout_ms = timeout_ms;
    }
    let finished = run(lab, &scenario, Some("homework/redlock".to_owned())).await;
    matches!(finished.outcome, Outcome::Held | Outcome::Failed).then_some((scenario, finished))
}

/// Put the answer to the numbers of a real run in which the asking took longer than the lease: what is said of it.
async fn paused(lab: &Lab, answer: &Answer) -> Result<String, Box<Failure>> {
    let not_played = "A run on five real nodes, of whoever is paused while it asks, could not be played this time.";
    let Some((scenario, finished)) = played(lab, PAUSED_ASKING, "redlock", LONGEST_MS).await else {
        return Ok(not_played.to_owned());
    };
    let Some((granted, elapsed_ms)) = measured(&finished.events) else { return Ok(not_played.to_owned()) };
    let numbers = format!("{granted} of five real nodes granted it to a replica that was paused for {elapsed_ms} ms");
    if matches!(answer.holds(granted, LEASE_MS as i64, elapsed_ms), Ok(true)) {
        return Err(Box::new(Failure {
            schedule: "paused".to_owned(),
            title: scenario.title.clone(),
            reason: "grant without validity".to_owned(),
            why: "The lock counts as acquired although nothing of its lease is left.".to_owned(),
            expected: "Not acquired: the keys have run out, and somebody else has been let in.".to_owned(),
            observed: format!("Acquired: {numbers} while it asked, with a lease of {LEASE_MS} ms."),
            steps: scenario.to_toml(),
            at: finished.events.last().map_or(0, |event| event.seq),
            evidence: finished.events.iter().map(Arc::as_ref).cloned().collect(),
            run: None,
        }));
    }
    Ok(format!("{numbers} while it asked: not acquired."))
}

/// How many nodes granted A the lock in its first try, and how long that took it, in milliseconds.
fn measured(events: &[Arc<Event>]) -> Option<(i64, i64)> {
    let of_a = || events.iter().filter(|event| event.replica() == Some("A"));
    let asked = |event: &&Arc<Event>| matches!(&event.kind, Kind::Sent { command, .. } if command.name == "acquire");
    let began_us = of_a().find(asked)?.at_us;
    let (mut granted, mut heard_us) = (0, began_us);
    for event in of_a() {
        match &event.kind {
            Kind::Answered { name, reply, .. } if name == "acquire" => {
                granted += i64::from(matches!(reply, Reply::Redis(param) if *param != Param::Null));
                heard_us = event.at_us;
            }
            _ => {}
        }
    }
    (granted > 0).then_some((granted, i64::try_from((heard_us - began_us) / 1000).ok()?))
}
