//! What was expected against what was found. One line for each expectation, whether it held or not, so
//! that a reader sees what was looked at; and for one that did not, the first event that broke it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AtOnce, Bound, Expect, ExpectEvent};
use crate::action::EventPattern;
use crate::event::{EffectAnswer, Event, Kind};
use crate::ids::{AttemptId, Slot};
use crate::judge::{Finding, Verdict};
use crate::machine::Outcome;
use crate::sorted::Map;

/// One expectation, looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// What it is about.
    pub what: String,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub observed: String,
    /// Does it hold?
    pub holds: bool,
    /// The number of the first event that broke it, where one did; what did not happen has none.
    pub first_event: Option<u64>,
}

impl Expect {
    /// Look at every expectation. The verdict is the final one of these events.
    pub fn check(&self, verdict: &Verdict, events: &[Event]) -> Vec<Checked> {
        let mut checked = Vec::new();
        let findings = [
            ("overlaps", self.overlaps, &verdict.overlaps),
            ("stale effects", self.stale_effects, &verdict.stale_effects),
            ("foreign releases", self.foreign_releases, &verdict.foreign_releases),
        ];
        for (what, bound, found) in findings {
            checked.extend(bound.map(|bound| check_findings(what, bound, found)));
        }
        checked.extend(self.effects_per_slot.map(|bound| check_effects(bound, verdict, events)));
        checked.extend(self.missed_slots.map(|bound| check_missed(bound, &verdict.missed_slots, events)));
        checked.extend(self.takeover_ms.map(|bound| check_takeovers(bound, &verdict.takeover_ms)));
        for (replica, expected) in &self.outcomes {
            checked.push(check_outcomes(replica, expected, &verdict.outcomes, events));
        }
        checked.extend(self.event.iter().map(|expected| check_events(expected, events)));
        checked
    }
}

/// The event that was one too many, if `bound` allows fewer than these.
fn one_too_many<T>(bound: Bound, of: &[T]) -> Option<&T> {
    of.get(usize::try_from(bound.max?).ok()?)
}

fn check_findings(what: &str, bound: Bound, found: &[Finding]) -> Checked {
    let certain: Vec<_> = found.iter().filter(|finding| finding.certain).collect();
    let undecided = found.len() - certain.len();
    let mut observed = certain.len().to_string();
    if undecided > 0 {
        observed += &format!(" (and {undecided} undecided)");
    }
    if let Some(first) = certain.first() {
        observed += &format!(": {}", first.text);
    }
    Checked {
        what: what.to_owned(),
        expected: bound.to_string(),
        observed,
        holds: bound.holds(certain.len() as u64),
        first_event: one_too_many(bound, &certain).and_then(|finding| finding.events.last().copied()),
    }
}

fn check_effects(bound: Bound, verdict: &Verdict, events: &[Event]) -> Checked {
    let most = u64::from(verdict.most_effects());
    let mut of_slot: BTreeMap<&Slot, Vec<u64>> = BTreeMap::new();
    for event in in_time(events) {
        if let Kind::EffectSettled { slot, answer: EffectAnswer::Accepted, .. } = &event.kind {
            of_slot.entry(slot).or_default().push(event.seq);
        }
    }
    let first_event = of_slot.values().filter_map(|seqs| one_too_many(bound, seqs)).min().copied();
    Checked {
        what: "effects per slot".to_owned(),
        expected: bound.to_string(),
        observed: most.to_string(),
        holds: bound.holds(most),
        first_event,
    }
}

fn check_missed(bound: Bound, missed: &[Slot], events: &[Event]) -> Checked {
    let fired = |missed: &Slot| {
        let is = |event: &&Event| matches!(&event.kind, Kind::SlotFired { slot, .. } | Kind::SlotDue { slot, .. } if slot == missed);
        events.iter().find(is).map(|event| event.seq)
    };
    Checked {
        what: "missed slots".to_owned(),
        expected: bound.to_string(),
        observed: missed.len().to_string(),
        holds: bound.holds(missed.len() as u64),
        first_event: one_too_many(bound, missed).and_then(fired),
    }
}

