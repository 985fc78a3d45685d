//! The homework's pages and what is done on them. A page works as plain forms that answer with the page; a script
//! asks for the parts that changed instead, and keeps drafts as they are typed.
//!
//! | route | what it is |
//! |---|---|
//! | `GET /homework`, `/homework/{exercise}` | pages; `?attempt=N` shows that attempt, `?text=starter` begins anew |
//! | `POST /homework/{exercise}` | a form of `text` and `do`: `grade`, or `keep` the draft |
//! | `PUT /api/homework/{exercise}/draft` | keep the body, text in UTF-8, as the draft |
//!
//! `desk` has it graded and keeps it; `form` reads what was handed in byte by byte: what is no text is refused, and never mended.

mod desk;
mod form;

pub use desk::Desk;

use app::Page;
use app::homework::content::Text;
use app::homework::{Attempt, ExercisePage, HomeworkPage, Passed, Stand, Standing};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post, put};
use locks::homework::{Exercise, Graded, exercise};
use serde::Deserialize;
use tower_governor::GovernorLayer;
use tower_governor::governor::GovernorConfigBuilder;

use self::desk::HandInError;
use super::App;
use super::learner::Learner;
use super::live::too_many;
use super::pages::{problem, show};
use super::problem::ApiError;
use crate::control::homework::{Standing as Row, Submission};
use crate::lab::LabError;

/// So many submissions are taken from one address at once, and then one in so long.
const SUBMISSIONS: u32 = 12;
const SUBMISSION_MS: u64 = 1500;
/// So many drafts a second from one address, and so many at once.
const DRAFTS_PER_SECOND: u64 = 10;
const DRAFTS: u32 = 40;

/// So many attempts are listed, the newest.
const ATTEMPTS: u32 = 50;

/// What a script sends that wants no page but its parts.
const PARTS: &str = "x-parts";

/// Routes of this module.
pub fn router() -> Router<App> {
    let submissions = Router::new().route("/homework/{exercise}", post(press));
    let limit = GovernorConfigBuilder::default().per_millisecond(SUBMISSION_MS).burst_size(SUBMISSIONS).finish();
    let submissions = match limit {
        Some(limit) => submissions.layer(GovernorLayer::new(limit).error_handler(too_many)),
        None => submissions,
    };
    let drafts = Router::new().route("/api/homework/{exercise}/draft", put(keep));
    let limit = GovernorConfigBuilder::default().per_millisecond(1000 / DRAFTS_PER_SECOND).burst_size(DRAFTS).finish();
    let drafts = match limit {
        Some(limit) => drafts.layer(GovernorLayer::new(limit).error_handler(too_many)),
        None => drafts,
    };
    Router::new()
        .route("/homework", get(list))
        .route("/homework/{exercise}", get(page))
        .merge(submissions)
        .merge(drafts)
}

impl From<HandInError> for ApiError {
    fn from(error: HandInError) -> Self {
        match error {
            HandInError::UnderWay => ApiError::Conflict(error.to_string()),
            HandInError::Lab(error) => ApiError::lab(error),
            HandInError::Shelf(error) => error.into(),
        }
    }
}

fn known(name: &str) -> Result<&'static Exercise, ApiError> {
    // A text that cannot be read is a defect of the build, and told instead of half a page.
    Text::all().map_err(|problems| ApiError::lab(problems.join("; ")))?;
    exercise(name).ok_or(ApiError::NotFound("exercise"))
}

async fn list(State(app): State<App>, learner: Learner) -> Response {
    match standing(&app, &learner).await {
        Ok(standing) => show(Page::Homework(HomeworkPage::List(standing))),
        Err(error) => problem(ApiError::lab(error)),
    }
}

#[derive(Deserialize)]
struct Asked {
    attempt: Option<u32>,
    text: Option<String>,
}

async fn page(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(asked): Query<Asked>,
    learner: Learner,
) -> Response {
    let page = async {
        let exercise = known(&name)?;
        let page = load(&app, &learner, exercise).await.map_err(ApiError::lab)?;
        match (asked.attempt, asked.text.as_deref()) {
            (Some(number), _) => {
                let attempt = page.attempts.iter().find(|attempt| attempt.number == number).cloned();
                let attempt = attempt.ok_or(ApiError::NotFound("attempt"))?;
                // What is read again is not what is being written.
                Ok(ExercisePage { text: attempt.text.clone(), kept_ms: None, shown: Some(attempt), ..page })
            }
            (None, Some("starter")) => {
                Ok(ExercisePage { text: exercise.starter.to_owned(), kept_ms: None, shown: None, ..page })
            }
            (None, _) => Ok(page),
        }
    };
    match page.await {
        Ok(page) => show(Page::Homework(HomeworkPage::Exercise(Box::new(page)))),
        Err(error) => problem(error),
    }
}

