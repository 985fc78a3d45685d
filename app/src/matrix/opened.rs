//! The cell at the side: what the learner said, what was measured, what the lab expects; its small timeline, why,
//! its figures, and the run behind it.

use locks::event::EffectAnswer;
use locks::judge::{Finding, Verdict};
use locks::matrix::{Coverage, Figures};

use super::picture::picture;
use super::table::{icon, joint, mark, predict, words};
use super::{Joint, Opened, Place, State, UnderWay};
use crate::html::Html;
use crate::stage::Stage;
use crate::stage::view::words as said;

/// Width of the picture, in pixels.
const WIDE: f64 = 306.0;

/// The panel.
pub(super) fn opened(html: &mut Html, place: &Place, opened: &Opened) {
    let Opened { title, name, cell, expected, stage } = opened;
    html.class("aside", "panel mx-d").attr("id", "cell").attr("aria-label", "Opened cell");
    html.class("header", "panel-h").open("h2").element("code", "", &name.strategy).text(" · ").text(title).close();
    html.element("span", "grow", "").class("a", "btn btn-quiet btn-s btn-ic");
    html.attr("href", &place.with_cell(None).href()).attr("aria-label", "Close").icon("x", false).close().close();

    html.class("dl", "facts");
    match cell.said {
        Some(told) => {
            let clock = said::clock(told.at_ms);
            let at = format!("at {} UTC", clock.get(..5).unwrap_or(&clock));
            fact(html, None, "you said", Some((icon(told.covered), words(told.covered), false)), &at);
        }
        None => fact(html, None, "you said", None, "nothing"),
    }
    match cell.state() {
        State::Shown(measured) => {
            let run = measured.run.as_deref().and_then(|run| run.get(..4));
            let note = run.map(|run| format!("run {run}")).unwrap_or_default();
            let coverage = measured.coverage;
            fact(html, Some((cell.joint(), false)), "measured", Some(value(coverage)), &note);
            if let Some((expected, _)) = expected {
                let differs = coverage != Coverage::Inconclusive && *expected != coverage;
                let between = match coverage {
                    Coverage::Inconclusive => Joint::Open,
                    _ if differs => Joint::Differs,
                    _ => Joint::Agrees,
                };
                fact(html, Some((Some(between), differs)), "lab expects", Some(value(*expected)), "from the model");
            }
        }
        State::UnderWay(under_way) => {
            let note = if under_way == UnderWay::Runs { "its run goes on" } else { "waits for others" };
            fact(html, Some((Some(Joint::Open), false)), "measured", None, note);
        }
        _ => fact(html, Some((Some(Joint::Open), false)), "measured", None, "not yet"),
    }
    html.close();

    let State::Shown(measured) = cell.state() else {
        html.class("footer", "mx-f");
        if matches!(cell.state(), State::Predict) {
            predict(html, &super::CellName { fault: format!("{}-o", name.fault), ..name.clone() }, title);
        }
        if cell.is_left() {
            html.class("button", "btn")
                .attr("name", "run")
                .attr("value", &name.to_string())
                .text("Run to reveal")
                .close();
        }
        html.close().close();
        return;
    };
    html.open("figure");
    if let Some(stage) = stage {
        let (lanes, svg) = picture(stage, WIDE, &format!("{title} under {}: {}", name.strategy, measured.coverage));
        html.class("div", "tl celltl")
            .attr("tabindex", "0")
            .attr("role", "group")
            .attr("aria-label", "Timeline of the run");
        html.class("div", "tl-lanes").attr("aria-hidden", "true").raw(&lanes).close();
        html.class("div", "tl-scroll ltr").raw(&svg).close().close();
    }
    html.open("figcaption");
    if let Some(why) = &measured.why {
        html.element("p", "", &format!("Inconclusive: {why}. Run it again."));
    }
    if let Some((_, why)) = expected {
        html.element("p", "", &sentence(why));
    }
    html.close().close();
    if let Some(figures) = &measured.figures {
        tally(html, figures, stage.as_deref().map(|stage| &stage.verdict));
    }
    html.class("footer", "mx-f");
    if let Some(run) = &measured.run {
        let at = stage.as_ref().and_then(|run| proof(run));
        let (path, text) = match at {
            Some(seq) => (format!("/runs/{run}?at={seq}"), format!("Open run at #{seq}")),
            None => (format!("/runs/{run}"), "Open run".to_owned()),
        };
        html.class("a", "btn").attr("href", &path).attr("data-leaves", "").text(&text).close();
    }
    html.class("button", "btn")
        .attr("name", "run")
        .attr("value", &name.to_string())
        .icon("redo", false)
        .text("Run again")
        .close();
    html.element("span", "grow", "");
    if let Some(run) = &measured.run {
        html.class("a", "btn btn-ic").attr("href", &format!("/api/runs/{run}/scenario")).attr("data-leaves", "");
        html.attr("download", &format!("{}.toml", name.fault))
            .attr("aria-label", "Scenario file")
            .icon("file", false)
            .close();
    }
    html.close().close();
}

