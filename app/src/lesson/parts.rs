//! What changes on a step's page: predictions, tasks, the list of tasks, the steps of the lesson. Each part has
//! an identity, so that `lesson.js` can put a newer one in its place without touching the stage.

use locks::lesson::{Step, Task};

use super::content::{AGENDA, Lesson, Opens, Part, Question, TaskText, Text};
use super::costs;
use super::page::StepPage;
use super::state::{OwnState, Progress};
use crate::html::Html;
use crate::matrix::Joint;
use crate::stage::view::words;

/// All parts of a page, one behind the other.
pub(super) fn all(page: &StepPage) -> String {
    let mut html = Html::new();
    html.open("div").attr("id", "l-parts");
    steps(&mut html, &page.known.progress(), Some(page.number));
    list(&mut html, page);
    said(&mut html, page);
    let Some(text) = Lesson::step(page.number) else { return html.finish() };
    first(&mut html, page, text);
    for part in &text.parts {
        match part {
            Part::Prediction(asked) => question(&mut html, page, asked, "Your prediction"),
            Part::Task(task) => task_state(&mut html, page, task),
            Part::Editor(_) => own(&mut html, page),
            Part::Quiz(questions) => quiz(&mut html, page, questions),
            Part::Costs(above) => costs::table(&mut html, page, above),
            _ => {}
        }
    }
    html.finish()
}

/// The steps of the lesson, in a bar.
pub(super) fn steps(html: &mut Html, progress: &Progress, here: Option<u8>) {
    html.class("nav", "steps").attr("id", "l-steps").attr("aria-label", "Steps of the lesson").open("ol");
    for step in &progress.steps {
        let (title, _) = AGENDA[usize::from(step.number - 1)];
        html.open("li");
        match step.ready {
            true => html.open("a").attr("href", &format!("/lesson/{}", step.number)),
            false => html.class("span", "soon").attr("title", "Not ready yet"),
        };
        if here == Some(step.number) {
            html.attr("aria-current", "step");
        }
        html.class("span", if step.is_done() { "sn done" } else { "sn" });
        match step.is_done() {
            true => html.icon("check", false).element("span", "sr", &format!("Step {}, done", step.number)),
            false => html.text(&step.number.to_string()),
        };
        html.close().element("span", "st", title).close().close();
    }
    html.close().close();
}

/// The list of tasks, always in sight.
pub(super) fn list(html: &mut Html, page: &StepPage) {
    let Some((text, step)) = Lesson::step(page.number).zip(locks::lesson::step(page.number)) else { return };
    let (done, all) = page.known.tasks(page.number);
    html.class("details", "panel l-tasks").attr("id", "l-tasks").attr("open", "");
    html.open("summary").element("h2", "", "Tasks");
    html.class("span", "num muted").text(&format!("{done} of {all} done")).close().icon("down", false).close();
    html.open("ol");
    let now = step.tasks.iter().find(|task| !page.known.is_done(page.number, task)).map(|task| task.id);
    for task in text.tasks() {
        let done = step.task(&task.id).is_some_and(|of| page.known.is_done(page.number, of));
        html.class(
            "li",
            if done {
                "done"
            } else if now == Some(&*task.id) {
                "now"
            } else {
                ""
            },
        );
        tick(html, done);
        html.open("a").attr("href", &format!("#task-{}", task.id)).text(&task.title).close().close();
    }
    html.close().close();
}

/// What the lab has to say: why something could not be done.
pub(super) fn said(html: &mut Html, page: &StepPage) {
    html.class("p", "l-said").attr("id", "l-said").attr("role", "status");
    if let Some(said) = &page.said {
        html.text(said);
    }
    html.close();
}

/// What is to be said before a stage is opened.
pub(super) fn first(html: &mut Html, page: &StepPage, text: &Text) {
    html.open("p").attr("id", "l-first");
    let asked = text.questions().find(|asked| asked.shown_by.is_some()).filter(|_| !page.has_said());
    if let Some(asked) = asked {
        html.text("First say ").open("a").attr("href", &format!("#q-{}", asked.id));
        html.text("what you expect").close().text(".");
    }
    html.close();
}

fn tick(html: &mut Html, done: bool) {
    html.class("span", if done { "tick done" } else { "tick" });
    match done {
        true => html.icon("check", false).element("span", "sr", "done: "),
        false => html.element("span", "sr", "to do: "),
    };
    html.close();
}

/// How a task stands: proved by what, or what is missing, with hints.
pub(super) fn task_state(html: &mut Html, page: &StepPage, text: &TaskText) {
    html.class("div", "t-state").attr("id", &format!("t-{}", text.id));
    if let Some(step) = locks::lesson::step(page.number)
        && let Some(task) = step.task(&text.id)
    {
        match page.known.is_done(page.number, task) {
            true => proved(html, page, step, task, text),
            false => missing(html, page, step, task, text),
        }
    }
    html.close();
}

