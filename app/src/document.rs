//! The document around every page: head, top bar, the marks that pictures refer to, help. On the server
//! only; the browser brings to life what stands in `#stage`. No script stands within the document, so a
//! strict content security policy holds without exceptions.

use leptos::prelude::*;

use crate::data::{Compared, MovesPage, PageProblem, RunLine, RunPage};
use crate::homework::{self, HomeworkPage};
use crate::lesson::{self, LessonPage};
use crate::matrix::MatrixPage;
use crate::page;
use crate::part::theatre;

/// What a page shows.
pub enum Page {
    /// `/`
    Start,
    /// `/lab` and `/runs/{id}`: a run on the stage. Boxed, for it is much larger than the others.
    Run(Box<RunPage>),
    /// `/lesson` and what is below it.
    Lesson(LessonPage),
    /// `/matrix`
    Matrix(Box<MatrixPage>),
    /// `/homework` and what is below it.
    Homework(HomeworkPage),
    /// `/runs`
    Runs(Vec<RunLine>),
    /// `/runs/compare`: two runs side by side. Boxed, as a run is.
    Compare(Box<[Compared; 2]>),
    /// The same, while the other of the two is to be chosen from these.
    CompareWith(Box<Compared>, Vec<RunLine>),
    /// `/lab/moves`: what somebody decided in a run, to be played.
    Moves(MovesPage),
    /// Any other path.
    Missing,
    /// A page that cannot be shown.
    Problem(PageProblem),
}

impl Page {
    /// The path under which the top bar has it, its title, and what stands between top bar and help.
    fn parts(self) -> (&'static str, &'static str, String) {
        match self {
            Page::Start => ("/", "", page::start::page().to_html()),
            Page::Run(run) if run.owner => ("/lab", "Lab", stage("Lab", *run)),
            Page::Run(run) => ("/runs", "Run", stage("Run", *run)),
            Page::Lesson(LessonPage::Agenda(progress)) => ("/lesson", "Lesson", lesson::agenda::main(&progress)),
            Page::Lesson(LessonPage::Step(step)) => ("/lesson", "Lesson", lesson::page::main(*step)),
            Page::Lesson(LessonPage::Glossary) => ("/lesson", "Glossary", lesson::glossary::main()),
            Page::Lesson(LessonPage::Certificate(of)) => ("/lesson", "What was proved", lesson::certificate::main(&of)),
            Page::Matrix(matrix) => ("/matrix", "Matrix", crate::matrix::page::main(&matrix)),
            Page::Homework(HomeworkPage::List(standing)) => ("/homework", "Homework", homework::list::main(&standing)),
            Page::Homework(HomeworkPage::Exercise(of)) => ("/homework", of.exercise.title, homework::page::main(&of)),
            Page::Runs(runs) => ("/runs", "Runs", page::runs::page(runs).to_html()),
            Page::Compare(runs) => ("/runs", "Two runs", page::compare::page(*runs)),
            Page::CompareWith(run, others) => ("/runs", "Two runs", page::compare::choose(&run, &others)),
            Page::Moves(moves) => ("/lab", "Moves", page::moves::main(&moves)),
            Page::Missing => ("", "Not found", page::missing::page().to_html()),
            Page::Problem(problem) => ("", "Not shown", page::problem::page(problem).to_html()),
        }
    }
}

/// A page that is nothing but a stage.
fn stage(heading: &str, run: RunPage) -> String {
    format!("<main id=\"main\"><h1 class=\"sr\">{heading}</h1>{}</main>", theatre::render(run))
}

/// A page as the browser gets it.
pub fn document(page: Page) -> String {
    let program = match &page {
        Page::Start => START.to_owned(),
        Page::Run(_) => PROGRAM.to_owned(),
        Page::Lesson(LessonPage::Step(step)) if step.stage.is_some() => format!("{PROGRAM}{LESSON}"),
        Page::Lesson(_) => LESSON.to_owned(),
        Page::Matrix(_) => MATRIX.to_owned(),
        Page::Homework(HomeworkPage::Exercise(_)) => HOMEWORK.to_owned(),
        Page::Runs(_) => RUNS.to_owned(),
        _ => String::new(),
    };
    let owner = Owner::new();
    owner.with(|| {
        let (here, title, main) = page.parts();
        let title = if title.is_empty() { "Aegis".to_owned() } else { format!("{title} · Aegis") };
        let (bar, help) = (page::frame::bar(here).to_html(), page::help::dialog().to_html());
        format!("{HEAD}<title>{title}</title>{program}</head><body>{bar}{main}{help}</body></html>")
    })
}

const HEAD: &str = r#"<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="Real replicas, real stores, real faults: which failure does your lock cover?">
<link rel="icon" type="image/svg+xml" href="/favicon.svg">
<script src="/theme.js"></script>
<link rel="stylesheet" href="/pkg/aegis.css">
<script src="/frame.js" defer></script>
"#;

/// Loads the program; asked for early, since nothing moves before it is there.
const PROGRAM: &str = r#"<link rel="modulepreload" href="/pkg/aegis.js">
<link rel="preload" href="/pkg/aegis.wasm" as="fetch" type="application/wasm" crossorigin>
<script type="module" src="/hydrate.js"></script>
<script type="module" src="/live.js"></script>
"#;

/// Saves the matrix page its jumps; it works without.
const MATRIX: &str = r#"<script type="module" src="/matrix.js"></script>
"#;

/// Plays the start page's run. Before the first frame, so that nobody sees the end of it first.
const START: &str = "<script src=\"/start.js\" defer blocking=\"render\"></script>\n";

/// Saves the lesson its jumps, and ticks tasks while they are done; it works without.
const LESSON: &str = r#"<script type="module" src="/lesson.js"></script>
"#;

/// Colours what is written, keeps it as it is typed, and saves the page its jumps; it works without.
const HOMEWORK: &str = r#"<script type="module" src="/homework.js"></script>
"#;

/// What the list of runs needs beside its links.
const RUNS: &str = "<script src=\"/runs.js\" defer></script>\n";
