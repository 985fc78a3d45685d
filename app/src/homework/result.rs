//! What grading came to. Four results that look, read and sound different: passed, failed, an error in the learner's
//! code, an error of the lab.

use locks::homework::{Failure, Graded, Language, Mistake};

use super::page::ExercisePage;
use super::state::Attempt;
use super::trace;
use crate::html::Html;
use crate::matrix::Joint;
use crate::stage::view::words;

/// The panel; empty before anything was handed in.
pub(super) fn panel(html: &mut Html, page: &ExercisePage) {
    html.open("div").attr("id", "h-result").attr("tabindex", "-1");
    if let Some(line) = page.mistaken_line() {
        html.attr("data-line", &line.to_string());
    }
    if let Some(attempt) = &page.shown {
        let class = if matches!(attempt.graded, Graded::Failed(_)) { "panel res harm" } else { "panel res" };
        html.class("section", class).attr("aria-label", "Result");
        match &attempt.graded {
            Graded::Passed { schedules, score, said } => {
                let what = match (page.exercise.slug, page.exercise.language) {
                    (_, Language::Moves) => "The goal was reached in every part.".to_owned(),
                    ("keep", _) => format!("No violation in {} states.", words::grouped(u64::from(*schedules))),
                    _ => no_violation(*schedules),
                };
                header(html, attempt, ("chip chip-solid", "check", "Passed"), &what, "");
                passed(html, *score, said.as_deref());
            }
            Graded::Failed(failure) => {
                let what = format!("{}.", failure.why.trim_end_matches('.'));
                let where_ = match failure.schedule.chars().next() {
                    Some(c) if c.is_ascii_digit() && !failure.schedule.contains(' ') => {
                        format!("Schedule {}: {}.", failure.schedule, failure.title.trim_end_matches('.'))
                    }
                    _ if failure.title.trim_end_matches('.') == failure.why.trim_end_matches('.') => String::new(),
                    _ => format!("{}.", failure.title.trim_end_matches('.')),
                };
                header(html, attempt, ("viol-chip", "oct", "Failed"), &what, &where_);
                failed(html, page, attempt, failure);
            }
            Graded::YourError(mistake) => {
                header(html, attempt, ("chip", "file", "Error in your code"), &place(mistake), &during(mistake));
                error(html, mistake);
            }
            Graded::LabFailed { why } => {
                let what = "Not your fault. Nothing is counted, your draft is kept.";
                header(html, attempt, ("chip", "sliders", "The lab failed"), what, "Try again.");
                html.class("div", "res-m").element("samp", "", why).close();
            }
        }
        html.close();
    }
    html.close();
}

/// One line for the list of attempts.
pub(super) fn in_a_line(graded: &Graded) -> String {
    match graded {
        Graded::Passed { schedules, score, .. } => passed_in_a_line(*schedules, *score),
        Graded::Failed(failure) => format!("failed: {}", failure.reason),
        Graded::YourError(mistake) => format!("error in your code: {}", mistake.message),
        Graded::LabFailed { .. } => "the lab failed".to_owned(),
    }
}

/// What something passed with.
pub(crate) fn passed_in_a_line(schedules: u32, score: Option<u32>) -> String {
    match score {
        None => format!("passed: {}", no_violation(schedules).to_lowercase()),
        Some(score) => format!("passed with {score} in {schedules} parts"),
    }
}

fn no_violation(schedules: u32) -> String {
    match schedules {
        1 => "No violation in 1 schedule.".to_owned(),
        n => format!("No violation in {} schedules.", words::grouped(u64::from(n))),
    }
}

fn header(html: &mut Html, attempt: &Attempt, (class, icon, word): (&str, &str, &str), what: &str, more: &str) {
    html.class("header", "res-h").class("span", class).icon(icon, false).text(word).close();
    html.open("p").class("b", "b");
    super::worded(html, what);
    html.close();
    if !more.is_empty() {
        html.text(" ").element("span", "ink2", more);
    }
    html.close();
    html.element("span", "muted num nw hide-s", &attempt.name()).close();
}

