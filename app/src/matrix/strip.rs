//! A line of the race: a run's marks in 76 pixels, on a scale that all lines share. The same shapes as on the
//! timeline: bars for what replicas believe, blocks for what the store says, diamonds for what the sink took.

use std::fmt::Write;

use locks::event::EffectAnswer;

use super::Run;
use super::picture::{look, span, tick_us, tick_words};
use crate::html::escaped;
use crate::stage::Stage;
use crate::stage::view::timeline::{Look, Scale, clashes};
use crate::stage::view::{hue, words};

/// Height of a line.
pub const HIGH: f64 = 76.0;
/// Height of the axis above all lines.
pub const AXIS: f64 = 28.0;
/// Where replicas' lanes end and the lock's begins.
pub(super) const LANES: f64 = 48.0;
/// Where the sink's diamonds stand.
const SINK: f64 = 68.0;
/// Height of a node's line within the lock's lane.
const NODE: f64 = 2.0;
/// Room before the first thing, in pixels.
const BEFORE: f64 = 16.0;

/// The one scale of a race.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shared {
    /// Width of every line.
    pub width: f64,
    /// How long the longest line goes on.
    pub length_us: u64,
}

impl Shared {
    /// A scale on which every run has room.
    pub fn new<'a>(stages: impl IntoIterator<Item = &'a Stage>, width: f64) -> Shared {
        let lengths = stages.into_iter().map(|stage| {
            let (from, to) = span(stage, &look(stage));
            to - from
        });
        // A little more, so that the last diamond and its label have room.
        let length_us = lengths.max().unwrap_or(1_000_000);
        Shared { width, length_us: length_us + length_us / 12 }
    }

    fn per_us(self) -> f64 {
        (self.width - BEFORE) / self.length_us.max(1) as f64
    }

    /// The scale of one line, whose first thing happens at that moment.
    fn of(self, from_us: u64) -> Scale {
        let before = (BEFORE / self.per_us()) as u64;
        Scale::linear(from_us.saturating_sub(before), from_us + self.length_us, self.width)
    }

    /// Where the ticks are, and which moments they are.
    fn ticks(self) -> impl Iterator<Item = (f64, u64, u64)> {
        let (per_us, tick) = (self.per_us(), tick_us(self.per_us(), 60.0));
        let places = (0..).map(move |n| (BEFORE + (n * tick) as f64 * per_us, n * tick, tick));
        places.take_while(move |(x, ..)| *x <= self.width)
    }

    /// The axis above all lines.
    pub fn axis(self) -> String {
        let width = self.width;
        let mut svg = format!(
            r#"<svg width="{width}" height="{AXIS}" viewBox="0 0 {width} {AXIS}" role="img" aria-label="Time axis, in seconds">"#
        );
        for (x, at, tick) in self.ticks().filter(|(x, ..)| *x < width - 14.0) {
            _ = write!(
                svg,
                r#"<text x="{x:.1}" y="18" class="ax" text-anchor="middle">{}</text>"#,
                tick_words(at, tick)
            );
        }
        svg + "</svg>"
    }
}

struct Pen<'a> {
    stage: &'a Stage,
    look: Look,
    scale: Scale,
    lane: f64,
    width: f64,
    /// Say what marks alone do not.
    labels: bool,
    /// There is room for names in bars, too.
    names: bool,
    svg: String,
}

