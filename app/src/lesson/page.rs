//! A step's page: text in a reading column, beside it the list of tasks and the stage. The stage is the one of
//! the lab, brought to life by the same program.

use std::collections::BTreeMap;

use super::content::{Lesson, Part, STEPS, TaskText, Text};
use super::state::{Known, OwnRun};
use super::{costs, parts};
use crate::data::RunPage;
use crate::html::Html;
use crate::part::theatre;
use locks::action::Action;
use locks::lesson::Cost;

/// What a step's page shows.
#[derive(Clone, Debug, Default)]
pub struct StepPage {
    /// Which step.
    pub number: u8,
    /// What is known of the learner.
    pub known: Known,
    /// What the latest run misses, by task.
    pub misses: BTreeMap<String, String>,
    /// The stage that stands, by its name.
    pub stage: Option<(String, RunPage)>,
    /// The name of the one that was opened last, whether it stands or not.
    pub opened: Option<String>,
    /// The scenario of their own that they ran last.
    pub own: Option<OwnRun>,
    /// What could not be done, in words.
    pub said: Option<String>,
    /// What strategies cost, by name, as far as it was measured for the learner.
    pub costs: Vec<(String, Cost)>,
}

impl StepPage {
    /// Was anything predicted on it?
    pub(super) fn has_said(&self) -> bool {
        let questions = Lesson::step(self.number).into_iter().flat_map(Text::questions);
        questions
            .filter(|asked| asked.shown_by.is_some())
            .any(|asked| self.known.answer(self.number, &asked.id).is_some())
    }

    /// What changes on it.
    pub fn parts(&self) -> String {
        parts::all(self)
    }
}

/// What stands between top bar and help.
pub(crate) fn main(page: StepPage) -> String {
    let mut html = Html::new();
    parts::steps(&mut html, &page.known.progress(), Some(page.number));
    let Some(text) = Lesson::step(page.number) else { return html.finish() };
    html.class("main", "lesson").attr("id", "main").attr("data-step", &page.number.to_string());
    html.class("article", "read");
    html.class("header", "read-h").class("p", "eyebrow").text(&format!("Step {} of {STEPS}", page.number)).close();
    html.element("h1", "", &text.title);
    html.class("p", "question").raw(&text.question).close().close();
    text.parts.iter().for_each(|part| self::part(&mut html, &page, part));
    pager(&mut html, page.number);
    html.close();
    html.class("section", "lstage").attr("aria-label", "Tasks and stage").attr("id", "at-stage");
    parts::list(&mut html, &page);
    parts::said(&mut html, &page);
    stage(&mut html, page, text);
    html.finish()
}

fn part(html: &mut Html, page: &StepPage, part: &Part) {
    match part {
        Part::Prose(prose) => drop(html.class("div", "prose").raw(prose).close()),
        Part::Prediction(asked) => parts::question(html, page, asked, "Your prediction"),
        // One main thing to do at a time: what one expects goes first.
        Part::Stage(stage) => parts::opens(html, page, std::slice::from_ref(stage), page.has_said()),
        Part::Task(text) => task(html, page, text),
        Part::Explain(gives, inside) => {
            html.class("details", "expl").open("summary").open("span").element("b", "", "Explanation");
            let note = match gives.as_str() {
                "" => "Open it whenever you like.".to_owned(),
                gives => format!("Open it whenever you like. It gives {gives} away."),
            };
            html.element("span", "muted", &note).close().icon("down", false).close();
            html.class("div", "prose").raw(inside).close().close();
        }
        Part::Real(name, inside) => {
            html.class("section", "real")
                .element("h2", "", &format!("How {name} {} it", if name.contains(" and ") { "do" } else { "does" }))
                .raw(inside)
                .close();
        }
        Part::Editor(first) => editor(html, page, first),
        Part::Quiz(questions) => parts::quiz(html, page, questions),
        Part::Costs(above) => costs::table(html, page, above),
        Part::Command(what, text) => command(html, what, text),
    }
}

fn task(html: &mut Html, page: &StepPage, text: &TaskText) {
    let id = format!("task-{}", text.id);
    html.class("section", "task").attr("id", &id).attr("aria-labelledby", &format!("{id}-h")).attr("tabindex", "-1");
    html.open("h2").attr("id", &format!("{id}-h")).element("span", "t-l", &text.id).text(&text.title).close();
    html.class("div", "prose").raw(&text.html).close();
    parts::opens(html, page, &text.stages, false);
    if !text.moves.is_empty() {
        html.open("form").attr("method", "post").attr("action", &format!("/lesson/{}#{id}", page.number));
        html.attr("class", "acts").attr("data-quick", "");
        for (n, one) in text.moves.iter().enumerate() {
            html.class("button", "btn").attr("name", "do").attr("value", &format!("{}/{n}", text.id));
            if let [Action::Advance(advance)] = one.actions.as_slice() {
                html.attr("data-steps", &advance.replica.join(" "));
            }
            html.text(&one.label).close();
        }
        html.close();
    }
    parts::task_state(html, page, text);
    html.close();
}

