//! A violation that was found by search: every move in a column of the same width, and the same as a table. It is
//! found again from what was handed in, for the search always finds the same.

use std::fmt::Write;

use locks::homework::keep::search::{Found, Trace, search};
use locks::homework::keep::story::{Told, tell};
use locks::homework::keep::table::Table;
use locks::homework::keep::world::{Phase, Row, World};

use super::page::ExercisePage;
use super::state::Attempt;
use crate::html::{Html, Size, escaped};

/// A move's width.
const WIDE: usize = 58;
const AXIS: usize = 18;
const LANE: usize = 32;

/// Draw it; false if the exercise has no such thing.
pub(super) fn draw(html: &mut Html, page: &ExercisePage, attempt: &Attempt) -> bool {
    if page.exercise.slug != "keep" {
        return false;
    }
    let Ok(table) = Table::read(&attempt.text) else { return false };
    let Found::Violation(_, trace) = search(&table) else { return false };
    let told = tell(&trace, &table);
    html.class("div", "tl tr-p").class("div", "tl-lanes").attr("aria-hidden", "true");
    html.class("div", "ln-axis").close();
    for name in ["A", "B"] {
        html.class("div", "ln-rep").badge(Some(name), Size::Normal).close();
    }
    html.class("div", "ln-rep").element("span", "nm", "store").close().close();
    html.class("div", "tl-scroll").attr("tabindex", "0").attr("role", "group");
    html.attr("aria-label", "The way there, move by move; scrolls sideways")
        .raw(&picture(&trace, &told))
        .close()
        .close();
    moves(html, &told);
    true
}

fn moves(html: &mut Html, told: &[Told]) {
    html.class("div", "scroll-x").attr("tabindex", "0").attr("role", "group").attr("aria-label", "The moves");
    html.class("table", "rows tr-t").attr("id", "h-moves").open("thead").open("tr");
    for head in ["move", "tick", "what happens", "A", "store's row", "B"] {
        html.element("th", "", head);
    }
    html.close().close().open("tbody");
    let last = told.len();
    for (n, told) in (1..).zip(told) {
        html.class("tr", if n == last { "fail" } else { "" });
        html.element("td", "num", &n.to_string()).element("td", "num", &told.tick.to_string());
        html.class("td", "w");
        super::worded(html, &told.what);
        html.close().element("td", "", &told.a).element("td", "", &told.row);
        html.element("td", "", if told.b_inside { "inside" } else { "" }).close();
    }
    html.close().close().close();
}

/// Places of equal states, one behind the other: from, to, state.
fn runs<T: PartialEq>(of: impl Iterator<Item = T>) -> Vec<(usize, usize, T)> {
    let mut runs: Vec<(usize, usize, T)> = Vec::new();
    for (at, state) in of.enumerate() {
        match runs.last_mut() {
            Some(last) if last.2 == state => last.1 = at + 1,
            _ => runs.push((at, at + 1, state)),
        }
    }
    runs
}