/// Every takeover must lie within the bound; none at all is no proof of anything.
fn check_takeovers(bound: Bound, takeovers: &[Option<u64>]) -> Checked {
    let shown = |ms: &Option<u64>| ms.map_or_else(|| "none".to_owned(), |ms| format!("{ms} ms"));
    Checked {
        what: "takeover".to_owned(),
        expected: format!("{bound} ms"),
        observed: match takeovers {
            [] => "no fault struck a holder".to_owned(),
            _ => takeovers.iter().map(shown).collect::<Vec<_>>().join(", "),
        },
        holds: !takeovers.is_empty() && takeovers.iter().all(|ms| ms.is_some_and(|ms| bound.holds(ms))),
        first_event: None,
    }
}

fn check_outcomes(replica: &str, expected: &[Outcome], found: &Map<String, Vec<Outcome>>, events: &[Event]) -> Checked {
    let observed = found.get(replica).map_or(&[][..], |outcomes| &outcomes[..]);
    let differs = (0..expected.len().max(observed.len())).find(|at| expected.get(*at) != observed.get(*at));
    let list = |outcomes: &[Outcome]| match outcomes {
        [] => "none".to_owned(),
        _ => outcomes.iter().map(|outcome| outcome.name()).collect::<Vec<_>>().join(", "),
    };
    Checked {
        what: format!("outcomes of {replica}"),
        expected: list(expected),
        observed: list(observed),
        holds: differs.is_none(),
        first_event: differs.and_then(|at| last_of_attempt(replica, at, events)),
    }
}

/// What ended (or, if nothing did, began) the attempt of a replica that stands at a place of its outcomes.
fn last_of_attempt(replica: &str, at: usize, events: &[Event]) -> Option<u64> {
    let mut attempts: BTreeMap<(i64, &Slot, &AttemptId), u64> = BTreeMap::new();
    for event in events {
        if let Kind::SlotDue { attempt, slot, .. } | Kind::Finished { attempt, slot, .. } = &event.kind
            && attempt.replica == replica
        {
            attempts.insert((slot.fire_ms, slot, attempt), event.seq);
        }
    }
    attempts.into_values().nth(at)
}

fn check_events(expected: &ExpectEvent, events: &[Event]) -> Checked {
    let mut fitting = in_time(events);
    fitting.retain(|event| expected.event.matches(event));
    let count = fitting.len() as u64;
    let first_us = fitting.first().map_or(0, |event| event.at_us);
    let late =
        expected.within_ms.and_then(|ms| fitting.iter().find(|event| event.at_us - first_us > ms.saturating_mul(1000)));
    let crowd = expected.at_once.as_ref().map(|at_once| (at_once, crowd(at_once, &fitting)));
    let crowded = crowd.as_ref().filter(|(at_once, crowd)| !at_once.count.holds(crowd.len() as u64));
    let one_more = crowded.and_then(|(at_once, crowd)| one_too_many(at_once.count, crowd));
    let by = |of: &AtOnce| of.by.as_deref().map_or(String::new(), |field| format!(" by {field}"));
    let at_once = expected.at_once.as_ref();
    let at_once =
        at_once.map_or(String::new(), |of| format!(", {} of them within any {} ms{}", of.count, of.ms, by(of)));
    let most = crowd.as_ref();
    let most = most.map_or(String::new(), |(of, crowd)| format!(", {} within {} ms{}", crowd.len(), of.ms, by(of)));
    let within = expected.within_ms.map_or(String::new(), |ms| format!(" within {ms} ms"));
    let spread = fitting.last().map_or(0, |last| (last.at_us - first_us) / 1000);
    let spread = expected.within_ms.map_or(String::new(), |_| format!(" within {spread} ms"));
    let too_few = count < expected.count.min;
    let nearest = if too_few { nearest(expected, events) } else { String::new() };
    Checked {
        what: format!("event {}", expected.event),
        expected: format!("{}{within}{at_once}", expected.count),
        observed: format!("{count}{spread}{most}{nearest}"),
        holds: expected.count.holds(count) && late.is_none() && crowded.is_none(),
        first_event: one_too_many(expected.count, &fitting).or(late).or(one_more).map(|event| event.seq),
    }
}

