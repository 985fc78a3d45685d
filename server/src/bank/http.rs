//! The bank's routes and their limits. A request is only the way in: what it brought is settled in a task
//! of its own, because a connection that breaks must not undo what has arrived.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use super::BankError;
use super::desk::Desk;
use super::wire::{Listed, SETTLEMENTS, Settlement};

/// Longest body of a request.
const LONGEST_BODY: usize = 16 << 10;
/// So many settlements are worked on at a time; each may need two connections to Postgres.
const AT_A_TIME: usize = 16;
/// How long a request waits for its answer. The settlement itself goes on.
const ANSWER_LIMIT: Duration = Duration::from_secs(8);
/// Most lines of a list.
const LONGEST_LIST: u32 = 1000;

#[derive(Clone)]
struct Counter {
    desk: Arc<Desk>,
    tasks: TaskTracker,
    seats: Arc<Semaphore>,
}

/// The bank's routes. Settlements are worked on in `tasks`.
pub(super) fn router(desk: Arc<Desk>, tasks: TaskTracker) -> Router {
    Router::new()
        .route(SETTLEMENTS, get(list).post(settle))
        .route("/healthz", get(healthz))
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .with_state(Counter { desk, tasks, seats: Arc::new(Semaphore::new(AT_A_TIME)) })
}

async fn settle(State(counter): State<Counter>, Json(settlement): Json<Settlement>) -> Result<Response, Refusal> {
    let Counter { desk, tasks, seats } = counter;
    let settling = tasks.spawn(async move {
        // The semaphore is never closed.
        let _seat = seats.acquire_owned().await;
        desk.settle(&settlement).await
    });
    let reply = match timeout(ANSWER_LIMIT, settling).await {
        Ok(Ok(reply)) => reply?,
        Ok(Err(error)) => {
            tracing::error!(%error, "a settlement was left in the middle");
            return Err(Refusal::Late);
        }
        Err(_) => return Err(Refusal::Late),
    };
    let status = StatusCode::from_u16(reply.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Ok((status, Json(reply)).into_response())
}

#[derive(Deserialize)]
struct Page {
    limit: Option<u32>,
}

async fn list(State(counter): State<Counter>, Query(page): Query<Page>) -> Result<Json<Vec<Listed>>, Refusal> {
    Ok(Json(counter.desk.list(page.limit.unwrap_or(100).min(LONGEST_LIST)).await?))
}

async fn healthz(State(counter): State<Counter>) -> Result<&'static str, Refusal> {
    counter.desk.list(1).await?;
    Ok("ok\n")
}

/// No answer about the effect: whoever sent it does not know what became of it.
enum Refusal {
    Bank(BankError),
    Late,
}

impl From<BankError> for Refusal {
    fn from(error: BankError) -> Refusal {
        Refusal::Bank(error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, text) = match self {
            Refusal::Bank(error @ BankError::Epoch(_)) => (StatusCode::UNPROCESSABLE_ENTITY, error.to_string()),
            Refusal::Bank(error) => {
                tracing::warn!(%error, "a request to the bank failed");
                (StatusCode::SERVICE_UNAVAILABLE, "the bank's store does not answer".to_owned())
            }
            Refusal::Late => (StatusCode::GATEWAY_TIMEOUT, "not settled in time".to_owned()),
        };
        (status, Json(serde_json::json!({ "error": text }))).into_response()
    }
}
