//! What the inspector lists: commands, tables and keys, log lines. Words only; nothing is derived that
//! the log does not say.

use locks::event::{EffectAnswer, Event, Fault, Kind, Param, ProcessName, ProcessState, Reply, Source};
use locks::machine::Outcome;
use serde_json::Value;

use super::{epoch_words, words};
use crate::stage::Stage;
use crate::stage::wire::{Result_, WireRow};

/// A command or effect as a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WireLine {
    /// The event that sent it.
    pub seq: u64,
    /// When, in seconds since the run began.
    pub at: String,
    /// Who sent it.
    pub replica: String,
    /// Where to.
    pub to: String,
    /// Verbatim.
    pub text: String,
    /// Its parameters, as a comment.
    pub params: String,
    /// What came back.
    pub result: String,
    /// Nothing came back yet.
    pub open: bool,
    /// Until the answer, or until now.
    pub latency: String,
    /// How the task moved by it.
    pub task: String,
    /// It is the event at the playhead.
    pub current: bool,
}

/// The wire, newest first.
pub fn wire(stage: &Stage, schedule: Option<&str>, now_us: u64, most: usize) -> Vec<WireLine> {
    let of = |row: &&WireRow| schedule.is_none_or(|schedule| about(row) == schedule);
    stage.wire.rows.iter().rev().filter(of).take(most).map(|row| wire_line(stage, row, now_us)).collect()
}

fn about(row: &WireRow) -> &str {
    row.about.split('@').next().unwrap_or(&row.about)
}

fn wire_line(stage: &Stage, row: &WireRow, now_us: u64) -> WireLine {
    let took = row.answer.as_ref().map_or(now_us.saturating_sub(row.at_us), |(_, took)| *took);
    WireLine {
        seq: row.seq,
        at: words::seconds(row.at_us.saturating_sub(stage.origin_us)),
        replica: row.replica.clone(),
        to: row.to.to_string(),
        text: row.text.clone(),
        params: params(&row.params),
        result: row.answer.as_ref().map_or_else(|| "unanswered".to_owned(), |(what, _)| result(what)),
        open: row.answer.is_none(),
        latency: words::fine_ms(took),
        task: match row.task {
            Some((from, to)) => format!("{} → {}", from.name(), to.name()),
            None => String::new(),
        },
        current: row.seq == stage.seq,
    }
}

fn params(params: &[Param]) -> String {
    let said: Vec<String> =
        params.iter().enumerate().map(|(i, param)| format!("${} = {}", i + 1, param_words(param))).collect();
    said.join(", ")
}

fn param_words(param: &Param) -> String {
    match param {
        Param::Null => "null".to_owned(),
        Param::Int(n) => n.to_string(),
        Param::Text(text) => words::token(text),
        Param::Bool(is) => is.to_string(),
        Param::Time(us) => words::clock(us.div_euclid(1000)),
        Param::WallClock => "this replica's clock".to_owned(),
    }
}

fn result(what: &Result_) -> String {
    match what {
        Result_::Sink(answer) => answer_words(answer),
        Result_::Store(Reply::Rows { affected, row }) if row.is_empty() => format!("{affected} rows"),
        Result_::Store(Reply::Rows { row, .. }) => row.iter().map(param_words).collect::<Vec<_>>().join(", "),
        Result_::Store(Reply::Redis(Param::Null)) => "(nil)".to_owned(),
        Result_::Store(Reply::Redis(param)) => param_words(param),
        Result_::Store(Reply::Busy) => "busy".to_owned(),
        Result_::Store(Reply::Refused { code, message }) => format!("refused {code}: {message}"),
        Result_::Store(Reply::NotSent) => "not sent".to_owned(),
        Result_::Store(Reply::Unknown) => "no answer in time".to_owned(),
    }
}

fn answer_words(answer: &EffectAnswer) -> String {
    match answer {
        EffectAnswer::Accepted => "accepted".to_owned(),
        EffectAnswer::Rejected(guard) => format!("rejected by {guard}"),
        EffectAnswer::GuardUnreachable(guard) => format!("rejected: {guard} could not ask"),
        EffectAnswer::Unknown => "no answer in time".to_owned(),
    }
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// What stands in it.
    pub text: String,
    /// A replica, shown by its badge.
    pub replica: Option<String>,
    /// A number, to the right.
    pub number: bool,
    /// A violation.
    pub harm: bool,
}

fn text(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), ..Cell::default() }
}

fn number(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), number: true, ..Cell::default() }
}

fn who(name: &str) -> Cell {
    Cell { replica: Some(name.to_owned()), ..Cell::default() }
}

/// A table of a store, or the keys of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// Which store.
    pub store: String,
    /// Which table.
    pub table: String,
    /// Column heads; numbers stand to the right.
    pub heads: Vec<(String, bool)>,
    /// Rows, newest first, each with whether the event at the playhead wrote it.
    pub rows: Vec<(bool, Vec<Cell>)>,
}

