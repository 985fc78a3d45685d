//! Pages. This module loads what a page shows and says with which status; what it looks like is the
//! business of `app`.

use app::data::{Compared, MovesPage, PageProblem, RunPage};
use app::stage::Stage;
use app::stage::view::caption;
use app::{Page, document};
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{MethodRouter, get};
use axum::{Form, Router};
use locks::action::Action;
use locks::event::Whose;
use locks::setup::{Gated, Setup};
use serde::Deserialize;

use super::App;
use super::headers::PAGE_POLICY;
use super::learner::Learner;
use super::live::only_in_files;
use super::problem::ApiError;
use super::runs::readable;
use crate::run::decisions;
use crate::run::log::Log;

/// The lease of a lab that is stepped through, in milliseconds.
const STEPPING_LEASE_MS: u64 = 600_000;

/// How long its replicas wait for a store, in milliseconds.
const STEPPING_TIMEOUT_MS: u64 = 2_000;

/// All pages.
pub fn router() -> Router<App> {
    Router::new()
        .route("/", get(async || show(Page::Start)))
        .route("/lab", get(lab).post(other_lab))
        .route("/lab/moves", get(moves).post(play_moves))
        .route("/runs", get(runs))
        .route("/runs/compare", get(compare))
        .route("/runs/{id}", get(run))
}

/// The page that says that there is no such page.
pub fn fallback(app: &App) -> MethodRouter {
    get(async || answer(StatusCode::NOT_FOUND, Page::Missing)).with_state(app.clone())
}

/// The learner's live run, begun if there is none.
async fn lab(State(app): State<App>, learner: Learner) -> Response {
    match app.sessions.open(&learner.0).await {
        Ok(live) => {
            let mut page = opened(live.id().to_owned(), &live.log(), true);
            if let Some(left) = app.sessions.left(&learner.0) {
                page.heading = caption::after_html(&left);
            }
            show(Page::Run(Box::new(page)))
        }
        Err(error) => problem(error.into()),
    }
}

#[derive(Deserialize)]
struct Wanted {
    gated: bool,
}

/// Begin another lab with the same strategy, guard, handler and sink: one to step through, or one that runs by
/// itself. The one before is stored.
async fn other_lab(State(app): State<App>, learner: Learner, Form(wanted): Form<Wanted>) -> Response {
    // A task of its own: a lab that was begun to be closed is closed, whoever has hung up meanwhile.
    let changing = tokio::spawn(async move { change_lab(&app, &learner, wanted.gated).await });
    match changing.await.map_err(ApiError::lab) {
        Ok(Ok(())) => Redirect::to("/lab").into_response(),
        Ok(Err(error)) | Err(error) => problem(error),
    }
}

async fn change_lab(app: &App, learner: &Learner, gated: bool) -> Result<(), ApiError> {
    let mut setup = Setup::live();
    if let Some(live) = app.sessions.of(&learner.0, None) {
        let now = live.setup();
        if (now.gated != Gated::No) == gated {
            return Ok(());
        }
        live.close().await;
        let Setup { strategy, guard, handler, sink, .. } = now;
        setup = Setup { strategy, guard, handler, sink, ..setup };
    }
    if gated {
        // People think for seconds: a lease that ends meanwhile is let go by on purpose only.
        setup = Setup { gated: Gated::Yes(Vec::new()), cron: false, lease_ms: STEPPING_LEASE_MS, ..setup };
        // And a store that is slow for once decides nothing: what is stepped through is meant to come out the same.
        setup.store_timeout_ms = STEPPING_TIMEOUT_MS;
        setup.node_timeout_ms = STEPPING_TIMEOUT_MS;
    }
    app.sessions.open_with(&learner.0, setup).await?;
    Ok(())
}

/// A list of moves, as an address names it.
#[derive(Deserialize)]
struct Moves {
    /// The set-up, as a scenario's file has it.
    #[serde(default)]
    setup: String,
    #[serde(rename = "do", default)]
    moves: String,
}

impl Moves {
    fn read(&self) -> Result<(Setup, Vec<Action>), ApiError> {
        let (setup, actions) = decisions::read(&self.setup, &self.moves).map_err(ApiError::Bad)?;
        match actions.iter().find_map(only_in_files) {
            Some(why) => Err(ApiError::Bad(why.to_owned())),
            None => Ok((setup, actions)),
        }
    }
}

