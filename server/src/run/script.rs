//! A live session is a scenario being written: this reads it back from the log. What replicas fired by
//! their own timers becomes `fire`, each gap becomes `wait`, so that the file repeats what happened; it
//! promises no verdict.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use locks::action::{Action, Fire, Wait};
use locks::event::{Event, Kind, Whose};
use locks::homework::exercise;
use locks::ids::Slot;
use locks::scenario::{Expect, Homework, Scenario, Step};
use locks::setup::{Setup, SetupChange};

/// Gaps shorter than this are no `wait`: they are the time that an action itself takes.
const GAP_US: u64 = 1_000;

/// The scenario that a live session's log amounts to.
pub fn of_log(events: &[Arc<Event>]) -> Scenario {
    let mut scenario = Scenario {
        name: "live".to_owned(),
        title: "A live session".to_owned(),
        timed: true,
        setup: Setup { cron: false, ..Setup::live() },
        steps: Vec::new(),
        expect: Expect::default(),
        homework: homework(events),
    };
    let is_homework = scenario.homework.is_some();
    scenario.timed = !is_homework;
    // Steps that were refused did nothing.
    let refused: BTreeSet<u32> = events.iter().filter_map(|event| refused(&event.kind)).collect();
    let mut began_us = events.first().map_or(0, |event| event.at_us);
    let mut acts: Vec<(u64, Action)> = Vec::new();
    let mut fired: BTreeMap<&Slot, (u64, Vec<String>)> = BTreeMap::new();
    for event in events {
        match &event.kind {
            Kind::Began { name, title, setup, .. } => {
                began_us = event.at_us;
                scenario.name = name.clone();
                scenario.title = title.clone();
                scenario.setup = Setup { cron: false, ..(**setup).clone() };
            }
            // A run's steps begin when its replicas are ready.
            Kind::Ready if acts.is_empty() => began_us = began_us.max(event.at_us),
            Kind::StepBegan { step, action } if !refused.contains(step) => {
                acts.extend(without_timers(action).map(|action| (event.at_us, action)));
            }
            Kind::SlotDue { slot, attempt, by_timer: true, .. } => {
                let (at_us, to) = fired.entry(slot).or_insert((event.at_us, Vec::new()));
                *at_us = event.at_us.min(*at_us);
                if !to.contains(&attempt.replica) {
                    to.push(attempt.replica.clone());
                }
            }
            _ => {}
        }
    }
    acts.extend(fired.into_iter().map(|(slot, (at_us, mut to))| {
        to.sort();
        (at_us, Action::Fire(Fire { schedule: slot.schedule.clone(), to: Some(to), again: false }))
    }));
    acts.sort_by_key(|(at_us, _)| *at_us);

    let mut now_us = began_us;
    for (at_us, action) in acts {
        let gap_us = at_us.saturating_sub(now_us);
        // A schedule's order is all there is to it.
        if gap_us >= GAP_US && !is_homework {
            scenario.steps.push(step(Action::Wait(Wait::Ms(gap_us / 1_000))));
            now_us += gap_us / 1_000 * 1_000;
        }
        scenario.steps.push(step(action));
    }
    scenario
}

/// Of a schedule of homework: what it was, and the answer as far as it ran.
fn homework(events: &[Arc<Event>]) -> Option<Homework> {
    let Kind::Began { tag: Some(tag), .. } = &events.first()?.kind else { return None };
    let (name, schedule) = tag.strip_prefix("homework/")?.split_once('/')?;
    if !exercise(name)?.language.is_run_by_a_store() {
        return None;
    }
    let mut runs_the_answer = false;
    // By name, and a later script of several has a larger one.
    let mut scripts = BTreeMap::new();
    for event in events {
        match &event.kind {
            Kind::StepBegan { action: Action::Session(fields), .. } => {
                let does = fields.get("do").and_then(|does| does.as_str());
                runs_the_answer = !fields.contains_key("own") && matches!(does, Some("submit" | "send" | "answer"));
            }
            Kind::StepBegan { .. } => runs_the_answer = false,
            Kind::Sent { command, .. } if runs_the_answer => {
                scripts.insert(command.name.as_str(), command.text.as_str());
            }
            _ => {}
        }
    }
    let answer = scripts.into_values().collect::<Vec<_>>().join("\n---\n");
    Some(Homework { exercise: name.to_owned(), schedule: schedule.to_owned(), answer })
}

