//! What each replica is about to do, in a run that is stepped through by hand: a line a replica, with the key that
//! lets it take its next step. On the server only; the browser takes over what has changed by the names of the
//! parts (`data-m`).

use locks::event::{Event, Kind};

use crate::html::escaped;
use crate::stage::Stage;
use crate::stage::replica::{Attempt, Process};
use crate::stage::view::hue;
use crate::stage::view::rows::command;

/// The lines at the end of these events, looking at one schedule.
pub fn html<'a>(events: impl DoubleEndedIterator<Item = &'a Event> + Clone, schedule: &str) -> String {
    let mut stage = Stage::default();
    events.clone().for_each(|event| stage.push(event));
    let next = |of: &Attempt| {
        events.clone().rev().find_map(|event| match &event.kind {
            Kind::GateReached { attempt, text, params, .. } if *attempt == of.id => Some(command(text, params)),
            _ => None,
        })
    };
    let mut lines = String::new();
    for (nth, (name, replica)) in stage.replicas.iter().enumerate() {
        let attempt = replica.attempts.get(schedule);
        let gate = attempt.and_then(|attempt| attempt.gate.as_ref());
        let (at, then) = match (replica.process, attempt, gate) {
            (Process::Stopped, ..) => ("stopped".to_owned(), "Continue it first.".to_owned()),
            (Process::Dead, ..) => ("dead".to_owned(), "Start it first.".to_owned()),
            (_, Some(attempt), Some(gate)) => (format!("at gate {gate}"), next(attempt).unwrap_or_default()),
            (_, Some(attempt), None) if attempt.outcome.is_none() => {
                (attempt.machine.clone(), "It moves by itself just now.".to_owned())
            }
            _ => ("no slot".to_owned(), "Fire one: f".to_owned()),
        };
        let off = if replica.process == Process::Running && gate.is_some() { "" } else { " off" };
        lines += &format!(
            r#"<div class="step"><button class="btn btn-s{off}" data-m="b:{0}" data-step="{0}"><kbd>{1}</kbd><span class="rep {2} rep-s">{0}</span>Step</button><b class="leaf" data-m="g:{0}">{3}</b><code class="scroll-x leaf" data-m="n:{0}">{4}</code></div>"#,
            escaped(name),
            nth + 1,
            hue(name),
            escaped(&at),
            escaped(&then)
        );
    }
    let ms = stage.setup.lease_ms;
    lines
        + &format!(
            r#"<div class="step"><button class="btn btn-s" data-elapse="{ms}">Let a lease go by</button><span class="muted hide-s">{} s pass for every lease and expiry, and for nothing else. Nobody moves without a step.</span></div>"#,
            ms / 1000
        )
}
