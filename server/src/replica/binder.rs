//! From the catalog to slots. Each replica binds the catalog to timers by itself, on its own wall clock and
//! in the schedule's time zone; a slot is the fire time, never the time at which a process was started. A
//! replica that slept over fire times runs the first of them late and lets the others go.

use chrono::DateTime;
use chrono_tz::Tz;
use croner::Cron;
use croner::parser::{CronParser, Seconds};
use locks::event::Schedule;
use locks::ids::Slot;

/// The catalog, bound to timers.
#[derive(Default)]
pub(super) struct Binder {
    bound: Vec<Bound>,
    /// The mutant: since when periods are counted, in milliseconds since the Unix epoch.
    counts_from_ms: Option<i64>,
}

struct Bound {
    schedule: String,
    cron: Cron,
    zone: Tz,
    /// How much later than the catalog says it fires; nothing but the mutant does.
    shift_ms: i64,
    /// Next fire time, in milliseconds since the Unix epoch; `None`: never again.
    next_ms: Option<i64>,
}

impl Bound {
    fn new(schedule: &Schedule, now_ms: i64, counts_from_ms: Option<i64>) -> Result<Bound, String> {
        // `1/5`, every five beginning with one, is how Quartz and many others say it.
        let cron = CronParser::builder()
            .seconds(Seconds::Required)
            .sloppy_ranges(true)
            .build()
            .parse(&schedule.cron)
            .map_err(|error| format!("schedule {}: {:?}: {error}", schedule.name, schedule.cron))?;
        let zone = schedule.time_zone.parse().map_err(|error| format!("schedule {}: {error}", schedule.name))?;
        let mut bound = Bound { schedule: schedule.name.clone(), cron, zone, shift_ms: 0, next_ms: None };
        if let Some(from_ms) = counts_from_ms {
            let before = bound.at(from_ms).and_then(|from| bound.cron.find_previous_occurrence(&from, true).ok());
            bound.shift_ms = before.map_or(0, |before| from_ms - before.timestamp_millis());
        }
        bound.advance(now_ms);
        Ok(bound)
    }

    /// The first fire time after `after_ms`.
    fn advance(&mut self, after_ms: i64) {
        self.next_ms = self
            .at(after_ms - self.shift_ms)
            .and_then(|after| self.cron.find_next_occurrence(&after, false).ok())
            .map(|next| next.timestamp_millis() + self.shift_ms);
    }

    fn at(&self, ms: i64) -> Option<DateTime<Tz>> {
        DateTime::from_timestamp_millis(ms).map(|at| at.with_timezone(&self.zone))
    }
}

impl Binder {
    /// The mutant: what the catalog calls every so often is counted from then on.
    pub(super) fn counting_from(from_ms: i64) -> Binder {
        Binder { bound: Vec::new(), counts_from_ms: Some(from_ms) }
    }

    /// Bind a catalog anew. What cannot be bound is left out and told.
    pub(super) fn bind(&mut self, catalog: &[Schedule], now_ms: i64) -> Vec<String> {
        let (mut bound, mut problems) = (Vec::new(), Vec::new());
        for schedule in catalog {
            match Bound::new(schedule, now_ms, self.counts_from_ms) {
                Ok(one) => bound.push(one),
                Err(problem) => problems.push(problem),
            }
        }
        self.bound = bound;
        problems
    }

    /// Reckon all timers anew: the wall clock was shifted.
    pub(super) fn reset(&mut self, now_ms: i64) {
        for bound in &mut self.bound {
            bound.advance(now_ms);
        }
    }

    /// When the next slot is due.
    pub(super) fn next_ms(&self) -> Option<i64> {
        self.bound.iter().filter_map(|bound| bound.next_ms).min()
    }

