//! The marks of the timeline. Shape says who speaks: bar (a replica believes), block (the store says),
//! diamond (the sink took). Solid: the store agrees; hollow with hatch: it denies.

use std::fmt::Write;

use locks::event::EffectAnswer;
use locks::machine::LockState;

use super::{Clash, Lanes, Look, Scale, clashes, last_of_slot, schedule_of};
use crate::stage::Stage;
use crate::stage::lock::HoldEnd;
use crate::stage::track::{CauseKind, Section};
use crate::stage::view::{escape, hue, words};

/// A mark: what it is, and its picture. The same mark with the same picture need not be drawn again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mark {
    /// Layer: violations lie below bars, bars below frost, and so on.
    pub layer: u8,
    /// What it is of.
    pub id: String,
    /// Its picture.
    pub svg: String,
}

/// Width of a label in pixels, roughly.
pub(super) fn width(text: &str) -> f64 {
    text.chars().count() as f64 * 6.1
}

struct Pen<'a> {
    stage: &'a Stage,
    look: &'a Look,
    scale: &'a Scale,
    lanes: &'a Lanes,
    window: (f64, f64),
    now_us: u64,
    marks: Vec<Mark>,
}

/// The marks that can be seen between two places. Marks that go on are drawn to a little behind `now`;
/// what lies behind the playhead is hidden by whoever shows the picture.
pub fn marks(stage: &Stage, look: &Look, scale: &Scale, lanes: &Lanes, window: (f64, f64), now_us: u64) -> Vec<Mark> {
    let mut pen = Pen { stage, look, scale, lanes, window, now_us, marks: Vec::new() };
    pen.causes();
    pen.clashes();
    pen.sections();
    pen.stops();
    pen.waits();
    pen.unanswered();
    pen.holds();
    pen.effects();
    pen.marks.sort();
    pen.marks
}

