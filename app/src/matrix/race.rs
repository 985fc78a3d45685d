//! The race: one line a strategy, the same script, one scale, the verdict at the line's end.

use std::fmt::Write;

use locks::matrix::{Coverage, Figures};

use super::strip::{HIGH, LANES, Shared, strip};
use super::table::mark;
use super::{Line, MatrixPage, Measured, Race, State, UnderWay};
use crate::html::{Html, escaped};
use crate::stage::Stage;
use crate::stage::view::words;

/// Width of a line on a wide screen, and on a phone.
const WIDE: f64 = 1032.0;
const SMALL: f64 = 326.0;

/// The panel.
pub(super) fn race(html: &mut Html, page: &MatrixPage) {
    let race = &page.race;
    html.class("section", "panel race").attr("id", "race").attr("aria-label", "Race");
    html.class("header", "tl-h").element("h2", "", "Race").class("span", "field").element("span", "", "Script");
    scripts(html, page);
    html.close();
    html.element("span", "muted hide-s terms", &race.terms).element("span", "grow", "");
    run(html, race);
    html.close();

    let stages = race.lines.iter().filter_map(|line| line.stage.as_ref().map(|run| &***run));
    let drawn = stages.clone().next().is_some();
    let (wide, small) = (Shared::new(stages.clone(), WIDE), Shared::new(stages, SMALL));
    html.open("ol");
    if drawn {
        html.class("li", "race-r race-ax").element("div", "race-l", "").element("div", "race-k", "");
        html.class("div", "tl-scroll ltr hide-s").raw(&wide.axis()).close().element("div", "race-v", "").close();
    }
    for each in &race.lines {
        line(html, each, wide, small);
    }
    html.close().close();
}

/// Which script is raced: each fault, or the run that the address names.
fn scripts(html: &mut Html, page: &MatrixPage) {
    let race = &page.race;
    html.class("details", "menu").class("summary", "pick").text(&race.title).icon("down", false).close();
    html.class("div", "pop");
    let mut group = "";
    for row in &page.rows {
        if row.group != group {
            group = &row.group;
            html.element("span", "pop-g", group);
        }
        let place = page.place.with_race(&row.fault);
        html.open("a").attr("href", &format!("{}#race", place.href()));
        if row.fault == race.script {
            html.attr("aria-current", "true");
        }
        html.text(&row.title).close();
    }
    html.close().close();
}

fn run(html: &mut Html, race: &Race) {
    let may = race.lines.iter().filter(|line| line.cell.applies);
    let left = may.clone().filter(|line| line.cell.is_left()).count();
    let (all, busy) = (may.clone().count(), may.filter(|line| line.cell.under_way.is_some()).count());
    if busy > 0 {
        html.class("span", "muted num").text(&format!("{busy} of {all} under way")).close();
        return;
    }
    let text = match left {
        0 => format!("Run all {all} again"),
        _ if left == all => format!("Run all {all}"),
        _ => format!("Run {left} left"),
    };
    html.class("button", "btn btn-s").attr("name", "race").attr("value", &race.script);
    html.icon(if left == 0 { "redo" } else { "play" }, false).text(&text).close();
}

fn line(html: &mut Html, line: &Line, wide: Shared, small: Shared) {
    html.class("li", if line.cell.applies { "race-r" } else { "race-r race-na" }).class("div", "race-l").element(
        "code",
        "",
        &line.strategy,
    );
    let takeover = match line.cell.state() {
        State::Shown(measured) => measured.figures.as_ref().and_then(|figures| figures.takeover_ms),
        _ => None,
    };
    let note = takeover.map_or_else(|| line.summary.clone(), |ms| format!("takeover {}", words::short(ms * 1000)));
    html.element("span", "", &note).close();
    html.class("div", "race-k").attr("aria-hidden", "true");
    if let (State::Shown(_), Some(stage)) = (line.cell.state(), &line.stage) {
        names(html, stage);
    }
    html.close();
    match (line.cell.state(), &line.stage) {
        (State::Shown(measured), Some(stage)) => {
            let end = End::of(measured, Some(&***stage));
            let says = format!("{}: {}", line.strategy, end.title);
            let label = format!("{}, scrolls sideways", line.strategy);
            html.class("div", "tl-scroll ltr hide-s").attr("tabindex", "0").attr("role", "group");
            html.attr("aria-label", &label).raw(&strip(stage, wide, true, &says)).close();
            html.class("div", "tl-scroll ltr show-s").raw(&strip(stage, small, false, &says)).close();
            verdict(html, measured, &end);
        }
        (State::Shown(measured), None) => {
            html.class("div", "race-n").text(measured.why.as_deref().unwrap_or("its run is no longer stored")).close();
            verdict(html, measured, &End::of(measured, None));
        }
        (state, _) => {
            let text = match state {
                State::NotApplicable => "this cannot happen to it",
                State::UnderWay(UnderWay::Runs) => "runs …",
                State::UnderWay(UnderWay::Waits) => "waits for its turn",
                _ => "not run yet",
            };
            html.element("div", "race-n", text).element("div", "race-v", "");
        }
    }
    html.close();
}