fn passed(html: &mut Html, score: Option<u32>, said: Option<&str>) {
    if score.is_none() && said.is_none() {
        return;
    }
    html.class("div", "res-m");
    if let Some(score) = score {
        html.element("p", "", &format!("Score: {score}. Less is better."));
    }
    if let Some(said) = said {
        html.element("p", "ink2", said);
    }
    html.close();
}

fn failed(html: &mut Html, page: &ExercisePage, attempt: &Attempt, failure: &Failure) {
    html.class("div", "res-b");
    html.class("div", "res-w");
    if !trace::draw(html, page, attempt) && !failure.steps.is_empty() {
        html.element("h3", "", "The schedule");
        html.class("pre", "code").attr("tabindex", "0").attr("role", "group").attr("aria-label", "The schedule");
        html.open("code").attr("data-code", "toml").text(&failure.steps).close().close();
    }
    html.close();
    html.class("div", "res-x").class("div", "xo");
    let at = if failure.at > 0 { format!("expected at #{}", failure.at) } else { "expected".to_owned() };
    html.element("h3", "", &at).open("p");
    super::worded(html, &failure.expected);
    html.close().close();
    html.class("div", "xo");
    harm(html);
    html.element("h3", "", "observed").open("p");
    super::worded(html, &failure.observed);
    html.close().close().close().close();
    let Some(run) = &failure.run else { return };
    html.class("footer", "res-f");
    let (href, says) = match failure.at {
        0 => (format!("/runs/{run}"), "Open the run".to_owned()),
        at => (format!("/runs/{run}?at={at}"), format!("Open at event #{at}")),
    };
    html.class("a", "btn").attr("href", &href).icon("play", false).text(&says).close();
    // What a search found was never a script.
    if failure.steps.contains("[[step]]") {
        html.class("a", "btn").attr("href", &format!("/api/runs/{run}/scenario")).icon("file", false);
        html.text("The schedule as a file").close();
    }
    html.close();
}

/// The joint between expected and observed: red, since somebody is harmed.
fn harm(html: &mut Html) {
    let mut joint = Html::new();
    crate::matrix::table::joint(&mut joint, Some(Joint::Differs));
    html.raw(&joint.finish().replace("joint ne", "joint ne harm"));
}

fn place(mistake: &Mistake) -> String {
    match (mistake.line, mistake.column) {
        (Some(line), Some(column)) => format!("Line {line}, column {column}."),
        (Some(line), None) => format!("Line {line}."),
        _ => "It does not run.".to_owned(),
    }
}

fn during(mistake: &Mistake) -> String {
    let schedule = mistake.schedule.as_ref().map(|schedule| format!("In schedule {schedule}."));
    let running = mistake.still_running.as_ref().map(|what| format!("Still running: {what}."));
    schedule.into_iter().chain(running).collect::<Vec<_>>().join(" ")
}

fn error(html: &mut Html, mistake: &Mistake) {
    html.class("div", "res-m").element("samp", "", &mistake.message);
    if let Some(code) = &mistake.code {
        html.class("p", "ink2").text("The store's code for it: ").element("code", "", code).close();
    }
    html.close();
}

/// What a result can be, for whoever has not seen one.
pub(super) fn kinds(html: &mut Html) {
    html.class("section", "panel").attr("aria-labelledby", "h-kinds").class("header", "panel-h");
    html.open("h2").attr("id", "h-kinds").text("What a result can be").close().element("span", "grow", "");
    html.element("span", "src hide-s", "the same submission always gets the same one").close();
    html.class("ul", "kinds");
    for (icon, class, name, text) in [
        ("check", "", "Passed", "Every schedule held. It says how many, never \u{201c}correct\u{201d}."),
        (
            "oct",
            "bad",
            "Failed",
            "One schedule broke a rule. You get that schedule, what was expected and what was observed.",
        ),
        ("file", "", "Error in your code", "It was refused. The store's own words, with the line where there is one."),
        ("sliders", "", "The lab failed", "Not your fault. Nothing is counted, your draft is kept."),
    ] {
        html.open("li").class("h3", class).icon(icon, false).text(name).close().text(text).close();
    }
    html.close().close();
}
