//! The one loop that moves the picture: once a frame it folds in what the stream delivered and moves the
//! present on. The run's clock is the machine's; the page knows it from the events that arrived soonest.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::prelude::*;
use wasm_bindgen::prelude::*;

use super::stream::Listener;
use super::{less_motion, performance_ms};
use crate::part::play::{Head, Play, Stream};

/// Numbers change so often at most.
const WORDS_MS: f64 = 100.0;
/// The judge is asked so often at most.
const JUDGE_MS: f64 = 300.0;
/// With less motion everything moves so often at most.
const CALM_MS: f64 = 500.0;
/// Playing passes over quiet within this time.
const QUIET_MS: f64 = 500.0;

/// What is called for each frame; it asks for the next one itself, hence the cell.
type Tick = Rc<RefCell<Option<Closure<dyn FnMut()>>>>;

struct Loop {
    play: Play,
    listener: Option<Listener>,
    /// The run's clock minus the page's, in microseconds.
    offset: Cell<f64>,
    last_frame: Cell<f64>,
    last_slide: Cell<f64>,
    last_judge: Cell<f64>,
    gone: Cell<bool>,
}

/// Begin to move the picture of a stage, for as long as it is shown.
pub(crate) fn drive(play: Play) {
    let now = performance_ms();
    let live = play.stream.get_untracked() != Stream::None;
    let state = Rc::new(Loop {
        play,
        listener: live.then(|| Listener::new(play)),
        offset: Cell::new(play.last_us() as f64 - now * 1000.0),
        last_frame: Cell::new(now),
        last_slide: Cell::new(0.0),
        last_judge: Cell::new(0.0),
        gone: Cell::new(false),
    });

    let minding = state.clone();
    let visibility = Closure::<dyn FnMut()>::new(move || {
        if let Some(listener) = &minding.listener {
            listener.mind_the_tab();
        }
    });
    _ = document().add_event_listener_with_callback("visibilitychange", visibility.as_ref().unchecked_ref());
    visibility.forget();

    let tick = Tick::default();
    let again = tick.clone();
    *tick.borrow_mut() = Some(Closure::new(move || {
        state.frame();
        if state.gone.get() {
            // Nothing is asked for any more; the loop's memory goes with the page.
            return;
        }
        request(&again);
    }));
    request(&tick);
}

fn request(tick: &Tick) {
    if let Some(tick) = tick.borrow().as_ref() {
        _ = window().request_animation_frame(tick.as_ref().unchecked_ref());
    }
}

impl Loop {
    fn frame(&self) {
        // The stage was taken away with its page.
        if self.play.head.try_get_untracked().is_none() {
            self.gone.set(true);
            if let Some(listener) = &self.listener {
                listener.close();
            }
            return;
        }
        let now = performance_ms();
        let passed = (now - self.last_frame.replace(now)).min(250.0);
        if let Some(listener) = &self.listener {
            let events = listener.take();
            if let Some(latest) = events.iter().map(|event| event.at_us).max() {
                self.offset.set(self.offset.get().max(latest as f64 - now * 1000.0));
            }
            self.play.extend(events);
            if now - self.last_judge.get() >= JUDGE_MS {
                self.last_judge.set(now);
                self.play.judge();
            }
            if self.play.stream.get_untracked() == Stream::None {
                listener.close();
            }
        }
        let at_us = match self.play.head.get_untracked() {
            Head::End if self.play.stream.get_untracked() != Stream::None => Some(self.move_on(now)),
            Head::At(_) if self.play.playing.get_untracked() => self.play_on(passed),
            Head::End | Head::At(_) => None,
        };
        // Where nothing moves, no moment grows old.
        let due_ms = match at_us {
            Some(_) if less_motion() => CALM_MS,
            Some(_) => WORDS_MS,
            None => f64::INFINITY,
        };
        self.play.draw_next(at_us.unwrap_or_default(), now, due_ms);
    }

    /// The present moves on; to which moment.
    fn move_on(&self, now: f64) -> u64 {
        let at_us = ((now * 1000.0 + self.offset.get()) as u64).max(self.play.last_us());
        if !less_motion() || now - self.last_slide.get() >= CALM_MS {
            self.last_slide.set(now);
            self.play.slide.set(at_us);
        }
        at_us
    }

    /// The playhead moves on, faster where nothing happens; to which moment, unless it came to the end.
    fn play_on(&self, passed: f64) -> Option<u64> {
        let at = self.play.slide.get_untracked();
        let mut by = passed * 1000.0 * self.play.speed.get_untracked();
        if let Some(next) = self.play.next_us() {
            let quiet = next.saturating_sub(at) as f64;
            if quiet > QUIET_MS * 1000.0 {
                by = by.max(quiet * passed / QUIET_MS);
            }
        }
        let to = at + by as u64;
        self.play.advance(to).then_some(to)
    }
}
