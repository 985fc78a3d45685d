//! The timeline as a table: the same marks, in words.

use locks::event::EffectAnswer;
use locks::sorted::by_numbers;

use super::{Look, clashes, marks, schedule_of, sections};
use crate::html::{Html, Size};
use crate::stage::Stage;
use crate::stage::track::Span;
use crate::stage::view::words;

/// One mark in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// In which lane.
    pub lane: String,
    /// The replica of the lane, shown by its badge.
    pub replica: Option<String>,
    /// When it began, in seconds since the run began.
    pub from: String,
    /// When it ended.
    pub to: String,
    /// How long it took.
    pub for_: String,
    /// What it is.
    pub what: String,
    /// It is a violation.
    pub harm: bool,
}

/// The latest marks, newest first.
pub fn table(stage: &Stage, look: &Look, now_us: u64, most: usize) -> Vec<TableRow> {
    let mut rows: Vec<(u64, TableRow)> = Vec::new();
    let mut add = |lane: &str, replica: Option<&str>, span: Span, what: String, harm: bool| {
        let until = span.1.unwrap_or(now_us);
        let point = span.1 == Some(span.0);
        let at = |us: u64| words::seconds(us.saturating_sub(stage.origin_us));
        rows.push((
            span.0,
            TableRow {
                lane: lane.to_owned(),
                replica: replica.map(str::to_owned),
                from: at(span.0),
                to: if point { String::new() } else { span.1.map_or_else(|| "–".to_owned(), at) },
                for_: if point { String::new() } else { words::ms(until.saturating_sub(span.0)) },
                what,
                harm,
            },
        ));
    };
    for section in sections(stage, look) {
        add(
            &section.attempt.replica,
            Some(&section.attempt.replica),
            section.span,
            look.whose(&section.schedule) + &marks::section_words(section),
            false,
        );
        for denied in &section.denied {
            let name = &section.attempt.replica;
            add(name, Some(name), *denied, look.whose(&section.schedule) + "inside, store denies", false);
        }
    }
    for stop in &stage.track.stops {
        let what = if stop.dead { "dead" } else { "stopped" };
        add(&stop.replica, Some(&stop.replica), stop.span, what.to_owned(), false);
    }
    for wait in stage.track.waits.iter().filter(|wait| look.row(&wait.schedule).is_some()) {
        let name = &wait.attempt.replica;
        add(name, Some(name), wait.span, look.whose(&wait.schedule) + &marks::wait_words(wait), false);
    }
    for hold in stage.track.holds.iter().filter(|hold| look.row(schedule_of(&hold.lock)).is_some()) {
        let owner = hold.owner.as_ref().map_or("somebody", |owner| owner.replica.as_str());
        let epoch = hold.epoch.map(|epoch| format!(", epoch {epoch}")).unwrap_or_default();
        add("store", None, hold.span, format!("{}{owner} holds{epoch}", look.whose(schedule_of(&hold.lock))), false);
    }
    for effect in stage.track.effects.iter().filter(|effect| look.row(&effect.slot.schedule).is_some()) {
        let (what, harm) = match &effect.answer {
            EffectAnswer::Accepted => {
                let stale = stage.is_stale(effect.seq);
                let word = if stale { "stale, accepted" } else { "accepted" };
                (format!("{word}, {}× for its slot", effect.nth), effect.nth > 1 || stale)
            }
            EffectAnswer::Rejected(guard) => (format!("rejected by {guard}"), false),
            EffectAnswer::GuardUnreachable(guard) => (format!("rejected, {guard} could not ask"), false),
            EffectAnswer::Unknown => ("unanswered".to_owned(), false),
        };
        let what = look.whose(&effect.slot.schedule) + &what;
        let span = (effect.at_us, Some(effect.at_us));
        add(&stage.setup.sink.to_string(), Some(&effect.attempt.replica), span, what, harm);
    }
    for clash in clashes(stage, look) {
        let what = format!("{}overlap of {}", look.whose(schedule_of(&clash.lock)), clash.replicas.join(", "));
        add("judge", None, (clash.from_us, clash.until_us), what, true);
    }
    for cause in
        stage.track.causes.iter().filter(|cause| cause.schedule.as_deref().is_none_or(|s| look.row(s).is_some()))
    {
        let what = match &cause.schedule {
            Some(schedule) => format!("{}slot {}", look.whose(schedule), cause.text),
            None => cause.text.clone(),
        };
        add("you", None, (cause.at_us, Some(cause.at_us)), what, false);
    }
    by_numbers(&mut rows, |(at_us, _)| (u64::MAX - at_us, 0));
    rows.into_iter().take(most).map(|(_, row)| row).collect()
}

/// The rows as markup.
pub fn table_html(rows: &[TableRow]) -> String {
    let mut html = Html::new();
    for row in rows {
        html.open("tr").open("td");
        if let Some(name) = &row.replica {
            html.badge(Some(name), Size::Small);
        }
        html.text(" ").text(&row.lane).close();
        html.element("td", "r num", &row.from).element("td", "r num", &row.to).element("td", "r num", &row.for_);
        html.class("td", if row.harm { "bad b" } else { "" });
        if row.harm {
            html.icon("oct", true);
        }
        html.text(&row.what).close().close();
    }
    html.finish()
}
