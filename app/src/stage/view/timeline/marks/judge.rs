//! Where two are inside: stripes between their bars, a faint band below, a chip in the judge's row.

use std::fmt::Write;

use super::super::{Clash, clashes, schedule_of};
use super::{Pen, again, width};
use crate::html::escaped;
use crate::stage::view::words;

/// A clash on the timeline: from where to where its stripes are drawn, and whether it goes on.
struct Placed {
    clash: Clash,
    from: f64,
    to: f64,
    open: bool,
}

impl Pen<'_> {
    pub(super) fn clashes(&mut self) {
        let placed: Vec<Placed> = clashes(self.stage, self.look)
            .into_iter()
            .filter_map(|clash| {
                let (from, to, open) = self.place((clash.from_us, clash.until_us))?;
                Some(Placed { clash, from, to, open })
            })
            .collect();
        placed.iter().for_each(|one| self.stripes(one));
        // The newest is said first: where many stand close together, the others have their stripes and their title.
        let mut free_to = f64::INFINITY;
        for (nth, one) in placed.iter().enumerate().rev() {
            let taken_to = placed[..nth].iter().map(|older| older.to).fold(f64::NEG_INFINITY, f64::max);
            free_to = self.chip(one, (taken_to, free_to)).unwrap_or(one.from).min(one.from);
        }
    }

    fn stripes(&mut self, Placed { clash, from, to, .. }: &Placed) {
        let (top, bottom) = self.clash_lanes(clash);
        let w = to - from;
        let judge = self.lanes.judge;
        let mut svg = format!(
            r#"<rect x="{from:.1}" y="40" width="{w:.1}" height="{:.1}" class="viol-band"/><rect x="{from:.1}" y="{top:.1}" width="{w:.1}" height="{:.1}" fill="url(#vi)" opacity=".38"/><path d="M{from:.1} 40V{:.1}" class="viol-edge"/>"#,
            judge - 40.0,
            bottom - top,
            self.lanes.height,
        );
        let y = judge + 3.0;
        _ = write!(
            svg,
            r#"<rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="16" class="viol-f"/><rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="16" fill="url(#vi)"/><rect x="{:.1}" y="{:.2}" width="{:.1}" height="14.5" class="viol-e"/>"#,
            from + 0.75,
            y + 0.75,
            (w - 1.5).max(1.0)
        );
        _ = write!(
            svg,
            "<title>{}{} of {}</title>",
            escaped(&self.look.whose(schedule_of(&clash.lock))),
            escaped(&self.measured(clash)),
            escaped(&clash.replicas.join(", "))
        );
        self.put(0, format!("v{}", clash.seq), svg);
    }

    fn measured(&self, clash: &Clash) -> String {
        let until = clash.until_us.unwrap_or(self.now_us);
        format!("overlap {}", words::ms(until.saturating_sub(clash.from_us)))
    }

    /// The chip: inside its stripes if room remains, else to its left, else to its right, between what older ones and
    /// newer ones take; where it has no room, none. Where it begins, if it does not stand inside.
    fn chip(&mut self, one: &Placed, (taken_to, free_to): (f64, f64)) -> Option<f64> {
        let Placed { clash, from, to, open } = one;
        let (from, to, open, w) = (*from, *to, *open, to - from);
        // While it goes on it stands at the beginning and counts without a number that would have to be drawn anew
        // each frame.
        let text = if open { format!("{} inside", clash.replicas.len()) } else { self.measured(clash) };
        let chip = width(&text) + 28.0;
        let left = from - chip - 4.0;
        let places: Vec<f64> = if open || w > 700.0 {
            let end = if open { self.scale.x(self.now_us) } else { to };
            again(from + 4.0, (end - chip).max(from + 4.0), self.window).collect()
        } else if w >= chip + 18.0 {
            vec![from + (w - chip) / 2.0]
        } else if left >= self.window.0.max(taken_to) {
            vec![left]
        } else if to + 8.0 + chip <= free_to {
            vec![to + 4.0]
        } else {
            return None;
        };
        let y = self.lanes.judge + 3.0;
        let mut svg = String::new();
        for x in &places {
            _ = write!(
                svg,
                r##"<rect x="{x:.1}" y="{y:.1}" width="{chip:.1}" height="16" class="viol-solid"/><svg x="{:.1}" y="{:.1}" width="12" height="12" viewBox="0 0 16 16" class="ic-in ic-bad"><use href="#i-oct"/></svg><text x="{:.1}" y="{:.1}" class="t viol-ink">{}</text>"##,
                x + 5.0,
                y + 2.0,
                x + 21.0,
                y + 12.0,
                escaped(&text)
            );
        }
        self.put(6, format!("w{}", clash.seq), svg);
        places.first().copied()
    }

    fn clash_lanes(&self, clash: &Clash) -> (f64, f64) {
        let lanes = clash.replicas.iter().filter_map(|name| self.lanes.of(name));
        let (top, bottom) = lanes.fold((f64::INFINITY, 0.0_f64), |(top, bottom), y| (top.min(y), bottom.max(y)));
        if top.is_finite() { (top, bottom + self.lanes.replica_height - 12.0) } else { (40.0, 40.0) }
    }
}
