//! What the parts of a stage share: the run, the moment that is shown, and what the reader looks at. The
//! stage at the run's end is `live`; scrubbing shows another stage, folded from the log in memory.

use leptos::prelude::*;
use locks::event::{Event, Kind};
use serde_json::Value;

use super::menu::Opened;
pub(crate) use super::turns::Part;
use super::turns::{Turn, Turns};
use crate::client;
use crate::data::RunPage;
use crate::stage::Stage;
use crate::stage::reel::Reel;
use crate::stage::view::deed;
use crate::stage::view::timeline::Look;

/// Pixels a second of the timeline at first.
const ZOOM: f64 = 420.0;

/// Something that was asked for and refused: what, why, and whose fault it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    /// What happened, in a few words.
    pub title: String,
    /// What to do.
    pub detail: String,
}

/// How the stream of a live run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// It delivers.
    Open,
    /// It was lost and is being opened again.
    Lost,
    /// There is none: the run is over.
    None,
}

/// Where the playhead is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// At the run's end, wherever that is.
    End,
    /// At an event.
    At(u64),
}

/// What the parts of a stage share. A handful of handles, copied freely.
#[derive(Clone, Copy)]
pub(crate) struct Play {
    /// The run's identity.
    pub id: StoredValue<String>,
    /// The reader may act on the run.
    pub owner: bool,
    /// The stage at the run's end.
    live: StoredValue<Stage>,
    /// The stage that is shown instead while the playhead is elsewhere.
    shown: StoredValue<Option<Stage>>,
    /// The event up to which the judge was asked.
    judged: StoredValue<u64>,
    /// When the parts are drawn.
    turns: Turns,
    /// Counts how often the reader's part is drawn.
    frame: RwSignal<u64>,
    /// The moment that it shows, in microseconds, ten times a second.
    pub now: RwSignal<u64>,
    /// The same for each frame, for what slides.
    pub slide: RwSignal<u64>,
    /// Where the playhead is.
    pub head: RwSignal<Head>,
    /// It moves by itself.
    pub playing: RwSignal<bool>,
    /// How fast.
    pub speed: RwSignal<f64>,
    /// The stream.
    pub stream: RwSignal<Stream>,
    /// The schedule that cards and lock look at.
    pub schedule: RwSignal<String>,
    /// The timeline looks at all schedules.
    pub all: RwSignal<bool>,
    /// Pixels a second of the timeline.
    pub zoom: RwSignal<f64>,
    /// How far the timeline is moved to the right of where it follows the playhead.
    pub pan: RwSignal<f64>,
    /// The replica that keys act on.
    pub selected: RwSignal<Option<String>>,
    /// The menu that is open.
    pub menu: RwSignal<Option<Opened>>,
    /// What was refused last.
    pub notice: RwSignal<Option<Notice>>,
    /// What was done last to a run of which another moment is shown.
    pub did: RwSignal<Option<String>>,
    /// Counts refusals, so that controls go back to what is.
    pub refused: RwSignal<u32>,
    /// The log in memory, once it was asked for.
    reel: StoredValue<Reel>,
    /// Events that came by the stream while the log is not complete in memory.
    tail: StoredValue<Vec<Event>>,
    /// The log is complete in memory.
    pub complete: RwSignal<bool>,
    /// The log is being fetched.
    fetching: StoredValue<bool>,
}

impl Play {
    /// Begin with what the page embeds.
    pub(crate) fn new(page: RunPage) -> Play {
        let mut stage = page.stage;
        stage.judge();
        let schedule = stage.catalog.first().map(|schedule| schedule.name.clone()).unwrap_or_default();
        let turns = Turns::new(stage.at_us);
        let Turn { frame, now, .. } = turns.of(Part::Cards);
        Play {
            id: StoredValue::new(page.id),
            owner: page.owner && page.live,
            turns,
            frame,
            now,
            slide: RwSignal::new(stage.at_us),
            live: StoredValue::new(stage),
            shown: StoredValue::new(None),
            judged: StoredValue::new(0),
            head: RwSignal::new(Head::End),
            playing: RwSignal::new(false),
            speed: RwSignal::new(1.0),
            stream: RwSignal::new(if page.live { Stream::Open } else { Stream::None }),
            schedule: RwSignal::new(schedule),
            all: RwSignal::new(false),
            zoom: RwSignal::new(ZOOM),
            pan: RwSignal::new(0.0),
            selected: RwSignal::new(None),
            menu: RwSignal::new(None),
            notice: RwSignal::new(None),
            did: RwSignal::new(None),
            refused: RwSignal::new(0),
            reel: StoredValue::new(Reel::default()),
            tail: StoredValue::new(Vec::new()),
            complete: RwSignal::new(false),
            fetching: StoredValue::new(false),
        }
    }