impl Pen<'_> {
    /// From, to and whether it goes on; `None` if it cannot be seen.
    fn place(&self, span: (u64, Option<u64>)) -> Option<(f64, f64, bool)> {
        let from = self.scale.x(span.0);
        // Past the playhead by more than a view's width: hidden there, and the same at every moment.
        let to = span.1.map_or(self.window.1 + 400.0, |until| self.scale.x(until));
        (to >= self.window.0 && from <= self.window.1).then_some((from, to.max(from + 3.0), span.1.is_none()))
    }

    fn put(&mut self, layer: u8, id: String, svg: String) {
        self.marks.push(Mark { layer, id, svg });
    }

    /// Place and height of a bar in a replica's lane.
    fn bar(&self, replica: &str, schedule: &str) -> Option<(f64, f64)> {
        let lane = self.lanes.of(replica)?;
        let row = self.look.row(schedule)?;
        Some(if self.look.is_all() { (lane + 2.0 + row as f64 * 10.0, 8.0) } else { (lane + 3.0, 15.0) })
    }

    fn causes(&mut self) {
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
                _ = write!(svg, r#"<text x="{:.1}" y="33" class="t">{}</text>"#, x + 18.0, escape(&text));
            }
            _ = write!(svg, "<title>{}</title>", escape(&text));
            self.put(1, format!("c{}", cause.seq), svg);
        }
    }

    fn clashes(&mut self) {
        for clash in clashes(self.stage, self.look) {
            let Some((from, to, open)) = self.place((clash.from_us, clash.until_us)) else { continue };
            let (top, bottom) = self.clash_lanes(&clash);
            let w = to - from;
            let judge = self.lanes.judge;
            let mut svg = format!(
                r#"<rect x="{from:.1}" y="40" width="{w:.1}" height="{:.1}" class="viol-band"/><rect x="{from:.1}" y="{top:.1}" width="{w:.1}" height="{:.1}" fill="url(#vi)" opacity=".38"/><path d="M{from:.1} 40V{:.1}" class="viol-edge"/>"#,
                judge - 40.0,
                bottom - top,
                self.lanes.height,
            );
            let until = clash.until_us.unwrap_or(self.now_us);
            let text = format!("overlap {}", words::ms(until.saturating_sub(clash.from_us)));
            let y = judge + 3.0;
            _ = write!(
                svg,
                r#"<rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="16" class="viol-f"/><rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="16" fill="url(#vi)"/><rect x="{:.1}" y="{:.2}" width="{:.1}" height="14.5" class="viol-e"/>"#,
                from + 0.75,
                y + 0.75,
                (w - 1.5).max(1.0)
            );
            _ = write!(svg, "<title>{} of {}</title>", escape(&text), escape(&clash.replicas.join(", ")));
            self.put(0, format!("v{}", clash.seq), svg);

            // The chip: inside its stripes if room remains, else to its left. While it goes on it stands at
            // the beginning and counts without a number that would have to be drawn anew each frame.
            let text = if open { format!("{} inside", clash.replicas.len()) } else { text };
            let chip = width(&text) + 28.0;
            let x = if open {
                from + 4.0
            } else if w >= chip + 18.0 {
                from + (w - chip) / 2.0
            } else {
                from - chip - 4.0
            };
            let svg = format!(
                r##"<rect x="{x:.1}" y="{y:.1}" width="{chip:.1}" height="16" class="viol-solid"/><svg x="{:.1}" y="{:.1}" width="12" height="12" viewBox="0 0 16 16" class="ic-in ic-bad"><use href="#i-oct"/></svg><text x="{:.1}" y="{:.1}" class="t viol-ink">{}</text>"##,
                x + 5.0,
                y + 2.0,
                x + 21.0,
                y + 12.0,
                escape(&text)
            );
            self.put(6, format!("w{}", clash.seq), svg);
        }
    }

    fn clash_lanes(&self, clash: &Clash) -> (f64, f64) {
        let lanes = clash.replicas.iter().filter_map(|name| self.lanes.of(name));
        let (top, bottom) = lanes.fold((f64::INFINITY, 0.0_f64), |(top, bottom), y| (top.min(y), bottom.max(y)));
        if top.is_finite() { (top, bottom + self.lanes.replica_height - 12.0) } else { (40.0, 40.0) }
    }

    fn sections(&mut self) {
        let stage = self.stage;
        for section in super::sections(stage, self.look) {
            let Some((from, to, _)) = self.place(section.span) else { continue };
            let Some((y, h)) = self.bar(&section.attempt.replica, &section.schedule) else { continue };
            let hue = hue(&section.attempt.replica);
            let mut svg = String::new();
            let mut at = from;
            let mut labels = Vec::new();
            for denied in &section.denied {
                let (start, end) = (self.scale.x(denied.0), denied.1.map_or(to, |until| self.scale.x(until)));
                solid(&mut svg, hue, at, start, y, h);
                labels.push((at, start, false));
                hollow(&mut svg, hue, start, end.max(start + 3.0), y, h);
                labels.push((start, end, true));
                at = end;
            }
            if at < to {
                solid(&mut svg, hue, at, to, y, h);
                labels.push((at, to, false));
            }
            if h > 10.0 {
                for (from, to, denied) in labels {
                    label(&mut svg, section, hue, from, to.min(self.scale.x(self.now_us)), y, denied);
                }
            }
            _ = write!(svg, "<title>{}</title>", escape(&section_words(section)));
            self.put(2, format!("s{}", section.seq), svg);
        }
    }

    fn stops(&mut self) {
        let stage = self.stage;
        for stop in &stage.track.stops {
            let Some((from, to, open)) = self.place(stop.span) else { continue };
            let Some(lane) = self.lanes.of(&stop.replica) else { continue };
            let y = lane + self.lanes.replica_height - 12.0;
            let w = to - from;
            let mut svg = format!(
                r#"<rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="9" class="frost"/><rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="9" fill="url(#fr)"/>"#
            );
            let text = match (stop.dead, stop.span.1) {
                (true, _) => "dead (SIGKILL)".to_owned(),
                (false, None) => "stopped (SIGSTOP)".to_owned(),
                (false, Some(until)) => format!("stopped {}", words::ms(until - stop.span.0)),
            };
            let room = width(&text) * 0.92 + 10.0;
            if open || w > room + 24.0 {
                _ = write!(
                    svg,
                    r#"<rect x="{:.1}" y="{:.1}" width="{room:.1}" height="11" class="under"/><text x="{:.1}" y="{:.1}" class="t t-s">{text}</text>"#,
                    from + 16.0,
                    y - 1.0,
                    from + 21.0,
                    y + 8.0
                );
            }
            _ = write!(svg, "<title>{} {text}</title>", escape(&stop.replica));
            self.put(3, format!("p{}{}", stop.replica, stop.span.0), svg);
        }
    }

    fn waits(&mut self) {
        let stage = self.stage;
        for wait in stage.track.waits.iter().filter(|wait| self.look.row(&wait.schedule).is_some()) {
            let Some((from, to, _)) = self.place(wait.span) else { continue };
            let Some((y, h)) = self.bar(&wait.attempt.replica, &wait.schedule) else { continue };
            let hue = hue(&wait.attempt.replica);
            let y = y + h / 2.0 + 1.0;
            let mut svg = format!(r#"<path d="M{from:.1} {y:.1}H{to:.1}" class="wait s-{hue}"/>"#);
            for busy in &wait.busy {
                let x = self.scale.x(*busy);
                _ = write!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" class="busy s-{hue}"/>"#);
            }
            let text = match wait.busy.len() {
                0 => String::new(),
                1 => "busy".to_owned(),
                n => format!("waits, {n} × busy"),
            };
            if !text.is_empty() && !self.look.is_all() {
                let last = wait.busy.last().map_or(to, |busy| self.scale.x(*busy));
                let wide = to - from > width(&text) + 30.0;
                let x = if wide { from + 11.0 } else { last.max(to.min(last + 4.0)) + 7.0 };
                if wide {
                    _ = write!(
                        svg,
                        r#"<rect x="{:.1}" y="{:.1}" width="{:.1}" height="12" class="under"/>"#,
                        x - 3.0,
                        y - 6.0,
                        width(&text) * 0.92 + 6.0
                    );
                }
                if wide || wait.span.1.is_some() {
                    _ = write!(svg, r#"<text x="{x:.1}" y="{:.1}" class="t t-s t-halo">{text}</text>"#, y + 4.0);
                }
            }
            _ = write!(
                svg,
                "<title>{} waits, told “busy” {} ×</title>",
                escape(&wait.attempt.replica),
                wait.busy.len()
            );
            self.put(4, format!("q{}", wait.attempt), svg);
        }
    }

    /// Commands without an answer: a solid line from the moment of sending.
    fn unanswered(&mut self) {
        let stage = self.stage;
        let open = stage.wire.rows.iter().filter(|row| row.answer.is_none() && row.command.is_some());
        let now_us = self.now_us;
        for row in open.filter(|row| now_us.saturating_sub(row.at_us) > 60_000) {
            let Some((from, to, _)) = self.place((row.at_us, None)) else { continue };
            let Some((y, h)) = self.bar(&row.replica, schedule_of(&row.about)) else { continue };
            let hue = hue(&row.replica);
            let y = y + h / 2.0 + 1.0;
            let svg = format!(
                r#"<path d="M{from:.1} {y:.1}H{to:.1}" class="open s-{hue}"/><rect x="{from:.1}" y="{:.1}" width="3" height="10" class="f-{hue}"/><text x="{:.1}" y="{:.1}" class="t t-s t-halo">{} unanswered</text><title>{} from {} is unanswered</title>"#,
                y - 5.0,
                from + 8.0,
                y - 4.0,
                escape(&row.name),
                escape(&row.name),
                escape(&row.replica)
            );
            self.put(4, format!("u{}", row.seq), svg);
        }
    }

    fn holds(&mut self) {
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
                if seen >= width(text) + 10.0 {
                    _ = write!(
                        svg,
                        r#"<text x="{:.1}" y="{:.1}" class="t t-b">{}</text>"#,
                        from + 6.0,
                        y + 11.0,
                        escape(text)
                    );
                }
            }
            _ = write!(svg, "<title>the store says: {}</title>", escape(&text));
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

    fn effects(&mut self) {
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
            let stale = stage.verdict.stale_effects.iter().any(|found| found.events.contains(&effect.seq));
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
                    escape(&said)
                );
            }
            _ = write!(
                svg,
                "<title>{}: {} from {}, slot {}</title>",
                stage.setup.sink,
                escape(&said),
                escape(&effect.attempt.replica),
                words::clock(effect.slot.fire_ms)
            );
            self.put(5, format!("e{}", effect.seq), svg);
        }
    }
}