/// The number of a step that was refused: whoever asked for it asked for what could not be.
fn refused(kind: &Kind) -> Option<u32> {
    match kind {
        Kind::StepEnded { step, problem: Some(problem) } if problem.whose == Whose::Yours => Some(*step),
        _ => None,
    }
}

/// The action as the file repeats it: slots are fired by the file, so that the timers must stay off.
fn without_timers(action: &Action) -> Option<Action> {
    match action {
        Action::Set(change) => {
            let change = SetupChange { cron: None, every_s: None, ..change.clone() };
            (change != SetupChange::default()).then_some(Action::Set(change))
        }
        other => Some(other.clone()),
    }
}

fn step(action: Action) -> Step {
    Step { span: 0..0, action }
}

#[cfg(test)]
mod tests {
    use locks::event::Source;
    use locks::ids::AttemptId;

    use super::*;

    fn event(seq: u64, at_us: u64, kind: Kind) -> Arc<Event> {
        Arc::new(Event { seq, at_us, until_us: None, source: Source::Runner, kind })
    }

    fn due(seq: u64, at_us: u64, replica: &str, by_timer: bool) -> Arc<Event> {
        let attempt = AttemptId { replica: replica.to_owned(), incarnation: 1, n: 1 };
        let slot = Slot { schedule: "send-digests".to_owned(), fire_ms: 5000 };
        event(seq, at_us, Kind::SlotDue { attempt, slot, lock: "send-digests".to_owned(), by_timer })
    }

    #[test]
    fn timers_become_fires_and_gaps_become_waits() {
        let pause = Action::Pause(vec!["A".to_owned()]);
        let scenario = of_log(&[
            event(1, 1_000_000, Kind::Trouble { problem: crate::run::ActError::Ended.problem() }),
            event(2, 1_250_000, Kind::StepBegan { step: 1, action: pause.clone() }),
            due(3, 2_000_900, "B", true),
            due(4, 2_000_100, "A", true),
            due(5, 2_100_000, "C", false),
        ]);
        let actions: Vec<Action> = scenario.steps.into_iter().map(|step| step.action).collect();
        let to = Some(vec!["A".to_owned(), "B".to_owned()]);
        assert_eq!(
            actions,
            [
                Action::Wait(Wait::Ms(250)),
                pause,
                Action::Wait(Wait::Ms(750)),
                Action::Fire(Fire { schedule: "send-digests".to_owned(), to, again: false }),
            ]
        );
        assert!(scenario.timed && !scenario.setup.cron);
    }

    #[test]
    fn what_was_refused_is_not_repeated() {
        let kill = Action::Kill(vec!["Z".to_owned()]);
        let problem = Some(crate::run::ActError::NothingFired.problem());
        let scenario = of_log(&[
            event(1, 0, Kind::StepBegan { step: 1, action: kill }),
            event(2, 0, Kind::StepEnded { step: 1, problem }),
        ]);
        assert_eq!(scenario.steps, []);
    }

    #[test]
    fn a_saved_session_does_not_set_timers() {
        let cadence = Action::Set(SetupChange { every_s: Some(2), ..SetupChange::default() });
        let lease = Action::Set(SetupChange { lease_ms: Some(900), every_s: Some(2), ..SetupChange::default() });
        let steps = of_log(&[
            event(1, 0, Kind::StepBegan { step: 1, action: cadence }),
            event(2, 0, Kind::StepBegan { step: 2, action: lease }),
        ])
        .steps;
        assert_eq!(steps.len(), 1);
        assert_eq!(steps[0].action, Action::Set(SetupChange { lease_ms: Some(900), ..SetupChange::default() }));
    }
}
