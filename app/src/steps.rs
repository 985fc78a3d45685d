//! What each replica is about to do, in a run that is stepped through by hand: a line a replica, with the key that
//! lets it take its next step. On the server only; the browser takes over what has changed by the names of the
//! parts (`data-m`).

use locks::event::{Event, Kind};

use crate::html::escaped;
use crate::stage::Stage;
use crate::stage::replica::{Attempt, Process};
use crate::stage::view::hue;
use crate::stage::view::rows::command;

/// What was decided in the run, as its learner may take it back and repeat it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// How many decisions stand since the run began or was reset.
    pub moves: usize,
    /// The address that repeats them.
    pub address: String,
    /// What was taken back last, if nothing was decided since; otherwise empty.
    pub taken_back: String,
}

impl Decided {
    fn line(&self) -> String {
        let (off, moves) = match self.moves {
            0 => (" off", "Nothing decided yet.".to_owned()),
            1 => ("", "1 move.".to_owned()),
            moves => ("", format!("{moves} moves.")),
        };
        let disabled = self.moves == 0;
        let taken = match self.taken_back.as_str() {
            "" => String::new(),
            taken => format!("Taken back: <code>{}</code>. ", escaped(taken)),
        };
        let link = match self.moves {
            0 => String::new(),
            _ => format!(r#" <a href="{}" rel="external">Link to these moves</a>"#, escaped(&self.address)),
        };
        format!(
            r#"<div class="step"><button class="btn btn-s{off}" data-m="back" data-back="" aria-disabled="{disabled}"><kbd>z</kbd>Step back</button><span class="muted leaf" data-m="decided" role="status">{taken}{moves}{link}</span></div>"#
        )
    }
}

/// The lines at the end of these events, looking at one schedule.
pub fn html<'a>(
    events: impl DoubleEndedIterator<Item = &'a Event> + Clone,
    schedule: &str,
    decided: Option<&Decided>,
) -> String {
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
        let (off, disabled) =
            if replica.process == Process::Running && gate.is_some() { ("", false) } else { (" off", true) };
        lines += &format!(
            r#"<div class="step"><button class="btn btn-s{off}" data-m="b:{0}" data-step="{0}" aria-disabled="{disabled}"><kbd>{1}</kbd>Step <span class="rep {2} rep-s">{0}</span></button><b class="leaf" data-m="g:{0}">{3}</b><code class="scroll-x leaf" data-m="n:{0}">{4}</code></div>"#,
            escaped(name),
            nth + 1,
            hue(name),
            escaped(&at),
            escaped(&then)
        );
    }
    let ms = stage.setup.lease_ms;
    lines += &decided.map(Decided::line).unwrap_or_default();
    lines
        + &format!(
            r#"<div class="step"><button class="btn btn-s" data-elapse="{ms}">Let a lease go by</button><span class="muted hide-s">{} s pass for every lease and expiry, and for nothing else. Nobody moves without a step.</span></div>"#,
            ms / 1000
        )
}
