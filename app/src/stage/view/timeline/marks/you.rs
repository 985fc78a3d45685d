//! What was done to the run: it stands above its effect.

use std::fmt::Write;

use super::{Pen, width};
use crate::html::escaped;
use crate::stage::track::CauseKind;

impl Pen<'_> {
    pub(super) fn causes(&mut self) {
        let seen: Vec<_> = self
            .stage
            .track
            .causes
            .iter()
            .filter(|cause| cause.schedule.as_deref().is_none_or(|schedule| self.look.row(schedule).is_some()))
            .map(|cause| (self.scale.x(cause.at_us), cause))
            .filter(|(x, _)| *x >= self.window.0 - 160.0 && *x <= self.window.1)
            .collect();
        for (i, (x, cause)) in seen.iter().enumerate() {
            let next = seen.get(i + 1).map_or(f64::INFINITY, |(next, _)| *next);
            let (text, icon) = match cause.kind {
                CauseKind::Slot => (format!("slot {}", cause.text), "clock"),
                CauseKind::Set => (cause.text.clone(), "sliders"),
                CauseKind::Pause => (cause.text.clone(), "pause"),
                CauseKind::Go => (cause.text.clone(), "play"),
                CauseKind::Kill => (cause.text.clone(), "kill"),
                CauseKind::Cut => (cause.text.clone(), "cut"),
                CauseKind::Delay => (cause.text.clone(), "clock"),
                CauseKind::Hold => (cause.text.clone(), "hand"),
                CauseKind::Other => (cause.text.clone(), "sliders"),
            };
            let mut svg = format!(r#"<path d="M{x:.1} 18V40" class="cause"/>"#);
            if next - x >= 15.0 {
                _ = write!(
                    svg,
                    r##"<svg x="{:.1}" y="23" width="12" height="12" viewBox="0 0 16 16" class="ic-in ic-2"><use href="#i-{icon}"/></svg>"##,
                    x + 3.0
                );
            }
            if next - x >= width(&text) + 22.0 {
                _ = write!(svg, r#"<text x="{:.1}" y="33" class="t">{}</text>"#, x + 18.0, escaped(&text));
            }
            _ = write!(svg, "<title>{}</title>", escaped(&text));
            self.put(1, format!("c{}", cause.seq), svg);
        }
    }
}
