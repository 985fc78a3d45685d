//! Reads of runs: the list, pages of a log, the scenario, and one JSON file for taking a run elsewhere.
//! A run that is over may be read by whoever knows its 128-bit number; a live one only by its learner.

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use locks::event::Event;
use serde::Deserialize;

use super::App;
use super::learner::Learner;
use super::problem::ApiError;
use crate::run::log::Log;
use crate::run::script;

/// Most events of one page.
const PAGE: usize = 5_000;

/// Routes of this module.
pub fn router() -> Router<App> {
    Router::new()
        .route("/api/runs", get(list))
        .route("/api/runs/{id}/log", get(log))
        .route("/api/runs/{id}/scenario", get(scenario))
}

/// The log that this learner may read under this number.
async fn readable(app: &App, id: &str, learner: &Learner) -> Result<Arc<Log>, ApiError> {
    match app.sessions.get(id) {
        Some(live) if live.owner() == learner.0 => Ok(live.log()),
        Some(_) => Err(ApiError::NotFound("run")),
        None => Ok(app.shelf.log(id).await?),
    }
}

async fn list(State(app): State<App>, learner: Learner) -> Result<Response, ApiError> {
    Ok(Json(app.shelf.list(&learner.0).await?).into_response())
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    after: u64,
    limit: Option<usize>,
}

async fn log(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(page): Query<Page>,
    learner: Learner,
) -> Result<Response, ApiError> {
    let log = readable(&app, &id, &learner).await?;
    let events = log.page(page.after, page.limit.unwrap_or(PAGE).min(PAGE));
    let events: Vec<&Event> = events.iter().map(Arc::as_ref).collect();
    Ok(Json(events).into_response())
}

async fn scenario(
    State(app): State<App>,
    Path(id): Path<String>,
    learner: Learner,
) -> Result<impl IntoResponse, ApiError> {
    let log = readable(&app, &id, &learner).await?;
    let text = script::of_log(&log.after(0)).to_toml();
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text))
}
