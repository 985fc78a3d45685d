//! What lies under the marks: axis, ticks, lanes, collapsed gaps; and what lies right of the playhead:
//! only what is scheduled, dashed, and the whole way of a message that somebody looks at.

use std::fmt::Write;

use super::marks::message;
use super::{Lanes, Look, Scale, schedule_of};
use crate::html::escaped;
use crate::stage::Stage;
use crate::stage::view::{epoch_words, hue, words};
use crate::stage::wire::WireRow;

/// Half the width of a tick's label.
const LABEL: f64 = 20.0;

/// Axis, lanes and gaps between two places.
pub fn ground(stage: &Stage, scale: &Scale, lanes: &Lanes, window: (f64, f64)) -> String {
    let mut svg = String::new();
    let (left, right) = window;
    let height = lanes.height;
    let tick = scale.tick_us();
    for (i, piece) in scale.pieces.iter().enumerate() {
        let goes_on = i + 1 == scale.pieces.len() && !piece.gap;
        let x_to = if goes_on { right.max(piece.x_to) } else { piece.x_to };
        if x_to < left || piece.x > right {
            continue;
        }
        if piece.gap {
            gap(&mut svg, piece.x, height, words::about(piece.to_us - piece.from_us));
            continue;
        }
        let since = |us: u64| us.saturating_sub(stage.origin_us);
        let until = since(scale.at(x_to));
        // From the first tick of the piece that can be seen.
        let from = since(scale.at(left.max(piece.x)).max(piece.from_us));
        let mut at = from.div_ceil(tick) * tick;
        let mut first = true;
        while at <= until {
            let x = scale.x(at + stage.origin_us);
            // A label that would reach over the edge of its stretch goes; its line stays.
            let inside = (x > piece.x + LABEL || i == 0) && (x < x_to - LABEL || goes_on);
            if !inside {
                _ = write!(svg, r#"<path d="M{x:.1} 14V{height}" class="axl"/>"#);
            } else {
                let unit = if first { " s" } else { "" };
                _ = write!(
                    svg,
                    r#"<path d="M{x:.1} 14V{height}" class="axl"/><text x="{x:.1}" y="11" class="ax" text-anchor="middle">{}{unit}</text>"#,
                    tick_words(at, tick)
                );
                first = false;
            }
            at += tick;
        }
    }
    let mut line = |y: f64| _ = write!(svg, r#"<path d="M{left:.0} {y:.1}H{right:.0}" class="lane-l"/>"#);
    line(18.0 - 0.5);
    for (_, y) in &lanes.replicas {
        line(y - 0.5);
    }
    for y in [lanes.store, lanes.sink, lanes.judge] {
        line(y - 0.5);
    }
    let middle = lanes.store + lanes.store_height / 2.0;
    if stage.asks_a_store() {
        _ = write!(svg, r#"<path d="M{left:.0} {middle:.1}H{right:.0}" class="lk-free"/>"#);
    }
    svg
}

fn tick_words(at: u64, tick: u64) -> String {
    match tick {
        0..10_000 => format!("{}.{:03}", at / 1_000_000, at % 1_000_000 / 1000),
        10_000..100_000 => format!("{}.{:02}", at / 1_000_000, at % 1_000_000 / 10_000),
        100_000..1_000_000 => format!("{}.{}", at / 1_000_000, at % 1_000_000 / 100_000),
        _ => (at / 1_000_000).to_string(),
    }
}

fn gap(svg: &mut String, x: f64, height: f64, length: String) {
    let right = x + super::scale::GAP;
    let middle = x + super::scale::GAP / 2.0;
    let half = height / 2.0;
    _ = write!(
        svg,
        r#"<rect x="{x:.1}" y="0" width="{}" height="{height}" class="gapband"/><path d="M{x:.1} 0v16l4 3-8 4 8 4-4 3V{height}M{right:.1} 0v16l4 3-8 4 8 4-4 3V{height}" class="gapedge"/><text x="{middle:.1}" y="{half:.1}" dy="3.5" class="t t-s" text-anchor="middle" transform="rotate(-90 {middle:.1} {half:.1})">{length} idle</text>"#,
        super::scale::GAP
    );
}

/// What is scheduled right of the playhead: how long the present hold lasts, by the store's clock, and when a
/// delayed effect arrives. `picked` is what the event under the playhead sent.
pub fn scheduled(
    stage: &Stage,
    look: &Look,
    scale: &Scale,
    lanes: &Lanes,
    now_us: u64,
    picked: Option<&WireRow>,
) -> String {
    let mut svg = picked.and_then(|row| message(row, scale, lanes)).unwrap_or_default();
    if look.is_all() {
        return svg;
    }
    for packet in &stage.topology.packets {
        let due = packet.sent_us + packet.delay_ms * 1000;
        let seen = packet.attempt.is_some() && packet.command.is_none() && due > now_us;
        let Some(lane) = lanes.of(&packet.replica).filter(|_| seen && packet.passed_us.is_none()) else { continue };
        let (from, to, y) = (scale.x(packet.sent_us), scale.x(due), lanes.sink + 14.0);
        let hue = hue(&packet.replica);
        _ = write!(
            svg,
            r#"<path d="M{from:.1} {:.1}L{to:.1} {y:.1}" class="msg s-{hue}"/><path d="M{to:.1} {:.1}l6.5 6.5-6.5 6.5-6.5-6.5z" class="ghost s-{hue}"/><text x="{:.1}" y="{:.1}" class="t t-halo">{}{}, +{}</text>"#,
            lane + 20.0,
            y - 6.5,
            to + 11.0,
            y + 4.0,
            escaped(&packet.replica),
            epoch_words(packet.epoch),
            words::ms(due - now_us)
        );
    }
    let open = stage
        .track
        .holds
        .iter()
        .rev()
        .find(|hold| hold.span.1.is_none() && look.row(schedule_of(&hold.lock)).is_some());
    if let Some(expires) = open.and_then(|hold| hold.expires_us).filter(|expires| *expires > now_us) {
        let (from, to) = (scale.x(now_us), scale.x(expires));
        let (top, bottom) = (lanes.store + 6.5, lanes.store + 21.5);
        _ = write!(
            svg,
            r#"<path d="M{from:.1} {top}H{to:.1}V{bottom}H{from:.1}" class="lk-ghost"/><title>lease end, by the store’s clock</title>"#
        );
    }
    svg
}