/// One line.
pub fn strip(stage: &Run, shared: Shared, labels: bool, says: &str) -> String {
    let look = look(stage);
    let (from, _) = span(stage, &look);
    let width = shared.width;
    let mut svg = format!(
        r#"<svg width="{width}" height="{HIGH}" viewBox="0 0 {width} {HIGH}" role="img" aria-label="{}">"#,
        escaped(says)
    );
    for (x, ..) in shared.ticks() {
        _ = write!(svg, r#"<path d="M{x:.1} 0V{HIGH}" class="axl"/>"#);
    }
    let lane = LANES / stage.replicas.len().max(2) as f64;
    let mut pen = Pen { stage, look, scale: shared.of(from), lane, width, labels, names: labels && lane >= 20.0, svg };
    pen.clashes();
    pen.replicas();
    pen.holds();
    if stage.quorum.nodes > 0 {
        // One line a node within the lock's lane: a quorum is seen for what it is.
        pen.svg += &stage.quorum.lines(&pen.scale, stage.at_us, 48.0, NODE);
    }
    pen.effects();
    pen.svg + "</svg>"
}

impl Pen<'_> {
    fn lane_of(&self, replica: &str) -> Option<f64> {
        self.stage.replicas.keys().position(|name| name == replica).map(|nth| nth as f64 * self.lane)
    }

    fn place(&self, (from, to): (u64, Option<u64>)) -> (f64, f64) {
        let from = self.scale.x(from);
        (from, self.scale.x(to.unwrap_or(self.stage.at_us)).max(from + 2.0))
    }

    /// Height of a bar, and how far below its lane's beginning it stands.
    fn bar(&self) -> (f64, f64) {
        ((self.lane * 0.625).clamp(0.8, 15.0), (self.lane * 0.125).min(3.0))
    }

    fn clashes(&mut self) {
        for clash in clashes(self.stage, &self.look) {
            let (from, to) = self.place((clash.from_us, clash.until_us));
            let w = to - from;
            _ = write!(
                self.svg,
                r#"<rect x="{from:.1}" y="2" width="{w:.1}" height="42" class="viol-f"/><rect x="{from:.1}" y="2" width="{w:.1}" height="42" fill="url(#vi)" opacity=".5"/>"#
            );
        }
    }

    fn replicas(&mut self) {
        let stage = self.stage;
        let (h, inset) = self.bar();
        for stop in &stage.track.stops {
            let Some(lane) = self.lane_of(&stop.replica) else { continue };
            let ((from, to), y) = (self.place(stop.span), lane + inset + h + self.lane / 12.0);
            let (w, high) = (to - from, (self.lane / 5.0).min(5.0));
            let words = if stop.dead { "dead" } else { "stopped" };
            _ = write!(
                self.svg,
                r#"<rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="{high:.1}" class="frost"/><rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="{high:.1}" fill="url(#fr)"><title>{} {words}</title></rect>"#,
                escaped(&stop.replica)
            );
        }
        for wait in stage.track.waits.iter().filter(|wait| self.look.row(&wait.schedule).is_some()) {
            let Some(lane) = self.lane_of(&wait.attempt.replica) else { continue };
            let ((from, to), y) = (self.place(wait.span), lane + inset + h / 2.0);
            let hue = hue(&wait.attempt.replica);
            _ = write!(self.svg, r#"<path d="M{from:.1} {y:.1}H{to:.1}" class="wait s-{hue}"/>"#);
            let mut free = f64::NEG_INFINITY;
            for busy in wait.busy.iter().filter(|_| self.lane >= 12.0) {
                let x = self.scale.x(*busy);
                // Rings that would hide one another are one.
                if x >= free {
                    _ = write!(self.svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" class="busy s-{hue}"/>"#);
                    free = x + 9.0;
                }
            }
        }
        for section in stage.track.sections.iter().filter(|section| self.look.row(&section.schedule).is_some()) {
            let Some(lane) = self.lane_of(&section.attempt.replica) else { continue };
            let ((from, to), y) = (self.place(section.span), lane + inset);
            let hue = hue(&section.attempt.replica);
            let mut at = from;
            for denied in &section.denied {
                let (start, end) = self.place(*denied);
                solid(&mut self.svg, hue, at, start, y, h);
                hollow(&mut self.svg, hue, start, end.min(to), y, h);
                at = end;
            }
            solid(&mut self.svg, hue, at, to, y, h);
            if self.names && to - from > 20.0 {
                _ = write!(
                    self.svg,
                    r#"<text x="{:.1}" y="{:.1}" class="t t-6 i-{hue} h-{hue}">{}</text>"#,
                    from + 7.0,
                    y + 11.5,
                    escaped(&section.attempt.replica)
                );
            }
        }
    }

    fn holds(&mut self) {
        if !self.stage.asks_a_store() {
            if self.labels {
                _ = write!(self.svg, r#"<text x="{BEFORE}" y="57" class="t t-s">no lock</text>"#);
            }
            return;
        }
        _ = write!(self.svg, r#"<path d="M0 53H{}" class="lk-free"/>"#, self.width);
        for hold in &self.stage.track.holds {
            let (from, to) = self.place(hold.span);
            let hue = hold.owner.as_ref().map_or('n', |owner| hue(&owner.replica));
            _ = write!(
                self.svg,
                r#"<rect x="{from:.1}" y="48" width="{:.1}" height="10" class="lk s-{hue}"/><path d="M{from:.1} 58H{to:.1}" class="lk-base s-{hue}"/>"#,
                to - from
            );
        }
    }

    fn effects(&mut self) {
        let stage = self.stage;
        let mut before = None;
        for effect in stage.track.effects.iter().filter(|effect| self.look.row(&effect.slot.schedule).is_some()) {
            // Two of one slot stand side by side where one would hide the other; the exact moment is in the run.
            let exact = self.scale.x(effect.at_us);
            let x = before.filter(|(slot, _)| *slot == &effect.slot).map_or(exact, |(_, free)| exact.max(free));
            before = Some((&effect.slot, x + 13.0));
            let hue = hue(&effect.attempt.replica);
            let diamond = format!("M{x:.1} {:.1}l5.5 5.5-5.5 5.5-5.5-5.5z", SINK - 5.5);
            let accepted = effect.answer == EffectAnswer::Accepted;
            let stale = stage.is_stale(effect.seq);
            let said = match (&effect.answer, accepted && effect.nth > 1, stale) {
                (EffectAnswer::Rejected(guard) | EffectAnswer::GuardUnreachable(guard), ..) => {
                    format!("rejected by {guard}")
                }
                (_, true, _) => format!("{}× for this slot", effect.nth),
                (_, false, true) => "stale".to_owned(),
                _ => String::new(),
            };
            let harm = accepted && (effect.nth > 1 || stale);
            self.svg += "<g>";
            if accepted {
                _ = write!(
                    self.svg,
                    r#"<path d="{diamond}" class="f-{hue}"/><path d="{diamond}" class="edge s-{hue}"/>"#
                );
            } else {
                _ = write!(
                    self.svg,
                    r#"<path d="{diamond}" class="hollow s-{hue}"/><path d="M{:.1} {:.1}l5.4-5.4" class="open s-{hue}"/>"#,
                    x - 2.7,
                    SINK + 2.7
                );
            }
            if harm {
                _ = write!(self.svg, r#"<circle cx="{x:.1}" cy="{SINK}" r="7.6" class="viol-e"/>"#);
            }
            if self.labels && !said.is_empty() {
                let class = if harm { "t t-s t-bad t-halo" } else { "t t-s t-halo" };
                let (at, anchor) = if x > 0.85 * self.width { (x - 12.0, "end") } else { (x + 12.0, "start") };
                _ = write!(
                    self.svg,
                    r#"<text x="{at:.1}" y="{}" class="{class}" text-anchor="{anchor}">{}</text>"#,
                    SINK + 4.0,
                    escaped(&said)
                );
            }
            _ = write!(
                self.svg,
                "<title>{} of {}, slot {}</title></g>",
                if accepted { "accepted effect" } else { "rejected effect" },
                escaped(&effect.attempt.replica),
                words::clock(effect.slot.fire_ms)
            );
        }
    }
}

fn solid(svg: &mut String, hue: char, from: f64, to: f64, y: f64, h: f64) {
    let w = to - from;
    if w <= 0.0 {
        return;
    }
    let rx = if w > 6.0 && h > 8.0 { 3 } else { 0 };
    _ = write!(
        svg,
        r#"<rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}" rx="{rx}" class="f-{hue}"/><rect x="{from:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}" rx="{rx}" fill="url(#h{hue})"/>"#
    );
}

fn hollow(svg: &mut String, hue: char, from: f64, to: f64, y: f64, h: f64) {
    let (x, y, w, h) = (from + 0.75, y + 0.75, (to - from - 1.5).max(1.5), (h - 1.5).max(0.5));
    _ = write!(
        svg,
        r#"<rect x="{x:.1}" y="{y:.2}" width="{w:.1}" height="{h:.1}" rx="2" class="hollow s-{hue}"/><rect x="{x:.1}" y="{y:.2}" width="{w:.1}" height="{h:.1}" rx="2" fill="url(#o{hue})"/>"#
    );
}
