//! A recorded run in miniature: its timeline, and what was true when, in the stage's own words. Everything here is
//! the whole of it, standing still; `start.js` only uncovers it at the pace of the run.
//!
//! The run is a real one, as the lab records it. Made anew, with a lab that is built:
//!
//! ```sh
//! aegis run server/scenarios/start-collision.toml --record target/recorded
//! mv target/recorded/*.json app/src/page/start/collision.json
//! ```

use std::sync::LazyLock;

use locks::event::Event;
use serde::Deserialize;

use crate::html::Html;
use crate::matrix::Run;
use crate::matrix::picture::{look, picture, span, window};
use crate::stage::Stage;
use crate::stage::view::caption::{Caption, caption};
use crate::stage::view::words;

/// Width of the picture on a wide screen, and on a phone.
const WIDE: f64 = 478.0;
const SMALL: f64 = 300.0;
/// What was true for less than this, nobody could read.
const READABLE_US: u64 = 50_000;

/// What is read of a recorded run's file.
#[derive(Deserialize)]
struct Recorded {
    events: Vec<Event>,
}

/// What the page shows of it.
struct Replay {
    stage: Run,
    /// The stretch of time that the picture shows.
    window: (u64, u64),
    /// What became true when.
    lines: Vec<(u64, Caption)>,
}

/// Folded once. The file is part of the program, and a test reads it: it is never anything but a run.
static REPLAY: LazyLock<Option<Replay>> = LazyLock::new(|| {
    let recorded: Recorded = serde_json::from_str(include_str!("collision.json")).ok()?;
    let stage = Run::of(&recorded.events);
    let window = window(&stage, &look(&stage));
    Some(Replay { lines: lines(&recorded.events), stage, window })
});

/// What the stage's caption said from when on.
fn lines(events: &[Event]) -> Vec<(u64, Caption)> {
    let mut stage = Stage::default();
    let mut lines: Vec<(u64, Caption)> = Vec::new();
    for event in events {
        stage.push(event);
        stage.judge();
        let Some(schedule) = stage.slots.keys().next().cloned() else { continue };
        if stage.ended.is_some() {
            break;
        }
        let now = caption(&stage, &schedule, stage.at_us);
        if lines.last().is_some_and(|(_, last)| *last == now) {
            continue;
        }
        if lines.last().is_some_and(|(since, _)| stage.at_us - since < READABLE_US) {
            lines.pop();
        }
        lines.push((stage.at_us, now));
    }
    lines
}

/// How long it takes, in milliseconds.
pub(super) fn whole_ms() -> String {
    let whole_us = REPLAY.as_ref().map_or(0, |replay| replay.window.1 - replay.window.0);
    (whole_us / 1000).to_string()
}

/// What stands in the figure.
pub(super) fn figure() -> String {
    let Some(replay) = REPLAY.as_ref() else { return String::new() };
    let Replay { stage, window, lines } = replay;
    let mut html = Html::new();
    html.class("figcaption", "panel-h").element("h2", "", &format!("Strategy {}", stage.setup.strategy));
    html.element("span", "src hide-s", &format!("recorded {}", words::date(stage.wall_ms)));
    html.element("span", "grow", "").class("button", "btn btn-quiet btn-s").attr("id", "again").attr("hidden", "");
    html.icon("redo", true).text("Play again").close().close();
    for (class, width) in [("hide-s", WIDE), ("show-s", SMALL)] {
        let (lanes, svg) = picture(stage, width, &stage.title);
        html.class("div", class).class("div", "tl").class("div", "tl-lanes").raw(&lanes).close();
        html.class("div", "tl-scroll ltr").class("div", "film").class("div", "reel").raw(&svg).close();
        html.element("span", "film-head", "").close().close().close().close();
    }
    html.class("ol", "told");
    // Time counts from the first thing that happens, as it does on the picture's axis.
    let (from, _) = span(stage, &look(stage));
    for (at_us, line) in lines {
        let ms = at_us.saturating_sub(window.0) / 1000;
        html.open("li").attr("data-at", &ms.to_string());
        html.element("span", "num muted", &format!("{} s", words::seconds(at_us.saturating_sub(from))));
        html.open("div").raw(&line.html()).close().close();
    }
    html.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_run_tells_of_a_collision_in_order() {
        let replay = REPLAY.as_ref().expect("the file is a run");
        assert_eq!(replay.stage.verdict.overlaps.len(), 1);
        assert_eq!(replay.stage.verdict.most_effects(), 2);
        assert!(replay.lines.is_sorted_by_key(|(at_us, _)| at_us));
        let said: Vec<&str> = replay.lines.iter().map(|(_, line)| line.what.as_str()).collect();
        let place =
            |of: &str| said.iter().position(|what| what.contains(of)).unwrap_or_else(|| panic!("{of}: {said:?}"));
        assert!(place("A is inside") < place("A and B are both inside"));
        assert!(place("A and B are both inside") < place("settled 2 times"));
        assert!(replay.lines.iter().all(|(at_us, _)| (replay.window.0..replay.window.1).contains(at_us)));
    }

    #[test]
    fn the_figure_stands_complete_without_a_script() {
        let figure = figure();
        for part in ["class=\"twice\"", "overlap ", "<li data-at=", "class=\"viol-chip\""] {
            assert!(figure.contains(part), "{part} is not in {figure}");
        }
        assert!(!figure.contains("style="), "its policy forbids it");
    }
}