    /// The same as a part reads it: what it reads is run again in the part's turn.
    pub(crate) fn of(self, part: Part) -> Play {
        let Turn { frame, now, .. } = self.turns.of(part);
        Play { frame, now, ..self }
    }

    /// Draw whoever's turn it is; see [`Turns::draw_next`].
    pub(crate) fn draw_next(self, at_us: u64, page_ms: f64, due_ms: f64) {
        let replicas = self.live.with_value(|stage| stage.replicas.len());
        self.turns.draw_next(replicas, at_us, page_ms, due_ms);
    }

    /// The stage that is shown; whoever reads it is run again when it changes.
    pub(crate) fn with<R>(self, read: impl FnOnce(&Stage) -> R) -> R {
        self.frame.track();
        self.peek(read)
    }

    /// The same, without being run again.
    pub(crate) fn peek<R>(self, read: impl FnOnce(&Stage) -> R) -> R {
        let shown = self.shown.read_value();
        match shown.as_ref() {
            Some(stage) => read(stage),
            None => self.live.with_value(read),
        }
    }

    /// The stage at the run's end.
    pub(crate) fn with_live<R>(self, read: impl FnOnce(&Stage) -> R) -> R {
        self.frame.track();
        self.live.with_value(read)
    }

    /// The stage whose set-up stands in the bar: where it can be changed the run's end, else what is shown.
    pub(crate) fn with_set<R>(self, read: impl FnOnce(&Stage) -> R) -> R {
        if self.owner { self.with_live(read) } else { self.with(read) }
    }

    /// The log in memory.
    pub(crate) fn with_log<R>(self, read: impl FnOnce(&[Event]) -> R) -> R {
        self.frame.track();
        self.complete.track();
        self.reel.with_value(|reel| read(reel.events()))
    }

    /// Zoom the timeline by a factor; 0 is the usual zoom.
    pub(crate) fn zoom_by(self, by: f64) {
        self.zoom.update(|zoom| *zoom = if by > 0.0 { (*zoom * by).clamp(20.0, 20_000.0) } else { ZOOM });
    }

    /// What the timeline looks at.
    pub(crate) fn look(self) -> Look {
        if self.all.get() {
            Look::All(self.with(|stage| stage.catalog.iter().map(|schedule| schedule.name.clone()).collect()))
        } else {
            Look::One(self.schedule.get())
        }
    }

    /// Is the end shown?
    pub(crate) fn is_at_end(self) -> bool {
        self.head.get() == Head::End
    }

    /// Fold in what the stream delivered.
    pub(crate) fn extend(self, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        let ended = self.live.try_update_value(|stage| {
            events.iter().for_each(|event| stage.push(event));
            stage.ended.is_some()
        });
        if self.complete.get_untracked() {
            self.reel.update_value(|reel| events.into_iter().for_each(|event| reel.push(event)));
        } else {
            self.tail.update_value(|tail| tail.extend(events));
        }
        if ended == Some(true) {
            self.stream.set(Stream::None);
            self.judge();
        }
        self.turns.stale();
    }

    /// Ask the judge about what was folded in since it was last asked.
    pub(crate) fn judge(self) {
        if self.judged.get_value() != self.last_seq() {
            self.judged.set_value(self.last_seq());
            self.live.update_value(Stage::judge);
            self.turns.stale();
        }
    }

    /// The last event at the run's end.
    pub(crate) fn last_seq(self) -> u64 {
        self.live.with_value(|stage| stage.seq)
    }

    /// When the last event happened.
    pub(crate) fn last_us(self) -> u64 {
        self.live.with_value(|stage| stage.at_us)
    }

    /// Ask the run for something. What it does comes back as events; what it refuses, as a notice.
    pub(crate) fn act(self, action: Value) {
        if self.owner {
            client::act(self, action);
        }
    }

    /// It was done: said where one does not see it.
    pub(crate) fn done(self, action: &Value) {
        let ahead = self.last_us().saturating_sub(self.now.get_untracked());
        let elsewhere = self.head.get_untracked() != Head::End;
        self.did.set(elsewhere.then(|| deed::in_live_run(action, ahead)));
    }

    /// Show the run's end.
    pub(crate) fn follow(self) {
        self.did.set(None);
        self.playing.set(false);
        self.pan.set(0.0);
        self.shown.set_value(None);
        self.head.set(Head::End);
        let now = self.last_us();
        self.slide.set(now);
        self.turns.draw_all(now);
    }

