//! Faults by strategies. Every cell that can be acted on is a button of the page's one form, or a link; keys on
//! top of that are `matrix.js`'s.

use locks::matrix::Coverage;

use super::state::covered;
use super::{Cell, CellName, Joint, MatrixPage, Row, State, UnderWay};
use crate::html::Html;

/// The table.
pub(super) fn table(html: &mut Html, page: &MatrixPage, one: &str) {
    html.class("table", "matrix");
    html.element(
        "caption",
        "sr",
        &format!("Faults by strategies, guard {}", super::place::guard_name(page.place.guard)),
    );
    head(html, page, one);
    html.open("tbody");
    let mut group = "";
    for row in &page.rows {
        if row.group != group {
            group = &row.group;
            let columns = page.strategies.len().saturating_sub(1).to_string();
            html.class("tr", "grp").open("th").attr("colspan", "2").attr("scope", "rowgroup").text(group).close();
            html.open("td").attr("colspan", &columns).close().close();
        }
        line(html, page, row, one);
    }
    html.close().close();
}

fn head(html: &mut Html, page: &MatrixPage, one: &str) {
    html.open("thead").open("tr").class("th", "c0").attr("scope", "col").class("span", "legend");
    html.open("span").icon("check", true).text("you said").close();
    joint(html, Some(Joint::Agrees));
    html.element("span", "", "measured").close().close();
    for (column, name) in page.strategies.iter().enumerate() {
        let (yes, all) = covered(&page.rows, column);
        let left = page.rows.iter().filter_map(|row| row.cells.get(column)).filter(|cell| cell.is_left()).count();
        html.class("th", if name == one { "one" } else { "" }).attr("scope", "col").class("span", "mx-c");
        html.element("code", "", name);
        run_all(html, "run-column", name, left, &format!("under {name}"));
        html.close();
        let said = if all == 0 { "not measured yet".to_owned() } else { format!("{yes} of {all} covered") };
        html.element("span", "num", &said).close();
    }
    html.close().close();
}

/// A button that reveals what is left of a row or column.
fn run_all(html: &mut Html, name: &str, value: &str, left: usize, of: &str) {
    if left == 0 {
        return;
    }
    let cells = if left == 1 { "cell" } else { "cells" };
    let says = format!("Reveal {left} {cells} {of}");
    html.class("button", "mx-run").attr("name", name).attr("value", value).attr("aria-label", &says);
    html.attr("title", &says).icon("play", true).close();
}

fn line(html: &mut Html, page: &MatrixPage, row: &Row, one: &str) {
    let left = row.cells.iter().filter(|cell| cell.is_left()).count();
    html.open("tr").open("th").attr("scope", "row").class("span", "mx-c").element("span", "", &row.title);
    run_all(html, "run-row", &row.fault, left, &format!("of “{}”", row.title));
    html.close().close();
    for cell in &row.cells {
        draw(html, page, row, cell, if cell.strategy == one { " one" } else { "" });
    }
    html.close();
}