/// Names of lanes, where there is room for them: a picture, so that places need no style.
fn names(html: &mut Html, stage: &Stage) {
    let lane = LANES / stage.replicas.len().max(2) as f64;
    let lanes = stage.replicas.keys().enumerate().filter(|_| lane >= 12.0);
    let lanes = lanes.map(|(nth, name)| (14.0 + nth as f64 * lane, name.clone()));
    let mut svg = format!(r#"<svg width="36" height="{HIGH}">"#);
    for (y, name) in lanes.chain([(57.0, "lock".to_owned()), (72.0, stage.setup.sink.to_string())]) {
        _ = write!(svg, r#"<text x="30" y="{y:.1}" class="ax" text-anchor="end">{}</text>"#, escaped(&name));
    }
    html.raw(&svg).raw("</svg>");
}

fn verdict(html: &mut Html, measured: &Measured, end: &End) {
    html.class("div", if end.bad { "race-v bad" } else { "race-v" }).icon(mark(measured.coverage), false);
    match &measured.run {
        Some(run) => html.open("a").attr("href", &format!("/runs/{run}")).attr("data-leaves", ""),
        None => html.open("span"),
    };
    html.element("b", "", &end.title).element("small", "", &end.note).close().close();
}

/// What a line ends with.
#[derive(Debug, PartialEq, Eq)]
struct End {
    bad: bool,
    title: String,
    note: String,
}

impl End {
    fn of(measured: &Measured, stage: Option<&Stage>) -> End {
        let overlaps = stage.iter().flat_map(|stage| stage.verdict.overlaps.iter().filter(|found| found.certain));
        let longest = overlaps.map(|found| found.until_us.saturating_sub(found.from_us)).max();
        let overlap = longest.map(|us| format!("verlap {}", words::short(us)));
        let figures = measured.figures.clone().unwrap_or_default();
        let bad = measured.coverage == Coverage::NotCovered;
        let (title, note) = match (measured.coverage, overlap) {
            (Coverage::NotCovered, Some(overlap)) if figures.overlaps > 0 => (format!("O{overlap}"), counted(&figures)),
            (Coverage::NotCovered, _) => ("Not covered".to_owned(), counted(&figures)),
            (Coverage::Covered, Some(overlap)) => ("Covered".to_owned(), format!("o{overlap}, harmless")),
            (Coverage::Covered, None) => ("No overlap".to_owned(), counted(&figures)),
            (Coverage::Inconclusive, _) => ("Inconclusive".to_owned(), "run it again".to_owned()),
            (Coverage::NotApplicable, _) => ("n/a".to_owned(), String::new()),
        };
        End { bad, title, note }
    }
}

/// What the sink took, in the fewest words.
fn counted(figures: &Figures) -> String {
    let effects = figures.effects_per_slot;
    let mut text = format!("{effects} {}", if effects == 1 { "effect" } else { "effects" });
    for (n, what) in [(figures.stale_effects, "stale"), (figures.missed_slots, "missed")] {
        if n > 0 {
            _ = write!(text, ", {n} {what}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(coverage: Coverage, figures: Figures) -> Measured {
        Measured { coverage, why: None, figures: Some(figures), run: None }
    }

    #[test]
    fn a_line_ends_with_what_harms_most() {
        let harmed = Figures { effects_per_slot: 2, stale_effects: 1, ..Figures::default() };
        let end = End::of(&measured(Coverage::NotCovered, harmed), None);
        assert_eq!((end.bad, end.title.as_str(), end.note.as_str()), (true, "Not covered", "2 effects, 1 stale"));
        let calm = Figures { effects_per_slot: 1, ..Figures::default() };
        let end = End::of(&measured(Coverage::Covered, calm), None);
        assert_eq!((end.bad, end.title.as_str(), end.note.as_str()), (false, "No overlap", "1 effect"));
    }
}