    /// Show the stage at an event. The log is fetched first if it is not in memory.
    pub(crate) fn seek(self, seq: u64) {
        if !self.complete.get_untracked() {
            self.fetch_log(move || self.seek(seq));
            return;
        }
        let seq = seq.clamp(1, self.last_seq().max(1));
        let stage = self.reel.with_value(|reel| reel.at(seq));
        // A replica's late lines must not move the playhead back: the stage knows the latest moment.
        let at_us = stage.at_us;
        self.shown.set_value(Some(stage));
        self.head.set(Head::At(seq));
        self.slide.set(at_us);
        self.turns.draw_all(at_us);
    }

    /// Show the stage at an event, and of an effect its schedule: somebody wants to see what is proved.
    pub(crate) fn show(self, seq: u64) {
        if !self.complete.get_untracked() {
            self.fetch_log(move || self.show(seq));
            return;
        }
        let of = self.reel.with_value(|reel| match reel.events().get(seq.saturating_sub(1) as usize)?.kind {
            Kind::EffectSettled { ref slot, .. } => Some(slot.schedule.clone()),
            _ => None,
        });
        if let Some(schedule) = of.filter(|of| *of != *self.schedule.read_untracked()) {
            self.schedule.set(schedule);
        }
        self.seek(seq);
    }

    /// Show the stage at a moment.
    pub(crate) fn seek_us(self, at_us: u64) {
        if !self.complete.get_untracked() {
            self.fetch_log(move || self.seek_us(at_us));
            return;
        }
        let seq = self.reel.with_value(|reel| reel.seq_at(at_us));
        self.seek(seq);
    }

    /// One event on or back. Back from the end begins to scrub; on to the last one follows again.
    pub(crate) fn step(self, by: i64) {
        self.playing.set(false);
        let at = match self.head.get_untracked() {
            Head::End => self.last_seq(),
            Head::At(seq) => seq,
        };
        let to = at.saturating_add_signed(by).max(1);
        if to >= self.last_seq() && self.head.get_untracked() != Head::End {
            self.follow();
        } else if to < self.last_seq() {
            self.seek(to);
        }
    }

    /// Move the playhead by itself, or stop it.
    pub(crate) fn toggle(self) {
        if self.is_at_end() {
            if self.stream.get_untracked() == Stream::None {
                self.seek(1);
                self.playing.set(true);
            } else {
                // Stopping the picture of a live run: it goes on, the picture waits here.
                self.seek(self.last_seq());
            }
        } else {
            self.playing.update(|playing| *playing = !*playing);
        }
    }

    /// Let the playhead move on to a moment, folding in what happened until then. False at the end.
    pub(crate) fn advance(self, to_us: u64) -> bool {
        let Head::At(seq) = self.head.get_untracked() else { return false };
        let mut at = seq;
        self.reel.with_value(|reel| {
            self.shown.update_value(|shown| {
                let Some(stage) = shown else { return };
                for event in reel.events().get(seq as usize..).unwrap_or_default() {
                    if event.at_us > to_us {
                        break;
                    }
                    stage.push(event);
                    at = event.seq;
                }
                if at != seq {
                    stage.judge();
                }
            });
        });
        if at >= self.last_seq() {
            self.follow();
            return false;
        }
        if at != seq {
            self.head.set(Head::At(at));
            self.turns.stale();
        }
        self.slide.set(to_us);
        true
    }

    /// When the event behind the playhead happens.
    pub(crate) fn next_us(self) -> Option<u64> {
        let Head::At(seq) = self.head.get_untracked() else { return None };
        self.reel.with_value(|reel| reel.events().get(seq as usize).map(|event| event.at_us))
    }

    /// Fetch the log from its beginning into memory, then go on.
    pub(crate) fn fetch_log(self, then: impl FnOnce() + 'static) {
        if self.fetching.get_value() {
            return;
        }
        self.fetching.set_value(true);
        client::fetch_log(self, then);
    }

    /// A page of the log arrived. How many events are in memory now.
    pub(crate) fn take_page(self, events: Vec<Event>) -> u64 {
        self.reel
            .try_update_value(|reel| {
                events.into_iter().for_each(|event| reel.push(event));
                reel.len()
            })
            .unwrap_or(0)
    }

    /// The pages met what the stream delivers: from now on the log is complete in memory.
    pub(crate) fn close_log(self) {
        let tail = self.tail.try_update_value(std::mem::take).unwrap_or_default();
        self.reel.update_value(|reel| tail.into_iter().for_each(|event| reel.push(event)));
        self.fetching.set_value(false);
        self.complete.set(self.reel.with_value(Reel::len) >= self.last_seq());
        self.turns.stale();
    }

    /// The log could not be fetched.
    pub(crate) fn log_failed(self, notice: Notice) {
        self.fetching.set_value(false);
        self.notice.set(Some(notice));
    }
}

/// What the parts of this stage share.
pub(crate) fn play() -> Play {
    expect_context()
}

/// The same for a part of it.
pub(crate) fn play_of(part: Part) -> Play {
    play().of(part)
}
