//! The matrix page and its programming interface. Both do the same: predict, run, cancel, race, export; the page
//! as one form that answers with the page, the interface in JSON.
//!
//! | route | what it is |
//! |---|---|
//! | `GET /matrix?guard=&cell=&race=&strategy=` | the page |
//! | `POST /matrix?…` | one of its buttons |
//! | `GET /api/matrix?guard=` | the learner's cells |
//! | `POST /api/matrix/predictions` | `{ cell, covered, guard? }` |
//! | `POST /api/matrix/runs` | `{ cell \| row \| column \| all \| race, guard? }` |
//! | `DELETE /api/matrix/runs` | cancel what is under way |
//! | `GET /api/matrix/export?guard=&form=markdown\|json` | what was measured, as `aegis matrix` prints it |
//! | `GET /api/matrix/events` | an event stream that says when something changed |

use app::Page;
use app::matrix::{CellName, Place};
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Form, Json, Router};
use locks::guard::Guard;
use locks::strategy;
use serde::Deserialize;
use serde_json::{Value, json};
use tower_governor::GovernorLayer;
use tower_governor::governor::GovernorConfigBuilder;

use super::App;
use super::learner::Learner;
use super::live::too_many;
use super::pages::{problem, show};
use super::problem::ApiError;
use crate::matrix::board::{Board, BoardError};
use crate::matrix::desk::StartError;
use crate::matrix::job::Job;

/// So many changes a second from one address, and so many at once: a learner predicts by the row.
const PER_SECOND: u64 = 20;
const BURST: u32 = 60;

/// Routes of this module.
pub fn router() -> Router<App> {
    let changes = Router::new()
        .route("/matrix", post(press))
        .route("/api/matrix/predictions", post(predict))
        .route("/api/matrix/runs", post(run).delete(cancel));
    let limit = GovernorConfigBuilder::default().per_millisecond(1000 / PER_SECOND).burst_size(BURST).finish();
    let changes = match limit {
        Some(limit) => changes.layer(GovernorLayer::new(limit).error_handler(too_many)),
        None => changes,
    };
    Router::new()
        .route("/matrix", get(page))
        .route("/api/matrix", get(cells))
        .route("/api/matrix/export", get(export))
        .merge(changes)
}

/// An address as it is asked for.
#[derive(Debug, Deserialize)]
struct Asked {
    guard: Option<String>,
    cell: Option<String>,
    race: Option<String>,
    strategy: Option<String>,
    /// For exports: `markdown` or `json`.
    form: Option<String>,
}

impl Asked {
    fn place(self) -> Result<Place, ApiError> {
        let cell = self.cell.as_deref().map(cell).transpose()?;
        if let Some(name) = &self.strategy {
            column(name)?;
        }
        Ok(Place { guard: guard(self.guard.as_deref())?, cell, race: self.race, strategy: self.strategy })
    }
}

fn guard(text: Option<&str>) -> Result<Option<Guard>, ApiError> {
    match text {
        None | Some("none") => Ok(None),
        Some(text) => text.parse().map(Some).map_err(|error| ApiError::Bad(format!("{error}"))),
    }
}

fn cell(text: &str) -> Result<CellName, ApiError> {
    let name: CellName = text.parse().map_err(ApiError::Bad)?;
    column(&name.strategy)?;
    Board::fault(&name.fault)?;
    Ok(name)
}

/// A column of the matrix; mutants have none.
fn column(name: &str) -> Result<(), ApiError> {
    if strategy::info(name).is_some() {
        return Ok(());
    }
    let all: Vec<&str> = strategy::ALL.iter().map(|info| info.name).collect();
    Err(ApiError::Bad(format!("No strategy is called {name:?}; there are {}.", all.join(", "))))
}

impl From<BoardError> for ApiError {
    fn from(error: BoardError) -> Self {
        match error {
            BoardError::NoFault { .. } | BoardError::Unconcerned { .. } | BoardError::NoRace(_) => {
                ApiError::Bad(error.to_string())
            }
            BoardError::Shown => ApiError::Conflict(error.to_string()),
            BoardError::Shelf(error) => error.into(),
            BoardError::Lab(error) => ApiError::lab(error),
        }
    }
}

impl From<StartError> for ApiError {
    fn from(error: StartError) -> Self {
        ApiError::Conflict(error.to_string())
    }
}

async fn page(State(app): State<App>, Query(asked): Query<Asked>, learner: Learner) -> Response {
    let shown = async { Ok::<_, ApiError>(app.board.page(&learner.0, asked.place()?).await?) };
    match shown.await {
        Ok(page) => show(Page::Matrix(Box::new(page))),
        Err(error) => problem(error),
    }
}

/// What a button or a request asks for.
enum Deed {
    Predict { cell: CellName, covered: bool },
    Run(Which),
    Cancel,
}

enum Which {
    Cell(CellName),
    Row(String),
    Column(String),
    All,
    Race(String),
}

