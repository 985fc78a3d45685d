//! Events in words.

use locks::event::{Event, Fault, Kind, ProcessName, ProcessState, Source};

use super::wire::{answer_words, result};
use super::{Row, event_cell};
use crate::html::{Html, Size};
use crate::stage::view::{epoch_words, words};
use crate::stage::wire::Result_;

/// An event as a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Its number.
    pub seq: u64,
    /// When, in seconds since the run began.
    pub at: String,
    /// Who says so.
    pub source: String,
    /// The replica that says so, shown by its badge.
    pub replica: Option<String>,
    /// What kind of event.
    pub kind: String,
    /// What it says.
    pub text: String,
}

/// An event in words.
pub fn log_line(event: &Event, origin_us: u64) -> LogLine {
    let (kind, text) = said(&event.kind);
    LogLine {
        seq: event.seq,
        at: words::seconds(event.at_us.saturating_sub(origin_us)),
        replica: match &event.source {
            Source::Replica { name, .. } => Some(name.clone()),
            _ => None,
        },
        source: match &event.source {
            Source::Runner => "run".to_owned(),
            Source::Store(endpoint) => endpoint.to_string(),
            Source::Sink(sink) => sink.to_string(),
            other => other.to_string(),
        },
        kind: kind.to_owned(),
        text,
    }
}

/// A line of the log as a row, `current` where the playhead is.
pub fn log_row(line: &LogLine, current: bool) -> Row {
    let mut html = Html::new();
    event_cell(&mut html, line.seq);
    html.element("td", "r num", &line.at).open("td");
    match &line.replica {
        Some(name) => html.badge(Some(name), Size::Small),
        None => html.text(&line.source),
    };
    html.close().element("td", "", &line.kind).element("td", "w60", &line.text);
    Row { class: if current { "chg" } else { "" }, cells: html.finish() }
}

fn process_words(process: &ProcessName) -> String {
    match process {
        ProcessName::Replica(name) => name.clone(),
        ProcessName::Store(endpoint) => endpoint.to_string(),
    }
}

fn fault_words(fault: &Fault) -> String {
    match fault {
        Fault::Pause { process } => format!("{} stopped", process_words(process)),
        Fault::Kill { process } => format!("{} killed", process_words(process)),
        Fault::Cut { replica, endpoint } => format!("{replica}–{endpoint} cut"),
        Fault::Delay { replica, endpoint, ms, .. } => format!("{replica}–{endpoint} delayed by {ms} ms"),
        Fault::Hold { replica, endpoint, .. } => format!("{replica}–{endpoint} held"),
        Fault::Clock { replica, shift_ms } => format!("clock of {replica} {shift_ms:+} ms"),
        Fault::Restart { process } => format!("{} restarted", process_words(process)),
        Fault::NodeClock { node, shift_ms } => format!("clock of {node} {shift_ms:+} ms"),
        Fault::Failover { node } => format!("{node} failed over"),
        Fault::Terminate { replica } => format!("Postgres backends of {replica} terminated"),
    }
}

