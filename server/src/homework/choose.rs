//! Exercise 8: each story's faults are played against what was chosen for it, and the judge's findings are held
//! against the story's limits. A store that a story does not have rules a choice out without a
//! run.

use std::sync::Arc;

use locks::event::{Event, Kind};
use locks::homework::choose::choices::{Choice, read};
use locks::homework::{Failure, Graded, Mistake};
use locks::ids::Endpoint;
use locks::scenario::{Problem, Scenario};
use locks::strategy;
use tokio::sync::Semaphore;

use crate::lab::Lab;
use crate::run::runner::{Finished, Outcome, run};

/// So many scripts of a submission are played side by side.
const AT_ONCE: usize = 3;

/// One story.
struct Story {
    title: &'static str,
    scripts: &'static [&'static str],
    has_postgres: bool,
    has_redis: bool,
    /// Somebody else is in after so long.
    takeover_ms: Option<u64>,
    /// A slot costs so many commands to Redis.
    commands: Option<usize>,
    /// Critical sections must not overlap.
    apart: bool,
    /// A slot is settled once, and by nobody stale.
    once: bool,
    /// Slots must be worked on side by side: one behind the other they take too long.
    many_slots: bool,
    /// Every slot must be settled.
    all: bool,
}

const PLAIN: Story = Story {
    title: "",
    scripts: &[],
    has_postgres: true,
    has_redis: true,
    takeover_ms: None,
    commands: None,
    apart: false,
    once: false,
    many_slots: false,
    all: false,
};

const HOLDER_DIES: &str = include_str!("../../homework/holder-dies.toml");
const STALE_FIRST: &str = include_str!("../../homework/stale-first.toml");
const ONCE_MORE: &str = include_str!("../../homework/once-more.toml");
const LONG_WORK: &str = include_str!("../../homework/long-work.toml");
const DIES_BEHIND_EFFECT: &str = include_str!("../../homework/dies-behind-effect.toml");
const SLOT_BESIDE_SLOT: &str = include_str!("../../homework/slot-beside-slot.toml");
const BOTH_CLAIM: &str = include_str!("../../homework/both-claim.toml");
const NODE_EMPTY: &str = include_str!("../../homework/node-empty.toml");
const NODE_DEAD: &str = include_str!("../../homework/node-dead.toml");

const STORIES: [Story; 6] = [
    Story {
        title: "digest mail",
        scripts: &[ONCE_MORE, HOLDER_DIES],
        has_postgres: false,
        takeover_ms: Some(3000),
        commands: Some(3),
        ..PLAIN
    },
    Story {
        title: "the ledger, and long pauses",
        scripts: &[STALE_FIRST],
        has_redis: false,
        takeover_ms: Some(10_000),
        once: true,
        ..PLAIN
    },
    Story { title: "the bank", scripts: &[ONCE_MORE, DIES_BEHIND_EFFECT], once: true, ..PLAIN },
    Story { title: "long work", scripts: &[LONG_WORK, HOLDER_DIES], takeover_ms: Some(3000), apart: true, ..PLAIN },
    Story {
        title: "many small slots",
        scripts: &[SLOT_BESIDE_SLOT, BOTH_CLAIM],
        once: true,
        many_slots: true,
        ..PLAIN
    },
    Story {
        title: "five nodes",
        scripts: &[NODE_EMPTY, NODE_DEAD],
        has_postgres: false,
        apart: true,
        all: true,
        ..PLAIN
    },
];

/// Why a choice is refused: a stable key, a sentence, what was expected, what was observed, the event.
struct Refused {
    reason: &'static str,
    why: &'static str,
    expected: String,
    observed: String,
    at: u64,
}

/// Play all stories; the first that a choice fails is told.
pub(super) async fn grade(lab: &Lab, text: &str) -> Graded {
    let choices = match read(text) {
        Ok(choices) => choices,
        Err(mistake) => return Graded::YourError(mistake),
    };
    let turns = Semaphore::new(AT_ONCE);
    let stories = STORIES.iter().zip(&choices).enumerate().map(|(at, (story, choice))| {
        let (turns, number) = (&turns, at + 1);
        async move { tell(lab, turns, number, story, choice).await }
    });
    let told = futures_util::future::join_all(stories).await;
    let mut played = 0;
    for told in told {
        match told {
            Ok(scripts) => played += scripts,
            Err(graded) => return *graded,
        }
    }
    let said = choices.iter().zip(1..).map(|(choice, n)| format!("{n}: {}", choice.words()));
    Graded::Passed { schedules: played, score: None, said: Some(said.collect::<Vec<_>>().join("; ")) }
}

/// Play one story: in how many scripts nothing was violated.
async fn tell(lab: &Lab, turns: &Semaphore, number: usize, story: &Story, choice: &Choice) -> Result<u32, Box<Graded>> {
    if let Some(refused) = at_once(story, choice) {
        return Err(failed(number, story, choice, String::new(), refused, &[]));
    }
    for script in story.scripts {
        let scenario = scenario(script, choice).map_err(|why| Box::new(Graded::LabFailed { why }))?;
        // The semaphore is never closed.
        let _turn = turns.acquire().await;
        let finished = run(lab, &scenario, Some(format!("homework/choose/{number}"))).await;
        match &finished.outcome {
            Outcome::Held | Outcome::Failed => {}
            Outcome::Inconclusive(what) => {
                let refused = Refused {
                    reason: "nobody came",
                    why: "A replica did not come to where it was to be.",
                    expected: "The script comes to its end.".to_owned(),
                    observed: format!("{what}."),
                    at: last(&finished.events),
                };
                return Err(failed(number, story, choice, scenario.to_toml(), refused, &finished.events));
            }
            Outcome::BadScenario(message) => {
                let message = format!("story {number}: {message}");
                return Err(Box::new(Graded::YourError(Mistake { message, ..Mistake::default() })));
            }
            Outcome::LabFailed(why) => return Err(Box::new(Graded::LabFailed { why: why.clone() })),
            Outcome::Interrupted => {
                return Err(Box::new(Graded::LabFailed { why: "the lab was told to end".to_owned() }));
            }
        }
        if let Some(refused) = judged(story, &finished) {
            return Err(failed(number, story, choice, scenario.to_toml(), refused, &finished.events));
        }
    }
    Ok(u32::try_from(story.scripts.len()).unwrap_or(u32::MAX))
}

