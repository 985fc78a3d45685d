//! When each part of the stage is drawn. No frame has room for everything on a large stage, so the parts take turns,
//! each with a frame and a moment of its own. What they show is not this module's business.

use leptos::prelude::*;

/// What of the stage is drawn together.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    /// Cards, lock, caption, and whatever belongs to no other part.
    Cards,
    Map,
    Timeline,
    Inspector,
}

const PARTS: usize = 4;

/// With so many replicas there is room for all parts in one frame.
const SMALL: usize = 3;

/// A part's turn.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    /// Counts how often it is drawn; whoever reads the stage is run again then.
    pub frame: RwSignal<u64>,
    /// The moment that it shows, in microseconds.
    pub now: RwSignal<u64>,
    /// When that moment was set, on the page's clock in milliseconds.
    set_ms: StoredValue<f64>,
    /// Something happened since it was drawn.
    stale: StoredValue<bool>,
}

impl Turn {
    fn new(now: u64) -> Turn {
        Turn {
            frame: RwSignal::new(0),
            now: RwSignal::new(now),
            set_ms: StoredValue::new(0.0),
            stale: StoredValue::new(false),
        }
    }

    fn draw(self) {
        self.stale.set_value(false);
        self.frame.update(|frame| *frame += 1);
    }
}

/// All turns. Handles, copied freely.
#[derive(Clone, Copy)]
pub(super) struct Turns {
    of: [Turn; PARTS],
    last: StoredValue<usize>,
}

impl Turns {
    /// Of a stage that shows that moment.
    pub fn new(now: u64) -> Turns {
        Turns { of: [(); PARTS].map(|()| Turn::new(now)), last: StoredValue::new(0) }
    }

    /// A part's turn.
    pub fn of(self, part: Part) -> Turn {
        self.of[part as usize]
    }

    /// Something happened: every part is drawn in its next turn.
    pub fn stale(self) {
        self.of.iter().for_each(|turn| turn.stale.set_value(true));
    }

    /// Draw every part in this frame, at that moment.
    pub fn draw_all(self, now: u64) {
        for turn in self.of {
            turn.now.set(now);
            turn.draw();
        }
    }

    /// The frame of the next parts that have something new to show, or show a moment that is `due_ms` old: of all on a
    /// small stage, of one on the largest, where what happens is on the screen within as many frames as there are parts.
    pub fn draw_next(self, replicas: usize, at_us: u64, page_ms: f64, due_ms: f64) {
        let last = self.last.get_value();
        let mut room = (PARTS * SMALL / replicas.max(1)).max(1);
        for next in (1..=PARTS).map(|by| (last + by) % PARTS) {
            let turn = self.of[next];
            let (stale, old) = (turn.stale.get_value(), page_ms - turn.set_ms.get_value() >= due_ms);
            if !stale && !old {
                continue;
            }
            self.last.set_value(next);
            if old {
                turn.set_ms.set_value(page_ms);
                turn.now.set(at_us);
            }
            if stale {
                turn.draw();
            }
            room -= 1;
            if room == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each part was drawn, and the moment that it shows.
    fn drawn(turns: Turns) -> Vec<(u64, u64)> {
        turns.of.iter().map(|turn| (turn.frame.get_untracked(), turn.now.get_untracked())).collect()
    }

    #[test]
    fn parts_of_a_large_stage_take_turns_and_none_waits_for_longer_than_there_are_parts() {
        let owner = Owner::new();
        owner.with(|| {
            let turns = Turns::new(7);
            for frame in 1..=8u32 {
                turns.stale();
                turns.draw_next(9, 100, f64::from(frame), f64::INFINITY);
                let times = drawn(turns).iter().map(|(times, _)| *times).sum::<u64>();
                assert_eq!(times, u64::from(frame), "one a frame");
            }
            assert_eq!(drawn(turns), [(2, 7); PARTS]);
            turns.draw_next(9, 100, 9.0, f64::INFINITY);
            assert_eq!(drawn(turns).iter().filter(|(times, _)| *times == 3).count(), 1, "what is still stale");
        });
    }

    #[test]
    fn on_a_small_stage_all_are_drawn_at_once_and_nothing_that_did_not_change() {
        let owner = Owner::new();
        owner.with(|| {
            let turns = Turns::new(7);
            turns.draw_next(3, 100, 1.0, f64::INFINITY);
            assert_eq!(drawn(turns), [(0, 7); PARTS]);
            turns.stale();
            turns.draw_next(3, 100, 2.0, f64::INFINITY);
            assert_eq!(drawn(turns), [(1, 7); PARTS]);
            // Nothing happens, and time goes by.
            turns.draw_next(3, 200, 120.0, 100.0);
            assert_eq!(drawn(turns), [(1, 200); PARTS]);
            turns.draw_next(3, 300, 150.0, 100.0);
            assert_eq!(drawn(turns), [(1, 200); PARTS]);
            turns.draw_all(50);
            assert_eq!(drawn(turns), [(2, 50); PARTS]);
        });
    }
}
