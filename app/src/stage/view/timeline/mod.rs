//! The timeline: a lane a replica (what it believes), one for the lock (what the store says), one for the
//! sink (what it took), one for the judge, and on top what was done to the run. Marks are placed on a
//! scale that never moves what it has placed, so that live mode only slides the picture.

use crate::html::{Html, Size};
use locks::sorted::Map;

use crate::stage::Stage;
use crate::stage::track::{Section, Span};

mod clash;
mod ground;
mod marks;
mod mini;
mod scale;
mod table;

pub use clash::{Clash, clashes};
pub use ground::{ground, scheduled};
pub use marks::{Mark, marks};
pub use mini::mini;
pub use scale::{Piece, Scale};
pub use table::{TableRow, table, table_html};

/// Height of the axis.
pub const AXIS: f64 = 18.0;
/// Height of the row of causes.
pub const CAUSES: f64 = 22.0;
/// Height of a replica's lane, looking at one schedule.
pub const REPLICA: f64 = 32.0;
/// The same, looking at all schedules.
pub const REPLICA_ALL: f64 = 44.0;
/// Height of the store's and of the sink's lane.
pub const STORE: f64 = 28.0;
/// Height of the store's lane, looking at all schedules.
pub const STORE_ALL: f64 = 36.0;
/// Height of the judge's row.
pub const JUDGE: f64 = 22.0;

/// What the timeline looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// One schedule.
    One(String),
    /// All of them, each in a row of its own within the lanes.
    All(Vec<String>),
}

impl Look {
    /// Is this schedule looked at, and in which row of the lanes?
    pub fn row(&self, schedule: &str) -> Option<usize> {
        match self {
            Look::One(one) => (one == schedule).then_some(0),
            Look::All(all) => all.iter().position(|one| one == schedule),
        }
    }

    /// Whose a mark is, where marks of several schedules stand together: `settle-invoices: `.
    fn whose(&self, schedule: &str) -> String {
        if self.is_all() { format!("{schedule}: ") } else { String::new() }
    }

    /// All schedules?
    pub fn is_all(&self) -> bool {
        matches!(self, Look::All(_))
    }
}

/// The schedule that a lock's name is of.
fn schedule_of(lock: &str) -> &str {
    lock.split('@').next().unwrap_or(lock)
}

/// Where the lanes are.
#[derive(Clone, Debug, PartialEq)]
pub struct Lanes {
    /// Replicas, from the top, with where their lanes begin.
    pub replicas: Vec<(String, f64)>,
    /// Height of one of them.
    pub replica_height: f64,
    /// Where the store's lane begins.
    pub store: f64,
    /// Its height.
    pub store_height: f64,
    /// Where the sink's lane begins.
    pub sink: f64,
    /// Where the judge's row begins.
    pub judge: f64,
    /// Where everything ends.
    pub height: f64,
}

impl Lanes {
    /// The lanes of a stage.
    pub fn new(stage: &Stage, look: &Look) -> Lanes {
        let replica_height = if look.is_all() { REPLICA_ALL } else { REPLICA };
        let store_height = if look.is_all() { STORE_ALL } else { STORE };
        let mut y = AXIS + CAUSES;
        let mut replicas = Vec::new();
        for name in stage.replicas.keys() {
            replicas.push((name.clone(), y));
            y += replica_height;
        }
        let store = y;
        let sink = store + store_height;
        let judge = sink + STORE;
        Lanes { replicas, replica_height, store, store_height, sink, judge, height: judge + JUDGE }
    }

    fn of(&self, replica: &str) -> Option<f64> {
        self.replicas.iter().find(|(name, _)| name == replica).map(|(_, y)| *y)
    }
}

/// The lanes' names, from the top, as markup.
pub fn lane_names(lanes: &Lanes, sink: &str) -> String {
    let mut html = Html::new();
    html.element("div", "ln-axis", "").element("div", "ln-you", "you");
    for (name, _) in &lanes.replicas {
        html.class("div", "ln-rep").badge(Some(name), Size::Normal).element("span", "wide-only", "believes").close();
    }
    for (class, name, verb) in [("ln-store", "store", "says"), ("ln-sink", sink, "took")] {
        html.class("div", class).element("span", "nm", name).element("span", "wide-only", verb).close();
    }
    html.element("div", "ln-judge", "judge");
    html.finish()
}

/// When something of what is looked at happened; its gaps collapse.
pub fn busy(stage: &Stage, look: &Look, now_us: u64) -> Vec<(u64, u64)> {
    let track = &stage.track;
    let until = |span: Span| (span.0, span.1.unwrap_or(now_us).max(span.0));
    let mut busy = Vec::new();
    let seen = |schedule: &str| look.row(schedule).is_some();
    busy.extend(track.sections.iter().filter(|s| seen(&s.schedule)).map(|s| until(s.span)));
    busy.extend(track.waits.iter().filter(|w| seen(&w.schedule)).map(|w| until(w.span)));
    busy.extend(track.holds.iter().filter(|h| seen(schedule_of(&h.lock))).map(|h| until(h.span)));
    let effects = track.effects.iter().filter(|effect| seen(&effect.slot.schedule));
    busy.extend(effects.map(|effect| (effect.sent_us.unwrap_or(effect.at_us), effect.at_us)));
    let flights = track.flights.iter().filter(|flight| seen(&flight.slot.schedule) && !flight.settled);
    busy.extend(flights.map(|flight| (flight.sent_us, now_us)));
    let causes = track.causes.iter().filter(|cause| cause.schedule.as_deref().is_none_or(seen));
    busy.extend(causes.map(|cause| (cause.at_us, cause.at_us)));
    busy
}

/// The scale of a stage at a moment, for a view of that width.
pub fn scale(stage: &Stage, look: &Look, now_us: u64, px_per_s: f64, width: f64) -> Scale {
    Scale::new(&busy(stage, look, now_us), stage.origin_us, now_us, px_per_s, width / 10.0)
}

/// Sections of what is looked at, in order of their beginning.
fn sections<'a>(stage: &'a Stage, look: &'a Look) -> impl Iterator<Item = &'a Section> {
    stage.track.sections.iter().filter(|section| look.row(&section.schedule).is_some())
}

/// Numbers of accepted effects by slot: which sink mark is the last of its slot.
fn last_of_slot(stage: &Stage) -> Map<&locks::ids::Slot, u64> {
    stage.track.effects.iter().map(|effect| (&effect.slot, effect.seq)).collect()
}