/// One of the form's buttons.
async fn press(
    State(app): State<App>,
    Path(name): Path<String>,
    learner: Learner,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let quietly = headers.contains_key(PARTS);
    let done = async {
        let exercise = known(&name)?;
        let pressed = form::read(&body, exercise).map_err(ApiError::Bad)?;
        if !pressed.grade {
            keep_draft(&app, &learner, exercise, &pressed.text).await?;
            return Ok(Redirect::to(&format!("/homework/{name}")).into_response());
        }
        // A task of its own: what was handed in is graded and kept, whoever has hung up meanwhile.
        let (at, whose) = (app.clone(), learner.clone());
        let grading =
            tokio::spawn(async move { at.homework.hand_in(&at.shelf, &whose.0, exercise, &pressed.text).await });
        grading.await.map_err(ApiError::lab)??;
        match quietly {
            true => Ok(Html(load(&app, &learner, exercise).await.map_err(ApiError::lab)?.parts()).into_response()),
            false => Ok::<_, ApiError>(Redirect::to(&format!("/homework/{name}#h-result")).into_response()),
        }
    };
    match done.await {
        Ok(answer) => answer,
        Err(error) if quietly => error.into_response(),
        Err(error) => problem(error),
    }
}

async fn keep(
    State(app): State<App>,
    Path(name): Path<String>,
    learner: Learner,
    body: Bytes,
) -> Result<StatusCode, ApiError> {
    let exercise = known(&name)?;
    let text = form::draft(&body, exercise).map_err(ApiError::Bad)?;
    keep_draft(&app, &learner, exercise, &text).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn keep_draft(app: &App, learner: &Learner, exercise: &Exercise, text: &str) -> Result<(), ApiError> {
    let control = app.homework.control().await.map_err(ApiError::lab)?;
    control.save_draft(&learner.0, exercise.slug, text).await.map_err(ApiError::lab)
}

/// How a learner stands with the exercises.
pub(super) async fn standing(app: &App, learner: &Learner) -> Result<Standing, LabError> {
    Ok(stand(app.homework.control().await?.homework(&learner.0).await?))
}

fn stand(rows: Vec<Row>) -> Standing {
    let number = |of: i64| u32::try_from(of).unwrap_or_default();
    let stand = |row: Row| {
        let passed = row.passed_at.map(|at| Passed {
            at_ms: at.timestamp_millis(),
            schedules: row.schedules.map_or(0, i64::from).try_into().unwrap_or_default(),
            // What is too old for the exercise's page has no address.
            best: row.best.filter(|best| best + i64::from(ATTEMPTS) > row.submissions).map(number),
            score: row.score.and_then(|score| u32::try_from(score).ok()),
        });
        let stand = Stand { attempts: number(row.attempts), passed };
        (row.exercise, stand)
    };
    Standing { exercises: rows.into_iter().map(stand).collect() }
}

/// The page as it is when nothing else is asked for: the draft, and the latest attempt.
async fn load(app: &App, learner: &Learner, exercise: &'static Exercise) -> Result<ExercisePage, LabError> {
    let control = app.homework.control().await?;
    let draft = control.draft(&learner.0, exercise.slug).await?;
    let rows = control.homework(&learner.0).await?;
    let of_exercise = rows.iter().find(|row| row.exercise == exercise.slug);
    let handed_in = of_exercise.map_or(0, |row| u32::try_from(row.submissions).unwrap_or_default());
    let standing = stand(rows);
    let submissions = control.submissions(&learner.0, exercise.slug, ATTEMPTS).await?;
    // The newest stands first; what the lab failed at has no number of its own among the attempts.
    let mut left = standing.of(exercise).attempts;
    let attempts = (1..=handed_in).rev().zip(submissions).map(|(number, of)| {
        let counts = !matches!(of.graded, Graded::LabFailed { .. });
        let counted = counts.then_some(left);
        left -= u32::from(counts && left > 0);
        let Submission { graded, text, submitted_at, .. } = of;
        Attempt { number, counted, at_ms: submitted_at.timestamp_millis(), graded, text }
    });
    let attempts: Vec<Attempt> = attempts.collect();
    Ok(ExercisePage {
        exercise,
        standing,
        kept_ms: draft.as_ref().map(|draft| draft.saved_at.timestamp_millis()),
        text: draft.map_or_else(|| exercise.starter.to_owned(), |draft| draft.text),
        shown: attempts.first().cloned(),
        attempts,
        said: None,
    })
}
