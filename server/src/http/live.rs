//! Commands to a live session. Only the learner who opened it may act on it.

use axum::Json;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use locks::action::Action;
use locks::event::Whose;
use serde_json::{Value, json};

use super::App;
use super::learner::Learner;
use super::problem::ApiError;
use crate::run::ActError;
use crate::run::live::OpenError;

/// Routes of this module.
pub fn router() -> Router<App> {
    Router::new().route("/api/runs/{id}/actions", post(act))
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
    let step = live.act(action).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "step": step }))))
}

impl From<ActError> for ApiError {
    fn from(error: ActError) -> Self {
        match &error {
            ActError::BadValue(_) | ActError::NotSupported { .. } => ApiError::Bad(error.to_string()),
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
