//! The list of exercises: how somebody stands with each, and where to go on.

use locks::homework::{EXERCISES, Exercise, Language};

use super::content::Text;
use super::state::{Passed, Stand, Standing};
use crate::html::Html;

/// What stands between top bar and help.
pub(crate) fn main(standing: &Standing) -> String {
    let mut html = Html::new();
    html.class("main", "plain agenda").attr("id", "main").element("h1", "", "Homework");
    html.element(
        "p",
        "ink2",
        "Write the lock, and have it graded by what breaks locks: forced schedules on real Postgres and Redis, every \
         interleaving of a model, faults. A result never says more than was tried: \u{201c}no violation in N \
         schedules\u{201d}, or the schedule that broke it.",
    );
    html.class("p", "row");
    if let Some(next) = standing.next() {
        let begun = standing.exercises.values().any(|stand| stand.attempts > 0);
        let says = if begun { format!("Go on with exercise {}", next.number) } else { "Begin".to_owned() };
        html.class("a", "btn btn-main btn-l").attr("href", &format!("/homework/{}", next.slug)).text(&says).close();
    }
    html.class("a", "btn").attr("href", "/lesson/certificate").text("What you proved").close();
    let passed = format!("{} of {} passed", standing.passed(), EXERCISES.len());
    html.element("span", "muted num", &passed).close();
    html.class("ol", "agenda-l");
    for exercise in EXERCISES {
        row(&mut html, exercise, &standing.of(exercise));
    }
    html.finish()
}

fn row(html: &mut Html, exercise: &Exercise, stand: &Stand) {
    html.class("li", "panel");
    number(html, exercise.number, stand.passed.is_some());
    html.class("div", "grow").open("h2").open("a").attr("href", &format!("/homework/{}", exercise.slug));
    html.text(exercise.title).close().close();
    let question = Text::of(exercise.slug).map_or("", |text| text.plain.as_str());
    html.element("p", "ink2", question).close();
    html.class("span", "hw-s num").element("span", "", &says(stand));
    html.element("span", "muted", written_in(exercise.language)).close().close();
}

/// A number in a ring, or a check.
pub(super) fn number(html: &mut Html, number: u8, passed: bool) {
    html.class("span", if passed { "sn done" } else { "sn" });
    match passed {
        true => html.icon("check", false).element("span", "sr", &format!("{number}, passed")),
        false => html.text(&number.to_string()),
    };
    html.close();
}

/// How somebody stands, in words.
fn says(stand: &Stand) -> String {
    let attempts = match stand.attempts {
        0 => String::new(),
        1 => ", 1 attempt".to_owned(),
        n => format!(", {n} attempts"),
    };
    match &stand.passed {
        Some(Passed { score: Some(score), .. }) => format!("passed, best {score}{attempts}"),
        Some(_) => format!("passed{attempts}"),
        None if stand.attempts > 0 => format!("not passed yet{attempts}"),
        None => "not begun".to_owned(),
    }
}

/// What an answer is written in, and what grades it.
pub(super) fn written_in(language: Language) -> &'static str {
    match language {
        Language::Lua => "Lua on Redis",
        Language::Sql => "SQL on Postgres",
        Language::Toml => "a table, every interleaving",
        Language::Expression => "expressions, properties",
        Language::Moves => "moves on a real lab",
        Language::Choice => "choices, fault scripts",
    }
}
