//! A strategy's state machine as a picture, computed from its table of transitions alone (no strategy has a
//! picture drawn by hand), with who is where in it and the way that an attempt took, told by the log. On the
//! server only: tables, layout and trace are not in the browser's program, which takes over what has changed
//! by the names of the parts (`data-m`).
//!
//! | module | what it does |
//! |---|---|
//! | `graph` | the table as a graph: its spine, its columns |
//! | `layout` | places and ways, in a plane of its own |
//! | `draw` | the same as SVG, across a desk or down a phone |
//! | `trace` | who is where, and how they came there |
//! | `list` | the transitions as a list, and the line of who is where |

use locks::event::Event;
use locks::strategy::{self, Info};

mod draw;
mod graph;
mod layout;
mod list;
mod trace;

#[cfg(test)]
mod tests;

use graph::Graph;
use layout::Orientation;
pub use trace::{Move, Trace, Way, Who};

/// A row of a table of transitions: from, on, to.
pub type Row = (&'static str, &'static str, &'static str);

/// The machine at the end of these events, looking at one schedule: of the chosen replica, else of whoever
/// entered last. Empty if there is no replica, or no such strategy in this build.
pub fn html<'a>(events: impl IntoIterator<Item = &'a Event>, schedule: &str, chosen: &str) -> String {
    let trace = Trace::of(events, schedule);
    let Some(whose) = trace.whose(chosen) else { return String::new() };
    strategy::info(&trace.strategy(whose).strategy).map(|info| picture(info, &trace, whose)).unwrap_or_default()
}

/// The machine of a strategy as a picture across, as one down, and as a list, with the way of `whose` lit.
fn picture(info: &Info, trace: &Trace, whose: &str) -> String {
    let graph = Graph::new(info.transitions);
    let shown = draw::Shown { info, trace, whose };
    let line = list::line(&shown);
    let across = draw::svg(&graph, Orientation::Across, &shown);
    let down = draw::svg(&graph, Orientation::Down, &shown);
    let list = list::transitions(&shown);
    format!(r#"{line}<div class="mach-a">{across}</div><div class="mach-d">{down}</div>{list}"#)
}
