//! The lesson's pages and what is done on them. A page works as plain forms that answer with the page; a script
//! asks for the parts that changed instead, and listens for when to ask.
//!
//! | route | what it is |
//! |---|---|
//! | `GET /lesson`, `/lesson/{step}`, `/lesson/glossary`, `/lesson/certificate` | pages |
//! | `POST /lesson/{step}` | one of a step's buttons: `predict` with `choice`, `open`, `do`, `run` with `script` and `strategy` |
//! | `GET /lesson/{step}/parts` | what changes on a step's page |
//! | `GET /api/lesson/progress`, `POST /api/lesson/progress` | progress as a file |
//! | `GET /api/lesson/events` | an event stream that says when something changed |

use app::Page;
use app::lesson::LessonPage;
use app::lesson::certificate::Proved;
use app::lesson::page::StepPage;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Form, Json, Router};
use locks::event::Whose;
use tower_governor::GovernorLayer;
use tower_governor::governor::GovernorConfigBuilder;

use super::App;
use super::homework::standing;
use super::learner::Learner;
use super::live::too_many;
use super::pages::{problem, show};
use super::problem::ApiError;
use crate::lesson::TutorError;
use crate::lesson::progress;

/// So many presses a second from one address, and so many at once.
const PER_SECOND: u64 = 10;
const BURST: u32 = 40;

/// What a script sends that wants no page but its parts.
const PARTS: &str = "x-parts";

/// Routes of this module.
pub fn router() -> Router<App> {
    let presses = Router::new().route("/lesson/{step}", post(press)).route("/api/lesson/progress", post(import));
    let limit = GovernorConfigBuilder::default().per_millisecond(1000 / PER_SECOND).burst_size(BURST).finish();
    let presses = match limit {
        Some(limit) => presses.layer(GovernorLayer::new(limit).error_handler(too_many)),
        None => presses,
    };
    Router::new()
        .route("/lesson", get(agenda))
        .route("/lesson/glossary", get(async || show(Page::Lesson(LessonPage::Glossary))))
        .route("/lesson/certificate", get(certificate))
        .route("/lesson/{step}", get(step))
        .route("/lesson/{step}/parts", get(parts))
        .route("/api/lesson/progress", get(export))
        .merge(presses)
}

impl From<TutorError> for ApiError {
    fn from(error: TutorError) -> Self {
        match error {
            TutorError::NoStep => ApiError::NotFound("step of the lesson"),
            TutorError::Bad(what) => ApiError::Bad(what),
            TutorError::NoStage => ApiError::Conflict(error.to_string()),
            TutorError::Act(error) => error.into(),
            TutorError::Open(error) => error.into(),
            TutorError::Lab(error) => ApiError::lab(error),
            TutorError::Shelf(error) => error.into(),
        }
    }
}

async fn agenda(State(app): State<App>, learner: Learner) -> Response {
    match app.tutor.known(&learner.0).await {
        Ok(known) => show(Page::Lesson(LessonPage::Agenda(known.progress()))),
        Err(error) => problem(ApiError::lab(error)),
    }
}

async fn certificate(State(app): State<App>, learner: Learner) -> Response {
    let proved = async {
        let homework = standing(&app, &learner).await?;
        Ok::<_, TutorError>(Proved { homework, ..app.tutor.proved(&learner.0).await? })
    };
    match proved.await {
        Ok(proved) => show(Page::Lesson(LessonPage::Certificate(Box::new(proved)))),
        Err(error) => problem(error.into()),
    }
}

async fn step(State(app): State<App>, Path(step): Path<String>, learner: Learner) -> Response {
    let page = async { app.tutor.page(&learner.0, number(&step)?).await };
    match page.await {
        Ok(page) => show(Page::Lesson(LessonPage::Step(Box::new(page)))),
        Err(error) => problem(error.into()),
    }
}

async fn parts(State(app): State<App>, Path(step): Path<String>, learner: Learner) -> Result<Html<String>, ApiError> {
    Ok(Html(app.tutor.parts(&learner.0, number(&step)?).await?.parts()))
}

fn number(step: &str) -> Result<u8, TutorError> {
    progress::number(step).ok_or(TutorError::NoStep)
}

/// One of a step's buttons.
async fn press(
    State(app): State<App>,
    Path(step): Path<String>,
    learner: Learner,
    headers: HeaderMap,
    Form(pressed): Form<Vec<(String, String)>>,
) -> Response {
    let quietly = headers.contains_key(PARTS);
    let done = async {
        let step = number(&step)?;
        let anchor = do_it(&app, &learner.0, step, &pressed).await?;
        match quietly {
            true => Ok(Html(app.tutor.parts(&learner.0, step).await?.parts()).into_response()),
            false => Ok::<_, TutorError>(Redirect::to(&format!("/lesson/{step}#{anchor}")).into_response()),
        }
    };
    match done.await {
        Ok(answer) => answer,
        Err(error) if quietly => {
            refused(&app, &learner.0, &step, error).await.unwrap_or_else(IntoResponse::into_response)
        }
        Err(error) => problem(error.into()),
    }
}

/// A move that the run refuses belongs to learning: its reason stands on the page, and is no error of the browser's.
async fn refused(app: &App, learner: &str, step: &str, error: TutorError) -> Result<Response, ApiError> {
    match error {
        TutorError::Act(ref act) if act.whose() == Whose::Lab => Err(error.into()),
        TutorError::Act(_) | TutorError::NoStage | TutorError::Bad(_) => {
            let page = app.tutor.parts(learner, number(step)?).await?;
            let page = StepPage { said: Some(error.to_string()), ..page };
            Ok(Html(page.parts()).into_response())
        }
        error => Err(error.into()),
    }
}

/// Do it; where on the page it stands.
async fn do_it(app: &App, learner: &str, step: u8, pressed: &[(String, String)]) -> Result<String, TutorError> {
    let unknown = || TutorError::Bad("That is no button of this page.".to_owned());
    let value = |name: &str| pressed.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str());
    if let Some(question) = value("predict") {
        let values: Vec<String> =
            pressed.iter().filter(|(name, _)| name == "choice").map(|(_, value)| value.clone()).collect();
        app.tutor.answer(learner, step, question, &values).await?;
        Ok(format!("q-{question}"))
    } else if let Some(stage) = value("open") {
        app.tutor.open(learner, step, stage).await?;
        Ok(format!("open-{stage}"))
    } else if let Some((task, button)) = value("do").and_then(|value| value.split_once('/')) {
        app.tutor.press(learner, step, task, button.parse().map_err(|_| unknown())?).await?;
        Ok(format!("task-{task}"))
    } else if let (Some(_), Some(script), Some(strategy)) = (value("run"), value("script"), value("strategy")) {
        app.tutor.run_own(learner, step, script, strategy)?;
        Ok("editor".to_owned())
    } else {
        Err(unknown())
    }
}

async fn export(State(app): State<App>, learner: Learner) -> Result<impl IntoResponse, ApiError> {
    let file = app.tutor.export(&learner.0).await?;
    Ok(([(header::CONTENT_DISPOSITION, "attachment; filename=\"aegis-progress.json\"")], Json(file)))
}

async fn import(State(app): State<App>, learner: Learner, file: Bytes) -> Result<StatusCode, ApiError> {
    app.tutor.import(&learner.0, &file).await?;
    Ok(StatusCode::NO_CONTENT)
}
