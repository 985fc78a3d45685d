//! What somebody proved, with the runs as evidence, to be read or printed.

use std::collections::BTreeSet;

use locks::homework::EXERCISES;

use super::content::{AGENDA, Lesson};
use super::state::Known;
use crate::homework::{Passed, Standing, passed_in_a_line};
use crate::html::Html;
use crate::stage::view::words;

/// What a certificate is made of.
#[derive(Clone, Debug, Default)]
pub struct Proved {
    /// What is known of the learner.
    pub known: Known,
    /// Runs that this server has.
    pub here: BTreeSet<String>,
    /// What they passed of the homework.
    pub homework: Standing,
    /// Now, in milliseconds since the Unix epoch.
    pub at_ms: i64,
}

/// What stands between top bar and help.
pub(crate) fn main(proved: &Proved) -> String {
    let progress = proved.known.progress();
    let mut html = Html::new();
    html.class("main", "plain cert").attr("id", "main").element("h1", "", "What was proved");
    let tasks: usize = progress.steps.iter().map(|step| step.tasks).sum();
    let done: usize = progress.steps.iter().map(|step| step.done).sum();
    let passed = proved.homework.passed();
    let says = format!(
        "{done} of {tasks} tasks of the guided lesson and {passed} of {} exercises of the homework, on {} (UTC). What was done on a stage was found by a predicate in the \
         event log of a run; the run and the event stand beside it. Marks that came in from a file stand on that \
         file's word.",
        EXERCISES.len(),
        words::date(proved.at_ms)
    );
    html.element("p", "ink2", &says);
    if done == 0 && passed == 0 {
        html.element("p", "", "Nothing yet.");
        html.class("p", "").class("a", "btn btn-main").attr("href", "/lesson").text("To the lesson").close().close();
    }
    for step in progress.steps.iter().filter(|step| step.done > 0) {
        let Some(text) = Lesson::step(step.number) else { continue };
        let (title, _) = AGENDA[usize::from(step.number - 1)];
        html.class("section", "").element("h2", "", &format!("{}. {title}", step.number)).open("ul");
        for (task, of) in
            text.tasks().filter_map(|task| Some((task, locks::lesson::step(step.number)?.task(&task.id)?)))
        {
            if !proved.known.is_done(step.number, of) {
                continue;
            }
            html.class("li", "").icon("check", false).class("div", "").element("p", "", &task.title);
            for mark in of.marks {
                if let Some(proof) = proved.known.proof(step.number, &task.id, mark) {
                    evidence(&mut html, proved, &proof.run, proof.event, task.marks.get(*mark).map(String::as_str));
                }
            }
            html.close().close();
        }
        html.close().close();
    }
    homework(&mut html, &proved.homework);
    html.element("p", "muted", "“No violation” is said of the runs named here, and of no others.");
    html.finish()
}

/// What was passed of the homework.
fn homework(html: &mut Html, standing: &Standing) {
    if standing.passed() == 0 {
        return;
    }
    html.class("section", "").element("h2", "", "Homework").open("ul");
    for (exercise, stand) in EXERCISES.into_iter().map(|exercise| (exercise, standing.of(exercise))) {
        let Some(Passed { at_ms, schedules, best, score }) = stand.passed else { continue };
        let path = format!("/homework/{}", exercise.slug);
        html.class("li", "").icon("check", false).class("div", "").open("p").open("a").attr("href", &path);
        html.text(exercise.title).close().close().class("p", "ev num");
        match best {
            Some(number) => {
                html.open("a").attr("href", &format!("{path}?attempt={number}#h-result")).text("the answer").close()
            }
            None => html.text("an answer"),
        };
        let line = passed_in_a_line(schedules, score);
        html.text(&format!(" {}, first on {}", line.trim_end_matches('.'), words::date(at_ms))).close();
        html.close().close();
    }
    html.close().close();
}

fn evidence(html: &mut Html, proved: &Proved, run: &str, event: u64, mark: Option<&str>) {
    html.class("p", "ev num");
    if event == 0 {
        html.text("measured in the failure matrix, or answered");
    } else if proved.here.contains(run) {
        let href = format!("/runs/{run}?at={event}");
        html.text("run ")
            .open("a")
            .attr("href", &href)
            .element("code", "", run)
            .close()
            .text(&format!(", event #{event}"));
    } else {
        html.text("run ").element("code", "", run).text(&format!(", event #{event}; it goes on, or is kept elsewhere"));
    }
    if let Some(mark) = mark {
        html.text(": ").raw(mark);
    }
    html.close();
}
