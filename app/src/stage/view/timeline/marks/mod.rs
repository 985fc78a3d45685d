//! The marks of the timeline. Shape says who speaks: bar (a replica believes), block (the store says),
//! diamond (the sink took). Solid: the store agrees; hollow with hatch: it denies.

use super::{Lanes, Look, Scale};
use crate::stage::Stage;

mod judge;
mod message;
mod replica;
mod sink;
mod store;
mod you;

pub(super) use message::message;
pub(super) use replica::{section_words, wait_words};

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

/// Where to say something along a stretch that may be longer than the view: at its beginning, and every so
/// often after it, as far as the window reaches.
fn again(from: f64, to: f64, window: (f64, f64)) -> impl Iterator<Item = f64> {
    const EVERY: f64 = 560.0;
    let first = ((window.0 - from) / EVERY).floor().max(0.0);
    let places = (0..16).map(move |i| from + (first + f64::from(i)) * EVERY);
    places.take_while(move |x| *x <= to.min(window.1))
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
    pen.messages();
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
}
