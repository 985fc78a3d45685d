//! Who is where in a strategy's machine at a moment of a run, and which way each attempt took to get there: a fold
//! over the log, of which it heeds only what moves a machine.

use std::collections::BTreeMap;

use locks::event::{Event, Kind, ProcessName, ProcessState, Source};
use locks::ids::{AttemptId, Slot};
use locks::setup::{Setup, StrategyName};

use super::graph::END;

/// A transition that an attempt took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// From which state.
    pub from: String,
    /// To which.
    pub to: String,
    /// How often.
    pub times: u32,
    /// The event that told of it last.
    pub seq: u64,
}

/// An attempt's way through the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The attempt.
    pub attempt: AttemptId,
    /// Its slot.
    pub slot: Slot,
    /// The strategy under which it began.
    pub strategy: StrategyName,
    /// Where the machine is now; the end if it came back to where it began.
    pub at: String,
    /// What was taken, in order of the first time.
    pub moves: Vec<Move>,
}

/// A replica, as far as machines go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    /// What its process does when it does not run: `stopped`, `dead`.
    pub process: &'static str,
    /// The latest way, if a slot has come.
    pub way: Option<Way>,
}

/// All replicas at a moment, looking at one schedule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    setup: Setup,
    /// Replicas by name.
    pub who: BTreeMap<String, Who>,
    /// Who entered last.
    entered: Option<String>,
}

impl Trace {
    /// The trace of these events, looking at one schedule.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>, schedule: &str) -> Trace {
        let mut trace = Trace::default();
        for event in events {
            trace.push(event, schedule);
        }
        trace
    }

    fn push(&mut self, event: &Event, schedule: &str) {
        match (&event.source, &event.kind) {
            (_, Kind::Began { setup, .. }) => {
                self.setup = Setup::clone(setup);
                self.who = setup.replicas.iter().map(|name| (name.clone(), Who::default())).collect();
            }
            (_, Kind::Set { setup, .. }) => self.setup = Setup::clone(setup),
            (_, Kind::Process { process: ProcessName::Replica(name), state, .. }) => {
                let who = self.who.entry(name.clone()).or_default();
                match state {
                    ProcessState::Started => *who = Who::default(),
                    ProcessState::Stopped => who.process = "stopped",
                    ProcessState::Continued => who.process = "",
                    ProcessState::Gone => who.process = "dead",
                }
            }
            (Source::Replica { name, .. }, Kind::SlotDue { attempt, slot, .. }) if slot.schedule == schedule => {
                let strategy = self.setup.of_replica(name).strategy;
                let who = self.who.entry(name.clone()).or_default();
                // A slot that comes while the one before still runs is skipped at once.
                if who.way.as_ref().is_none_or(|way| way.moves.is_empty() || way.at == END) {
                    let (attempt, slot) = (attempt.clone(), slot.clone());
                    who.way = Some(Way { attempt, slot, strategy, at: String::new(), moves: Vec::new() });
                }
            }
            (Source::Replica { name, .. }, Kind::Strategy { attempt: Some(id), from, to, .. }) => {
                let way = self.who.get_mut(name).and_then(|who| who.way.as_mut());
                if let Some(way) = way.filter(|way| way.attempt == *id) {
                    way.go(event.seq, from, to);
                }
            }
            (Source::Replica { name, .. }, Kind::Entered { lock, .. }) if lock.split('@').next() == Some(schedule) => {
                self.entered = Some(name.clone());
            }
            _ => {}
        }
    }

    /// Whose way is shown: the chosen one's, else that of whoever entered last.
    pub fn whose(&self, chosen: &str) -> Option<&str> {
        let known = |name: &&str| self.who.contains_key(*name);
        let chosen = Some(chosen).filter(known).or(self.entered.as_deref().filter(known));
        let name = chosen.or(self.who.keys().next().map(String::as_str))?;
        self.who.get_key_value(name).map(|(name, _)| name.as_str())
    }

    /// The strategy under which a replica is, or under which its latest attempt began.
    pub fn strategy(&self, name: &str) -> StrategyName {
        let way = self.who.get(name).and_then(|who| who.way.as_ref());
        way.map_or_else(|| self.setup.of_replica(name).strategy, |way| way.strategy.clone())
    }
}

impl Who {
    /// The key of the state that it is in: before anything moved, that in which all begin.
    pub fn key<'a>(&'a self, first: &'a str) -> &'a str {
        self.way.as_ref().map_or(first, |way| if way.at.is_empty() { first } else { &way.at })
    }
}

impl Way {
    fn go(&mut self, seq: u64, from: &str, to: &str) {
        match self.moves.iter_mut().find(|one| one.from == from && one.to == to) {
            Some(again) => (again.times, again.seq) = (again.times + 1, seq),
            None => self.moves.push(Move { from: from.to_owned(), to: to.to_owned(), times: 1, seq }),
        }
        let ended = self.moves.first().is_some_and(|first| first.from == to);
        self.at = if ended { END.to_owned() } else { to.to_owned() };
    }

    /// The transition, if it was taken.
    pub fn took(&self, from: &str, to: &str) -> Option<&Move> {
        self.moves.iter().find(|one| one.from == from && one.to == to)
    }
}
