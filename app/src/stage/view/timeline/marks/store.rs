//! What the store says: blocks with a foot in the holder's colour; after an expiry a tick, and dots until
//! the next grant.

use std::fmt::Write;

use locks::machine::LockState;

use super::super::schedule_of;
use super::{Pen, again, width};
use crate::html::escaped;
use crate::stage::lock::HoldEnd;
use crate::stage::view::hue;

impl Pen<'_> {
    pub(super) fn holds(&mut self) {
        let stage = self.stage;
        let holds: Vec<_> =
            stage.track.holds.iter().filter(|hold| self.look.row(schedule_of(&hold.lock)).is_some()).collect();
        for (i, hold) in holds.iter().enumerate() {
            let row = self.look.row(schedule_of(&hold.lock)).unwrap_or(0);
            let (y, h) = if self.look.is_all() {
                (self.lanes.store + 3.0 + row as f64 * 10.0, 8.0)
            } else {
                (self.lanes.store + 6.0, 16.0)
            };
            let Some((from, to, open)) = self.place(hold.span) else { continue };
            let name = hold.owner.as_ref().map(|owner| owner.replica.as_str());
            let hue = name.map_or('n', hue);
            let w = to - from;
            let mut svg = format!(
                r#"<rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="{h}" class="lk s-{hue}"/><path d="M{from:.1} {:.1}H{to:.1}" class="lk-base s-{hue}"/>"#,
                y + h - 0.5
            );
            let text = match (name, hold.epoch) {
                (Some(name), Some(epoch)) => format!("{name} · epoch {epoch}"),
                (Some(name), None) => name.to_owned(),
                (None, _) => "somebody".to_owned(),
            };
            let seen = if open { self.scale.x(self.now_us) - from } else { w };
            if !self.look.is_all() {
                let text = match name {
                    Some(name) if seen < width(&text) + 13.0 => name,
                    _ => &text,
                };
                for x in again(from + 6.0, from + seen - width(text) - 4.0, self.window) {
                    _ = write!(svg, r#"<text x="{x:.1}" y="{:.1}" class="t t-b">{}</text>"#, y + 11.0, escaped(text));
                }
            }
            _ = write!(
                svg,
                "<title>{}the store says: {}</title>",
                escaped(&self.look.whose(schedule_of(&hold.lock))),
                escaped(&text)
            );
            self.put(4, format!("h{}{}", hold.lock, hold.span.0), svg);

            // Over, and not yet free: a tick at the end of the lease, dots until the next grant.
            if hold.end == Some(HoldEnd::Expired)
                && let Some(end) = hold.span.1
            {
                let next = holds[i + 1..].iter().find(|next| next.lock == hold.lock).map(|next| next.span.0);
                let x = self.scale.x(end);
                let expired = stage.locks.get(&hold.lock).is_some_and(|lock| lock.state == LockState::Expired);
                let until = match next {
                    Some(next) => self.scale.x(next),
                    None if expired => self.window.1 + 400.0,
                    None => x,
                };
                let middle = y + h / 2.0;
                let mut svg = format!(
                    r#"<path d="M{x:.1} {middle:.1}H{until:.1}" class="lk-exp"/><path d="M{x:.1} {:.1}v{:.1}" class="lk-tick"/>"#,
                    y - 3.0,
                    h + 8.0
                );
                if !self.look.is_all() {
                    let after = until - x > 62.0;
                    let (at, anchor) = if after { (x + 7.0, "start") } else { (x - 6.0, "end") };
                    if after || w > width(&text) + 70.0 {
                        _ = write!(
                            svg,
                            r#"<text x="{at:.1}" y="{:.1}" class="t t-b t-halo" text-anchor="{anchor}">expired</text>"#,
                            y + 12.0
                        );
                    }
                }
                self.put(5, format!("x{}{}", hold.lock, hold.span.0), svg);
            }
        }
    }
}