fn solid(svg: &mut String, hue: char, from: f64, to: f64, y: f64, h: f64) {
    if to <= from {
        return;
    }
    let w = (to - from).max(3.0);
    let rx = if w > 6.0 { 3 } else { 0 };
    _ = write!(
        svg,
        r#"<rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="{h}" rx="{rx}" class="f-{hue}"/><rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="{h}" rx="{rx}" fill="url(#h{hue})"/>"#
    );
}

fn hollow(svg: &mut String, hue: char, from: f64, to: f64, y: f64, h: f64) {
    let (x, y, w, h) = (from + 0.75, y + 0.75, (to - from - 1.5).max(1.5), h - 1.5);
    _ = write!(
        svg,
        r#"<rect x="{x:.1}" y="{y:.2}" width="{w:.1}" height="{h}" rx="2" class="hollow s-{hue}"/><rect x="{x:.1}" y="{y:.2}" width="{w:.1}" height="{h}" rx="2" fill="url(#o{hue})"/>"#
    );
}

/// The longest of a few labels that fits inside with 7 pixels each side.
fn label(svg: &mut String, section: &Section, hue: char, from: f64, to: f64, y: f64, denied: bool) {
    let epoch = section.epoch.map(|epoch| format!("epoch {epoch}"));
    let candidates: Vec<String> = match (denied, epoch) {
        (true, _) => vec!["inside · store denies".to_owned(), "store denies".to_owned(), "denied".to_owned()],
        (false, Some(epoch)) => vec![format!("inside · {epoch} · store agrees"), format!("inside · {epoch}"), epoch],
        (false, None) => vec!["inside".to_owned()],
    };
    let Some(text) = candidates.into_iter().find(|text| width(text) + 14.0 <= to - from) else { return };
    let class = if denied { "t t-b t-halo".to_owned() } else { format!("t t-6 i-{hue} h-{hue}") };
    _ = write!(svg, r#"<text x="{:.1}" y="{:.1}" class="{class}">{text}</text>"#, from + 7.0, y + 11.5);
}

/// A section in words.
pub(super) fn section_words(section: &Section) -> String {
    let epoch = section.epoch.map(|epoch| format!(", believes epoch {epoch}")).unwrap_or_default();
    let denied = if section.denied.is_empty() { "" } else { "; for a part of it the store denies it" };
    format!("{} inside{epoch}{denied}", section.attempt.replica)
}
