//! A live session's longest segment, judged as often as the page asks.

use std::time::{Duration, Instant};

use super::*;

/// Nine replicas without coordination: 36 overlaps a slot.
fn crowd(events: usize) -> Log {
    let mut log = Log::default();
    let mut n: u32 = 0;
    while log.events.len() < events {
        n += 1;
        let ms = u64::from(n) * 1000;
        for replica in ["A", "B", "C", "D", "E", "F", "G", "H", "I"] {
            let attempt = format!("{replica}.1.{n}");
            log.due(ms, &attempt, i64::from(n)).granted(ms + 1, &attempt, Some(n.into()), Some(ms + 900));
            log.entered(ms + 2, &attempt).accepted(ms + 300, &attempt, i64::from(n), Some(n.into()));
            log.left(ms + 350, &attempt).command("release", &attempt, [ms + 351, ms + 353], Some(ms + 352), 0);
            log.finished(ms + 354, &attempt, i64::from(n), Outcome::Executed);
        }
    }
    log
}

#[test]
fn fifty_thousand_events_are_folded_within_a_second_and_a_verdict_takes_little_of_a_fifth() {
    let log = crowd(50_000);
    let began = Instant::now();
    let judge = log.judge();
    let folded = began.elapsed();
    let began = Instant::now();
    let verdict = judge.verdict();
    let judged = began.elapsed();
    assert_eq!(verdict.overlaps.len(), verdict.effects_per_slot.len() * 36);
    // Without optimisation, on a busy machine; alone it is a tenth of that.
    assert!(folded < Duration::from_secs(1), "folding took {folded:?}");
    assert!(judged < Duration::from_millis(500), "the verdict took {judged:?}");
}

#[test]
fn who_never_leaves_costs_no_more_than_the_most_that_is_found() {
    let mut log = Log::default();
    for n in 1..=3000 {
        log.entered(n, &format!("A.1.{n}"));
    }
    log.ended(4000);
    assert_eq!(log.verdict().overlaps.len(), crate::judge::overlap::MOST);
}
