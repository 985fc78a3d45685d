//! The whole page: one form around everything, so that each button works without a script. `matrix.js` only saves
//! the jump: it sends the same form and puts the same page in place.

use locks::guard::Guard;

use super::place::guard_name;
use super::{MatrixPage, Tally, UnderWay, opened, race, table};
use crate::html::Html;

/// What stands between top bar and help.
pub fn main(page: &MatrixPage) -> String {
    let mut html = Html::new();
    let cells = || page.rows.iter().flat_map(|row| &row.cells).chain(page.race.lines.iter().map(|line| &line.cell));
    let busy = cells().any(|cell| cell.under_way.is_some());
    html.class("main", "mx").attr("id", "main").attr("data-busy", if busy { "true" } else { "false" });
    html.open("form").attr("method", "post").attr("action", &page.place.href());
    header(&mut html, page);
    html.class("p", "mx-said").attr("id", "mx-said").attr("role", "status").close();
    let one = one(page);
    strategies(&mut html, page, &one);
    html.class("div", if page.opened.is_some() { "mx-g" } else { "mx-g alone" });
    html.class("section", "panel scroll-x").attr("tabindex", "0").attr("aria-label", "Matrix, scrolls sideways");
    table::table(&mut html, page, &one);
    html.close();
    if let Some(cell) = &page.opened {
        opened::opened(&mut html, &page.place, cell);
    }
    html.close();
    race::race(&mut html, page);
    html.close();
    html.finish()
}

/// The strategy that a narrow screen shows.
fn one(page: &MatrixPage) -> String {
    let opened = page.place.cell.as_ref().map(|cell| &cell.strategy);
    let named = page.place.strategy.as_ref().or(opened).filter(|name| page.strategies.contains(name));
    // The first that locks: `none` has little to show.
    named.or_else(|| page.strategies.iter().find(|name| *name != "none")).cloned().unwrap_or_default()
}

fn header(html: &mut Html, page: &MatrixPage) {
    html.class("header", "mx-h").class("div", "grow").element("h1", "", "Which failure does your lock cover?");
    html.class("p", "ink2").text("Measured on this machine, run by run. ");
    tally(html, page.tally);
    html.close().close();
    html.class("span", "field").element("span", "", "Guard at the sink").class("span", "seg guards");
    html.attr("role", "group").attr("aria-label", "Guard at the sink");
    for guard in [None].into_iter().chain(Guard::LADDER.map(Some)) {
        html.open("a").attr("href", &page.place.behind(guard).href());
        if guard == page.place.guard {
            html.attr("aria-current", "true");
        }
        html.text(&guard_name(guard)).close();
    }
    html.close().close();
    html.class("details", "menu").class("summary", "btn").text("Export").close().class("div", "pop pop-r");
    for (form, says) in [("markdown", "Markdown table"), ("json", "JSON, with figures")] {
        let path = format!("/api/matrix/export?guard={}&form={form}", guard_name(page.place.guard));
        html.open("a").attr("href", &path).attr("download", "").attr("data-leaves", "").text(says).close();
    }
    html.close().close();
    progress(html, page);
    html.close();
}

fn tally(html: &mut Html, tally: Tally) {
    let Tally { predicted, revealed, right } = tally;
    if predicted == 0 {
        html.text("Predict a cell, then reveal it by running it.");
        return;
    }
    html.text("You predicted ").element("b", "num", &predicted.to_string());
    html.text(if predicted == 1 { " cell, " } else { " cells, " });
    html.element("b", "num", &right.to_string());
    let of = if revealed == predicted { "them".to_owned() } else { format!("{revealed} revealed") };
    html.text(&format!(" of {of} right."));
}

/// The page's one main action: reveal what is left, or cancel what goes on.
fn progress(html: &mut Html, page: &MatrixPage) {
    let cells = || page.rows.iter().flat_map(|row| &row.cells).chain(page.race.lines.iter().map(|line| &line.cell));
    let mut under_way: Vec<UnderWay> =
        page.rows.iter().flat_map(|row| &row.cells).filter_map(|cell| cell.under_way).collect();
    if under_way.is_empty() {
        under_way = cells().filter_map(|cell| cell.under_way).collect();
    }
    let left = page.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.is_left()).count();
    if !under_way.is_empty() {
        let runs = under_way.iter().filter(|each| **each == UnderWay::Runs).count();
        let said = format!("{runs} running, {} waiting", under_way.len() - runs);
        html.element("span", "muted num mx-p", &said);
        html.class("button", "btn").attr("name", "cancel").attr("value", "all").text("Cancel").close();
    } else if left > 0 {
        html.class("button", "btn btn-main").attr("name", "run-all").attr("value", "all");
        html.text(&format!("Reveal {left} left")).close();
    } else {
        html.element("span", "muted mx-p", "all revealed");
    }
}

/// One strategy at a time where the screen is narrow.
fn strategies(html: &mut Html, page: &MatrixPage, one: &str) {
    html.class("nav", "show-s mx-s").attr("aria-label", "Strategy shown").class("span", "seg");
    for name in &page.strategies {
        html.open("a").attr("href", &page.place.with_strategy(name).href());
        if name == one {
            html.attr("aria-current", "true");
        }
        html.text(name).close();
    }
    html.close().close();
}
