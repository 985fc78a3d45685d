//! Tables and keys, as the stores and the sink report them.

use locks::event::EffectAnswer;
use locks::machine::Outcome;
use serde_json::Value;

use super::wire::answer_words;
use crate::html::{Html, Size};
use crate::stage::Stage;
use crate::stage::view::words;

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
    // Audit rows stand below, with what they mean; the catalog is in the bar above.
    let told = |table: &&String| !matches!(table.as_str(), "audit" | "schedules");
    for (table, rows) in stage.tables.rows.iter().filter(|(table, _)| told(table)) {
        let mut heads: Vec<(String, bool)> = Vec::new();
        for row in rows {
            for (name, value) in &row.cells {
                if !heads.iter().any(|(head, _)| head == name) {
                    let at = if name == "name" { 0 } else { heads.len() };
                    heads.insert(at, (name.clone(), value.is_number()));
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

/// The sheets as tables.
pub fn sheets_html(sheets: &[Sheet]) -> String {
    let mut html = Html::new();
    for sheet in sheets {
        html.open("div").open("h3").text(&sheet.store).text(" ").element("span", "", &sheet.table).close();
        html.class("table", "rows").open("thead").open("tr");
        for (head, right) in &sheet.heads {
            html.element("th", if *right { "r" } else { "" }, head);
        }
        html.close().close().open("tbody");
        for (new, cells) in &sheet.rows {
            html.class("tr", if *new { "chg" } else { "" });
            cells.iter().for_each(|cell| write_cell(&mut html, cell));
            html.close();
        }
        html.close().close();
        if sheet.rows.is_empty() {
            html.element("p", "empty", "No row yet.");
        }
        html.close();
    }
    html.finish()
}

fn write_cell(html: &mut Html, cell: &Cell) {
    html.class(
        "td",
        match (cell.harm, cell.number) {
            (true, _) => "bad b",
            (_, true) => "r num",
            _ => "",
        },
    );
    if cell.harm {
        html.icon("oct", true);
    }
    if let Some(name) = &cell.replica {
        html.badge(Some(name), Size::Small);
    }
    html.text(&cell.text).close();
}

/// A value as people read it: tokens shortened, instants as the time of day, anything else as it is.
fn value_words(value: &Value) -> String {
    let Value::String(text) = value else {
        return if value.is_null() { "null".to_owned() } else { value.to_string() };
    };
    let bytes = text.as_bytes();
    if bytes.len() >= 16 && bytes.iter().all(u8::is_ascii_hexdigit) {
        return words::token(text);
    }
    let instant = bytes.len() > 19 && bytes[4] == b'-' && bytes[7] == b'-' && bytes[13] == b':';
    match text.get(11..23) {
        Some(time) if instant => time.to_owned(),
        _ => text.clone(),
    }
}

fn audit(stage: &Stage, schedule: Option<&str>) -> Sheet {
    let audit = &stage.tables.audit;
    let rows =
        audit.iter().rev().filter(|row| schedule.is_none_or(|schedule| row.slot.schedule == schedule)).map(|row| {
            let twice = row.outcome == Outcome::Executed
                && audit.iter().filter(|other| other.slot == row.slot && other.outcome == Outcome::Executed).count()
                    > 1;
            let outcome = Cell { text: row.outcome.name().to_ascii_uppercase(), harm: twice, ..Cell::default() };
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
            let said = if again { format!("{said}, {}×", effect.nth) } else { said };
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