/// A scenario to write, and what came of it.
fn editor(html: &mut Html, page: &StepPage, first: &str) {
    let (script, strategy) = match &page.own {
        Some(own) => (own.script.as_str(), own.strategy.as_str()),
        None => (first, "pg-lease"),
    };
    html.class("section", "own").attr("id", "editor").attr("aria-labelledby", "own-h");
    html.open("form").attr("method", "post").attr("action", &format!("/lesson/{}#editor", page.number));
    html.open("h2").attr("id", "own-h").open("label").attr("for", "own-t").text("Your scenario").close().close();
    html.class("textarea", "code").attr("id", "own-t").attr("name", "script").attr("rows", "22");
    html.attr("spellcheck", "false").attr("autocomplete", "off").text("\n").text(script).close();
    html.class("p", "row").class("label", "field").element("span", "", "Strategy");
    html.class("select", "pick mono").attr("name", "strategy");
    for name in names() {
        html.open("option").attr("value", &name);
        if name == strategy {
            html.attr("selected", "");
        }
        html.text(&name).close();
    }
    html.close().close();
    html.class("button", "btn btn-main").attr("name", "run").attr("value", "own").text("Run it").close().close();
    html.close();
    parts::own(html, page);
    html.close();
}

/// A command, as one types it.
fn command(html: &mut Html, what: &str, text: &str) {
    html.class("figure", "cmd").class("pre", "code").attr("tabindex", "0").attr("role", "group");
    html.attr("aria-label", "Command").element("code", "", text).close();
    html.class("button", "btn btn-s").attr("data-copy", text).attr("type", "button").attr("hidden", "");
    html.text("Copy").close().open("figcaption").raw(what).close().close();
}

/// Every strategy, each with its mutants.
fn names() -> impl Iterator<Item = String> {
    let mutants = |info: &'static locks::strategy::Info| {
        info.mutants.iter().map(|mutant| format!("{}/{}", info.name, mutant.name))
    };
    locks::strategy::ALL
        .iter()
        .copied()
        .flat_map(move |info| std::iter::once(info.name.to_owned()).chain(mutants(info)))
}

fn pager(html: &mut Html, number: u8) {
    html.class("nav", "pager").attr("aria-label", "Neighbouring steps");
    let title = |number: u8| Lesson::step(number).map(|text| text.title.as_str());
    if let Some((to, title)) = number.checked_sub(1).and_then(|to| Some((to, title(to)?))) {
        html.class("a", "btn").attr("href", &format!("/lesson/{to}")).icon("prev", false).text(title).close();
    }
    html.element("span", "grow", "");
    match title(number + 1) {
        Some(title) => {
            let to = format!("/lesson/{}", number + 1);
            html.class("a", "btn").attr("href", &to).text(title).icon("next", false).close();
        }
        None => drop(html.class("a", "btn").attr("href", "/lesson").text("The agenda").icon("next", false).close()),
    }
    html.close();
}

/// The stage, or what to do for one.
fn stage(html: &mut Html, page: StepPage, text: &Text) {
    let Some((name, run)) = page.stage.clone() else {
        nothing_runs(html, &page, text);
        return;
    };
    let label = text.stages().find(|opens| opens.name == name).map_or(name.as_str(), |opens| opens.label.as_str());
    html.class("header", "lst-h")
        .element("h2", "", "Stage")
        .element("code", "muted", &name)
        .element("span", "grow", "");
    html.open("form").attr("method", "post").attr("action", &format!("/lesson/{}#at-stage", page.number));
    html.class("button", "btn btn-s")
        .attr("name", "open")
        .attr("value", &name)
        .attr("title", label)
        .icon("redo", false);
    html.text("From its beginning").close().close().close();
    html.raw(&theatre::render(run));
}

/// What to do for a stage, where none stands.
fn nothing_runs(html: &mut Html, page: &StepPage, text: &Text) {
    html.class("section", "panel lst-none").element("h2", "", "Stage");
    let before = page.opened.as_ref().and_then(|name| text.stages().find(|opens| opens.name == *name));
    let says = match before {
        None => "Nothing runs yet. The stage opens with replicas and stores of your own.",
        Some(_) => {
            "Nothing runs any more: the stage that you had was closed, because nobody looked at it for a minute or \
             because the lab was ended. What it proved is kept."
        }
    };
    html.element("p", "ink2", says);
    if before.is_some() {
        html.open("p").open("a").attr("href", "/runs").text("Its run is under Runs").close().close();
    }
    parts::first(html, page, text);
    if let Some(opens) = before.or_else(|| text.stages().next()) {
        let action = format!("/lesson/{}#at-stage", page.number);
        html.open("form").attr("method", "post").attr("action", &action).attr("class", "acts");
        parts::open_button(html, page, opens, before.is_some(), None);
        html.close();
    }
    html.close();
}
