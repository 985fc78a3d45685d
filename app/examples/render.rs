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

use app::data::{Counted, PageProblem, RunLine, RunPage};
use app::stage::Stage;
use app::stage::era::listed;
use app::{Page, document};
use axum::Router;
use axum::extract::{Path, Query};
use axum::response::Html;
use axum::routing::get;
use locks::event::{EndReason, Event, Whose};
use locks::packed::pack_text;

fn events(id: &str) -> Option<Vec<Event>> {
    Some(match id {
        "collision" => sample::collision().events,
        "paused" => sample::paused_holder().events,
        "rejected" => sample::rejected_effect().events,
        "dead" => sample::dead_holder().events,
        other => serde_json::from_str(&std::fs::read_to_string(format!("target/logs/{other}.json")).ok()?).ok()?,
    })
}

fn stage(id: &str) -> Option<Stage> {
    Some(Stage::of(&events(id)?))
}

fn run(id: &str, live: bool) -> Html<String> {
    let page = match events(id) {
        Some(events) => Page::Run(Box::new(RunPage::new(id.to_owned(), events.iter(), live, live))),
        None => Page::Problem(PageProblem {
            title: "There is no such run".to_owned(),
            detail: "It may have been deleted.".to_owned(),
            whose: Whose::Yours,
        }),
    };
    Html(document(page))
}

fn runs() -> Html<String> {
    let lines = ["collision", "paused", "rejected", "dead"].into_iter().filter_map(|id| {
        let stage = stage(id)?;
        Some(RunLine {
            id: id.to_owned(),
            name: "live".to_owned(),
            title: stage.title.clone(),
            strategy: listed(&stage.history),
            began_ms: stage.wall_ms,
            events: stage.seq,
            ended: Some(EndReason::Closed),
            counted: Some(Counted {
                overlaps: stage.verdict.overlaps.len() as u32,
                effects_per_slot: stage.verdict.most_effects(),
            }),
        })
    });
    Html(document(Page::Runs(lines.collect())))
}

#[derive(serde::Deserialize)]
struct After {
    after: u64,
    limit: u64,
}

async fn log(Path(id): Path<String>, Query(after): Query<After>) -> String {
    let events = events(&id).unwrap_or_default();
    pack_text(&events.into_iter().skip(after.after as usize).take(after.limit as usize).collect::<Vec<_>>())
}

#[derive(serde::Deserialize)]
struct Looked {
    at: u64,
    schedule: String,
    replica: String,
}

async fn machine(Path(id): Path<String>, Query(looked): Query<Looked>) -> Html<String> {
    let events = events(&id).unwrap_or_default();
    let upto = events.iter().take_while(|event| event.seq <= looked.at);
    Html(app::machine::html(upto, &looked.schedule, &looked.replica))
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:3555".to_owned());
    let site = arguments.next().unwrap_or_else(|| "target/site".to_owned());
    let pages = Router::new()
        .route("/", get(async || Html(document(Page::Start))))
        .route("/lab", get(async || run("paused", true)))
        .route("/runs", get(async || runs()))
        .route("/runs/{id}", get(async |Path(id): Path<String>| run(&id, false)))
        .route("/api/runs/{id}/log", get(log))
        .route("/api/runs/{id}/machine", get(machine))
        .fallback_service(tower_http::services::ServeDir::new(site));
    let listener = tokio::net::TcpListener::bind(&address).await.expect("a free address");
    axum::serve(listener, pages).await.expect("a running server");
}
