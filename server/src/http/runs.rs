//! Reads of runs: the list, pages of a log, the scenario, and one JSON file for taking a run elsewhere.
//! A run that is over may be read by whoever knows its 128-bit number; a live one only by its learner.

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest, Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{delete, get, post};
use locks::event::Event;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use app::steps::Decided;

use super::App;
use super::learner::Learner;
use super::problem::ApiError;
use crate::run::export::{Export, ImportError};
use crate::run::live;
use crate::run::log::{Log, new_run_id};
use crate::run::script;

/// Most events of one page.
const PAGE: usize = 5_000;
/// Longest file that can be imported, in bytes: a full segment with room to spare.
const IMPORT_LIMIT: usize = 64 * 1024 * 1024;

/// So many files are read at a time; further ones wait for their turn.
static IMPORTS: Semaphore = Semaphore::const_new(2);

/// Routes of this module.
pub fn router() -> Router<App> {
    Router::new()
        .route("/api/runs", get(list))
        .route("/api/runs/{id}", delete(forget))
        .route("/api/runs/{id}/log", get(log))
        .route("/api/runs/{id}/machine", get(machine))
        .route("/api/runs/{id}/steps", get(steps))
        .route("/api/runs/{id}/scenario", get(scenario))
        .route("/api/runs/{id}/export", get(export))
        .route("/api/runs/import", post(import).layer(DefaultBodyLimit::max(IMPORT_LIMIT)))
}

/// The log that this learner may read under this number.
pub(super) async fn readable(app: &App, id: &str, learner: &Learner) -> Result<Arc<Log>, ApiError> {
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
    /// In the packed form that the page reads, instead of JSON.
    #[serde(default)]
    packed: bool,
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
    Ok(if page.packed { locks::packed::pack_text(&events).into_response() } else { Json(events).into_response() })
}

#[derive(Deserialize)]
struct Looked {
    /// At which event.
    at: u64,
    schedule: String,
    /// Whose way is shown; empty: of whoever entered last.
    #[serde(default)]
    replica: String,
}

/// The strategy's state machine at an event, as markup.
async fn machine(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(looked): Query<Looked>,
    learner: Learner,
) -> Result<Html<String>, ApiError> {
    let log = readable(&app, &id, &learner).await?;
    let events = log.page(0, usize::try_from(looked.at).unwrap_or(usize::MAX));
    let events = events.iter().map(|event| &**event);
    Ok(Html(app::machine::html(events, &looked.schedule, &looked.replica)))
}

/// What each replica is about to do at an event, as markup.
async fn steps(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(looked): Query<Looked>,
    learner: Learner,
) -> Result<Html<String>, ApiError> {
    let log = readable(&app, &id, &learner).await?;
    let events = log.page(0, usize::try_from(looked.at).unwrap_or(usize::MAX));
    let decided = match app.sessions.get(&id) {
        Some(live) => {
            let live::Decided { address, count, taken_back } = live.decided().await;
            Some(Decided { moves: count, address, taken_back: taken_back.unwrap_or_default() })
        }
        None => None,
    };
    Ok(Html(app::steps::html(events.iter().map(|event| &**event), &looked.schedule, decided.as_ref())))
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

/// The run as one file. A live one is exported as far as it has come, and cannot be imported.
async fn export(
    State(app): State<App>,
    Path(id): Path<String>,
    learner: Learner,
) -> Result<impl IntoResponse, ApiError> {
    let events = readable(&app, &id, &learner).await?.after(0);
    let json = Export::new(script::of_log(&events), events).to_json().map_err(ApiError::lab)?;
    let name = format!("attachment; filename=\"aegis-{}.json\"", id.get(..8).unwrap_or("run"));
    Ok(([(header::CONTENT_TYPE, "application/json".to_owned()), (header::CONTENT_DISPOSITION, name)], json))
}

/// A live session cannot be deleted: it ends by itself, and is stored then.
async fn forget(State(app): State<App>, Path(id): Path<String>, learner: Learner) -> Result<StatusCode, ApiError> {
    app.shelf.delete(&learner.0, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn bad(error: ImportError) -> ApiError {
    ApiError::Bad(error.to_string())
}

async fn import(
    State(app): State<App>,
    learner: Learner,
    request: Request,
) -> Result<(StatusCode, Json<Value>), Response> {
    // Before the body is read, which may be large. The semaphore is never closed.
    let _place = IMPORTS.acquire().await;
    let body = Bytes::from_request(request, &app).await.map_err(IntoResponse::into_response)?;
    import_file(&app, &learner, body).await.map_err(IntoResponse::into_response)
}

async fn import_file(app: &App, learner: &Learner, body: Bytes) -> Result<(StatusCode, Json<Value>), ApiError> {
    let reading = tokio::task::spawn_blocking(move || {
        let export = Export::read(&body)?;
        let scenario = export.scenario.clone();
        // Under an identity of its own: what it says of itself may be another run's, even one that goes on.
        Ok((scenario, export.anew(new_run_id())?))
    });
    let (scenario, events) = reading.await.map_err(ApiError::lab)?.map_err(bad)?;
    let id = app.shelf.save(Some(&learner.0), &events).await?;
    app.tutor.imported(&learner.0, &scenario, &id, &events).await?;
    Ok((StatusCode::CREATED, Json(json!({ "run": id }))))
}
