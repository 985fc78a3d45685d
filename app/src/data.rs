//! What a page is given. The server puts a [`SharedLoader`] into Leptos' context before it renders; the
//! value that it loads is embedded into the page, so that the browser hydrates from the very same state
//! and never asks again. Links between pages that load data are plain links to the server.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use locks::event::{EndReason, Whose};
use serde::{Deserialize, Serialize};

use crate::stage::Stage;

/// A run as a page shows it: the folded log, and what the reader may do with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPage {
    /// The run's identity, as paths name it.
    pub id: String,
    /// The log, folded up to its event [`Stage::seq`]; the browser streams from there.
    pub stage: Stage,
    /// It goes on: there is a stream.
    pub live: bool,
    /// The reader may act on it.
    pub owner: bool,
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
    /// The strategy that it was last set to.
    pub strategy: String,
    /// When it began, in milliseconds since the Unix epoch.
    pub began_ms: i64,
    /// How many events it has.
    pub events: u64,
    /// Why it ended; `None` while it goes on.
    pub ended: Option<EndReason>,
    /// Overlaps that the judge found.
    pub overlaps: u32,
    /// The largest number of accepted effects of any one slot.
    pub effects_per_slot: u32,
}

/// Why a page cannot be shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{title}: {detail}")]
pub struct PageProblem {
    /// HTTP status of the page.
    pub status: u16,
    /// What happened, in a few words.
    pub title: String,
    /// What happened and what to do.
    pub detail: String,
    /// Whose fault it is.
    pub whose: Whose,
}

/// What a loader answers with.
pub type Loading<T> = Pin<Box<dyn Future<Output = Result<T, PageProblem>> + Send>>;

/// Where pages get their data from; the server implements it, one value a request.
pub trait Loader: Send + Sync {
    /// The reader's live run, begun if there is none.
    fn lab(&self) -> Loading<RunPage>;
    /// A stored run, or a live one.
    fn run(&self, id: String) -> Loading<RunPage>;
    /// Runs that the reader may see, newest first.
    fn runs(&self) -> Loading<Vec<RunLine>>;
}

/// The loader as it stands in Leptos' context.
#[derive(Clone)]
pub struct SharedLoader(pub Arc<dyn Loader>);

/// The loader of this request. In the browser there is none: pages hydrate from what they embed.
pub(crate) fn loader() -> Result<Arc<dyn Loader>, PageProblem> {
    leptos::prelude::use_context::<SharedLoader>().map(|shared| shared.0).ok_or_else(|| PageProblem {
        status: 500,
        title: "Nothing to show yet".to_owned(),
        detail: "This page is loaded from the server. Reload it.".to_owned(),
        whose: Whose::Lab,
    })
}
