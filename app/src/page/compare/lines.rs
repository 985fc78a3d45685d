//! Two timelines one below the other. A second is as wide in both, and in both time counts from the first thing that
//! happens; quiet stretches collapse, so that a session of hours can be read.

use std::fmt::Write;

use super::says;
use crate::data::Compared;
use crate::html::Html;
use crate::matrix::picture::{look, span};
use crate::stage::Stage;
use crate::stage::era;
use crate::stage::view::timeline::{Lanes, Scale, busy, ground, lane_names, marks};

/// Width of a timeline that is seen whole.
const WIDE: f64 = 1314.0;
/// Room that a scale has before the first thing, and room for what is said of the last.
const BEFORE: f64 = 26.0;
const AFTER: f64 = 110.0;
/// Pixels a second, at least and at most.
const LEAST: f64 = 60.0;
const MOST: f64 = 600.0;
/// A quiet stretch that is wider collapses.
const QUIET: f64 = 140.0;
/// No timeline is wider, whatever that leaves a second: something in an imported log may go on for a century.
const WIDEST: f64 = 100_000.0;

/// Both timelines.
pub(super) fn lines(html: &mut Html, runs: &[Compared; 2]) {
    let stages = runs.each_ref().map(|run| from_first(&run.stage));
    let longest_s = stages.iter().map(|(_, end_us)| *end_us as f64 / 1e6).fold(0.1, f64::max);
    let px_per_s = ((WIDE - BEFORE - AFTER) / longest_s).clamp(LEAST, MOST);
    let wide =
        |(stage, end_us): &(Stage, u64)| scale(stage, stage.origin_us + end_us, px_per_s).x(stage.origin_us + end_us);
    let widest = stages.iter().map(wide).fold(WIDEST, f64::max);
    let px_per_s = px_per_s * WIDEST / widest;
    for (run, (stage, end_us)) in runs.iter().zip(&stages) {
        html.class("section", "panel cmp-l").attr("aria-label", &format!("Timeline of {}", stage.title));
        html.class("header", "tl-h").element("h2", "", &stage.title);
        html.element("code", "", &era::listed(&stage.history)).element("span", "grow", "");
        html.class("a", "btn btn-s").attr("href", &format!("/runs/{}", run.id)).text("Open the run").close().close();
        let (names, svg) = timeline(stage, stage.origin_us + end_us, px_per_s, &says(run));
        let lanes = if look(stage).is_all() { "tl tl-all" } else { "tl" };
        html.class("div", lanes).class("div", "tl-lanes").raw(&names).close();
        html.class("div", "tl-scroll ltr").attr("tabindex", "0").attr("role", "group");
        html.attr("aria-label", "Timeline, scrolls sideways").raw(&svg).close().close().close();
    }
}

/// The stage with its time counted from the first thing that happens, and how long things went on happening.
fn from_first(stage: &Stage) -> (Stage, u64) {
    let (from, to) = span(stage, &look(stage));
    let mut stage = stage.clone();
    stage.origin_us = from;
    (stage, to - from)
}

fn scale(stage: &Stage, end_us: u64, px_per_s: f64) -> Scale {
    // Stretches have room before them, the first as well: 0 lets it.
    Scale::new(&busy(stage, &look(stage), end_us), 0, end_us, px_per_s, QUIET)
}

fn timeline(stage: &Stage, end_us: u64, px_per_s: f64, says: &str) -> (String, String) {
    let look = look(stage);
    let lanes = Lanes::new(stage, &look);
    let scale = scale(stage, end_us, px_per_s);
    let (width, height) = (scale.x(end_us) + AFTER, lanes.height);
    let mut svg = format!(
        r#"<svg width="{width:.0}" height="{height}" viewBox="0 0 {width:.0} {height}" role="img" aria-label="{says}">"#
    );
    svg += &ground(stage, &scale, &lanes, (0.0, width));
    if !stage.asks_a_store() {
        let y = lanes.store + lanes.store_height / 2.0 + 4.0;
        _ = write!(svg, r#"<text x="8" y="{y:.1}" class="t t-s">no lock</text>"#);
    }
    for mark in marks(stage, &look, &scale, &lanes, (0.0, width), end_us) {
        svg += &mark.svg;
    }
    svg += "</svg>";
    (lane_names(&lanes, &stage.setup.sink.to_string()), svg)
}
