//! A run as one JSON file: its scenario, its events, its verdict. What is read back is checked: numbers
//! without gaps, `began` first, `ended` last. The verdict is never believed but computed again.

use std::collections::BTreeSet;
use std::sync::Arc;

use locks::event::{Event, Kind};
use locks::judge::{Judge, Verdict};
use locks::scenario::Scenario;
use locks::setup::Setup;
use serde::{Deserialize, Serialize};

use super::log::RunId;

/// The form that is written, and the only one that is read.
pub const FORMAT: &str = "aegis-run/1";

/// Highest stamp that is believed: more than a century of a machine's uptime.
const MOST_US: u64 = 1 << 52;
/// Latest beginning that is believed, in milliseconds since the Unix epoch: the year 9999.
const MOST_WALL_MS: i64 = 253_402_300_799_000;

/// More than the longest run that a lab stores.
const MOST_EVENTS: usize = 60_000;
/// More attempts than so many events can be of.
const MOST_ATTEMPTS: usize = 20_000;
/// More schedules than one catalog has.
const MOST_SCHEDULES: usize = 50;
/// Longest name or title, in characters.
const LONGEST: usize = 200;

/// See the module.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// Always [`FORMAT`].
    pub format: String,
    /// The scenario that was run, or that a live session amounts to.
    pub scenario: Scenario,
    /// The whole log.
    pub events: Vec<Arc<Event>>,
    /// What the judge found.
    pub verdict: Verdict,
}

