//! How a run stands, folded from its log: which replicas run, what their attempts wait for, what the
//! store last said of each lock, whose a token is. Pure; what the runner, the observer and the end rule
//! ask instead of keeping books of their own.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use locks::event::{Event, Kind, Param, ProcessName, ProcessState, Source};
use locks::ids::{AttemptId, Endpoint, Gate, LockName, Slot, Token};
use locks::machine::{LockState, Outcome};
use locks::strategy::{self, LockAt};

use crate::replica::control::NOT_NEEDED;

/// The fold.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// Replicas that were ever started, by name; removed ones are gone.
    pub replicas: BTreeMap<String, ReplicaStanding>,
    /// What the store last said of each lock that was ever asked for.
    pub locks: BTreeMap<LockName, LockStanding>,
    /// Whose attempt a token is.
    pub owners: HashMap<Token, AttemptId>,
    /// What became of stores' processes, where there are any.
    pub stores: BTreeMap<Endpoint, ProcessState>,
    /// Where the run's locks stand.
    pub lock_at: LockAt,
    /// They have epochs.
    pub has_epochs: bool,
    /// The lock of the latest `fire`.
    pub latest_lock: Option<LockName>,
    /// Counts gates that were reached, to tell a gate from the same gate reached again.
    gates: u64,
}

/// One replica.
#[derive(Clone, Debug, Default)]
pub struct ReplicaStanding {
    /// Which process of that name.
    pub incarnation: u32,
    /// What became of the process.
    pub process: Option<ProcessState>,
    /// It has its sessions, statements and timers.
    pub ready: bool,
    /// Its sessions: those that it has, and those that it lost and opens again by itself.
    pub sessions: BTreeMap<(Endpoint, String), SessionStanding>,
    /// How it last said that its clocks stand: offset of the wall clock, advance of the lease clock.
    pub clocks: (i64, u64),
    /// Slots that were fired to it and have not become due.
    pub fired: Vec<Slot>,
    /// Its attempts that are not over: not final, or waiting at gate `done`.
    pub attempts: BTreeMap<AttemptId, AttemptStanding>,
    /// The latest attempt that ended.
    pub ended: Option<(AttemptId, Outcome)>,
}

/// A session of a replica.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionStanding {
    /// How many of that name are open; two while a set-up is changed.
    pub open: u32,
    /// When the newest was opened.
    pub opened_us: u64,
}

/// One attempt.
#[derive(Clone, Debug)]
pub struct AttemptStanding {
    /// Its slot.
    pub slot: Slot,
    /// The lock that it competes for.
    pub lock: LockName,
    /// The gates at which it waits, the longest first, each with a number that no other waiting has. There
    /// are two while a renewal waits at its own.
    pub at: VecDeque<(Gate, u64)>,
    /// Its handler works.
    pub works: bool,
    /// How it ended.
    pub outcome: Option<Outcome>,
}

/// What the store says of a lock.
#[derive(Clone, Debug, Default)]
pub struct LockStanding {
    /// Its state.
    pub state: LockState,
    /// Whose it is, if anyone's and if known.
    pub owner: Option<AttemptId>,
}

impl ReplicaStanding {
    /// Does the process run (and is not stopped)?
    pub fn runs(&self) -> bool {
        matches!(self.process, Some(ProcessState::Started | ProcessState::Continued))
    }

    /// Is it stopped?
    pub fn is_paused(&self) -> bool {
        self.process == Some(ProcessState::Stopped)
    }

    /// Has it all its sessions with a store, each opened since then?
    pub fn has_sessions(&self, endpoint: Endpoint, since_us: u64) -> bool {
        let mut with = self.sessions.iter().filter(|((to, _), _)| *to == endpoint);
        with.all(|(_, session)| session.open > 0 && session.opened_us >= since_us)
    }

    /// Can nothing more come of it without an action: all it was given is final or waits at a gate.
    pub fn is_at_rest(&self) -> bool {
        self.fired.is_empty()
            && self.attempts.values().all(|attempt| attempt.outcome.is_some() || !attempt.at.is_empty())
    }

    /// Is work left behind an attempt that waits at gate `done`?
    pub fn has_next(&self) -> bool {
        !self.fired.is_empty() || self.attempts.values().any(|attempt| attempt.outcome.is_none())
    }
}

impl Standing {
    /// Take one more event, in order of arrival.
    pub fn push(&mut self, event: &Event) {
        match &event.kind {
            Kind::Process { process: ProcessName::Replica(name), incarnation, state, .. } => {
                let replica = self.replicas.entry(name.clone()).or_default();
                if *state == ProcessState::Started && replica.incarnation != *incarnation {
                    *replica = ReplicaStanding { incarnation: *incarnation, ..ReplicaStanding::default() };
                }
                replica.process = Some(*state);
                if *state == ProcessState::Gone {
                    replica.ready = false;
                    replica.fired.clear();
                    replica.sessions.clear();
                    replica.attempts.clear();
                }
            }
            Kind::Process { process: ProcessName::Store(endpoint), state, .. } => {
                self.stores.insert(*endpoint, *state);
            }
            Kind::Began { setup, .. } | Kind::Set { setup, .. } => {
                let info = strategy::info(&setup.strategy.strategy);
                self.lock_at = info.map_or(LockAt::Nowhere, |info| info.lock_at);
                self.has_epochs = info.is_some_and(|info| info.has_epochs(setup));
            }
            Kind::SlotFired { slot, lock, to } => {
                self.latest_lock = Some(lock.clone());
                self.locks.entry(lock.clone()).or_default();
                for name in to {
                    if let Some(replica) = self.replicas.get_mut(name) {
                        replica.fired.push(slot.clone());
                    }
                }
            }
            Kind::StoreSays { lock, state, owner, .. } => {
                self.locks.insert(lock.clone(), LockStanding { state: *state, owner: owner.clone() });
            }
            _ => self.push_of_replica(event),
        }
    }

