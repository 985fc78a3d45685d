//! The lab's HTTP side: pages, commands, reads and event streams. It translates; what a run is and does
//! is the business of `run`. Every request is checked for Host and Origin first.
//!
//! | route | what it is |
//! |---|---|
//! | `GET /`, `/lab`, `/runs`, `/runs/{id}` | pages, rendered here and hydrated in the browser |
//! | `GET /runs/compare?run={id}&run={id}` | two runs side by side |
//! | `/lesson...`, `/api/lesson...` | the guided lesson, see `lesson` |
//! | `/homework...`, `/api/homework...` | exercises, see `homework` |
//! | `POST /lab` | begin another lab: `gated=true` to step through it |
//! | `GET /lab/moves?setup=S&do=M`, `POST /lab/moves` | a list of moves: to be read, and played in another lab |
//! | `/matrix`, `/api/matrix...` | the failure matrix, see `matrix` |
//! | `GET /api/runs` | the learner's stored runs |
//! | `GET /api/runs/{id}/events?after=N` | server-sent events; `Last-Event-ID` wins over `after` |
//! | `GET /api/runs/{id}/log?after=N&limit=M` | a page of the log |
//! | `GET /api/runs/{id}/machine?at=N&schedule=S&replica=R` | the strategy's state machine at an event, as markup |
//! | `GET /api/runs/{id}/steps?at=N&schedule=S` | what each replica is about to do at an event, as markup |
//! | `GET /api/runs/{id}/scenario` | the run as a scenario file |
//! | `GET /api/runs/{id}/export` | the run as one JSON file |
//! | `POST /api/runs/import` | store such a file |
//! | `POST /api/runs/{id}/actions` | do one action, in the short form of scenario files |
//! | `POST /api/runs/{id}/back` | take the latest decision back, in a run that is stepped through |
//! | `GET /healthz`, `/metrics` | for those who watch the lab |

mod headers;
mod homework;
mod learner;
mod lesson;
mod live;
mod matrix;
mod metrics;
pub mod origin;
mod pages;
pub mod problem;
mod runs;
pub mod serve;
mod sse;
mod unread;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{any, get};
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::services::ServeDir;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;

use crate::lesson::Tutor;
use crate::matrix::board::Board;
use crate::matrix::desk::Desk;
use crate::run::live::Sessions;
use crate::run::shelf::Shelf;

/// Longest body of an ordinary request, in bytes.
const BODY_LIMIT: usize = 64 * 1024;
/// Longest time of an ordinary request; a first lab may have to make its stores.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);

/// Longest time of a submission's grading.
const GRADING_LIMIT: Duration = Duration::from_secs(150);

/// What handlers need.
#[derive(Clone)]
pub struct App {
    /// The host names that the lab goes by.
    names: Arc<origin::Names>,
    /// Live sessions.
    sessions: Arc<Sessions>,
    /// Stored runs.
    shelf: Shelf,
    /// The failure matrix: what is measured, and how it is seen.
    desk: Arc<Desk>,
    board: Arc<Board>,
    /// The guided lesson.
    tutor: Tutor,
    /// The homework.
    homework: Arc<homework::Desk>,
    /// The folder of what the browser loads.
    site: PathBuf,
    /// Set when the server is to end: open streams end on it.
    shutdown: CancellationToken,
    metrics: Arc<metrics::Metrics>,
    streams: sse::Streams,
}

/// All routes.
fn router(app: App) -> Router {
    // What the browser loads lies in the site's folder; every other path is a page, or none.
    let site = ServeDir::new(&app.site)
        .append_index_html_on_directories(false)
        .precompressed_br()
        .precompressed_gzip()
        .call_fallback_on_method_not_allowed(true)
        .fallback(pages::fallback(&app));
    let uncompressed = SizeAbove::new(512)
        .and(NotForContentType::new("text/event-stream"))
        .and(NotForContentType::new("application/wasm"));

    let timed = Router::new()
        .merge(runs::router())
        .merge(live::router())
        .merge(matrix::router())
        .merge(lesson::router())
        .merge(pages::router())
        .layer(CompressionLayer::new().compress_when(uncompressed))
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, REQUEST_LIMIT));
    // Grading plays many schedules, some with leases that must end.
    let graded = homework::router()
        .layer(CompressionLayer::new())
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, GRADING_LIMIT));
    Router::new()
        .merge(timed)
        .merge(graded)
        .merge(sse::router())
        .route("/api/{*path}", any(unread::nothing_there))
        .route("/healthz", get(health))
        .route("/metrics", get(metrics::show))
        .fallback_service(site)
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(from_fn(unread::explain))
        .layer(from_fn(learner::know))
        .layer(from_fn_with_state(app.clone(), origin::check))
        .layer(from_fn(headers::add))
        .layer(from_fn_with_state(app.clone(), metrics::count))
        .layer(CatchPanicLayer::new())
        .layer(TraceLayer::new_for_http())
        .with_state(app)
}

/// Is the lab able to serve, whole? Says how many sessions go on, and what does not answer.
async fn health(State(app): State<App>) -> (StatusCode, String) {
    let sessions = app.sessions.count();
    match app.shelf.check().await {
        Ok(()) => (StatusCode::OK, format!("ok\nlive sessions: {sessions}\n")),
        Err(error) => {
            let text = format!("the control plane does not answer: {error}\nlive sessions: {sessions}\n");
            (StatusCode::SERVICE_UNAVAILABLE, text)
        }
    }
}
