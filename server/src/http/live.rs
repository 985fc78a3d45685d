//! Commands to a live session. Only the learner who opened it may act on it.

use std::time::Instant;

use axum::Json;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use locks::action::{Action, Advance};
use locks::event::Whose;
use serde_json::{Value, json};
use tower_governor::GovernorError;
use tower_governor::GovernorLayer;
use tower_governor::governor::GovernorConfigBuilder;

use super::App;
use super::learner::Learner;
use super::problem::ApiError;
use crate::run::ActError;
use crate::run::live::{Decided, OpenError};

/// So many actions a second from one address, and so many at once.
const PER_SECOND: u64 = 20;
const BURST: u32 = 60;

/// Longest limit of an action, in milliseconds: it is over before the request is.
const LONGEST_MS: u64 = 25_000;

/// Routes of this module.
pub fn router() -> Router<App> {
    let limit = GovernorConfigBuilder::default().per_millisecond(1000 / PER_SECOND).burst_size(BURST).finish();
    let routes = Router::new().route("/api/runs/{id}/actions", post(act)).route("/api/runs/{id}/back", post(back));
    match limit {
        Some(limit) => routes.layer(GovernorLayer::new(limit).error_handler(too_many)),
        None => routes,
    }
}

pub(super) fn too_many(error: GovernorError) -> Response {
    match error {
        GovernorError::TooManyRequests { .. } => ApiError::TooMany.into_response(),
        error => ApiError::lab(error).into_response(),
    }
}

/// Do one action; answers when it is done, with the number of its step.
async fn act(
    State(app): State<App>,
    Path(id): Path<String>,
    learner: Learner,
    Json(body): Json<Value>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let live =
        app.sessions.get(&id).filter(|live| live.owner() == learner.0).ok_or(ApiError::NotFound("live session"))?;
    let action = Action::read_json(&body).map_err(|problem| ApiError::Bad(problem.to_string()))?;
    if let Some(why) = only_in_files(&action) {
        return Err(ApiError::Bad(why.to_owned()));
    }
    // A task of its own: an action that was begun is carried through, whoever has hung up meanwhile.
    let acting = tokio::spawn(async move { live.act(action).await });
    let step = acting.await.map_err(ApiError::lab)??;
    Ok((StatusCode::ACCEPTED, Json(json!({ "step": step }))))
}

/// Take the latest decision back; answers when everything stands as it stood before it, with what was taken back,
/// how many decisions stand, and how long it took.
async fn back(
    State(app): State<App>,
    Path(id): Path<String>,
    learner: Learner,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let live =
        app.sessions.get(&id).filter(|live| live.owner() == learner.0).ok_or(ApiError::NotFound("live session"))?;
    let began = Instant::now();
    let going_back = tokio::spawn(async move { live.back().await });
    let Decided { count: left, taken_back, .. } = going_back.await.map_err(ApiError::lab)??;
    let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::debug!(took_ms, left, "a decision was taken back");
    Ok((StatusCode::ACCEPTED, Json(json!({ "taken_back": taken_back, "left": left, "took_ms": took_ms }))))
}

/// Actions that only scripts have, or have for so long.
pub(super) fn only_in_files(action: &Action) -> Option<&'static str> {
    match action {
        Action::Sql(_) | Action::Redis { .. } => {
            Some("Statements to the stores are for scenario files; a live session disturbs them in other ways.")
        }
        Action::Advance(Advance { limit_ms, .. }) | Action::Chaos { limit_ms, .. } if *limit_ms > LONGEST_MS => {
            Some("In a live session nothing is waited for longer than 25 s: give a `limit_ms` of 25000 or less.")
        }
        Action::Wait(_) => Some("`wait` is for scenario files; a live session keeps the time between its actions."),
        _ => None,
    }
}

impl From<ActError> for ApiError {
    fn from(error: ActError) -> Self {
        match &error {
            ActError::BadValue(_) | ActError::NotSupported { .. } | ActError::NotHere(_) => {
                ApiError::Bad(error.to_string())
            }
            _ if error.whose() == Whose::Lab => ApiError::lab(error),
            _ => ApiError::Conflict(error.to_string()),
        }
    }
}

impl From<OpenError> for ApiError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Full { .. } => ApiError::Full(error.to_string()),
            OpenError::Lab(_) => ApiError::lab(error),
        }
    }
}
