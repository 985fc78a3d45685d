//! Commands and effects with what came back.

use locks::event::{EffectAnswer, Param, Reply};

use super::{Row, event_cell};
use crate::html::{Html, Size};
use crate::stage::Stage;
use crate::stage::view::sql::{self, Piece};
use crate::stage::view::words;
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
    /// Where the strategy's machine stood when it was sent.
    pub machine: String,
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

/// A line of the wire as a row.
pub fn wire_row(line: &WireLine) -> Row {
    let mut html = Html::new();
    event_cell(&mut html, line.seq);
    html.element("td", "num r", &line.at);
    html.open("td").class("span", "row row-5").badge(Some(&line.replica), Size::Small);
    html.class("span", "ink2").text("→ ").text(&line.to).close().close().close();
    html.element("td", if line.open { "b" } else { "" }, &line.result);
    html.element("td", "num r", &line.latency).class("td", "ink2");
    if !line.machine.is_empty() {
        html.class("button", "link").attr("title", "Show where in the strategy’s machine it came from");
        html.attr("data-seq", &line.seq.to_string()).attr("data-rep", &line.replica).text(&line.machine).close();
    }
    html.close().element("td", "ink2", &line.task);
    html.class("td", "cmd");
    for (piece, text) in sql::pieces(&line.text) {
        match piece {
            Piece::Plain => html.text(&text),
            marked => html.element("span", marked.class(), &text),
        };
    }
    if !line.params.is_empty() {
        html.class("span", "p").text(" -- ").text(&line.params);
    }
    let class = match (line.current, line.open) {
        (true, _) => "cur",
        (_, true) => "open",
        _ => "",
    };
    Row { class, cells: html.finish() }
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
        machine: row.machine.clone(),
        task: match row.task {
            Some((from, to)) => format!("{} → {}", from.name(), to.name()),
            None => String::new(),
        },
        current: row.seq == stage.seq,
    }
}

/// A command with its parameters, as a comment.
pub fn command(text: &str, list: &[Param]) -> String {
    let list = params(list);
    if list.is_empty() { text.to_owned() } else { format!("{text} -- {list}") }
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
        Param::Key(lock) => format!("{}{lock}", Param::KEY),
        Param::Bool(is) => is.to_string(),
        Param::Time(us) => words::clock(us.div_euclid(1000)),
        Param::WallClock => "this replica's clock".to_owned(),
    }
}

/// What came back, in words.
pub fn result(what: &Result_) -> String {
    match what {
        Result_::Sink(answer) => answer_words(answer),
        Result_::Store(Reply::Rows { affected: 1, row }) if row.is_empty() => "1 row".to_owned(),
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

pub(super) fn answer_words(answer: &EffectAnswer) -> String {
    match answer {
        EffectAnswer::Accepted => "accepted".to_owned(),
        EffectAnswer::Rejected(guard) => format!("rejected by {guard}"),
        EffectAnswer::GuardUnreachable(guard) => format!("rejected: {guard} could not ask"),
        EffectAnswer::Unknown => "no answer in time".to_owned(),
    }
}