fn proved(html: &mut Html, page: &StepPage, step: &Step, task: &Task, text: &TaskText) {
    html.class("p", "ev").icon("check", true).text(" Proved by ");
    for (nth, mark) in task.marks.iter().enumerate() {
        if let Some(proof) = page.known.proof(step.number, task.id, mark) {
            if nth > 0 {
                html.text(", ");
            }
            let run = proof.run.get(..4).unwrap_or(&proof.run);
            match proof.event {
                0 => html.text("what you measured"),
                event => html
                    .open("a")
                    .attr("href", &format!("/runs/{}?at={event}", proof.run))
                    .text(&format!("run {run}, event #{event}"))
                    .close(),
            };
            if let Some(mark) = text.marks.get(*mark) {
                html.text(" (").raw(mark).text(")");
            }
        }
    }
    html.text(".").close();
}

fn missing(html: &mut Html, page: &StepPage, step: &Step, task: &Task, text: &TaskText) {
    if task.marks.len() > 1 {
        html.class("ul", "marks");
        for mark in task.marks {
            let done = page.known.proof(step.number, task.id, mark).is_some();
            html.class("li", if done { "done" } else { "" });
            tick(html, done);
            html.class("span", "").raw(text.marks.get(*mark).map_or(mark, String::as_str)).close().close();
        }
        html.close();
    }
    let looked = page.misses.get(task.id);
    let miss = looked.map(String::as_str).or(task.misses.first().copied());
    let Some(hints) = miss.and_then(|miss| text.hints.get(miss)) else { return };
    html.class("div", "hints").attr("data-miss", miss.unwrap_or_default());
    for (name, hint) in ["A nudge", "A pointer", "The moves"].iter().zip(hints) {
        html.open("details").open("summary").icon("right", false).element("span", "", name).close();
        html.open("p").raw(hint).close().close();
    }
    html.close();
}

/// A question, what was said, and what was measured.
pub(super) fn question(html: &mut Html, page: &StepPage, asked: &Question, heading: &str) {
    let said = page.known.answer(page.number, &asked.id);
    let shown = said.is_some() && is_shown(page, asked);
    // A question of the quiz may be answered until it is right; a prediction stands.
    let again = asked.shown_by.is_none() && said.is_some_and(|said| asked.is_right(&said.value) == Some(false));
    let fixed = shown && !again;
    let id = format!("q-{}", asked.id);
    html.class("section", "ask").attr("id", &id).attr("aria-labelledby", &format!("{id}-h"));
    html.open("form").attr("method", "post").attr("action", &format!("/lesson/{}#{id}", page.number));
    html.open("h2").attr("id", &format!("{id}-h")).text(heading).close();
    html.class("div", "q-t").raw(&asked.html).close();
    match asked.choices.is_empty() {
        true => number(html, asked, said.map(|said| said.value.as_str()), fixed),
        false => choices(html, page, asked, fixed),
    }
    if shown {
        result(html, asked, said.map_or("", |said| said.value.as_str()));
    }
    if !fixed {
        html.class("p", "ask-f");
        let (main, label) = match said {
            None => ("btn btn-main", "Keep my answer"),
            Some(_) => ("btn", "Change it"),
        };
        html.class("button", main).attr("name", "predict").attr("value", &asked.id).text(label).close();
        match said {
            None if asked.shown_by.is_none() => html.element("span", "", "What is right is told at once."),
            None => html.element("span", "", "Asked before anything runs; a wrong guess harms nobody."),
            Some(said) => {
                let late = if said.late { ", after a run had begun" } else { "" };
                let shown = asked.shown_by.as_ref().map_or(String::new(), |task| {
                    format!(" What is measured stands beside it once task {task} is done.")
                });
                html.element("span", "", &format!("Kept at {}{late}.{shown}", words::clock(said.at_ms)))
            }
        };
        html.close();
    }
    html.close().close();
}

fn is_shown(page: &StepPage, asked: &Question) -> bool {
    let Some(by) = &asked.shown_by else { return true };
    let task = locks::lesson::step(page.number).and_then(|step| step.task(by));
    task.is_some_and(|task| page.known.is_done(page.number, task))
}

fn choices(html: &mut Html, page: &StepPage, asked: &Question, shown: bool) {
    let said = page.known.answer(page.number, &asked.id).map_or("", |said| said.value.as_str());
    let said: Vec<&str> = said.split(',').collect();
    html.class("ul", "opts");
    for choice in &asked.choices {
        let mine = said.contains(&choice.value.as_str());
        html.class("li", if mine { "mine" } else { "" }).open("label").open("input");
        html.attr("type", if asked.several { "checkbox" } else { "radio" }).attr("name", "choice");
        html.attr("value", &choice.value);
        if mine {
            html.attr("checked", "");
        }
        if shown {
            html.attr("disabled", "");
        } else if !asked.several {
            html.attr("required", "");
        }
        html.void().class("span", "").raw(&choice.html).close().close();
        if mine {
            html.element("span", "chip", "yours");
        }
        if shown && choice.right {
            html.element("span", "chip", if asked.shown_by.is_some() { "measured" } else { "right" });
        }
        html.close();
    }
    html.close();
}

