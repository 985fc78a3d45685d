//! An exercise's page: the task in a reading column, beside it the editor and what grading came to.

use locks::homework::{EXERCISES, Exercise, Graded};

use super::content::Text;
use super::list::{number, written_in};
use super::state::{Attempt, Standing};
use super::{editor, result, schedules};
use crate::html::Html;
use crate::stage::view::words;

/// What an exercise's page shows.
#[derive(Clone, Debug)]
pub struct ExercisePage {
    /// Which exercise.
    pub exercise: &'static Exercise,
    /// How the learner stands with all of them.
    pub standing: Standing,
    /// What stands in the editor.
    pub text: String,
    /// When it was kept as a draft, in milliseconds since the Unix epoch.
    pub kept_ms: Option<i64>,
    /// The attempt that is shown.
    pub shown: Option<Attempt>,
    /// All attempts, newest first.
    pub attempts: Vec<Attempt>,
    /// What could not be done, in words.
    pub said: Option<String>,
}

impl ExercisePage {
    /// What changes on it, each part with an identity, for `homework.js`.
    pub fn parts(&self) -> String {
        let mut html = Html::new();
        html.open("div").attr("id", "h-parts");
        bar(&mut html, self);
        schedules::list(&mut html, self);
        editor::kept(&mut html, self);
        result::panel(&mut html, self);
        after(&mut html, self);
        attempts(&mut html, self);
        html.finish()
    }

    /// Did the learner pass it, ever?
    pub(super) fn passed(&self) -> bool {
        self.standing.of(self.exercise).passed.is_some()
    }

    /// The line that the attempt which is shown is wrong in.
    pub(super) fn mistaken_line(&self) -> Option<u32> {
        match self.shown.as_ref().map(|shown| &shown.graded) {
            Some(Graded::YourError(mistake)) => mistake.line,
            _ => None,
        }
    }

    /// How its file is called.
    pub(super) fn file(&self) -> String {
        format!("{}.{}", self.exercise.slug, self.exercise.language.extension())
    }

    /// Its address.
    pub(super) fn path(&self) -> String {
        format!("/homework/{}", self.exercise.slug)
    }
}

/// What stands between top bar and help.
pub(crate) fn main(page: &ExercisePage) -> String {
    let mut html = Html::new();
    bar(&mut html, page);
    let Some(text) = Text::of(page.exercise.slug) else { return html.finish() };
    html.class("main", "hw").attr("id", "main").attr("data-exercise", page.exercise.slug);
    html.class("article", "hw-t").class("header", "hw-h");
    let eyebrow =
        format!("Exercise {} of {}, {}", page.exercise.number, EXERCISES.len(), written_in(page.exercise.language));
    html.element("p", "eyebrow", &eyebrow).element("h1", "", page.exercise.title).close();
    html.class("p", "question").raw(&text.question).close();
    html.class("div", "prose").raw(&text.task).close();
    html.class("dl", "contract");
    for (name, meaning) in &text.contract {
        html.element("dt", "", name).open("dd").raw(meaning).close();
    }
    html.close();
    schedules::list(&mut html, page);
    hints(&mut html, page.exercise);
    html.close();
    html.class("div", "hw-w");
    editor::panel(&mut html, page);
    result::panel(&mut html, page);
    after(&mut html, page);
    attempts(&mut html, page);
    result::kinds(&mut html);
    html.finish()
}

/// The exercises, in a bar.
fn bar(html: &mut Html, page: &ExercisePage) {
    html.class("nav", "steps").attr("id", "h-bar").attr("aria-label", "Exercises").open("ol");
    for exercise in EXERCISES {
        html.open("li").open("a").attr("href", &format!("/homework/{}", exercise.slug));
        if exercise.number == page.exercise.number {
            html.attr("aria-current", "page");
        }
        number(html, exercise.number, page.standing.of(exercise).passed.is_some());
        html.element("span", "st", exercise.title).close().close();
    }
    html.close().close();
}

fn hints(html: &mut Html, exercise: &Exercise) {
    html.class("section", "hints").element("h2", "", "Hints");
    for (degree, hint) in ["A nudge", "A pointer", "Nearly the answer"].into_iter().zip(exercise.hints) {
        html.open("details").open("summary").icon("right", false).element("span", "", degree).close();
        html.element("p", "", hint).close();
    }
    html.close();
}

/// What is shown once the exercise is passed: an answer of the lab's, and what is to be said of it.
fn after(html: &mut Html, page: &ExercisePage) {
    html.open("div").attr("id", "h-after");
    if page.passed() {
        html.class("section", "panel hw-a").attr("aria-labelledby", "h-after-h").class("header", "panel-h");
        html.open("h2").attr("id", "h-after-h").text("An answer of ours, and what is behind it").close().close();
        html.class("pre", "code").attr("tabindex", "0").attr("role", "group").attr("aria-label", "An answer of ours");
        html.open("code").attr("data-code", language(page)).text(page.exercise.model).close().close();
        let discussion = Text::of(page.exercise.slug).map_or("", |text| text.discussion.as_str());
        html.class("div", "prose").raw(discussion).close().close();
    }
    html.close();
}

/// The language's name, for colours.
pub(super) fn language(page: &ExercisePage) -> &'static str {
    use locks::homework::Language;
    match page.exercise.language {
        Language::Lua => "lua",
        Language::Sql => "sql",
        Language::Expression => "expression",
        Language::Toml | Language::Moves | Language::Choice => "toml",
    }
}

/// What was handed in before.
fn attempts(html: &mut Html, page: &ExercisePage) {
    html.open("div").attr("id", "h-attempts");
    if !page.attempts.is_empty() {
        let counted = page.attempts.iter().filter(|attempt| attempt.counted.is_some()).count();
        html.class("details", "panel hw-l").open("summary").element("h2", "", "Earlier attempts");
        html.element("span", "num muted", &counted.to_string()).icon("down", false).close().open("ol");
        for attempt in &page.attempts {
            html.open("li").element("span", "num muted", &words::date(attempt.at_ms));
            html.open("a").attr("href", &format!("{}?attempt={}#h-result", page.path(), attempt.number));
            if page.shown.as_ref().is_some_and(|shown| shown.number == attempt.number) {
                html.attr("aria-current", "true");
            }
            html.text(&attempt.name()).close();
            html.element("span", "ink2", &result::in_a_line(&attempt.graded)).close();
        }
        html.close().close();
    }
    html.close();
}
