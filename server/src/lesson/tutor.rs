//! What a learner does on a page of the lesson: says what will happen, opens a stage, lets it do something. The
//! stage is a live session like any other, one a learner, tagged with its step.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use app::data::RunPage;
use app::homework::Standing;
use app::lesson::certificate::Proved;
use app::lesson::content::Part;
use app::lesson::page::StepPage;
use app::lesson::{Known, Lesson, OwnRun, Text};
use chrono::Utc;
use locks::lesson::{By, Cost, Step};
use locks::scenario::Scenario;
use serde_json::json;
use tokio::sync::{Semaphore, watch as signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::progress::{self, File};
use super::stages;
use crate::control::lesson::{AnswerRow, ProofRow};
use crate::lab::{Lab, LabError};
use crate::run::ActError;
use crate::run::live::{Called, Live, OpenError, Sessions};
use crate::run::shelf::{Shelf, ShelfError};

/// What tags of lesson runs begin with.
pub(super) const LESSON: &str = "lesson";

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum TutorError {
    /// There is no such step, or it has no text yet.
    #[error("step")]
    NoStep,
    /// The page has no such thing.
    #[error("{0}")]
    Bad(String),
    /// Nothing runs that it could be done to.
    #[error("No stage of this step is open. Open one first.")]
    NoStage,
    /// The run refused it.
    #[error(transparent)]
    Act(#[from] ActError),
    /// No stage is to be had.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The control plane.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A run could not be stored.
    #[error(transparent)]
    Shelf(#[from] ShelfError),
}

/// See the module.
#[derive(Clone)]
pub struct Tutor(pub(super) Arc<Shared>);

pub(super) struct Shared {
    pub(super) lab: Arc<Lab>,
    pub(super) shelf: Shelf,
    sessions: Arc<Sessions>,
    /// By learner and step.
    latest: Mutex<BTreeMap<(String, u8), Latest>>,
    changed: signal::Sender<u64>,
    /// Scenarios of their own, by learner.
    own: Mutex<BTreeMap<String, OwnRun>>,
    /// What ends those that run, by learner.
    stops: Mutex<BTreeMap<String, CancellationToken>>,
    /// What runs of the matrix cost, by run.
    pub(super) costs: Mutex<BTreeMap<String, Cost>>,
    /// Held while what was tried is read and written back.
    pub(super) remembering: tokio::sync::Mutex<()>,
    /// So many of those run at a time.
    pub(super) permits: Semaphore,
    pub(super) ending: CancellationToken,
    pub(super) tasks: TaskTracker,
}

/// What the latest run of a step misses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Latest {
    /// By task.
    pub(super) misses: BTreeMap<String, String>,
    /// What is to be said of it.
    pub(super) said: Option<String>,
}

/// What was found that no run's log says.
#[derive(Debug, Default)]
struct Elsewhere {
    misses: BTreeMap<String, String>,
    is_news: bool,
}

impl Tutor {
    /// Of that lab, with its sessions.
    pub fn new(lab: Arc<Lab>, shelf: Shelf, sessions: Arc<Sessions>) -> Tutor {
        Tutor(Arc::new(Shared {
            lab,
            shelf,
            sessions,
            latest: Mutex::default(),
            changed: signal::Sender::new(0),
            own: Mutex::default(),
            stops: Mutex::default(),
            costs: Mutex::default(),
            remembering: tokio::sync::Mutex::default(),
            permits: Semaphore::new(super::own::AT_ONCE),
            ending: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }))
    }

    /// End everything, before the server ends. Returns when no process of it is left.
    pub async fn close(&self) {
        self.0.ending.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    /// Changes whenever a task was proved, or misses something else.
    pub fn changes(&self) -> signal::Receiver<u64> {
        self.0.changed.subscribe()
    }

    /// Everything that is kept of a learner.
    pub async fn known(&self, learner: &str) -> Result<Known, LabError> {
        progress::known(self.0.lab.control().await?, learner).await
    }

    /// A step's page.
    pub async fn page(&self, learner: &str, step: u8) -> Result<StepPage, TutorError> {
        let page = self.parts(learner, step).await?;
        let stage = self.stage(learner, step).map(|live| {
            let events = live.log().after(0);
            let run = RunPage::new(live.id(), events.iter().map(|event| &**event), true, true);
            (name(&live).to_owned(), run)
        });
        let opened = self.opened(learner, step).await?;
        Ok(StepPage { stage, opened, ..page })
    }

    /// The same without its stage: what changes on it.
    pub async fn parts(&self, learner: &str, step: u8) -> Result<StepPage, TutorError> {
        let text = text(step)?;
        let mut known = self.known(learner).await?;
        let latest = self.0.latest().get(&(learner.to_owned(), step)).cloned();
        let Latest { mut misses, said } = latest.unwrap_or_default();
        if let Some(of) = locks::lesson::step(step) {
            let elsewhere = self.look_elsewhere(learner, of, text, &known).await?;
            if elsewhere.is_news {
                known = self.known(learner).await?;
            }
            misses.extend(elsewhere.misses);
        }
        let own = if has_editor(text) { self.own(learner).await? } else { None };
        let costs = match text.parts.iter().any(|part| matches!(part, Part::Costs(_))) {
            true => self.costs(learner).await?,
            false => Vec::new(),
        };
        Ok(StepPage { number: step, known, misses, own, said, costs, ..StepPage::default() })
    }

    /// Look for what tasks ask that no run's log can say.
    async fn look_elsewhere(
        &self,
        learner: &str,
        step: &Step,
        text: &Text,
        known: &Known,
    ) -> Result<Elsewhere, TutorError> {
        let control = self.0.lab.control().await?;
        let mut found = Elsewhere::default();
        for task in step.tasks.iter().filter(|task| !known.is_done(step.number, task)) {
            let look = match task.by {
                By::Log(_) => continue,
                By::Cells(look) => look(&control.lesson_cells(learner).await?),
                By::Tried(look) => look(&self.tried(learner).await?),
                By::Answers(look) => {
                    let of = |id: &str| known.answer(step.number, id).map(|answer| answer.value.as_str());
                    let quiz = text.questions().filter(|question| question.id.starts_with("quiz-"));
                    look(quiz.filter(|asked| of(&asked.id).and_then(|said| asked.is_right(said)) == Some(true)).count())
                }
            };
            for proof in look.proved {
                let mark = format!("{}/{}/{}", step.number, task.id, proof.mark);
                let event = i64::try_from(proof.event).unwrap_or(i64::MAX);
                let row = ProofRow { mark, run: proof.run.unwrap_or_default(), event, proved_at: Utc::now() };
                found.is_news |= control.keep_proof(learner, &row).await?;
            }
            found.misses.extend(look.misses.map(|miss| (task.id.to_owned(), miss.to_owned())));
        }
        Ok(found)
    }

    /// What a learner proved, and which of its runs are here.
    pub async fn proved(&self, learner: &str) -> Result<Proved, TutorError> {
        let known = self.known(learner).await?;
        let control = self.0.lab.control().await?;
        let mut here = BTreeSet::new();
        let runs: BTreeSet<&String> =
            known.proofs.values().map(|proof| &proof.run).filter(|run| !run.is_empty()).collect();
        for run in runs {
            if control.load_run(run).await?.is_some() {
                here.insert(run.clone());
            }
        }
        Ok(Proved { known, here, homework: Standing::default(), at_ms: Utc::now().timestamp_millis() })
    }

    /// Keep what a learner says to a question.
    pub async fn answer(&self, learner: &str, step: u8, id: &str, values: &[String]) -> Result<(), TutorError> {
        let bad = |what: &str| TutorError::Bad(what.to_owned());
        let asked = text(step)?.questions().find(|question| question.id == id);
        let asked = asked.ok_or_else(|| bad("This page asks no such question."))?;
        if !asked.takes(values) {
            return Err(bad("Choose one of the answers first."));
        }
        let step_of = locks::lesson::step(step).ok_or(TutorError::NoStep)?;
        if let Some(task) = asked.shown_by.as_ref().and_then(|by| step_of.task(by)) {
            let known = self.known(learner).await?;
            if known.is_done(step, task) && known.answer(step, id).is_some() {
                return Err(bad("What was measured stands beside it already; what you said stays."));
            }
        }
        let late = asked.shown_by.is_some() && self.has_run(learner, step).await?;
        let question = format!("{step}/{id}");
        let row = AnswerRow { question, answer: values.join(","), late, said_at: Utc::now() };
        Ok(self.0.lab.control().await?.keep_answer(learner, &row).await?)
    }

    /// Has a run of that step begun?
    async fn has_run(&self, learner: &str, step: u8) -> Result<bool, LabError> {
        let begins = format!("{step}/");
        Ok(self.opened(learner, step).await?.is_some()
            || self.0.proofs(learner).await?.iter().any(|mark| mark.starts_with(&begins)))
    }

    /// The stage of that step that a learner opened last, whether it still stands or not.
    async fn opened(&self, learner: &str, step: u8) -> Result<Option<String>, LabError> {
        let kept = self.kept(learner, &opened_key(step)).await?;
        Ok(kept.and_then(|kept| kept.as_str().map(str::to_owned)))
    }

    /// Open a stage anew, and begin to play its script.
    pub async fn open(&self, learner: &str, step: u8, stage: &str) -> Result<(), TutorError> {
        let known = text(step)?.stages().any(|opens| opens.name == stage);
        let tasks = locks::lesson::step(step).ok_or(TutorError::NoStep)?;
        let scenario = stages::find(stage).filter(|_| known);
        let scenario = scenario.ok_or_else(|| TutorError::Bad("This step has no such stage.".to_owned()))?;
        // A task of its own: a stage that was opened is looked at and played, whoever has hung up meanwhile.
        let (tutor, learner, stage) = (self.clone(), learner.to_owned(), stage.to_owned());
        let opening = tokio::spawn(async move { tutor.begin(learner, tasks, &stage, scenario).await });
        opening.await.map_err(|error| OpenError::Lab(error.to_string()))?
    }

    async fn begin(
        &self,
        learner: String,
        step: &'static Step,
        stage: &str,
        scenario: Scenario,
    ) -> Result<(), TutorError> {
        let tag = format!("{LESSON}/{}/{stage}", step.number);
        let called = Called { tag, title: format!("Lesson {}: {}", step.number, scenario.title) };
        let live = self.0.sessions.open_anew(&learner, called, scenario.setup).await?;
        self.0.lab.control().await?.set_progress(&learner, &opened_key(step.number), &json!(stage)).await?;
        self.0.note(&learner, step.number, Latest::default(), true);
        tokio::spawn(super::watch::watch(self.0.clone(), learner, step, scenario.steps.len(), live.clone()));
        if !scenario.steps.is_empty() {
            let script = scenario.steps.into_iter().map(|step| step.action);
            tokio::spawn(async move { live.play(script).await });
        }
        Ok(())
    }

    /// Do what a button of a task does.
    pub async fn press(&self, learner: &str, step: u8, task: &str, button: usize) -> Result<(), TutorError> {
        let moves = text(step)?.task(task).and_then(|task| task.moves.get(button));
        let moves = moves.ok_or_else(|| TutorError::Bad("This task has no such button.".to_owned()))?;
        let live = self.stage(learner, step).ok_or(TutorError::NoStage)?;
        // A task of its own: what was begun is carried through, whoever has hung up meanwhile.
        let acting = tokio::spawn(async move {
            for action in &moves.actions {
                live.act(action.clone()).await?;
            }
            Ok::<(), ActError>(())
        });
        Ok(acting.await.map_err(|error| ActError::Lab(error.to_string()))??)
    }

    /// Run a scenario of a learner's own, on the step's page that has a place for one.
    pub fn run_own(&self, learner: &str, step: u8, script: &str, strategy: &str) -> Result<(), TutorError> {
        match has_editor(text(step)?) {
            true => self.try_own(learner, script, strategy),
            false => Err(TutorError::Bad("This step runs no scenario of your own; step 7 does.".to_owned())),
        }
    }

    /// A learner's progress as a file.
    pub async fn export(&self, learner: &str) -> Result<File, TutorError> {
        Ok(File::of(self.0.lab.control().await?, learner).await?)
    }

    /// Add what a file has: all of it, or nothing.
    pub async fn import(&self, learner: &str, file: &[u8]) -> Result<(), TutorError> {
        let file = File::read(file).map_err(|error| TutorError::Bad(error.to_string()))?;
        file.add(self.0.lab.control().await?, learner).await?;
        self.0.changed();
        Ok(())
    }

    fn stage(&self, learner: &str, step: u8) -> Option<Arc<Live>> {
        let live = self.0.sessions.of(learner, Some(LESSON))?;
        let of_step = live.tag().is_some_and(|tag| tag.starts_with(&format!("{LESSON}/{step}/")));
        of_step.then_some(live)
    }
}

impl Shared {
    /// Marks that were proved, by step and task.
    pub(super) async fn proofs(&self, learner: &str) -> Result<BTreeSet<String>, LabError> {
        let rows = self.lab.control().await?.proofs(learner).await?;
        Ok(rows.into_iter().map(|row| row.mark).collect())
    }

    /// How the latest run of a step stands from now on.
    pub(super) fn note(&self, learner: &str, step: u8, latest: Latest, is_news: bool) {
        let before = self.latest().insert((learner.to_owned(), step), latest.clone());
        if is_news || before != Some(latest) {
            self.changed();
        }
    }

    pub(super) fn changed(&self) {
        self.changed.send_modify(|n| *n += 1);
    }

    pub(super) fn note_own(&self, learner: &str, run: OwnRun) {
        self.own().insert(learner.to_owned(), run);
        self.changed();
    }

    /// Poisoning is no matter: an entry is put in whole.
    pub(super) fn own(&self) -> MutexGuard<'_, BTreeMap<String, OwnRun>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Poisoning is no matter: an entry is put in whole.
    pub(super) fn stops(&self) -> MutexGuard<'_, BTreeMap<String, CancellationToken>> {
        self.stops.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Poisoning is no matter: an entry is put in whole.
    fn latest(&self) -> MutexGuard<'_, BTreeMap<(String, u8), Latest>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Under which key it is kept which stage of a step was opened last.
fn opened_key(step: u8) -> String {
    format!("{LESSON}/{step}/opened")
}

fn has_editor(text: &Text) -> bool {
    text.parts.iter().any(|part| matches!(part, Part::Editor(_)))
}

fn text(step: u8) -> Result<&'static Text, TutorError> {
    Lesson::step(step).ok_or(TutorError::NoStep)
}

/// The name of a session's stage.
fn name(live: &Live) -> &str {
    live.tag().and_then(|tag| tag.splitn(3, '/').nth(2)).unwrap_or_default()
}
