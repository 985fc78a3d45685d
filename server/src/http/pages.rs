//! Pages, rendered on the server. This module gives them their data and their content security policy;
//! what they look like is the business of `app`.

use std::sync::Arc;

use app::data::{Loader, Loading, PageProblem, RunLine, RunPage, SharedLoader};
use app::stage::Stage;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use leptos::nonce::use_nonce;
use leptos::prelude::{expect_context, provide_context};
use leptos_axum::{LeptosRoutes, ResponseOptions, generate_route_list};
use locks::event::Whose;

use super::App;
use super::headers::page_policy;
use super::learner::Learner;
use super::problem::{ApiError, Causes};
use crate::run::log::Log;

/// All pages that `app` has.
pub fn router(app: &App) -> Router<App> {
    Router::new().leptos_routes_with_handler(generate_route_list(app::App), get(page)).with_state(app.clone())
}

/// The page that says that there is no such page.
pub fn fallback(app: &App) -> MethodRouter {
    get(no_page).with_state(app.clone())
}

async fn page(State(app): State<App>, learner: Learner, request: Request) -> Response {
    render(app, learner, request, StatusCode::OK).await
}

async fn no_page(State(app): State<App>, learner: Learner, request: Request) -> Response {
    render(app, learner, request, StatusCode::NOT_FOUND).await
}

/// Render one page for one learner.
async fn render(app: App, learner: Learner, request: Request, status: StatusCode) -> Response {
    let options = app.leptos.clone();
    let given = {
        let app = app.clone();
        move || {
            provide_context(SharedLoader(Arc::new(Pages { app: app.clone(), learner: learner.clone() })));
            set_headers(status);
        }
    };
    let handler = leptos_axum::render_app_to_stream_with_context(given, move || app::shell(options.clone()));
    handler(request).await
}

/// The page's policy names the nonce of this rendering.
fn set_headers(status: StatusCode) {
    let response = expect_context::<ResponseOptions>();
    if status != StatusCode::OK {
        response.set_status(status);
    }
    let policy = use_nonce().and_then(|nonce| HeaderValue::from_str(&page_policy(&nonce)).ok());
    if let Some(policy) = policy {
        response.insert_header(header::CONTENT_SECURITY_POLICY, policy);
    }
}

/// What pages are given, for one request.
struct Pages {
    app: App,
    learner: Learner,
}

impl Loader for Pages {
    fn lab(&self) -> Loading<RunPage> {
        let (app, learner) = (self.app.clone(), self.learner.clone());
        Box::pin(async move {
            let live = app.sessions.open(&learner.0).await.map_err(ApiError::from).map_err(page_problem)?;
            Ok(run_page(live.id(), &live.log(), true))
        })
    }

    fn run(&self, id: String) -> Loading<RunPage> {
        let (app, learner) = (self.app.clone(), self.learner.clone());
        Box::pin(async move {
            match app.sessions.get(&id) {
                Some(live) if live.owner() == learner.0 => Ok(run_page(id, &live.log(), true)),
                Some(_) => Err(page_problem(ApiError::NotFound("run"))),
                None => {
                    let log = app.shelf.log(&id).await.map_err(ApiError::from).map_err(page_problem)?;
                    Ok(run_page(id, &log, false))
                }
            }
        })
    }

    fn runs(&self) -> Loading<Vec<RunLine>> {
        let (app, learner) = (self.app.clone(), self.learner.clone());
        Box::pin(async move { app.shelf.list(&learner.0).await.map_err(ApiError::from).map_err(page_problem) })
    }
}

fn run_page(id: String, log: &Log, owner: bool) -> RunPage {
    let mut stage = Stage::default();
    for event in log.after(0) {
        stage.push(&event);
    }
    RunPage { id, stage, live: !log.is_ended(), owner }
}

/// An error, as a page tells it; the page's status is the error's.
fn page_problem(error: ApiError) -> PageProblem {
    let (status, title, whose) = error.parts();
    if whose == Whose::Lab {
        tracing::error!(error = %Causes(&error), "a page could not be loaded");
    }
    if let Some(response) = leptos::prelude::use_context::<ResponseOptions>() {
        response.set_status(StatusCode::from_u16(status.as_u16()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
    }
    PageProblem { status: status.as_u16(), title: title.to_owned(), detail: error.to_string(), whose }
}
