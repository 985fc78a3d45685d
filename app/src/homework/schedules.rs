//! What is checked, in order, and how far the submission that is shown came.

use locks::homework::{Failure, Graded};

use super::content::Text;
use super::page::ExercisePage;
use crate::html::Html;

/// The list.
pub(super) fn list(html: &mut Html, page: &ExercisePage) {
    let Some(text) = Text::of(page.exercise.slug) else { return };
    let graded = page.shown.as_ref().map(|attempt| &attempt.graded);
    let failed = match graded {
        Some(Graded::Failed(failure)) => which(text, failure),
        _ => None,
    };
    html.open("section").attr("id", "h-sched");
    html.element("h2", "", if text.together { "What must hold" } else { "Checked, in this order" });
    html.class("ol", "sched");
    for (at, (key, title)) in text.schedules.iter().enumerate() {
        let (class, icon, word) = match (graded, failed) {
            (Some(Graded::Passed { .. }), _) => ("", Some("check"), "passed"),
            (_, Some(failed)) if failed == at => ("fail", Some("oct"), "failed"),
            (_, Some(failed)) if at < failed && !text.together => ("", Some("check"), "passed"),
            (_, Some(_)) if text.together => ("", None, ""),
            (_, Some(_)) => ("", None, "not run"),
            _ => ("", None, ""),
        };
        html.class("li", class);
        match icon {
            Some(icon) => html.icon(icon, false),
            None => html.open("span").close(),
        };
        // Keys that are numbers are told; others are for the machine.
        let number = if key.chars().next().is_some_and(|c| c.is_ascii_digit()) { key.as_str() } else { "" };
        html.element("span", "n num", number).open("span");
        super::worded(html, title);
        html.close().element("span", "r", word).close();
    }
    html.close().close();
}

/// Which of the list failed.
fn which(text: &Text, failure: &Failure) -> Option<usize> {
    let named = |key: &str| {
        let is = |name: &str| name == key || name.strip_prefix(key).is_some_and(|rest| rest.starts_with('-'));
        is(&failure.schedule) || failure.reason == key
    };
    text.schedules.iter().position(|(key, _)| named(key))
}