/// One of the page's buttons; answers with the page that it stands on.
async fn press(
    State(app): State<App>,
    Query(asked): Query<Asked>,
    learner: Learner,
    Form(pressed): Form<Vec<(String, String)>>,
) -> Response {
    let done = async {
        let place = asked.place()?;
        do_it(&app, &learner, place.guard, deed(&pressed)?).await?;
        Ok::<_, ApiError>(place)
    };
    match done.await {
        Ok(place) => Redirect::to(&place.href()).into_response(),
        Err(error) => problem(error),
    }
}

fn deed(pressed: &[(String, String)]) -> Result<Deed, ApiError> {
    let unknown = || ApiError::Bad("That is no button of this page.".to_owned());
    let [(name, value)] = pressed else { return Err(unknown()) };
    Ok(match name.as_str() {
        "predict" => {
            let (name, word) = value.rsplit_once('/').ok_or_else(unknown)?;
            let covered = match word {
                "covered" => true,
                "not-covered" => false,
                _ => return Err(unknown()),
            };
            Deed::Predict { cell: cell(name)?, covered }
        }
        "run" => Deed::Run(Which::Cell(cell(value)?)),
        "run-row" => Deed::Run(Which::Row(value.clone())),
        "run-column" => Deed::Run(Which::Column(value.clone())),
        "run-all" => Deed::Run(Which::All),
        "race" => Deed::Run(Which::Race(value.clone())),
        "cancel" => Deed::Cancel,
        _ => return Err(unknown()),
    })
}

/// Do it; how many jobs that began or ended.
async fn do_it(app: &App, learner: &Learner, guard: Option<Guard>, deed: Deed) -> Result<usize, ApiError> {
    let (board, learner) = (&app.board, learner.0.as_str());
    let jobs: Vec<Job> = match deed {
        Deed::Predict { cell, covered } => {
            board.predict(learner, &cell, guard, covered).await?;
            return Ok(0);
        }
        Deed::Cancel => return Ok(app.desk.cancel(learner)),
        Deed::Run(Which::Cell(cell)) => vec![Board::job(&cell, guard)?],
        Deed::Run(Which::Row(fault)) => {
            let fault = Board::fault(&fault)?.name;
            board.left(learner, guard, |cell| cell.fault == fault).await?
        }
        Deed::Run(Which::Column(name)) => {
            column(&name)?;
            board.left(learner, guard, |cell| cell.strategy == name).await?
        }
        Deed::Run(Which::All) => board.left(learner, guard, |_| true).await?,
        Deed::Run(Which::Race(script)) => board.race_jobs(learner, &script, guard).await?,
    };
    Ok(app.desk.start(learner, jobs)?)
}

async fn cells(State(app): State<App>, Query(asked): Query<Asked>, learner: Learner) -> Result<Json<Value>, ApiError> {
    Ok(Json(app.board.json(&learner.0, guard(asked.guard.as_deref())?).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PredictBody {
    cell: String,
    covered: bool,
    guard: Option<String>,
}

async fn predict(
    State(app): State<App>,
    learner: Learner,
    Json(body): Json<PredictBody>,
) -> Result<StatusCode, ApiError> {
    let deed = Deed::Predict { cell: cell(&body.cell)?, covered: body.covered };
    do_it(&app, &learner, guard(body.guard.as_deref())?, deed).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunBody {
    cell: Option<String>,
    row: Option<String>,
    column: Option<String>,
    #[serde(default)]
    all: bool,
    race: Option<String>,
    guard: Option<String>,
}

async fn run(
    State(app): State<App>,
    learner: Learner,
    Json(body): Json<RunBody>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let which = match (body.cell, body.row, body.column, body.all, body.race) {
        (Some(name), None, None, false, None) => Which::Cell(cell(&name)?),
        (None, Some(row), None, false, None) => Which::Row(row),
        (None, None, Some(column), false, None) => Which::Column(column),
        (None, None, None, true, None) => Which::All,
        (None, None, None, false, Some(race)) => Which::Race(race),
        _ => {
            let text = "Name one of `cell`, `row`, `column`, `race`, or `all: true`, and no other.";
            return Err(ApiError::Bad(text.to_owned()));
        }
    };
    let started = do_it(&app, &learner, guard(body.guard.as_deref())?, Deed::Run(which)).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "started": started }))))
}

async fn cancel(State(app): State<App>, learner: Learner) -> Json<Value> {
    Json(json!({ "cancelled": app.desk.cancel(&learner.0) }))
}

async fn export(State(app): State<App>, Query(asked): Query<Asked>, learner: Learner) -> Result<Response, ApiError> {
    let matrix = app.board.export(&learner.0, guard(asked.guard.as_deref())?).await?;
    let (kind, name, text) = match asked.form.as_deref() {
        None | Some("markdown") => ("text/markdown; charset=utf-8", "matrix.md", matrix.markdown()),
        Some("json") => ("application/json", "matrix.json", matrix.json().to_string()),
        Some(other) => return Err(ApiError::Bad(format!("There is no form {other:?}; there are markdown and json."))),
    };
    let disposition = format!("attachment; filename=\"aegis-{name}\"");
    Ok(([(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, disposition)], text).into_response())
}
