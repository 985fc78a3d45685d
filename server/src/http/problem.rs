//! The one error type at the HTTP edge. What goes out is a problem detail (RFC 9457) that says what
//! happened, whose fault it is and what to do; causes stay in the server's own log.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use locks::event::Whose;
use serde::Serialize;

use crate::run::shelf::ShelfError;

/// What can go wrong with a request.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// Not for us, or not from us.
    #[error("{0}")]
    Forbidden(&'static str),
    /// There is no such thing.
    #[error("There is no such {0}.")]
    NotFound(&'static str),
    /// The request says something that cannot be.
    #[error("{0}")]
    Bad(String),
    /// It cannot be done in the present state.
    #[error("{0}")]
    Conflict(String),
    /// Faster than anybody clicks.
    #[error("That was too much at once. Wait a second, then go on.")]
    TooMany,
    /// One learner has too many of something open.
    #[error("{0}")]
    TooManyOpen(String),
    /// All places are taken.
    #[error("{0}")]
    Full(String),
    /// The lab failed.
    #[error("The lab failed to do this. Its own log says more.")]
    Lab(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl ApiError {
    /// The lab failed, for this reason.
    pub fn lab(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        ApiError::Lab(cause.into())
    }

    /// Write what only the lab's own log tells: the causes of a failure; that all places are taken is no failure.
    pub(super) fn log(&self, what: &str) {
        match self {
            ApiError::Lab(cause) => tracing::error!(error = %Causes(cause.as_ref()), "{what}"),
            ApiError::Full(why) => tracing::info!(why, "{what}"),
            _ => {}
        }
    }

    /// Status, title, whose fault.
    pub fn parts(&self) -> (StatusCode, &'static str, Whose) {
        match self {
            ApiError::Forbidden(_) => (StatusCode::FORBIDDEN, "Refused", Whose::Yours),
            ApiError::NotFound(_) => (StatusCode::NOT_FOUND, "Not found", Whose::Yours),
            ApiError::Bad(_) => (StatusCode::UNPROCESSABLE_ENTITY, "Not understood", Whose::Yours),
            ApiError::Conflict(_) => (StatusCode::CONFLICT, "Not possible now", Whose::Yours),
            ApiError::TooMany => (StatusCode::TOO_MANY_REQUESTS, "Too fast", Whose::Yours),
            ApiError::TooManyOpen(_) => (StatusCode::TOO_MANY_REQUESTS, "Too many pages", Whose::Yours),
            ApiError::Full(_) => (StatusCode::SERVICE_UNAVAILABLE, "All places are taken", Whose::Lab),
            ApiError::Lab(_) => (StatusCode::INTERNAL_SERVER_ERROR, "The lab failed", Whose::Lab),
        }
    }
}

impl From<ShelfError> for ApiError {
    fn from(error: ShelfError) -> Self {
        match error {
            ShelfError::NotFound => ApiError::NotFound("run"),
            other => ApiError::lab(other),
        }
    }
}

/// The content type of a problem detail.
pub(super) const PROBLEM: &str = "application/problem+json";

/// The longest detail, in characters.
const MOST_DETAIL: usize = 2000;

/// The body of an error.
#[derive(Serialize)]
struct Body {
    title: &'static str,
    status: u16,
    detail: String,
    whose: Whose,
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, title, whose) = self.parts();
        self.log("request failed");
        respond(status, title, self.to_string(), whose)
    }
}

/// Whoever sends a name of a thousand letters need not read it again.
fn shortened(detail: String) -> String {
    match detail.char_indices().nth(MOST_DETAIL) {
        Some((end, _)) => format!("{} ...", &detail[..end]),
        None => detail,
    }
}

/// A problem detail.
pub(super) fn respond(status: StatusCode, title: &'static str, detail: String, whose: Whose) -> Response {
    let body = Body { title, status: status.as_u16(), detail: shortened(detail), whose };
    (status, [(header::CONTENT_TYPE, PROBLEM)], Json(body)).into_response()
}

/// An error with all its causes, in one line.
pub struct Causes<'a>(pub &'a (dyn std::error::Error + 'a));

impl std::fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
