//! What the sink took: diamonds, filled if accepted, hollow and slashed if rejected, ringed if it is not the
//! first of its slot.

use std::fmt::Write;

use locks::event::EffectAnswer;

use super::super::last_of_slot;
use super::{Pen, width};
use crate::html::escaped;
use crate::stage::view::{hue, words};

impl Pen<'_> {
    pub(super) fn effects(&mut self) {
        let stage = self.stage;
        let last = last_of_slot(stage);
        let y = self.lanes.sink + 14.0;
        let effects: Vec<_> =
            stage.track.effects.iter().filter(|effect| self.look.row(&effect.slot.schedule).is_some()).collect();
        let mut free = f64::NEG_INFINITY;
        for (i, effect) in effects.iter().enumerate() {
            let exact = self.scale.x(effect.at_us);
            if exact < self.window.0 - 160.0 || exact > self.window.1 {
                continue;
            }
            // Side by side where they would hide one another; the exact moment is in title and table.
            let x = exact.max(free);
            let hue = hue(&effect.attempt.replica);
            let mut svg = String::new();
            let stale = stage.is_stale(effect.seq);
            let flew = effect.sent_us.map_or(0, |sent| effect.at_us.saturating_sub(sent));
            if let (Some(sent), Some(lane)) = (effect.sent_us, self.lanes.of(&effect.attempt.replica))
                && (stale || flew > 250_000)
            {
                let from = self.scale.x(sent);
                let top = lane + 20.0;
                _ = write!(
                    svg,
                    r#"<path d="M{from:.1} {top:.1}L{x:.1} {y:.1}" class="msg s-{hue}"/><circle cx="{from:.1}" cy="{top:.1}" r="2.2" class="f-{hue}"/>"#
                );
            }
            let accepted = effect.answer == EffectAnswer::Accepted;
            let diamond = format!("M{x:.1} {:.1}l6.5 6.5-6.5 6.5-6.5-6.5z", y - 6.5);
            if accepted {
                _ = write!(svg, r#"<path d="{diamond}" class="f-{hue}"/><path d="{diamond}" class="edge s-{hue}"/>"#);
            } else {
                _ = write!(
                    svg,
                    r#"<path d="{diamond}" class="hollow s-{hue}"/><path d="M{:.1} {:.1}l6.4-6.4" class="open s-{hue}"/>"#,
                    x - 3.2,
                    y + 3.2
                );
            }
            let again = accepted && effect.nth > 1;
            free = x + if again { 21.0 } else { 18.0 };
            if again {
                _ = write!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="9.5" class="twice"/>"#);
            }
            let is_last = last.get(&effect.slot) == Some(&effect.seq);
            let said = match (&effect.answer, again, stale) {
                (EffectAnswer::Rejected(guard) | EffectAnswer::GuardUnreachable(guard), ..) => {
                    format!("rejected by {guard}")
                }
                (_, true, true) => format!("{}× stale", effect.nth),
                (_, true, false) => format!("{}×", effect.nth),
                (_, false, true) => "accepted, stale".to_owned(),
                _ => "accepted".to_owned(),
            };
            let room = effects.get(i + 1).map_or(f64::INFINITY, |next| self.scale.x(next.at_us) - x);
            if room > width(&said) + 30.0 && (is_last || !accepted || again || stale) {
                let class = if again || stale { "t t-bad t-halo" } else { "t t-halo" };
                _ = write!(
                    svg,
                    r#"<text x="{:.1}" y="{:.1}" class="{class}">{}</text>"#,
                    x + 13.0,
                    y + 4.0,
                    escaped(&said)
                );
            }
            _ = write!(
                svg,
                "<title>{}{}: {} from {}, slot {}</title>",
                escaped(&self.look.whose(&effect.slot.schedule)),
                stage.setup.sink,
                escaped(&said),
                escaped(&effect.attempt.replica),
                words::clock(effect.slot.fire_ms)
            );
            self.put(5, format!("e{}", effect.seq), svg);
        }
    }
}