fn picture(trace: &Trace, told: &[Told]) -> String {
    let (wide, high) = (trace.len() * WIDE + 8, AXIS + 3 * LANE);
    let worlds = || trace.iter().map(|(_, world)| world);
    let mut svg = String::new();
    let summary = told.last().map_or("", |told| told.what.as_str());
    _ = write!(
        svg,
        r#"<svg width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" role="img" aria-label="{} moves; the last: {}">"#,
        trace.len(),
        escaped(summary)
    );
    // What is violated is violated in the last column.
    let last = (trace.len() - 1) * WIDE;
    _ = write!(
        svg,
        r#"<rect x="{last}" y="{AXIS}" width="{WIDE}" height="{0}" class="viol-f"/><rect x="{last}" y="{AXIS}" width="{WIDE}" height="{0}" fill="url(#vi)" opacity=".5"/>"#,
        2 * LANE
    );
    for (from, to, tick) in runs(worlds().map(|world| world.now)) {
        let x = from * WIDE;
        let room = (to - from) * WIDE;
        let text = if room > 40 { format!("tick {tick}") } else { tick.to_string() };
        _ = write!(
            svg,
            r#"<path d="M{x}.5 0V{high}" class="axl"/><text x="{}" y="12" class="ax">{text}</text>"#,
            x + 4
        );
    }
    for lane in 0..=2 {
        let y = AXIS + lane * LANE;
        _ = write!(svg, r#"<path d="M0 {y}.5H{wide}" class="lane-l"/>"#);
    }
    of_a(&mut svg, worlds());
    for (from, to, inside) in runs(worlds().map(|world| world.row == Row::OfB)) {
        if inside {
            bar(&mut svg, "b", (from, to), AXIS + LANE, "B inside");
        }
    }
    of_store(&mut svg, worlds());
    svg.push_str("</svg>");
    svg
}

fn of_a<'a>(svg: &mut String, worlds: impl Iterator<Item = &'a World>) {
    // What A believes against what the store says.
    let state = |world: &World| (world.a, world.inside() && world.row != Row::OfA);
    for (from, to, (phase, denied)) in runs(worlds.map(state)) {
        let (x, wide) = (from * WIDE, (to - from) * WIDE);
        match phase {
            Phase::Asking => {
                _ = write!(svg, r#"<path d="M{x} {}H{}" class="wait s-a"/>"#, AXIS + 12, x + wide);
            }
            Phase::Stopped => {}
            phase if denied => {
                _ = write!(
                    svg,
                    r#"<rect x="{0}.75" y="{1}.75" width="{2}" height="13.5" rx="2" class="hollow s-a"/><rect x="{0}.75" y="{1}.75" width="{2}" height="13.5" rx="2" fill="url(#oa)"/><text x="{3}" y="{4}" class="t t-b t-halo">{phase:?}</text>"#,
                    x,
                    AXIS + 7,
                    wide - 2,
                    x + 5,
                    AXIS + 18,
                );
            }
            phase => bar(svg, "a", (from, to), AXIS, &format!("{phase:?}")),
        }
    }
}

/// A solid bar, with its label.
fn bar(svg: &mut String, hue: &str, (from, to): (usize, usize), lane: usize, text: &str) {
    let (x, wide) = (from * WIDE, (to - from) * WIDE);
    _ = write!(
        svg,
        r#"<rect x="{x}" y="{0}" width="{1}" height="15" rx="3" class="f-{hue}"/><rect x="{x}" y="{0}" width="{1}" height="15" rx="3" fill="url(#h{hue})"/><text x="{2}" y="{3}" class="t t-6 i-{hue} h-{hue}">{text}</text>"#,
        lane + 7,
        wide - 1,
        x + 5,
        lane + 18,
    );
}

fn of_store<'a>(svg: &mut String, worlds: impl Iterator<Item = &'a World>) {
    let y = AXIS + 2 * LANE + 6;
    let state = |world: &World| match world.row {
        Row::Empty => ("free", "n"),
        Row::OfA if world.now < world.expires => ("A", "a"),
        Row::OfA => ("expired", "n"),
        Row::Deleted => ("deleted", "n"),
        Row::OfB => ("B", "b"),
    };
    for (from, to, (text, hue)) in runs(worlds.map(state)) {
        let (x, wide) = (from * WIDE, (to - from) * WIDE - 1);
        match text {
            "free" => _ = write!(svg, r#"<path d="M{x} {}h{wide}" class="lk-free"/>"#, y + 8),
            "expired" | "deleted" => {
                _ = write!(
                    svg,
                    r#"<path d="M{x} {0}h{wide}" class="lk-exp"/><text x="{1}" y="{2}" class="t t-halo">{text}</text>"#,
                    y + 8,
                    x + 4,
                    y + 12
                );
            }
            _ => {
                _ = write!(
                    svg,
                    r#"<rect x="{x}" y="{y}" width="{wide}" height="16" class="lk s-{hue}"/><path d="M{x} {0}.5h{wide}" class="lk-base s-{hue}"/><text x="{1}" y="{2}" class="t t-b">{text}</text>"#,
                    y + 15,
                    x + 6,
                    y + 11
                );
            }
        }
    }
}