/// The most events that stand within so many milliseconds of one another. One without the field that says when
/// stands with none.
fn crowd<'a>(of: &AtOnce, events: &[&'a Event]) -> Vec<&'a Event> {
    let when_us = |event: &Event| match &of.by {
        None => Some(event.at_us),
        Some(field) => serde_json::to_value(&event.kind).ok()?.get(field)?.as_u64().map(|ms| ms.saturating_mul(1000)),
    };
    let mut timed: Vec<(u64, &Event)> = events.iter().filter_map(|event| Some((when_us(event)?, *event))).collect();
    timed.sort_by_key(|(when_us, _)| *when_us);
    let from = |at: usize| {
        let near = timed[at..].iter().take_while(|(when_us, _)| when_us - timed[at].0 < of.ms.saturating_mul(1000));
        &timed[at..at + near.count()]
    };
    let most = (0..timed.len()).map(from).max_by_key(|crowd| crowd.len()).unwrap_or_default();
    most.iter().map(|(_, event)| *event).collect()
}

/// What there was instead of an event that is missing: the first of those that fit best without fitting.
fn nearest(expected: &ExpectEvent, events: &[Event]) -> String {
    let mut best: Option<(usize, &Event)> = None;
    for event in in_time(events).into_iter().filter(|event| !expected.event.matches(event)) {
        if let Some(near) = expected.event.nearness(event).filter(|near| best.is_none_or(|(most, _)| *near > most)) {
            best = Some((near, event));
        }
    }
    match best {
        Some((_, event)) => {
            let what = serde_json::to_string(&event.kind).unwrap_or_default();
            format!("; nearest is event {} ({}): {what}", event.seq, event.source)
        }
        None if expected.event.replica.is_none() && expected.event.fields.is_empty() => String::new(),
        None => format!("; there was no other {} either", expected.event.kind),
    }
}

/// Events in the order in which they are judged.
fn in_time(events: &[Event]) -> Vec<&Event> {
    let mut sorted: Vec<&Event> = events.iter().collect();
    sorted.sort_by(|a, b| a.order().cmp(&b.order()));
    sorted
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (min, Some(max)) if min == max => write!(f, "{max}"),
            (0, Some(max)) => write!(f, "at most {max}"),
            (min, Some(max)) => write!(f, "{min} to {max}"),
            (min, None) => write!(f, "at least {min}"),
        }
    }
}

