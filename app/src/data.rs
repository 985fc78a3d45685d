//! What a page is given. Whoever serves loads it; a run is embedded into its page as well, so that the
//! browser begins with the very same state and never asks again.

use borsh::{BorshDeserialize, BorshSerialize};
use locks::event::{EndReason, Event, Whose};
use serde::{Deserialize, Serialize};

use crate::stage::Stage;
use crate::stage::view::{caption, sessions};

/// A run as a page shows it: the folded log, and what the reader may do with it.
#[derive(Clone, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct RunPage {
    /// The run's identity, as paths name it.
    pub id: String,
    /// The log, folded up to its event [`Stage::seq`]; the browser streams from there.
    pub stage: Stage,
    /// It goes on: there is a stream.
    pub live: bool,
    /// The reader may act on it.
    pub owner: bool,
    /// The event at which it is opened unless the address names one; `None`: at its end.
    pub at: Option<u64>,
    /// What a run that is over is: its title, its strategies, its verdict, as markup. Empty while it goes on.
    pub heading: String,
    /// It is a schedule of homework: its sessions are told in the heading, and nobody stands on the stage.
    pub told: bool,
}

impl RunPage {
    /// A run from its whole log.
    pub fn new<'a>(id: String, events: impl Iterator<Item = &'a Event> + Clone, live: bool, owner: bool) -> RunPage {
        let mut stage = Stage::default();
        events.clone().for_each(|event| stage.push(event));
        if live {
            return RunPage { id, stage, live, owner, at: None, heading: String::new(), told: false };
        }
        let (at, sessions) = (stage.opening(events.clone()), sessions::html(events));
        let told = sessions.is_some();
        let heading = sessions.unwrap_or_else(|| caption::run_html(&id, &stage));
        RunPage { id, stage, live, owner, at, heading, told }
    }
}

/// One of two runs that are compared: folded to its end.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The run's identity, as paths name it.
    pub id: String,
    /// Its whole log, folded.
    pub stage: Stage,
}

/// A list of moves that an address names.
#[derive(Clone, Debug)]
pub struct MovesPage {
    /// The set-up, as a scenario's file has it.
    pub setup: String,
    /// The moves, as the address has them.
    pub moves: String,
    /// Each in a word.
    pub lines: Vec<String>,
}

/// One line of the list of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunLine {
    /// The run's identity, as paths name it.
    pub id: String,
    /// Its scenario's name, or `live`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Every strategy and guard that it was set to, in order, in words.
    pub strategy: String,
    /// When it began, in milliseconds since the Unix epoch.
    pub began_ms: i64,
    /// How many events it has.
    pub events: u64,
    /// Why it ended; `None` while it goes on.
    pub ended: Option<EndReason>,
    /// What the judge counted; `None`: nobody entered a critical section, for it is a schedule of homework.
    pub counted: Option<Counted>,
}

/// The figures of a run that stand in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Overlaps that the judge found.
    pub overlaps: u32,
    /// The largest number of accepted effects of any one slot.
    pub effects_per_slot: u32,
}

/// Why a page cannot be shown.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{title}: {detail}")]
pub struct PageProblem {
    /// What happened, in a few words.
    pub title: String,
    /// What happened and what to do.
    pub detail: String,
    /// Whose fault it is.
    pub whose: Whose,
}

/// Where a page keeps what it was rendered from.
pub(crate) const EMBEDDED: &str = "stage-data";

/// A run for the browser: read by nobody but [`embedded`], and no script to the browser.
#[cfg(feature = "ssr")]
pub(crate) fn embed(page: &RunPage) -> String {
    format!("<script type=\"text/plain\" id=\"{EMBEDDED}\">{}</script>", locks::packed::pack_text(page))
}

/// The run that a page embeds.
#[cfg(feature = "hydrate")]
pub(crate) fn embedded() -> Option<RunPage> {
    let text = leptos::prelude::document().get_element_by_id(EMBEDDED)?.text_content()?;
    locks::packed::unpack_text(&text).ok()
}
