//! What the inspector lists: commands, tables and keys, log lines. Words only; nothing is derived that
//! the log does not say. Values first, which tests read; then each as markup.

mod log;
mod sheets;
mod wire;

pub use log::{LogLine, log_line, log_row};
pub use sheets::{Cell, Sheet, sheets, sheets_html};
pub use wire::{WireLine, command, result, wire, wire_row};

use crate::html::Html;

/// A row of a table that grows while one looks at it: the page keeps rows that did not change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// Its class.
    pub class: &'static str,
    /// Its cells.
    pub cells: String,
}

/// The cell that leads to an event.
fn event_cell(html: &mut Html, seq: u64) {
    let seq = seq.to_string();
    html.class("td", "num").class("button", "link num");
    html.attr("title", "Show the stage at this event").attr("data-seq", &seq).text("#").text(&seq).close().close();
}
