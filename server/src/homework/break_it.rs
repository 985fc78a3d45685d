//! Exercise 7: the moves of each part are played as a scenario on a lab, like every other; the judge says whether the
//! goal was reached.

use std::sync::Arc;

use locks::event::Event;
use locks::guard::Guard;
use locks::homework::break_it::moves::{Answer, PARTS, Part};
use locks::homework::{Failure, Graded, Mistake};
use locks::judge::Verdict;
use locks::scenario::Scenario;

use crate::lab::Lab;
use crate::run::runner::{Finished, Outcome, run};

/// Play each part, then what part 3 says cannot be done.
pub(super) async fn grade(lab: &Lab, text: &str) -> Graded {
    let answer = match Answer::read(text) {
        Ok(answer) => answer,
        Err(mistake) => return Graded::YourError(mistake),
    };
    let third = third(&answer);
    let (played, behind_guard) = tokio::join!(both(lab, &answer), play(lab, &third, "part3"));
    let (mut score, mut said) = (0, Vec::new());
    for ((part, (scenario, moves)), finished) in PARTS.iter().zip(&answer.parts).zip(played) {
        if let Some(graded) = unlike(part, scenario, finished) {
            return graded;
        }
        score += moves;
        said.push(format!("{} in {moves} moves (the fewest known: {})", part.name, part.shortest));
    }
    let (right, says, because) = &answer.because;
    let Finished { outcome, verdict, events, .. } = behind_guard;
    match &outcome {
        Outcome::Held | Outcome::Failed if verdict.stale_effects.is_empty() => {}
        Outcome::Held | Outcome::Failed => {
            return Graded::LabFailed { why: "the guard let a stale effect in, which it never does".to_owned() };
        }
        other => return Graded::LabFailed { why: why(other) },
    }
    if !right {
        return Graded::Failed(Box::new(Failure {
            schedule: "3".to_owned(),
            title: "your moves of part 1, under the guard current-epoch".to_owned(),
            reason: "another reason".to_owned(),
            why: format!("There is no stale effect, but not because of `{because}`: {says}"),
            expected: "The reason why the bank refuses A's write.".to_owned(),
            observed: format!("`{because}`. The run shows what the bank answered to A."),
            steps: third.to_toml(),
            at: refused(&events),
            evidence: plain(&events),
            run: None,
        }));
    }
    said.push(format!("part3: {says}"));
    Graded::Passed { schedules: 3, score: u32::try_from(score).ok(), said: Some(said.join("; ")) }
}

/// The parts that have a goal, side by side.
async fn both(lab: &Lab, answer: &Answer) -> [Finished; 2] {
    let of = |at: usize| play(lab, &answer.parts[at].0, PARTS[at].name);
    let (first, second) = tokio::join!(of(0), of(1));
    [first, second]
}

async fn play(lab: &Lab, scenario: &Scenario, part: &str) -> Finished {
    run(lab, scenario, Some(format!("homework/break/{part}"))).await
}

/// The moves of part 1, behind the guard.
fn third(answer: &Answer) -> Scenario {
    let mut scenario = answer.parts[0].0.clone();
    scenario.name = "homework-break-part3".to_owned();
    scenario.title = "Break it: behind the guard current-epoch".to_owned();
    scenario.setup.guard = vec![Guard::CurrentEpoch];
    scenario.expect = locks::scenario::Expect::default();
    scenario
}

/// What came of a part, unless its goal was reached.
fn unlike(part: &Part, scenario: &Scenario, finished: Finished) -> Option<Graded> {
    let Finished { outcome, verdict, events, .. } = finished;
    let failed = |(reason, why): (&str, &str), observed: String| {
        Graded::Failed(Box::new(Failure {
            schedule: part.name["part".len()..].to_owned(),
            title: format!("your moves, under {}", part.strategy),
            reason: reason.to_owned(),
            why: why.to_owned(),
            expected: "Two accepted effects of the slot, one of them by a holder after another's grant.".to_owned(),
            observed,
            steps: scenario.to_toml(),
            at: events.last().map_or(0, |event| event.seq),
            evidence: plain(&events),
            run: None,
        }))
    };
    match outcome {
        Outcome::Held => None,
        Outcome::Failed => {
            let reason = match verdict.most_effects() {
                0 | 1 => ("one effect", "The slot was settled once at most."),
                _ => ("nothing stale", "The slot was settled twice, and neither effect was stale."),
            };
            Some(failed(reason, observed(&verdict)))
        }
        // Somebody without a quorum, say, never comes to the gate that was named.
        Outcome::Inconclusive(what) => Some(failed(
            ("a move did not end", "The moves lead nowhere: one of them never came to its end."),
            format!("{what}. {}", observed(&verdict)),
        )),
        Outcome::BadScenario(message) => {
            Some(Graded::YourError(Mistake { message, schedule: Some(part.name.to_owned()), ..Mistake::default() }))
        }
        other => Some(Graded::LabFailed { why: why(&other) }),
    }
}

fn observed(verdict: &Verdict) -> String {
    format!(
        "{} accepted effects of the slot, {} of them stale; outcomes: {}.",
        verdict.most_effects(),
        verdict.stale_effects.len(),
        outcomes(verdict)
    )
}

fn outcomes(verdict: &Verdict) -> String {
    let of = verdict.outcomes.iter().map(|(replica, outcomes)| {
        let words: Vec<String> = outcomes.iter().map(|outcome| format!("{outcome:?}").to_lowercase()).collect();
        format!("{replica} {}", words.join(", "))
    });
    of.collect::<Vec<_>>().join("; ")
}

/// The event by which the bank refused somebody; 0: none.
fn refused(events: &[Arc<Event>]) -> u64 {
    use locks::event::{EffectAnswer, Kind};
    let refused =
        |event: &&Arc<Event>| matches!(&event.kind, Kind::EffectSettled { answer: EffectAnswer::Rejected(_), .. });
    events.iter().rev().find(refused).map_or(0, |event| event.seq)
}

fn plain(events: &[Arc<Event>]) -> Vec<Event> {
    events.iter().map(|event| (**event).clone()).collect()
}

fn why(outcome: &Outcome) -> String {
    match outcome {
        Outcome::LabFailed(why) | Outcome::Inconclusive(why) | Outcome::BadScenario(why) => why.clone(),
        Outcome::Interrupted => "the lab was told to end".to_owned(),
        Outcome::Held | Outcome::Failed => "a run ended as it should not have".to_owned(),
    }
}
