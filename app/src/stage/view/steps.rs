//! What each replica is about to do, in a run that is stepped through by hand: a line a replica, with the key that
//! lets it take its next step.

use super::hue;
use crate::html::escaped;
use crate::stage::Stage;
use crate::stage::replica::{Attempt, Process};

/// Does the run stop at gates?
pub fn is_gated(stage: &Stage) -> bool {
    stage.setup.gated != locks::setup::Gated::No
}

/// May this replica take a step?
pub fn waits(stage: &Stage, name: &str) -> bool {
    let Some(replica) = stage.replicas.get(name).filter(|replica| replica.process == Process::Running) else {
        return false;
    };
    replica.attempts.values().any(|attempt| attempt.gate.is_some())
}

/// The lines. Parts keep their names, so that the page can take over what has changed.
pub fn html(stage: &Stage, schedule: &str) -> String {
    let mut lines = String::new();
    for (nth, (name, replica)) in stage.replicas.iter().enumerate() {
        let attempt = replica.attempts.get(schedule);
        let (at, next) = match (replica.process, attempt) {
            (Process::Stopped, _) => ("stopped".to_owned(), "Continue it first."),
            (Process::Dead, _) => ("dead".to_owned(), "Start it first."),
            (_, Some(Attempt { gate: Some(gate), next, .. })) => (format!("at gate {gate}"), next.as_str()),
            (_, Some(attempt)) if attempt.outcome.is_none() => (attempt.machine.clone(), "It moves by itself just now."),
            _ => ("no slot".to_owned(), "Fire one: f"),
        };
        let off = if waits(stage, name) { "" } else { " off" };
        lines += &format!(
            r#"<div class="step"><button class="btn btn-s{off}" data-m="b:{0}" data-step="{0}"><kbd>{1}</kbd><span class="rep {2} rep-s">{0}</span>Step</button><b class="leaf" data-m="g:{0}">{3}</b><code class="scroll-x leaf" data-m="n:{0}">{4}</code></div>"#,
            escaped(name),
            nth + 1,
            hue(name),
            escaped(&at),
            escaped(next)
        );
    }
    let ms = stage.setup.lease_ms;
    lines
        + &format!(
            r#"<div class="step"><button class="btn btn-s" data-elapse="{ms}">Let a lease go by</button><span class="muted hide-s">{} s pass for every lease and expiry, and for nothing else. Nobody moves without a step.</span></div>"#,
            ms / 1000
        )
}