/// The script with what was chosen.
fn scenario(script: &str, choice: &Choice) -> Result<Scenario, String> {
    let mut scenario = Scenario::parse(script).map_err(|problems| Problem::render_all(&problems, "the script"))?;
    scenario.setup.strategy = choice.strategy.clone();
    scenario.setup.guard = choice.guard.into_iter().collect();
    scenario.setup.lease_ms = choice.lease_ms;
    scenario.setup.renew = choice.renew;
    Ok(scenario)
}

/// What needs no run.
fn at_once(story: &Story, choice: &Choice) -> Option<Refused> {
    let info = strategy::info(&choice.strategy.strategy)?;
    let refused = |reason, why, expected: &str, observed: String| {
        Some(Refused { reason, why, expected: expected.to_owned(), observed, at: 0 })
    };
    let uses = |postgres: bool| info.uses.iter().any(|endpoint| (*endpoint == Endpoint::Postgres) == postgres);
    if !story.has_postgres && uses(true) {
        let observed = format!("`{}` keeps its lock in Postgres.", info.name);
        return refused("not there", "The story has no Postgres.", "A lock in Redis.", observed);
    }
    if !story.has_redis && uses(false) {
        let observed = format!("`{}` keeps its lock in Redis.", info.name);
        return refused("not there", "The story has no Redis.", "A lock in Postgres.", observed);
    }
    None
}

/// What the judge found, held against the story's limits.
fn judged(story: &Story, finished: &Finished) -> Option<Refused> {
    let Finished { verdict, events, .. } = finished;
    let end = last(events);
    let found = |reason, why, expected: &str, observed: String, at| {
        Some(Refused { reason, why, expected: expected.to_owned(), observed, at })
    };
    if story.apart
        && let Some(overlap) = verdict.overlaps.first()
    {
        let at = overlap.events.last().copied().unwrap_or(end);
        return found(
            "overlap",
            "Two were inside at once.",
            "Nobody is inside beside somebody else.",
            overlap.text.clone(),
            at,
        );
    }
    if story.once
        && let Some(stale) = verdict.stale_effects.first()
    {
        let at = stale.events.last().copied().unwrap_or(end);
        return found(
            "stale effect",
            "A stale write was accepted.",
            "No stale write is accepted.",
            stale.text.clone(),
            at,
        );
    }
    if story.once && verdict.most_effects() > 1 {
        let observed = format!("{} accepted effects of one slot.", verdict.most_effects());
        return found(
            "two effects",
            "A slot was settled more than once.",
            "Every slot is settled once.",
            observed,
            end,
        );
    }
    if story.many_slots && !verdict.missed_slots.is_empty() {
        let expected = "Three replicas work on three slots at a time: all 60 slots are done within 2 s.";
        let observed = "While A was in its slot, B was kept out of the next one: 60 times 50 ms are 3 s at best.";
        return found("too slow", "One slot waits for the other.", expected, observed.to_owned(), end);
    }
    if story.all && !verdict.missed_slots.is_empty() {
        return found("missed", "A slot was not settled.", "Every slot is settled.", "One was missed.".to_owned(), end);
    }
    if let Some(most) = story.takeover_ms {
        let limit = format!("Somebody else is in within {most} ms.");
        for takeover in &verdict.takeover_ms {
            let observed = match takeover {
                Some(ms) if *ms <= most => continue,
                Some(ms) => format!("It took {ms} ms."),
                None => "Nobody was, for as long as B waited.".to_owned(),
            };
            return found("takeover", "The takeover took too long.", &limit, observed, end);
        }
    }
    if let Some(most) = story.commands {
        let count = commands(events);
        if count > most {
            let limit = format!("At most {most} commands to Redis a slot.");
            return found("load", "The lock costs too much.", &limit, format!("A sent {count} for its slot."), end);
        }
    }
    None
}

/// Commands to Redis of an attempt that nobody disturbed: A's, if it came to its release.
fn commands(events: &[Arc<Event>]) -> usize {
    let sent = |event: &Arc<Event>| match &event.kind {
        Kind::Sent { attempt: Some(attempt), command, .. }
            if attempt.replica == "A" && command.to != Endpoint::Postgres =>
        {
            Some(command.name.clone())
        }
        _ => None,
    };
    let sent: Vec<String> = events.iter().filter_map(sent).collect();
    if sent.iter().any(|name| name == "release") { sent.len() } else { 0 }
}

fn last(events: &[Arc<Event>]) -> u64 {
    events.last().map_or(0, |event| event.seq)
}

fn failed(
    number: usize,
    story: &Story,
    choice: &Choice,
    steps: String,
    refused: Refused,
    events: &[Arc<Event>],
) -> Box<Graded> {
    let Refused { reason, why, expected, observed, at } = refused;
    Box::new(Graded::Failed(Box::new(Failure {
        schedule: number.to_string(),
        title: format!("{}, with {}", story.title, choice.words()),
        reason: reason.to_owned(),
        why: why.to_owned(),
        expected,
        observed,
        steps,
        evidence: events.iter().map(|event| (**event).clone()).collect(),
        at,
        run: None,
    })))
}