    fn push_of_replica(&mut self, event: &Event) {
        let Source::Replica { name, incarnation } = &event.source else { return };
        match &event.kind {
            Kind::SlotDue { lock, .. } | Kind::Sent { lock, .. } => {
                self.locks.entry(lock.clone()).or_default();
            }
            Kind::Granted { attempt, token, .. } => {
                self.owners.insert(token.clone(), attempt.clone());
            }
            _ => {}
        }
        if let Kind::Sent { attempt: Some(attempt), command, .. } = &event.kind {
            for param in &command.params {
                if let Param::Text(text) = param
                    && is_token(text)
                {
                    self.owners.entry(Token(text.clone())).or_insert_with(|| attempt.clone());
                }
            }
        }
        let Some(replica) = self.replicas.get_mut(name).filter(|replica| replica.incarnation == *incarnation) else {
            return;
        };
        match &event.kind {
            Kind::Ready => replica.ready = true,
            Kind::ClockSet { shift_ms, elapsed_ms } => replica.clocks = (*shift_ms, *elapsed_ms),
            Kind::SessionOpened { endpoint, session, .. } => {
                let session = replica.sessions.entry((*endpoint, session.clone())).or_default();
                session.open += 1;
                session.opened_us = event.at_us;
            }
            Kind::SessionClosed { endpoint, session, why } => {
                let key = (*endpoint, session.clone());
                if let Some(standing) = replica.sessions.get_mut(&key) {
                    standing.open = standing.open.saturating_sub(1);
                    if standing.open == 0 && why == NOT_NEEDED {
                        replica.sessions.remove(&key);
                    }
                }
            }
            Kind::SlotDue { attempt, slot, lock, .. } => {
                if let Some(place) = replica.fired.iter().position(|fired| fired == slot) {
                    replica.fired.remove(place);
                }
                // One attempt at a time per replica and schedule: what came before it passed gate `done`.
                replica.attempts.retain(|_, old| old.outcome.is_none());
                let new = AttemptStanding {
                    slot: slot.clone(),
                    lock: lock.clone(),
                    at: VecDeque::new(),
                    works: false,
                    outcome: None,
                };
                replica.attempts.insert(attempt.clone(), new);
            }
            Kind::GateReached { attempt, gate, .. } => {
                self.gates += 1;
                if let Some(standing) = replica.attempts.get_mut(attempt) {
                    standing.at.push_back((gate.clone(), self.gates));
                }
            }
            Kind::GatePassed { attempt, gate } => {
                if let Some(standing) = replica.attempts.get_mut(attempt)
                    && let Some(place) = standing.at.iter().position(|(at, _)| at == gate)
                {
                    standing.at.remove(place);
                }
                if *gate == Gate::Done {
                    replica.attempts.remove(attempt);
                }
            }
            Kind::Entered { attempt, .. } | Kind::WorkEnded { attempt, .. } => {
                if let Some(standing) = replica.attempts.get_mut(attempt) {
                    standing.works = matches!(event.kind, Kind::Entered { .. });
                }
            }
            Kind::Finished { attempt, outcome, .. } => {
                replica.ended = Some((attempt.clone(), *outcome));
                if let Some(standing) = replica.attempts.get_mut(attempt) {
                    standing.outcome = Some(*outcome);
                }
            }
            _ => {}
        }
    }

    /// What a store's process does; `None` where the stores are somebody else's.
    pub fn store(&self, endpoint: Endpoint) -> Option<ProcessState> {
        self.stores.get(&endpoint).copied()
    }

    /// Does a store answer, as far as its process is known?
    pub fn store_runs(&self, endpoint: Endpoint) -> bool {
        !matches!(self.store(endpoint), Some(ProcessState::Stopped | ProcessState::Gone))
    }

    /// Stores that are stopped, as far as their processes are known.
    pub fn stopped_stores(&self) -> BTreeSet<Endpoint> {
        let stopped = self.stores.iter().filter(|(_, state)| **state == ProcessState::Stopped);
        stopped.map(|(endpoint, _)| *endpoint).collect()
    }

    /// Has every replica that runs heard what it asked for: all it was given is final, at a gate, or at work?
    pub fn has_heard(&self) -> bool {
        let heard = |attempt: &AttemptStanding| attempt.outcome.is_some() || !attempt.at.is_empty() || attempt.works;
        let mut run = self.replicas.values().filter(|replica| replica.runs());
        run.all(|replica| replica.fired.is_empty() && replica.attempts.values().all(heard))
    }

    /// Is every replica that runs at rest?
    pub fn is_at_rest(&self) -> bool {
        self.replicas.values().filter(|replica| replica.runs()).all(ReplicaStanding::is_at_rest)
    }
}

/// Is a parameter's text an acquisition's token: hexadecimal, 160 bits?
fn is_token(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
