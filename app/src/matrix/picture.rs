//! The small timeline of a run that is over: the stage's own marks on a scale without gaps, from the first
//! thing that happens to the last.

use std::fmt::Write;

use super::Run;
use crate::html::escaped;
use crate::stage::Stage;
use crate::stage::view::timeline::{self, Lanes, Look, Scale};

/// Height of a node's line.
const NODE: f64 = 5.0;
/// Room before the first mark, and after the last for what is said of it, as parts of all.
const BEFORE: u64 = 24;
const AFTER: u64 = 3;

/// What a run that is over is looked at by: its one schedule, or all that had a slot.
pub fn look(stage: &Stage) -> Look {
    let mut names: Vec<String> = stage.slots.keys().cloned().collect();
    if names.len() > 1 { Look::All(names) } else { Look::One(names.pop().unwrap_or_default()) }
}

/// From when to when anything happens in it.
pub fn span(stage: &Stage, look: &Look) -> (u64, u64) {
    let busy = timeline::busy(stage, look, stage.at_us);
    let from = busy.iter().map(|(from, _)| *from).min().unwrap_or(stage.origin_us);
    let to = busy.iter().map(|(_, to)| *to).max().unwrap_or(stage.at_us);
    (from, to.max(from + 1))
}

/// From when to when the picture shows it: a little before and after, with room for what is said of the last mark.
pub fn window(stage: &Stage, look: &Look) -> (u64, u64) {
    let (from, to) = span(stage, look);
    (from.saturating_sub((to - from) / BEFORE), to + (to - from) / AFTER)
}

/// A run that is over, as it is looked at here: that its processes were ended when everything was over is no part
/// of what happened.
pub fn settled(mut stage: Stage) -> Stage {
    let (_, end) = span(&stage, &look(&stage));
    stage.track.stops.retain(|stop| stop.span.0 <= end);
    stage
}

/// Round steps of a scale, at least `least` of them apart.
pub(super) fn tick_us(per_us: f64, least: f64) -> u64 {
    let steps = (0..8).flat_map(|power| [1, 2, 5].map(|factor| factor * 1_000 * 10_u64.pow(power)));
    steps.into_iter().find(|step| *step as f64 * per_us >= least).unwrap_or(60_000_000)
}

/// A tick in words, the unit on the first one.
pub(super) fn tick_words(at_us: u64, tick_us: u64) -> String {
    let unit = if at_us == 0 { " s" } else { "" };
    match tick_us {
        0..100_000 => format!("{}.{:02}{unit}", at_us / 1_000_000, at_us % 1_000_000 / 10_000),
        100_000..1_000_000 => format!("{}.{}{unit}", at_us / 1_000_000, at_us % 1_000_000 / 100_000),
        _ => format!("{}{unit}", at_us / 1_000_000),
    }
}

/// Lanes' names, and the picture beside them.
pub fn picture(stage: &Run, width: f64, says: &str) -> (String, String) {
    let look = look(stage);
    let (from, _) = span(stage, &look);
    let (begin, end) = window(stage, &look);
    let scale = Scale::linear(begin, end, width);
    let mut lanes = Lanes::new(stage, &look);
    let nodes = f64::from(stage.quorum.nodes);
    // A lane more, for what the nodes say one by one.
    let room = if nodes > 0.0 { nodes * NODE + 8.0 } else { 0.0 };
    let of_nodes = lanes.store + lanes.store_height;
    for y in [&mut lanes.sink, &mut lanes.judge, &mut lanes.height] {
        *y += room;
    }
    let height = lanes.height;
    let mut svg = format!(
        r#"<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label="{}">"#,
        escaped(says)
    );
    let tick = tick_us(width / (end - begin) as f64, 60.0);
    let mut at = 0;
    while scale.x(from + at) < width - 12.0 {
        let x = scale.x(from + at);
        _ = write!(
            svg,
            r#"<path d="M{x:.1} 14V{height}" class="axl"/><text x="{x:.1}" y="11" class="ax" text-anchor="{}">{}</text>"#,
            if at == 0 { "start" } else { "middle" },
            tick_words(at, tick)
        );
        at += tick;
    }
    let lines = lanes.replicas.iter().map(|(_, y)| *y).chain([18.0, lanes.store, lanes.sink, lanes.judge]);
    for y in lines {
        _ = write!(svg, r#"<path d="M0 {:.1}H{width}" class="lane-l"/>"#, y - 0.5);
    }
    let middle = lanes.store + lanes.store_height / 2.0;
    if stage.asks_a_store() {
        _ = write!(svg, r#"<path d="M0 {middle:.1}H{width}" class="lk-free"/>"#);
    } else {
        _ = write!(svg, r#"<text x="8" y="{:.1}" class="t t-s">no lock</text>"#, middle + 4.0);
    }
    for mark in timeline::marks(stage, &look, &scale, &lanes, (0.0, width), stage.at_us) {
        svg += &mark.svg;
    }
    if nodes > 0.0 {
        _ = write!(svg, r#"<path d="M0 {:.1}H{width}" class="lane-l"/>"#, of_nodes - 0.5);
        svg += &stage.quorum.lines(&scale, stage.at_us, of_nodes + 4.0, NODE);
    }
    svg += "</svg>";
    let mut names = timeline::lane_names(&lanes, &stage.setup.sink.to_string());
    if let (true, Some(at)) = (nodes > 0.0, names.find(r#"<div class="ln-sink">"#)) {
        names.insert_str(at, r#"<div class="ln-nodes">nodes</div>"#);
    }
    (names, svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_far_enough_apart() {
        assert_eq!(tick_us(300.0 / 4e6, 60.0), 1_000_000);
        assert_eq!(tick_us(1032.0 / 3.2e6, 60.0), 200_000);
        assert_eq!(tick_words(0, 200_000), "0.0 s");
        assert_eq!(tick_words(1_400_000, 200_000), "1.4");
        assert_eq!(tick_words(12_000_000, 1_000_000), "12");
    }
}