/// Kind and content of an event, in words.
fn said(kind: &Kind) -> (&'static str, String) {
    let slot = |slot: &locks::ids::Slot| format!("{} {}", slot.schedule, words::clock(slot.fire_ms));
    match kind {
        Kind::Began { title, setup, .. } => ("run began", format!("{title}: {}", setup.strategy)),
        Kind::Set { change, .. } => ("set-up changed", words::change(change)),
        Kind::CatalogChanged { catalog } => ("catalog changed", format!("{} schedules", catalog.len())),
        Kind::StepBegan { step, action } => ("step began", format!("{step}: {}", action.name())),
        Kind::StepEnded { step, problem } => match problem {
            None => ("step ended", step.to_string()),
            Some(problem) => ("step failed", format!("{step}: {}", problem.text)),
        },
        Kind::SlotFired { slot: fired, to, .. } => ("slot fired", format!("{} to {}", slot(fired), to.join(", "))),
        Kind::Process { process, pid, state, .. } => {
            let state = match state {
                ProcessState::Started => "process started",
                ProcessState::Stopped => "process stopped",
                ProcessState::Continued => "process continued",
                ProcessState::Gone => "process gone",
            };
            (state, format!("{}, pid {pid}", process_words(process)))
        }
        Kind::FaultBegan { what, .. } => ("fault began", fault_words(what)),
        Kind::FaultEnded { what, .. } => ("fault ended", fault_words(what)),
        Kind::Outsider { to, text, answer } => ("outsider", format!("{text} at {to}: {answer}")),
        Kind::Trouble { problem } => ("trouble", problem.text.clone()),
        Kind::Ended { why } => ("run ended", words::ended(*why).to_owned()),
        Kind::Ready => ("ready", String::new()),
        Kind::ClockSet { shift_ms, elapsed_ms } => ("clocks set", format!("{shift_ms:+} ms, {elapsed_ms} ms elapsed")),
        Kind::SessionOpened { endpoint, session, .. } => ("session opened", format!("{session} to {endpoint}")),
        Kind::SessionClosed { endpoint, session, why } => ("session closed", format!("{session} to {endpoint}: {why}")),
        Kind::SlotDue { attempt, slot: due, by_timer, .. } => {
            let by = if *by_timer { "by its timer" } else { "fired" };
            ("slot due", format!("{}, attempt {attempt}, {by}", slot(due)))
        }
        Kind::Task { attempt, from, to } => ("task moved", format!("{attempt}: {} → {}", from.name(), to.name())),
        Kind::Strategy { schedule, from, on, to, timer_ms, .. } => {
            let timer = timer_ms.map_or(String::new(), |ms| format!(", for {ms} ms at most"));
            ("strategy moved", format!("{schedule}: {from} → {to} on {on}{timer}"))
        }
        Kind::GateReached { attempt, gate, .. } => ("gate reached", format!("{attempt}: {gate}")),
        Kind::GatePassed { attempt, gate } => ("gate passed", format!("{attempt}: {gate}")),
        Kind::Sent { command, .. } => ("command sent", format!("{} to {}", command.name, command.to)),
        Kind::Answered { name, reply, took_us, .. } => {
            let reply = result(&Result_::Store(reply.clone()));
            ("command answered", format!("{name}: {reply}, {}", words::fine_ms(*took_us)))
        }
        Kind::Granted { epoch, token, .. } => {
            ("granted", format!("token {}{}", words::token(&token.0), epoch_words(*epoch)))
        }
        Kind::Extended { attempt, .. } => ("grant extended", attempt.to_string()),
        Kind::Entered { attempt, epoch, .. } => ("section entered", format!("{attempt}{}", epoch_words(*epoch))),
        Kind::StopAsked { attempt } => ("told to stop", attempt.to_string()),
        Kind::WorkEnded { attempt, how } => ("work ended", format!("{attempt}: {how:?}")),
        Kind::EffectSent { slot: of, sink, epoch, .. } => {
            ("effect sent", format!("{} to {sink}{}", slot(of), epoch_words(*epoch)))
        }
        Kind::EffectAnswered { answer, took_us, .. } => {
            ("effect answered", format!("{}, {}", answer_words(answer), words::fine_ms(*took_us)))
        }
        Kind::Left { attempt, why, .. } => ("section left", format!("{attempt}: {why}")),
        Kind::Finished { slot: of, outcome, why, .. } => {
            ("finished", format!("{} {}: {why}", slot(of), outcome.name()))
        }
        Kind::LinkPassed { name, direction, kept_us, .. } => {
            let what = name.as_deref().unwrap_or("message");
            let way = if *direction == locks::action::Direction::Request { "request" } else { "reply" };
            ("link passed", format!("{what}, {way}, kept {}", words::fine_ms(*kept_us)))
        }
        Kind::StoreSays { lock, state, owner, epoch, ttl_ms, .. } => {
            let owner = owner.as_ref().map(|owner| format!(" by {}", owner.replica)).unwrap_or_default();
            let ttl = ttl_ms.map(|ms| format!(", ttl {ms} ms")).unwrap_or_default();
            ("store says", format!("{lock}: {}{owner}{}{ttl}", state.name(), epoch_words(*epoch)))
        }
        Kind::Row { table, key, row } => {
            ("row changed", format!("{table} {key}{}", if row.is_none() { " deleted" } else { "" }))
        }
        Kind::Key { key, value, pttl_ms } => match value {
            None => ("key read", format!("{key}: absent")),
            Some(value) => ("key read", format!("{key} = {}, pttl {pttl_ms}", words::token(value))),
        },
        Kind::Audited { attempt, slot: of, outcome, .. } => {
            ("audit row", format!("{} {} by {attempt}", slot(of), outcome.name().to_ascii_uppercase()))
        }
        Kind::EffectSettled { attempt, slot: of, answer, nth, .. } => {
            ("effect settled", format!("{} from {attempt}: {}, {nth}×", slot(of), answer_words(answer)))
        }
    }
}
