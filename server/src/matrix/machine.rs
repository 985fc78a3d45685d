//! Is it the lock, or only a machine that had too much to do? A command or an effect that no fault disturbed and
//! that had no answer in time says nothing about the lock: what it would show is not believed.

use std::collections::BTreeSet;
use std::sync::Arc;

use locks::action::Action;
use locks::event::{EffectAnswer, Event, Kind, Reply};
use locks::matrix::Figures;

/// Why a run proves nothing, if the machine was too busy for it. Effects of the replica `cut_off` are left
/// without an answer on purpose.
pub fn too_busy(events: &[Arc<Event>], figures: &Figures, cut_off: Option<&str>) -> Option<String> {
    unanswered_effect(events, cut_off).or_else(|| {
        // Whoever gave up where nothing disturbed the lock missed the slot for want of a machine.
        (figures.missed_slots > 0).then(|| unanswered_command(events)).flatten()
    })
}

/// An effect of which nobody knows whether the sink took it, or that was rejected because the guard could not ask.
fn unanswered_effect(events: &[Arc<Event>], cut_off: Option<&str>) -> Option<String> {
    events.iter().find_map(|event| match &event.kind {
        Kind::EffectAnswered { attempt, answer: EffectAnswer::Unknown | EffectAnswer::GuardUnreachable(_), .. }
            if Some(attempt.replica.as_str()) != cut_off =>
        {
            Some(format!("the sink had no answer for {attempt} in time, though nothing disturbed it"))
        }
        _ => None,
    })
}

/// A command that timed out at a replica that no step of the script touched.
fn unanswered_command(events: &[Arc<Event>]) -> Option<String> {
    let touched = Touched::of(events)?;
    events.iter().find_map(|event| match &event.kind {
        Kind::Answered { attempt: Some(attempt), reply: Reply::Unknown, .. }
            if !touched.0.contains(attempt.replica.as_str()) =>
        {
            Some(format!("the store had no answer for {attempt} in time, though nothing disturbed it"))
        }
        _ => None,
    })
}

/// Replicas that the script disturbs; `None` if it disturbs a store, which concerns all of them.
struct Touched<'a>(BTreeSet<&'a str>);

impl<'a> Touched<'a> {
    fn of(events: &'a [Arc<Event>]) -> Option<Touched<'a>> {
        let mut touched = BTreeSet::new();
        for event in events {
            let Kind::StepBegan { action, .. } = &event.kind else { continue };
            match action {
                Action::Pause(names) | Action::Kill(names) | Action::TerminateBackend(names) => {
                    touched.extend(names.iter().map(String::as_str));
                }
                Action::Cut(links) | Action::Delay { links, .. } | Action::Hold { links, .. } => {
                    touched.extend(links.replica.iter().map(String::as_str));
                }
                Action::Node(_) | Action::Failover(_) | Action::Postgres(_) | Action::Chaos { .. } | Action::Reset => {
                    return None;
                }
                _ => {}
            }
        }
        Some(Touched(touched))
    }
}

#[cfg(test)]
mod tests {
    use locks::action::Links;
    use locks::event::Source;
    use locks::ids::{AttemptId, Endpoint};

    use super::*;

    fn event(kind: Kind) -> Arc<Event> {
        Arc::new(Event { seq: 1, at_us: 1, until_us: None, source: Source::Runner, kind })
    }

    fn did(action: Action) -> Arc<Event> {
        event(Kind::StepBegan { step: 1, action })
    }

    fn timed_out(replica: &str) -> Arc<Event> {
        event(Kind::Answered {
            attempt: Some(AttemptId { replica: replica.to_owned(), incarnation: 1, n: 1 }),
            lock: "settle-invoices".to_owned(),
            command: locks::ids::CommandId(7),
            name: "acquire".to_owned(),
            reply: Reply::Unknown,
            took_us: 1_500_000,
        })
    }

    fn missed() -> Figures {
        Figures { effects_per_slot: 1, missed_slots: 1, ..Figures::default() }
    }

    #[test]
    fn a_command_that_nothing_disturbed_and_nobody_answered_is_the_machines_doing() {
        let why = too_busy(&[timed_out("R17")], &missed(), None);
        assert!(why.unwrap().contains("R17"));
        let calm = Figures { missed_slots: 0, ..missed() };
        assert_eq!(too_busy(&[timed_out("R17")], &calm, None), None, "it was made good");
    }

    #[test]
    fn what_the_script_disturbs_is_the_locks_doing() {
        let cut = did(Action::Cut(Links { replica: vec!["A".to_owned()], endpoint: vec![Endpoint::Postgres] }));
        assert_eq!(too_busy(&[cut.clone(), timed_out("A")], &missed(), None), None);
        assert!(too_busy(&[cut, timed_out("B")], &missed(), None).is_some());
        let store = did(Action::Failover(Endpoint::Redis(1)));
        assert_eq!(too_busy(&[store, timed_out("B")], &missed(), None), None, "a store concerns all");
    }

    #[test]
    fn an_effect_without_an_answer_proves_nothing_unless_it_was_cut_off() {
        let attempt = AttemptId { replica: "A".to_owned(), incarnation: 1, n: 1 };
        let lost = event(Kind::EffectAnswered { attempt, answer: EffectAnswer::Unknown, took_us: 1 });
        assert!(too_busy(std::slice::from_ref(&lost), &Figures::default(), None).is_some());
        assert_eq!(too_busy(&[lost], &Figures::default(), Some("A")), None);
    }
}