type Value<'a> = (&'a str, &'a str, bool);

fn value(coverage: Coverage) -> Value<'static> {
    (mark(coverage), coverage.name(), coverage == Coverage::NotCovered)
}

fn fact(html: &mut Html, above: Option<(Option<Joint>, bool)>, who: &str, says: Option<Value>, note: &str) {
    let class = match above {
        Some((Some(Joint::Differs), true)) => "tr2 cut harm",
        Some((Some(Joint::Differs), false)) => "tr2 cut",
        _ => "tr2",
    };
    html.class("div", class).open("dt");
    if let Some((between, _)) = above.filter(|(between, _)| between.is_some()) {
        joint(html, between);
    }
    html.text(who).close();
    match says {
        Some((icon, text, bad)) => {
            html.class("dd", if bad { "bad" } else { "" }).icon(icon, false).element("b", "", text).close();
        }
        None => _ = html.element("dd", "muted", "–"),
    }
    html.element("dd", "note", note).close();
}

fn tally(html: &mut Html, figures: &Figures, verdict: Option<&Verdict>) {
    let foreign = verdict.map(|verdict| certain(&verdict.foreign_releases).count());
    let takeover = figures.takeover_ms.map_or_else(|| "–".to_owned(), |ms| said::short(ms * 1000));
    html.class("dl", "verdict");
    for (name, text, bad) in [
        ("overlaps", figures.overlaps.to_string(), figures.overlaps > 0),
        ("effects per slot", figures.effects_per_slot.to_string(), figures.effects_per_slot > 1),
        ("stale effects", figures.stale_effects.to_string(), figures.stale_effects > 0),
        ("foreign releases", foreign.map_or_else(|| "–".to_owned(), |n| n.to_string()), foreign.is_some_and(|n| n > 0)),
        ("takeover", takeover, false),
        ("missed slots", figures.missed_slots.to_string(), figures.missed_slots > 0),
    ] {
        html.open("div").element("dt", "", name).class("dd", if bad { "viol" } else { "num" });
        if bad {
            html.icon("oct", true);
        }
        html.text(&text).close().close();
    }
    html.close();
}

fn certain(findings: &[Finding]) -> impl Iterator<Item = &Finding> {
    findings.iter().filter(|finding| finding.certain)
}

/// The event that shows the harm: what completes the proof of the first stale effect or overlap, or the second
/// effect of a slot.
pub(super) fn proof(stage: &Stage) -> Option<u64> {
    let verdict = &stage.verdict;
    let found = certain(&verdict.stale_effects).chain(certain(&verdict.overlaps)).next();
    let twice = stage.track.effects.iter().find(|effect| effect.nth > 1 && effect.answer == EffectAnswer::Accepted);
    found.and_then(|finding| finding.events.last().copied()).or_else(|| twice.map(|effect| effect.seq))
}

/// A reason as a sentence.
fn sentence(why: &str) -> String {
    let mut letters = why.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}
