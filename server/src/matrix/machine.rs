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
