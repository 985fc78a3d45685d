//! The way of a message across the lanes, from its sending to its arrival, and of what came back: dotted, and
//! only where it tells something, because it was held or late or somebody looks at it. How effects fly is drawn
//! with the diamonds at their end.

use std::fmt::Write;

use super::super::{Lanes, Scale, schedule_of};
use super::Pen;
use crate::html::escaped;
use crate::stage::view::{hue, words};
use crate::stage::wire::WireRow;

/// What its link kept for so long was late.
const LATE_US: u64 = 50_000;

impl Pen<'_> {
    pub(super) fn messages(&mut self) {
        let stage = self.stage;
        let late = |row: &&WireRow| row.command.is_some() && row.kept_us >= LATE_US;
        for row in stage.wire.rows.iter().filter(late) {
            if self.look.row(schedule_of(&row.about)).is_some()
                && let Some(svg) = message(row, self.scale, self.lanes)
            {
                self.put(4, format!("m{}", row.seq), svg);
            }
        }
    }
}

/// One message, as far as is known what became of it.
pub(in super::super) fn message(row: &WireRow, scale: &Scale, lanes: &Lanes) -> Option<String> {
    let top = lanes.of(&row.replica)? + lanes.replica_height - 12.0;
    let bottom = if row.command.is_some() { lanes.store + 5.0 } else { lanes.sink + 14.0 };
    let hue = hue(&row.replica);
    let back = row.answer.as_ref().map(|(_, took)| row.at_us + took);
    let from = scale.x(row.at_us);
    let mut svg = format!(r#"<circle cx="{from:.1}" cy="{top:.1}" r="2.2" class="f-{hue}"/>"#);
    let there = row.passed_us.or(back)?;
    let at = scale.x(there);
    _ = write!(svg, r#"<path d="M{from:.1} {top:.1}L{at:.1} {bottom:.1}" class="msg s-{hue}"/>"#);
    if let Some(back) = back.filter(|back| *back > there) {
        let back = scale.x(back);
        _ = write!(
            svg,
            r#"<path d="M{at:.1} {bottom:.1}L{back:.1} {top:.1}" class="msg s-{hue}"/><circle cx="{back:.1}" cy="{top:.1}" r="2.2" class="hollow s-{hue}"/>"#
        );
    }
    _ = write!(
        svg,
        "<title>{} from {} to {}, kept by its link for {}</title>",
        escaped(&row.name),
        escaped(&row.replica),
        row.to,
        words::short(row.kept_us)
    );
    Some(svg)
}
