//! Event streams: `GET /api/runs/{id}/events`. A reader that lags is caught up from the log by number and
//! never skips an event; a stream ends with its run, or when the server is to end.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event as Message, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::metrics::gauge::Gauge;
use serde::Deserialize;
use tokio::sync::watch;
use tokio_stream::Stream;
use tokio_util::sync::CancellationToken;

use super::App;
use super::learner::Learner;
use super::problem::ApiError;
use crate::run::live::Watching;
use crate::run::log::Log;

/// Most events of one message.
const BATCH: usize = 500;
/// Most streams at a time.
const STREAMS: usize = 64;
/// Most streams of one learner: a learner who opens more pages leaves the others theirs.
const STREAMS_OF_ONE: usize = 8;
/// A comment is sent so often while nothing happens, so that a reader that went away is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Routes of this module.
pub fn router() -> Router<App> {
    Router::new()
        .route("/api/runs/{id}/events", get(events))
        .route("/api/matrix/events", get(matrix))
        .route("/api/lesson/events", get(lesson))
}

#[derive(Deserialize)]
struct From {
    #[serde(default)]
    after: u64,
    /// In the packed form that the page reads, instead of JSON.
    #[serde(default)]
    packed: bool,
}

async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(from): Query<From>,
    learner: Learner,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()).and_then(|text| text.parse().ok());
    let after = last.unwrap_or(from.after);
    let (log, watching) = match app.sessions.get(&id) {
        Some(live) if live.owner() == learner.0 => (live.log(), Some(live.watch())),
        Some(_) => return Err(ApiError::NotFound("run")),
        None => (app.shelf.log(&id).await?, None),
    };
    if log.is_ended() && after >= log.newest() {
        // Tells an EventSource not to connect again.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    // Nobody was told of an event that is yet to come: whoever says so means another log, and would wait for ever.
    if after > log.newest() {
        return Err(ApiError::Bad(format!("This run has {} events, and none after {after}.", log.newest())));
    }
    let open = app.streams.open(&learner.0, &app.metrics.streams)?;
    let reader = Reader {
        log,
        after,
        packed: from.packed,
        _open: open,
        _watching: watching,
        sent: app.metrics.events_sent.clone(),
        shutdown: app.shutdown.clone(),
    };
    Ok(Sse::new(reader.stream()).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

/// Says that something of the matrix changed, at most a few times a second; what it is, the page asks.
async fn matrix(State(app): State<App>, learner: Learner) -> Result<Response, ApiError> {
    changes(&app, &learner, app.desk.changes())
}

/// Says that something of the lesson changed.
async fn lesson(State(app): State<App>, learner: Learner) -> Result<Response, ApiError> {
    changes(&app, &learner, app.tutor.changes())
}

fn changes(app: &App, learner: &Learner, changes: watch::Receiver<u64>) -> Result<Response, ApiError> {
    let open = app.streams.open(&learner.0, &app.metrics.streams)?;
    let state = (changes, app.shutdown.clone(), open);
    let stream = futures_util::stream::unfold(state, |(mut changes, shutdown, open)| async move {
        tokio::select! {
            () = shutdown.cancelled() => None,
            changed = changes.changed() => {
                changed.ok()?;
                let count = *changes.borrow_and_update();
                Some((Ok::<_, Infallible>(Message::default().event("changed").data(count.to_string())), (changes, shutdown, open)))
            }
        }
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

/// How many streams each learner has open.
#[derive(Clone, Default)]
pub struct Streams(Arc<Mutex<BTreeMap<String, usize>>>);

impl Streams {
    /// Open one more, if there is a place.
    fn open(&self, learner: &str, gauge: &Gauge) -> Result<Open, ApiError> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.get(learner).copied().unwrap_or(0) >= STREAMS_OF_ONE {
            let text = format!("{STREAMS_OF_ONE} pages of yours follow runs. Close one of them and reload this one.");
            return Err(ApiError::TooManyOpen(text));
        }
        if all.values().sum::<usize>() >= STREAMS {
            let text = format!("{STREAMS} event streams are open. Close a page of the lab and reload.");
            return Err(ApiError::Full(text));
        }
        *all.entry(learner.to_owned()).or_default() += 1;
        gauge.inc();
        Ok(Open { streams: self.clone(), learner: learner.to_owned(), gauge: gauge.clone() })
    }
}

/// Counts a stream as long as it is kept.
struct Open {
    streams: Streams,
    learner: String,
    gauge: Gauge,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.gauge.dec();
        let mut all = self.streams.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = all.get_mut(&self.learner) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.learner);
            }
        }
    }
}

/// One reader of one log.
struct Reader {
    log: Arc<Log>,
    after: u64,
    packed: bool,
    /// Dropped with the stream, whichever way it ends.
    _open: Open,
    _watching: Option<Watching>,
    sent: prometheus_client::metrics::counter::Counter,
    shutdown: CancellationToken,
}

impl Reader {
    fn stream(self) -> impl Stream<Item = Result<Message, Infallible>> {
        futures_util::stream::unfold(self, |mut reader| async move {
            let message = reader.next().await?;
            Some((Ok(message), reader))
        })
    }

    /// The next message; `None` when the run or the server ended.
    async fn next(&mut self) -> Option<Message> {
        loop {
            let mut changed = self.log.changed();
            let page = self.log.page(self.after, BATCH);
            if let Some(last) = page.last() {
                self.after = last.seq;
                self.sent.inc_by(page.len() as u64);
                let events: Vec<&locks::event::Event> = page.iter().map(Arc::as_ref).collect();
                let message = Message::default().event("events").id(self.after.to_string());
                if self.packed {
                    return Some(message.data(locks::packed::pack_text(&events)));
                }
                let message = message.json_data(&events);
                return message.inspect_err(|error| tracing::error!(%error, "an event cannot be written")).ok();
            }
            if self.log.is_ended() {
                return None;
            }
            tokio::select! {
                () = self.shutdown.cancelled() => return None,
                changed = changed.changed() => changed.ok()?,
            }
        }
    }
}