impl fmt::Display for EventPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if let Some(replica) = &self.replica {
            write!(f, " of {replica}")?;
        }
        for (n, (field, value)) in self.fields.iter().enumerate() {
            write!(f, "{}{field} = {value}", if n == 0 { " with " } else { ", " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Source, WorkEnd};
    use crate::ids::SinkName;
    use crate::scenario::AtOnce;

    fn slot(n: i64) -> Slot {
        Slot { schedule: "s".to_owned(), fire_ms: n }
    }

    fn event(seq: u64, ms: u64, replica: &str, kind: Kind) -> Event {
        let source = Source::Replica { name: replica.to_owned(), incarnation: 1 };
        Event { seq, at_us: ms * 1000, until_us: None, source, kind }
    }

    fn finished(seq: u64, ms: u64, replica: &str, n: u32, outcome: Outcome) -> Event {
        let attempt = format!("{replica}.1.{n}").parse().unwrap();
        event(seq, ms, replica, Kind::Finished { attempt, slot: slot(n.into()), outcome, why: String::new() })
    }

    fn settled(seq: u64, ms: u64, n: i64) -> Event {
        let kind = Kind::EffectSettled {
            attempt: "A.1.1".parse().unwrap(),
            lock: "s".to_owned(),
            slot: slot(n),
            epoch: None,
            answer: EffectAnswer::Accepted,
            nth: 1,
        };
        Event { seq, at_us: ms * 1000, until_us: None, source: Source::Sink(SinkName::Bank), kind }
    }

    fn found(certain: bool, last: u64) -> Finding {
        Finding { events: vec![1, last], certain, from_us: 0, until_us: 0, text: format!("found {last}") }
    }

    fn only(expect: Expect, verdict: &Verdict, events: &[Event]) -> Checked {
        let mut checked = expect.check(verdict, events);
        assert_eq!(checked.len(), 1);
        checked.remove(0)
    }

    #[test]
    fn what_is_not_expected_is_not_looked_at() {
        assert_eq!(Expect::default().check(&Verdict::default(), &[]), []);
    }

    #[test]
    fn certain_findings_count_and_the_one_too_many_is_named() {
        let verdict = Verdict { overlaps: vec![found(false, 5), found(true, 6), found(true, 7)], ..Verdict::default() };
        let at_most = |max| Expect { overlaps: Some(Bound { min: 0, max: Some(max) }), ..Expect::default() };
        let checked = only(at_most(1), &verdict, &[]);
        assert_eq!((checked.holds, checked.first_event), (false, Some(7)));
        assert_eq!((&checked.expected[..], &checked.observed[..]), ("at most 1", "2 (and 1 undecided): found 6"));
        assert!(only(at_most(2), &verdict, &[]).holds);
        let three = Expect { overlaps: Some(Bound::exactly(3)), ..Expect::default() };
        let checked = only(three, &verdict, &[]);
        assert_eq!((checked.holds, checked.first_event), (false, None), "what did not happen has no event");
    }

    #[test]
    fn the_second_effect_of_a_slot_is_named_by_time() {
        let events = [settled(1, 50, 1), settled(2, 10, 2), settled(3, 20, 1)];
        let verdict = Verdict { effects_per_slot: Map::from([(slot(1), 2), (slot(2), 1)]), ..Verdict::default() };
        let expect = Expect { effects_per_slot: Some(Bound::exactly(1)), ..Expect::default() };
        let checked = only(expect, &verdict, &events);
        assert_eq!((checked.holds, checked.first_event, &checked.observed[..]), (false, Some(1), "2"));
    }

    #[test]
    fn takeovers_must_have_been_seen_and_all_lie_within() {
        let expect = |max| Expect { takeover_ms: Some(Bound { min: 0, max: Some(max) }), ..Expect::default() };
        let holds = |takeover_ms: &[Option<u64>], max| {
            let verdict = Verdict { takeover_ms: takeover_ms.to_vec(), ..Verdict::default() };
            only(expect(max), &verdict, &[]).holds
        };
        assert!(holds(&[Some(10), Some(100)], 100));
        assert!(!holds(&[Some(10), Some(101)], 100));
        assert!(!holds(&[Some(10), None], 100));
        assert!(!holds(&[], 100));
    }

    #[test]
    fn outcomes_name_the_attempt_that_differs() {
        let events = [finished(1, 10, "A", 1, Outcome::Executed), finished(2, 20, "A", 2, Outcome::Lost)];
        let verdict = Verdict {
            outcomes: Map::from([("A".to_owned(), vec![Outcome::Executed, Outcome::Lost])]),
            ..Verdict::default()
        };
        let expect = |replica: &str, outcomes: &[Outcome]| Expect {
            outcomes: BTreeMap::from([(replica.to_owned(), outcomes.to_vec())]),
            ..Expect::default()
        };
        assert!(only(expect("A", &[Outcome::Executed, Outcome::Lost]), &verdict, &events).holds);
        let checked = only(expect("A", &[Outcome::Executed, Outcome::Executed]), &verdict, &events);
        assert_eq!((checked.holds, checked.first_event), (false, Some(2)));
        let checked = only(expect("A", &[Outcome::Executed]), &verdict, &events);
        assert_eq!((checked.holds, checked.first_event), (false, Some(2)), "one more than expected");
        let checked = only(expect("B", &[Outcome::Skipped]), &verdict, &events);
        assert_eq!((checked.holds, &checked.observed[..]), (false, "none"));
    }

    #[test]
    fn a_slot_that_was_missed_is_named_where_it_was_due() {
        let due =
            Kind::SlotDue { attempt: "A.1.1".parse().unwrap(), slot: slot(4), lock: "s".to_owned(), by_timer: true };
        let verdict = Verdict { missed_slots: vec![slot(4)], ..Verdict::default() };
        let expect = Expect { missed_slots: Some(Bound::exactly(0)), ..Expect::default() };
        assert_eq!(only(expect, &verdict, &[event(9, 1, "A", due)]).first_event, Some(9));
    }

    #[test]
    fn events_are_counted_and_must_lie_close_together() {
        let ended = |seq, ms, replica: &str| {
            let attempt = format!("{replica}.1.1").parse().unwrap();
            event(seq, ms, replica, Kind::WorkEnded { attempt, how: WorkEnd::Done })
        };
        let events = [ended(1, 10, "A"), ended(2, 25, "B"), ended(3, 15, "A")];
        let expect = |replica: Option<&str>, count, within_ms| {
            let fields = BTreeMap::from([("how".to_owned(), "done".into())]);
            let event = EventPattern { kind: "work_ended".to_owned(), replica: replica.map(str::to_owned), fields };
            Expect { event: vec![ExpectEvent { event, count, within_ms, at_once: None }], ..Expect::default() }
        };
        let check = |expect| only(expect, &Verdict::default(), &events);
        assert!(check(expect(Some("A"), Bound::exactly(2), Some(5))).holds);
        let checked = check(expect(Some("A"), Bound::exactly(1), None));
        assert_eq!((checked.holds, checked.first_event), (false, Some(3)));
        assert_eq!(checked.what, "event work_ended of A with how = \"done\"");
        let checked = check(expect(None, Bound { min: 1, max: None }, Some(14)));
        assert_eq!((checked.holds, checked.first_event), (false, Some(2)));
        assert_eq!((&checked.expected[..], &checked.observed[..]), ("at least 1 within 14 ms", "3 within 15 ms"));
    }

    #[test]
    fn the_closest_crowd_is_counted_and_the_one_too_many_is_named() {
        let ready = |seq, ms| event(seq, ms, "A", Kind::Ready);
        let events = [ready(1, 0), ready(2, 20), ready(3, 24), ready(4, 29), ready(5, 30)];
        let check = |ms, min, max| {
            let event = EventPattern { kind: "ready".to_owned(), replica: None, fields: BTreeMap::new() };
            let at_once = Some(AtOnce { ms, by: None, count: Bound { min, max } });
            let count = Bound { min: 1, max: None };
            let expect =
                Expect { event: vec![ExpectEvent { event, count, within_ms: None, at_once }], ..Expect::default() };
            only(expect, &Verdict::default(), &events)
        };
        assert!(check(10, 3, Some(3)).holds, "20, 24 and 29, or 24, 29 and 30");
        let checked = check(10, 0, Some(2));
        assert_eq!((checked.holds, checked.first_event.is_some()), (false, true));
        assert_eq!(
            (&checked.expected[..], &checked.observed[..]),
            ("at least 1, at most 2 of them within any 10 ms", "5, 3 within 10 ms")
        );
        assert_eq!(check(11, 0, Some(3)).first_event, Some(5));
        assert!(!check(10, 4, None).holds);
    }

    #[test]
    fn a_crowd_may_be_one_of_a_fields_values() {
        let moved = |seq, ms, timer_ms| {
            let text = |word: &str| word.to_owned();
            let (schedule, from, on, to) = (text("s"), text("acquiring"), text("busy"), text("waiting"));
            event(seq, ms, "A", Kind::Strategy { attempt: None, schedule, from, on, to, timer_ms })
        };
        // All in one moment; two of them for about as long, and one for no time that is known.
        let events = [moved(1, 0, Some(50)), moved(2, 0, None), moved(3, 0, Some(70)), moved(4, 0, Some(59))];
        let check = |most| {
            let event = EventPattern { kind: "strategy".to_owned(), replica: None, fields: BTreeMap::new() };
            let at_once =
                Some(AtOnce { ms: 10, by: Some("timer_ms".to_owned()), count: Bound { min: 0, max: Some(most) } });
            let count = Bound { min: 1, max: None };
            let expect =
                Expect { event: vec![ExpectEvent { event, count, within_ms: None, at_once }], ..Expect::default() };
            only(expect, &Verdict::default(), &events)
        };
        assert!(check(2).holds);
        let checked = check(1);
        assert_eq!((checked.holds, checked.first_event), (false, Some(4)));
        assert_eq!(checked.observed, "4, 2 within 10 ms by timer_ms");
    }

    #[test]
    fn of_an_event_that_is_missing_the_nearest_is_told() {
        let events = [finished(1, 5, "B", 1, Outcome::Skipped), finished(2, 9, "A", 1, Outcome::Executed)];
        let expected = |replica: &str, outcome: &str| ExpectEvent {
            event: EventPattern {
                kind: "finished".to_owned(),
                replica: Some(replica.to_owned()),
                fields: [("outcome".to_owned(), outcome.into())].into(),
            },
            count: Bound { min: 1, max: None },
            within_ms: None,
            at_once: None,
        };
        let checked = check_events(&expected("A", "executed"), &events);
        assert_eq!((checked.holds, &checked.observed[..]), (true, "1"));
        let checked = check_events(&expected("B", "lost"), &events);
        assert!(checked.observed.starts_with("0; nearest is event 1 (replica B.1): {"), "{}", checked.observed);
        let none = check_events(&expected("B", "lost"), &[]);
        assert_eq!(none.observed, "0; there was no other finished either");
    }
}