/// Why a file is no run.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Not JSON, or of another shape.
    #[error("this is no exported run: {0}")]
    Shape(#[from] serde_json::Error),
    /// Another form.
    #[error("this is a run in the form {0:?}, and only {FORMAT:?} is read here")]
    Format(String),
    /// The log is not whole.
    #[error("the log of this run is not whole: {0}")]
    Log(&'static str),
}

impl Export {
    /// A run that is over.
    pub fn new(scenario: Scenario, events: Vec<Arc<Event>>) -> Export {
        let verdict = judged(&events);
        Export { format: FORMAT.to_owned(), scenario, events, verdict }
    }

    /// As the file has it.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Read such a file.
    pub fn read(json: &[u8]) -> Result<Export, ImportError> {
        let mut export: Export = serde_json::from_slice(json)?;
        if export.format != FORMAT {
            return Err(ImportError::Format(export.format));
        }
        if export.events.iter().zip(1..).any(|(event, seq)| event.seq != seq) {
            return Err(ImportError::Log("its numbers have gaps"));
        }
        if !export.events.first().is_some_and(|event| matches!(event.kind, Kind::Began { .. })) {
            return Err(ImportError::Log("it does not begin with `began`"));
        }
        if !export.events.last().is_some_and(|event| matches!(event.kind, Kind::Ended { .. })) {
            return Err(ImportError::Log("it does not end with `ended`"));
        }
        if export.events.iter().any(|event| event.at_us > MOST_US || event.until_us.is_some_and(|us| us > MOST_US)) {
            return Err(ImportError::Log("it has stamps that no clock shows"));
        }
        let replica = |event: &'_ Arc<Event>| event.replica().map(str::to_owned);
        if export.events.iter().filter_map(replica).collect::<BTreeSet<_>>().len() > Setup::MAX_REPLICAS {
            return Err(ImportError::Log("more replicas speak in it than a lab can have"));
        }
        export.check_size()?;
        let mut judge = Judge::default();
        for event in &export.events {
            judge.push(event);
            if judge.attempts() > MOST_ATTEMPTS {
                return Err(ImportError::Log("it has more attempts than a run of a lab can have"));
            }
        }
        export.verdict = judge.verdict();
        Ok(export)
    }

    /// A log may be anybody's: it is no larger than one of a lab's, so that whoever opens it is not surprised.
    fn check_size(&self) -> Result<(), ImportError> {
        if self.events.len() > MOST_EVENTS {
            return Err(ImportError::Log("it is longer than a run of a lab can be"));
        }
        for event in &self.events {
            match &event.kind {
                Kind::Began { name, title, setup, catalog, .. } => {
                    if setup.replicas.len() > Setup::MAX_REPLICAS || catalog.len() > MOST_SCHEDULES {
                        return Err(ImportError::Log("its set-up has more replicas or schedules than a lab can have"));
                    }
                    if [name, title].into_iter().chain(&setup.replicas).any(|text| text.chars().count() > LONGEST) {
                        return Err(ImportError::Log(
                            "its name, its title or a replica's name is too long to be shown",
                        ));
                    }
                }
                Kind::CatalogChanged { catalog } if catalog.len() > MOST_SCHEDULES => {
                    return Err(ImportError::Log("its catalog has more schedules than a lab can have"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Its events as those of a run of that identity.
    pub fn anew(self, id: RunId) -> Result<Vec<Arc<Event>>, ImportError> {
        let mut events = self.events;
        let first = events.first_mut().ok_or(ImportError::Log("it is empty"))?;
        let first = Arc::make_mut(first);
        let Kind::Began { run, wall_ms, .. } = &mut first.kind else {
            return Err(ImportError::Log("it does not begin with `began`"));
        };
        if !(0..MOST_WALL_MS).contains(wall_ms) {
            return Err(ImportError::Log("it began at a time that no calendar has"));
        }
        *run = id;
        // A database's text holds every character but this one, wherever it stands.
        let told = serde_json::to_string(&first.kind)?;
        if told.contains("\\u0000") {
            return Err(ImportError::Log("its beginning has characters that cannot be stored"));
        }
        Ok(events)
    }
}

/// What the judge finds in a log.
pub fn judged(events: &[Arc<Event>]) -> Verdict {
    let mut judge = Judge::default();
    events.iter().for_each(|event| judge.push(event));
    judge.verdict()
}

#[cfg(test)]
mod tests {
    use locks::event::{EndReason, Source};

    use super::*;
    use crate::run::script;

    fn event(seq: u64, kind: Kind) -> Arc<Event> {
        Arc::new(Event { seq, at_us: seq, until_us: None, source: Source::Runner, kind })
    }

    fn began() -> Kind {
        Kind::Began {
            run: "0".repeat(32),
            name: "live".to_owned(),
            title: "A live session".to_owned(),
            tag: None,
            script: String::new(),
            wall_ms: 0,
            setup: Box::new(Setup::live()),
            catalog: Vec::new(),
        }
    }

    fn export(events: Vec<Arc<Event>>) -> Vec<u8> {
        Export::new(script::of_log(&events), events).to_json().unwrap().into_bytes()
    }

    /// Why a run that begins so, and in which one replica enters so often, is not read.
    fn refusal(began: Kind, entered: u64) -> Option<String> {
        let mut events = vec![event(1, began)];
        for n in 1..=entered {
            // The latest attempt first, which is what a map in order likes least.
            let attempt = format!("A.1.{}", entered - n + 1).parse().unwrap();
            let kind = Kind::Entered { attempt, lock: "s".to_owned(), epoch: None };
            let source = Source::Replica { name: "A".to_owned(), incarnation: 1 };
            events.push(Arc::new(Event { seq: n + 1, at_us: n, until_us: None, source, kind }));
        }
        events.push(event(entered + 2, Kind::Ended { why: EndReason::Done }));
        let scenario = script::of_log(&[event(1, self::began())]);
        let verdict = judged(&[]);
        let json = serde_json::to_vec(&Export { format: FORMAT.to_owned(), scenario, events, verdict }).unwrap();
        Export::read(&json).err().map(|error| error.to_string())
    }

    #[test]
    fn no_log_is_larger_than_one_of_a_lab() {
        assert_eq!(refusal(began(), 3000), None);
        assert!(refusal(began(), MOST_ATTEMPTS as u64 + 1).unwrap().contains("more attempts"));
        assert!(refusal(began(), MOST_EVENTS as u64).unwrap().contains("longer than a run"));
        let with = |change: fn(&mut Setup, &mut String)| {
            let Kind::Began { run, name, mut title, tag, script, wall_ms, mut setup, catalog } = began() else {
                unreachable!()
            };
            change(&mut setup, &mut title);
            refusal(Kind::Began { run, name, title, tag, script, wall_ms, setup, catalog }, 1)
        };
        assert!(with(|_, title| *title = "x".repeat(LONGEST + 1)).unwrap().contains("too long"));
        let crowd = with(|setup, _| setup.replicas = (0..=Setup::MAX_REPLICAS).map(|n| format!("R{n}")).collect());
        assert!(crowd.unwrap().contains("more replicas"));
    }

    #[test]
    fn a_whole_run_reads_back() {
        let events = vec![event(1, began()), event(2, Kind::Ended { why: EndReason::Done })];
        assert_eq!(Export::read(&export(events.clone())).unwrap().events, events);
    }

    #[test]
    fn what_is_not_whole_is_refused() {
        let ended = || Kind::Ended { why: EndReason::Done };
        for events in [
            vec![event(1, began()), event(3, ended())],
            vec![event(1, ended())],
            vec![event(1, began()), event(2, Kind::Ready)],
        ] {
            assert!(matches!(Export::read(&export(events)), Err(ImportError::Log(_))));
        }
        assert!(matches!(Export::read(b"{}"), Err(ImportError::Shape(_))));
    }

    #[test]
    fn a_run_of_more_replicas_than_a_lab_has_is_refused() {
        let of = |replicas: u64| {
            let ready = |seq| Event {
                source: Source::Replica { name: format!("R{seq}"), incarnation: 1 },
                ..(*event(seq, Kind::Ready)).clone()
            };
            let mut events = vec![event(1, began())];
            events.extend((2..replicas + 2).map(|seq| Arc::new(ready(seq))));
            events.push(event(replicas + 2, Kind::Ended { why: EndReason::Done }));
            Export::read(&export(events))
        };
        assert!(of(Setup::MAX_REPLICAS as u64).is_ok());
        assert!(matches!(of(Setup::MAX_REPLICAS as u64 + 1), Err(ImportError::Log(_))));
    }

    #[test]
    fn the_start_page_replays_a_run_of_the_present_form_that_settled_a_slot_twice() {
        let export = Export::read(include_bytes!("../../../app/src/page/start/collision.json")).unwrap();
        assert_eq!(export.scenario.name, "start-collision");
        let certain = export.verdict.overlaps.iter().filter(|found| found.certain).count();
        assert_eq!((certain, export.verdict.most_effects()), (1, 2));
    }
}