fn draw(html: &mut Html, page: &MatrixPage, row: &Row, cell: &Cell, one: &str) {
    let name = CellName::new(&cell.strategy, &row.fault);
    let of = format!("{}, {}", row.title, cell.strategy);
    let td = |html: &mut Html, class: &str| {
        html.class("td", &format!("mc {class}{one}"));
    };
    match cell.state() {
        State::NotApplicable => {
            td(html, "na");
            html.open("span").attr("title", "this fault cannot happen to it").text("n/a").close();
        }
        State::Predict => {
            td(html, "un");
            html.attr("data-cell", &name.to_string());
            predict(html, &name, &of);
            html.element("span", "w", "predict first");
        }
        State::Reveal(said) => {
            td(html, "un");
            html.attr("data-cell", &name.to_string());
            let value = format!("{name}/{}", word(!said.covered));
            let says = format!("{of}: you said {}; say {} instead", words(said.covered), words(!said.covered));
            html.class("button", "pg").attr("name", "predict").attr("value", &value).attr("aria-label", &says);
            html.attr("title", &says).icon(icon(said.covered), false).close();
            html.class("button", "mx-b").attr("id", &name.id()).attr("name", "run").attr("value", &name.to_string());
            html.attr("aria-label", &format!("{of}: run to reveal"));
            joint(html, Some(Joint::Open));
            html.element("span", "w", "run to reveal").close();
        }
        State::UnderWay(under_way) => {
            td(html, "un");
            html.class("span", "mx-b").attr("id", &name.id()).attr("tabindex", "-1");
            said(html, cell);
            joint(html, Some(Joint::Open));
            html.element("span", "go", if under_way == UnderWay::Runs { "runs …" } else { "waits" }).close();
        }
        State::Shown(measured) => {
            td(html, class(measured.coverage));
            let open = page.place.cell.as_ref() == Some(&name);
            html.class("a", if open { "mx-b open" } else { "mx-b" }).attr("id", &name.id());
            html.attr("href", &format!("{}#cell", page.place.with_cell(Some(name.clone())).href()));
            html.attr("aria-label", &format!("{of}: {}", measured.coverage));
            said(html, cell);
            joint(html, cell.joint());
            html.class("svg", "ic mi").attr("aria-hidden", "true").open("use");
            html.attr("href", &format!("#i-{}", mark(measured.coverage))).close().close();
            html.element("span", "w", measured.coverage.name()).close();
        }
    }
    html.close();
}

/// The two buttons by which one says what a run will show.
pub(super) fn predict(html: &mut Html, name: &CellName, of: &str) {
    html.class("span", "say");
    for covered in [true, false] {
        let says = format!("{of}: predict {}", words(covered));
        html.class("button", "pg").attr("name", "predict").attr("value", &format!("{name}/{}", word(covered)));
        if covered {
            html.attr("id", &name.id());
        }
        html.attr("aria-label", &says).attr("title", words(covered)).icon(icon(covered), false).close();
    }
    html.close();
}

/// What the learner said, small, before the joint.
fn said(html: &mut Html, cell: &Cell) {
    match cell.said {
        Some(said) => {
            html.class("span", "pg").attr("role", "img");
            html.attr("aria-label", &format!("you predicted {}", words(said.covered)));
            html.icon(icon(said.covered), false).close();
        }
        None => {
            html.class("span", "pg").attr("aria-hidden", "true").text("·").close();
        }
    }
}

/// The circle between two witnesses; empty room where there is nothing to compare.
pub(crate) fn joint(html: &mut Html, joint: Option<Joint>) {
    let Some(joint) = joint else {
        html.class("span", "joint none").attr("aria-hidden", "true").close();
        return;
    };
    let (class, path) = match joint {
        Joint::Agrees => ("joint", "M1.5 3.6h7M1.5 6.4h7"),
        Joint::Open => ("joint open", "M3.4 3.4A1.7 1.7 0 1 1 5.8 5c-.5.3-.8.6-.8 1.2M5 8.2v.05"),
        Joint::Differs => ("joint ne", "M1.5 3.6h7M1.5 6.4h7M7 .8 3 9.2"),
    };
    html.class("span", class).attr("role", "img").attr("aria-label", joint.words());
    html.open("svg").attr("viewBox", "0 0 10 10").open("path").attr("d", path).close().close().close();
}

/// A prediction as the form has it.
pub(super) fn word(covered: bool) -> &'static str {
    if covered { "covered" } else { "not-covered" }
}

/// A prediction in words.
pub(super) fn words(covered: bool) -> &'static str {
    if covered { "covered" } else { "not covered" }
}

/// A prediction's icon.
pub(super) fn icon(covered: bool) -> &'static str {
    if covered { "check" } else { "x" }
}

/// The icon of what was measured.
pub(super) fn mark(coverage: Coverage) -> &'static str {
    match coverage {
        Coverage::Covered => "check",
        Coverage::NotCovered => "oct",
        Coverage::NotApplicable => "minus",
        Coverage::Inconclusive => "help",
    }
}

fn class(coverage: Coverage) -> &'static str {
    match coverage {
        Coverage::Covered => "ok",
        Coverage::NotCovered => "nc",
        Coverage::NotApplicable => "na",
        Coverage::Inconclusive => "inc",
    }
}