fn number(html: &mut Html, asked: &Question, said: Option<&str>, shown: bool) {
    html.class("p", "q-n").open("label").text("Your number ").open("input").attr("type", "number");
    html.attr("name", "choice").attr("min", "0").attr("max", "1000").attr("required", "");
    html.attr("id", &format!("n-{}", asked.id));
    if let Some(said) = said {
        html.attr("value", said);
    }
    if shown {
        html.attr("disabled", "");
    }
    html.void().close().close();
}

/// What was said beside what was measured.
fn result(html: &mut Html, asked: &Question, said: &str) {
    let joint = match asked.is_right(said) {
        None => Joint::Open,
        Some(true) => Joint::Agrees,
        Some(false) => Joint::Differs,
    };
    let what = if asked.shown_by.is_some() { "what was measured" } else { "the answer" };
    html.class("div", "ask-r");
    crate::matrix::table::joint(html, Some(joint));
    let words = match joint {
        Joint::Agrees => {
            format!("You said what {}.", if asked.shown_by.is_some() { "was measured" } else { "is right" })
        }
        Joint::Differs => format!("You said something else than {what}."),
        Joint::Open => "Compare your number with what you measured.".to_owned(),
    };
    html.open("div").element("p", "b", &words).raw(&asked.after).close().close();
}

/// What came of a scenario of somebody's own.
pub(super) fn own(html: &mut Html, page: &StepPage) {
    html.class("div", "own-r").attr("id", "l-own").attr("role", "status");
    match page.own.as_ref().map(|own| (own, &own.state)) {
        None | Some((_, OwnState::Kept)) => {}
        Some((own, OwnState::Runs)) => {
            let says = format!("It runs under {} …, or waits for its turn while two of others' run.", own.strategy);
            html.element("p", "", &says);
            html.element("p", "muted", "To end it, empty the box and press Run it; after three minutes it is ended.");
        }
        Some((_, OwnState::Refused(why))) => {
            html.element("p", "b", "It was not run.").class("pre", "code").attr("tabindex", "0").text(why).close();
        }
        Some((own, OwnState::Over { exit, outcome, checks, run })) => {
            let says = format!("Under {}: {outcome}. aegis run would end with {exit}.", own.strategy);
            html.element("p", "b", &says).open("ul");
            for (what, expected, observed, holds) in checks {
                let word = if *holds { "holds" } else { "does not hold" };
                html.open("li").icon(if *holds { "check" } else { "x" }, true);
                html.text(&format!(" {what}: expected {expected}, observed {observed}; it {word}.")).close();
            }
            html.close();
            if let Some(run) = run {
                html.open("p").open("a").attr("href", &format!("/runs/{run}")).text("Watch the run").close().close();
            }
        }
    }
    html.close();
}

/// A quiz with its count.
pub(super) fn quiz(html: &mut Html, page: &StepPage, questions: &[Question]) {
    let right = right(page, questions);
    html.class("section", "quiz").attr("id", "l-quiz").attr("aria-label", "Quiz");
    html.open("h2").text("Quiz").close();
    let count = format!("{right} of {} right. Every answer stands in the lesson.", questions.len());
    html.element("p", "muted", &count);
    for (n, asked) in (1..).zip(questions) {
        question(html, page, asked, &format!("Question {n}"));
    }
    html.close();
}

/// How many questions were answered right.
fn right(page: &StepPage, questions: &[Question]) -> usize {
    let said = |asked: &Question| page.known.answer(page.number, &asked.id).map(|said| said.value.clone());
    questions.iter().filter(|asked| said(asked).is_some_and(|said| asked.is_right(&said) == Some(true))).count()
}

/// Buttons that open stages.
pub(super) fn opens(html: &mut Html, page: &StepPage, stages: &[Opens], main: bool) {
    if stages.is_empty() {
        return;
    }
    html.open("form").attr("method", "post").attr("action", &format!("/lesson/{}", page.number)).attr("class", "acts");
    for opens in stages {
        open_button(html, page, opens, main, Some(&format!("open-{}", opens.name)));
    }
    html.close();
}

/// One of them. It may stand on the page twice: only that of the text has an identity.
pub(super) fn open_button(html: &mut Html, page: &StepPage, opens: &Opens, main: bool, id: Option<&str>) {
    let open = page.stage.as_ref().is_some_and(|(name, run)| *name == opens.name && run.live);
    let class = if main && !open { "btn btn-main" } else { "btn" };
    html.class("button", class).attr("name", "open").attr("value", &opens.name);
    if let Some(id) = id {
        html.attr("id", id);
    }
    html.text(&opens.label);
    if open {
        html.text(", from its beginning");
    }
    html.close();
}
