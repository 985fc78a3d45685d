//! The whole run in one strip: who was inside when, and where two were.

use std::fmt::Write;

use super::{Look, clashes, sections};
use crate::stage::Stage;
use crate::stage::view::hue;

/// Width of the strip's own coordinates.
const WIDE: f64 = 1000.0;
/// Its height.
const HIGH: f64 = 21.0;

/// The strip: what it shows, and from when to when.
pub fn mini(stage: &Stage, look: &Look, now_us: u64) -> (String, u64, u64) {
    let first = stage.track.sections.first().map_or(stage.origin_us, |section| section.span.0.min(now_us));
    let from = if stage.track.sections.len() < 300 { stage.origin_us } else { first };
    let whole = now_us.saturating_sub(from).max(1) as f64;
    let x = |us: u64| us.saturating_sub(from) as f64 / whole * WIDE;
    let names: Vec<&String> = stage.replicas.keys().collect();
    let step = ((HIGH - 2.0) / names.len().max(1) as f64).min(6.0);
    let mut svg = String::new();
    for section in sections(stage, look) {
        let Some(lane) = names.iter().position(|name| **name == section.attempt.replica) else { continue };
        let (a, b) = (x(section.span.0), x(section.span.1.unwrap_or(now_us)));
        _ = write!(
            svg,
            r#"<rect x="{a:.1}" y="{:.1}" width="{:.1}" height="{:.1}" class="f-{}"/>"#,
            1.5 + lane as f64 * step,
            (b - a).max(1.2),
            (step - 1.0).max(1.0),
            hue(&section.attempt.replica)
        );
    }
    for clash in clashes(stage, look) {
        let (a, b) = (x(clash.from_us), x(clash.until_us.unwrap_or(now_us)));
        _ = write!(
            svg,
            r#"<rect x="{a:.1}" y="0" width="{:.1}" height="{HIGH}" class="viol-mini"/>"#,
            (b - a).max(1.2)
        );
    }
    (svg, from, now_us)
}