/// The list to be read first: an address alone ends nobody's lab.
async fn moves(Query(asked): Query<Moves>) -> Response {
    match asked.read() {
        Ok((_, actions)) => {
            let lines = actions.iter().map(decisions::word).collect();
            show(Page::Moves(MovesPage { setup: asked.setup, moves: asked.moves, lines }))
        }
        Err(error) => problem(error),
    }
}

/// Play it in another lab of the learner's; the one before is stored.
async fn play_moves(State(app): State<App>, learner: Learner, Form(wanted): Form<Moves>) -> Response {
    let (setup, actions) = match wanted.read() {
        Ok(read) => read,
        Err(error) => return problem(error),
    };
    // A task of its own, as with every change of labs.
    let changing = tokio::spawn(async move {
        if let Some(live) = app.sessions.of(&learner.0, None) {
            live.close().await;
        }
        let live = app.sessions.open_with(&learner.0, setup).await?;
        tokio::spawn(async move { live.play_moves(actions).await });
        Ok::<(), ApiError>(())
    });
    match changing.await.map_err(ApiError::lab) {
        Ok(Ok(())) => Redirect::to("/lab").into_response(),
        Ok(Err(error)) | Err(error) => problem(error),
    }
}

/// A stored run, or a live one.
async fn run(State(app): State<App>, Path(id): Path<String>, learner: Learner) -> Response {
    match app.sessions.get(&id) {
        Some(live) if live.owner() == learner.0 => show(run_page(id, &live.log(), true)),
        Some(_) => problem(ApiError::NotFound("run")),
        None => match app.shelf.log(&id).await {
            Ok(log) => show(run_page(id, &log, false)),
            Err(error) => problem(error.into()),
        },
    }
}

/// Two runs side by side: those that `run` names, twice. Where it names one, the other is to be chosen.
async fn compare(State(app): State<App>, Query(asked): Query<Vec<(String, String)>>, learner: Learner) -> Response {
    let ids: Vec<String> = asked.into_iter().filter(|(name, _)| name == "run").map(|(_, id)| id).collect();
    let shown = async {
        match ids.as_slice() {
            [one] => {
                let others = app.shelf.list(&learner.0).await?;
                Ok(Page::CompareWith(Box::new(compared(&app, one, &learner).await?), others))
            }
            [a, b] => {
                let runs = [compared(&app, a, &learner).await?, compared(&app, b, &learner).await?];
                Ok(Page::Compare(Box::new(runs)))
            }
            _ => Err(ApiError::Bad(format!("Two runs are compared, and {} are chosen. Choose two.", ids.len()))),
        }
    };
    shown.await.map_or_else(problem, show)
}

async fn compared(app: &App, id: &str, learner: &Learner) -> Result<Compared, ApiError> {
    let log = readable(app, id, learner).await?;
    let stage = Stage::of(log.after(0).iter().map(|event| &**event));
    Ok(Compared { id: id.to_owned(), stage })
}

async fn runs(State(app): State<App>, learner: Learner) -> Response {
    match app.shelf.list(&learner.0).await {
        Ok(runs) => show(Page::Runs(runs)),
        Err(error) => problem(error.into()),
    }
}

pub(super) fn show(page: Page) -> Response {
    answer(StatusCode::OK, page)
}

fn answer(status: StatusCode, page: Page) -> Response {
    (status, [(header::CONTENT_SECURITY_POLICY, PAGE_POLICY)], Html(document(page))).into_response()
}

fn run_page(id: String, log: &Log, owner: bool) -> Page {
    Page::Run(Box::new(opened(id, log, owner)))
}

fn opened(id: String, log: &Log, owner: bool) -> RunPage {
    let events = log.after(0);
    let events = events.iter().map(|event| &**event);
    RunPage::new(id, events, !log.is_ended(), owner)
}

/// An error as a page, with the error's status.
pub(super) fn problem(error: ApiError) -> Response {
    let (status, title, whose) = error.parts();
    error.log("a page could not be loaded");
    refused(status, title, error.to_string(), whose)
}

/// Why there is no page, as one.
pub(super) fn refused(status: StatusCode, title: &str, detail: String, whose: Whose) -> Response {
    answer(status, Page::Problem(PageProblem { title: title.to_owned(), detail, whose }))
}