    /// The slots that are due, in order of their fire times.
    pub(super) fn due(&mut self, now_ms: i64) -> Vec<Slot> {
        let mut slots = Vec::new();
        for bound in &mut self.bound {
            if let Some(fire_ms) = bound.next_ms.filter(|fire_ms| *fire_ms <= now_ms) {
                slots.push(Slot { schedule: bound.schedule.clone(), fire_ms });
                bound.advance(now_ms);
            }
        }
        slots.sort_by_key(|slot| slot.fire_ms);
        slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(name: &str, cron: &str, time_zone: &str) -> Schedule {
        Schedule {
            name: name.to_owned(),
            cron: cron.to_owned(),
            time_zone: time_zone.to_owned(),
            handler: String::new(),
        }
    }

    /// 2025-11-29 22:10:00 UTC.
    const NOW: i64 = 1_764_454_200_000;

    fn bound(cron: &str, zone: &str, now_ms: i64) -> Binder {
        let mut binder = Binder::default();
        assert_eq!(binder.bind(&[schedule("s", cron, zone)], now_ms), Vec::<String>::new());
        binder
    }

    #[test]
    fn a_slot_is_the_fire_time_whenever_the_process_was_started() {
        for started in [NOW + 1, NOW + 2_345, NOW + 4_999] {
            let mut binder = bound("*/5 * * * * *", "UTC", started);
            assert_eq!(binder.next_ms(), Some(NOW + 5_000));
            assert!(binder.due(NOW + 4_999).is_empty());
            assert_eq!(binder.due(NOW + 5_012), vec![Slot { schedule: "s".to_owned(), fire_ms: NOW + 5_000 }]);
            assert_eq!(binder.next_ms(), Some(NOW + 10_000));
        }
    }

    #[test]
    fn the_mutant_counts_from_its_start_and_no_two_mean_the_same_slot() {
        let [one, other] = [NOW + 1_200, NOW + 1_201].map(|started| {
            let mut binder = Binder::counting_from(started);
            binder.bind(&[schedule("s", "*/5 * * * * *", "UTC")], started + 300);
            let first = binder.next_ms().unwrap();
            binder.due(first + 10);
            [first, binder.next_ms().unwrap()].map(|fire_ms| fire_ms - NOW)
        });
        assert_eq!((one, other), ([6_200, 11_200], [6_201, 11_201]));
    }

    #[test]
    fn who_slept_over_fire_times_runs_the_first_late_and_lets_the_others_go() {
        let mut binder = bound("*/5 * * * * *", "UTC", NOW);
        let slots = binder.due(NOW + 21_000);
        assert_eq!(slots.iter().map(|slot| slot.fire_ms).collect::<Vec<_>>(), [NOW + 5_000]);
        assert_eq!(binder.next_ms(), Some(NOW + 25_000));
    }

    #[test]
    fn a_step_may_begin_anywhere() {
        let mut binder = bound("1/5 * * * * *", "UTC", NOW);
        assert_eq!(binder.due(NOW + 1_000).len(), 1);
        assert_eq!(binder.next_ms(), Some(NOW + 6_000));
    }

    #[test]
    fn fire_times_are_reckoned_in_the_schedules_zone() {
        let berlin = bound("0 0 6 * * *", "Europe/Berlin", NOW).next_ms();
        let utc = bound("0 0 6 * * *", "UTC", NOW).next_ms();
        assert_eq!(utc.zip(berlin).map(|(utc, berlin)| utc - berlin), Some(3_600_000));
    }

    #[test]
    fn a_shifted_clock_moves_timers_but_not_slots() {
        let mut binder = bound("*/5 * * * * *", "UTC", NOW);
        binder.reset(NOW + 60_000);
        assert_eq!(binder.next_ms(), Some(NOW + 65_000));
    }

    #[test]
    fn what_cannot_be_bound_is_told_and_the_rest_is_bound() {
        let mut binder = Binder::default();
        let problems = binder.bind(
            &[
                schedule("bad", "every day", "UTC"),
                schedule("lost", "* * * * * *", "Mars/Base"),
                schedule("good", "* * * * * *", "UTC"),
            ],
            NOW,
        );
        assert_eq!(problems.len(), 2);
        assert_eq!(binder.due(NOW + 1_000).len(), 1);
    }
}
