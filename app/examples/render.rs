//! Serves the pages over hand-written logs, without stores, replicas or a run: to look at the stage in
//! every state, and to try its hydration.
//!
//! ```sh
//! cargo run -p app --example render --features ssr -- 127.0.0.1:3555 target/site
//! ```
//!
//! `/runs/collision`, `/runs/paused`, `/runs/rejected`, `/runs/dead`; `/lab` shows `paused` as if it were live;
//! any other name is a log that was kept as `target/logs/NAME.json`.

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::sync::Arc;

use app::data::{Loader, Loading, PageProblem, RunLine, RunPage, SharedLoader};
use app::stage::Stage;
use axum::extract::{Path, Query};
use axum::routing::get;
use axum::{Json, Router};
use leptos::prelude::*;
use leptos_axum::LeptosRoutes;
use locks::event::{EndReason, Event, Whose};

struct Samples;

fn events(id: &str) -> Option<Vec<Event>> {
    Some(match id {
        "collision" => sample::collision().events,
        "paused" => sample::paused_holder().events,
        "rejected" => sample::rejected_effect().events,
        "dead" => sample::dead_holder().events,
        other => serde_json::from_str(&std::fs::read_to_string(format!("target/logs/{other}.json")).ok()?).ok()?,
    })
}

fn page(id: &str, live: bool) -> Result<RunPage, PageProblem> {
    let events = events(id).ok_or_else(|| PageProblem {
        status: 404,
        title: "There is no such run".to_owned(),
        detail: "It may have been deleted.".to_owned(),
        whose: Whose::Yours,
    })?;
    Ok(RunPage { id: id.to_owned(), stage: Stage::of(&events), live, owner: live })
}

impl Loader for Samples {
    fn lab(&self) -> Loading<RunPage> {
        Box::pin(async { page("paused", true) })
    }
    fn run(&self, id: String) -> Loading<RunPage> {
        Box::pin(async move { page(&id, false) })
    }
    fn runs(&self) -> Loading<Vec<RunLine>> {
        let lines = ["collision", "paused", "rejected", "dead"].into_iter().filter_map(|id| {
            let stage = page(id, false).ok()?.stage;
            Some(RunLine {
                id: id.to_owned(),
                name: "live".to_owned(),
                title: stage.title.clone(),
                strategy: stage.setup.strategy.to_string(),
                began_ms: stage.wall_ms,
                events: stage.seq,
                ended: Some(EndReason::Closed),
                overlaps: stage.verdict.overlaps.len() as u32,
                effects_per_slot: stage.verdict.most_effects(),
            })
        });
        let lines = lines.collect();
        Box::pin(async { Ok(lines) })
    }
}

#[derive(serde::Deserialize)]
struct After {
    after: u64,
    limit: u64,
}

async fn log(Path(id): Path<String>, Query(after): Query<After>) -> Json<Vec<Event>> {
    let events = events(&id).unwrap_or_default();
    Json(events.into_iter().skip(after.after as usize).take(after.limit as usize).collect())
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:3555".to_owned());
    let site = arguments.next().unwrap_or_else(|| "target/site".to_owned());
    let options = LeptosOptions::builder().output_name("aegis").site_root(site.clone()).build();
    let shell = options.clone();
    let routes = leptos_axum::generate_route_list(app::App);
    let context = || provide_context(SharedLoader(Arc::new(Samples)));
    let pages = Router::new()
        .route("/api/runs/{id}/log", get(log))
        .leptos_routes_with_context(&options, routes, context, move || app::shell(shell.clone()))
        .fallback_service(tower_http::services::ServeDir::new(site))
        .with_state(options);
    let listener = tokio::net::TcpListener::bind(&address).await.expect("a free address");
    axum::serve(listener, pages).await.expect("a running server");
}
