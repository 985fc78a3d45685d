//! Figures for those who watch the lab, in Prometheus' text format.

use axum::extract::{MatchedPath, Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::App;

/// What a request is counted under.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    method: String,
    route: String,
    status: u16,
}

/// All figures.
pub struct Metrics {
    registry: Registry,
    requests: Family<Route, Counter>,
    /// Open event streams.
    pub streams: Gauge,
    /// Events sent on streams.
    pub events_sent: Counter,
    sessions: Gauge,
}

impl Metrics {
    /// All at zero.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("aegis");
        let (requests, streams) = (Family::<Route, Counter>::default(), Gauge::default());
        let (events_sent, sessions) = (Counter::default(), Gauge::default());
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register("event_streams", "Open event streams", streams.clone());
        registry.register("events_sent", "Events sent on streams", events_sent.clone());
        registry.register("live_sessions", "Live sessions that go on", sessions.clone());
        Metrics { registry, requests, streams, events_sent, sessions }
    }
}

/// Count a request under its route, not its path: run numbers must not become labels.
pub async fn count(State(app): State<App>, request: Request, next: Next) -> Response {
    let method = request.method().to_string();
    let route = request.extensions().get::<MatchedPath>().map_or("other", |path| path.as_str()).to_owned();
    let response = next.run(request).await;
    app.metrics.requests.get_or_create(&Route { method, route, status: response.status().as_u16() }).inc();
    response
}

/// `GET /metrics`.
pub async fn show(State(app): State<App>) -> Response {
    app.metrics.sessions.set(app.sessions.count() as i64);
    let mut text = String::new();
    match encode(&mut text, &app.metrics.registry) {
        Ok(()) => ([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text)
            .into_response(),
        Err(error) => super::problem::ApiError::lab(error).into_response(),
    }
}