/// Every table and key that a store reported.
pub fn sheets(stage: &Stage, schedule: Option<&str>) -> Vec<Sheet> {
    let mut out = Vec::new();
    for (node, keys) in stage.tables.keys.iter().filter(|(_, keys)| !keys.is_empty()) {
        let rows = keys.iter().map(|(key, read)| {
            let pttl = if read.pttl_ms < 0 { "none".to_owned() } else { words::ms(read.pttl_ms as u64 * 1000) };
            (read.seq == stage.seq, vec![text(key), text(words::token(&read.value)), number(pttl)])
        });
        out.push(Sheet {
            store: node.to_string(),
            table: "keys".to_owned(),
            heads: vec![("key".into(), false), ("value".into(), false), ("pttl".into(), true)],
            rows: rows.collect(),
        });
    }
    for (table, rows) in &stage.tables.rows {
        let mut heads: Vec<(String, bool)> = Vec::new();
        for row in rows {
            for (name, value) in &row.cells {
                if !heads.iter().any(|(head, _)| head == name) {
                    heads.push((name.clone(), value.is_number()));
                }
            }
        }
        let line = |row: &crate::stage::tables::Row| {
            let cells = heads.iter().map(|(head, right)| Cell {
                text: row.cells.get(head).map(value_words).unwrap_or_default(),
                number: *right,
                ..Cell::default()
            });
            (row.seq == stage.seq, cells.collect())
        };
        let lines = rows.iter().rev().map(line).collect();
        out.push(Sheet { store: "postgres".to_owned(), table: table.clone(), heads, rows: lines });
    }
    out.push(audit(stage, schedule));
    out.push(settlements(stage, schedule));
    out
}

fn value_words(value: &Value) -> String {
    match value {
        Value::String(text) => words::token(text),
        Value::Null => "null".to_owned(),
        other => other.to_string(),
    }
}

fn audit(stage: &Stage, schedule: Option<&str>) -> Sheet {
    let audit = &stage.tables.audit;
    let rows =
        audit.iter().rev().filter(|row| schedule.is_none_or(|schedule| row.slot.schedule == schedule)).map(|row| {
            let twice = row.outcome == Outcome::Executed
                && audit.iter().filter(|other| other.slot == row.slot && other.outcome == Outcome::Executed).count()
                    > 1;
            let outcome = Cell { text: row.outcome.name().to_uppercase(), harm: twice, ..Cell::default() };
            let cells = vec![
                text(words::clock(row.slot.fire_ms)),
                text(row.slot.schedule.clone()),
                who(&row.attempt.replica),
                number(row.epoch.map_or("–".to_owned(), |epoch| epoch.to_string())),
                outcome,
            ];
            (row.seq == stage.seq, cells)
        });
    let heads = [("slot", false), ("schedule", false), ("who", false), ("epoch", true), ("outcome", false)];
    Sheet {
        store: "postgres".to_owned(),
        table: "audit, newest first".to_owned(),
        heads: heads.map(|(head, right)| (head.to_owned(), right)).to_vec(),
        rows: rows.collect(),
    }
}

fn settlements(stage: &Stage, schedule: Option<&str>) -> Sheet {
    let effects = stage.track.effects.iter().rev();
    let rows = effects.filter(|effect| schedule.is_none_or(|schedule| effect.slot.schedule == schedule)).take(24).map(
        |effect| {
            let again = effect.nth > 1 && effect.answer == EffectAnswer::Accepted;
            let said = answer_words(&effect.answer);
            let said = if again { format!("{said}, {}× for this slot", effect.nth) } else { said };
            let cells = vec![
                text(words::clock(effect.slot.fire_ms)),
                text(effect.slot.schedule.clone()),
                who(&effect.attempt.replica),
                number(effect.epoch.map_or("–".to_owned(), |epoch| epoch.to_string())),
                Cell { text: said, harm: again, ..Cell::default() },
            ];
            (effect.seq == stage.seq, cells)
        },
    );
    let heads = [("slot", false), ("schedule", false), ("who", false), ("epoch", true), ("guard said", false)];
    Sheet {
        store: stage.setup.sink.to_string(),
        table: "settlements, newest first".to_owned(),
        heads: heads.map(|(head, right)| (head.to_owned(), right)).to_vec(),
        rows: rows.collect(),
    }
}

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
        Kind::Trouble { problem } => ("trouble", problem.text.clone()),
        Kind::Ended { why } => ("run ended", words::ended(*why).to_owned()),
        Kind::Ready => ("ready", String::new()),
        Kind::SessionOpened { endpoint, session, .. } => ("session opened", format!("{session} to {endpoint}")),
        Kind::SessionClosed { endpoint, session, why } => ("session closed", format!("{session} to {endpoint}: {why}")),
        Kind::SlotDue { attempt, slot: due, by_timer, .. } => {
            let by = if *by_timer { "by its timer" } else { "fired" };
            ("slot due", format!("{}, attempt {attempt}, {by}", slot(due)))
        }
        Kind::Task { attempt, from, to } => ("task moved", format!("{attempt}: {} → {}", from.name(), to.name())),
        Kind::Strategy { schedule, from, on, to, .. } => {
            ("strategy moved", format!("{schedule}: {from} → {to} on {on}"))
        }
        Kind::GateReached { attempt, gate } => ("gate reached", format!("{attempt}: {gate}")),
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
            ("audit row", format!("{} {} by {attempt}", slot(of), outcome.name().to_uppercase()))
        }
        Kind::EffectSettled { attempt, slot: of, answer, nth, .. } => {
            ("effect settled", format!("{} from {attempt}: {}, {nth}×", slot(of), answer_words(answer)))
        }
    }
}
