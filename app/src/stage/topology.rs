//! The map's state: what disturbs each link, what became of each store's process, and which messages are
//! under way. It is told only what the log tells; where a message is drawn at a moment is computed from
//! these stamps by [`super::view::topology`]. It never guesses what no event says: a reply is here once
//! its link passed it on.

use borsh::{BorshDeserialize, BorshSerialize};
use locks::action::{Action, Direction};
use locks::event::{Event, Fault, Kind, ProcessName, ProcessState, Reply, StoreCommand};
use locks::ids::{AttemptId, CommandId, Endpoint, SinkName};

use super::replica::Process;
use super::wire::Result_;

/// Most messages that are kept.
const MOST: usize = 96;
/// A message that was answered so long ago is of no interest any more.
const OLD_US: u64 = 3_000_000;

/// What disturbs a link. Links that nothing disturbs have no entry.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Link {
    /// Whose; for a replication link, its node.
    pub replica: String,
    /// Where it leads.
    pub endpoint: Endpoint,
    /// Since when it is cut.
    pub cut_us: Option<u64>,
    /// By how much it is slow: fixed and at most at random, in milliseconds.
    pub delay_ms: Option<(u64, u64)>,
    /// Since when it holds requests.
    pub requests_us: Option<u64>,
    /// Since when it holds replies.
    pub replies_us: Option<u64>,
    /// When its connections were reset; nothing has passed since.
    pub reset_us: Option<u64>,
}

impl Link {
    fn new(replica: &str, endpoint: Endpoint) -> Link {
        let replica = replica.to_owned();
        Link { replica, endpoint, cut_us: None, delay_ms: None, requests_us: None, replies_us: None, reset_us: None }
    }

    /// Does it keep what it should pass on?
    pub fn keeps(&self, direction: Direction) -> bool {
        let held = match direction {
            Direction::Request => self.requests_us,
            Direction::Reply => self.replies_us,
        };
        self.cut_us.or(held).is_some()
    }

    fn is_plain(&self) -> bool {
        let stamps = [self.cut_us, self.requests_us, self.replies_us, self.reset_us];
        stamps.iter().all(Option::is_none) && self.delay_ms.is_none()
    }
}

/// How a store came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Back {
    /// A new process with nothing in its memory.
    Empty,
    /// A new process with the data that was committed.
    Kept,
    /// Its replica took its place.
    Promoted,
}

/// What became of a store.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Store {
    /// Which.
    pub endpoint: Endpoint,
    /// Its process.
    pub process: Process,
    /// The process is the lab's own: the log has told of it.
    pub own: bool,
    /// Since when it is so.
    pub since_us: u64,
    /// How it came back, and when.
    pub back: Option<(Back, u64)>,
    /// By how much its clock has jumped in all, in milliseconds.
    pub jumped_ms: i64,
    /// Its replica is taking its place, or it is being restarted.
    pub changing: bool,
}

/// A message under way: a command or an effect, and what came back.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Packet {
    /// The event that sent it.
    pub seq: u64,
    /// Who sent it.
    pub replica: String,
    /// Which process of that name.
    pub incarnation: u32,
    /// For which attempt.
    pub attempt: Option<AttemptId>,
    /// The lock that it is about, for a command.
    pub lock: String,
    /// Its number; `None` for an effect.
    pub command: Option<CommandId>,
    /// Where it goes.
    pub to: Endpoint,
    /// The first word of what was sent.
    pub verb: String,
    /// The epoch that an effect carries.
    pub epoch: Option<u64>,
    /// When it was sent.
    pub sent_us: u64,
    /// By how much its link was slow then, in milliseconds.
    pub delay_ms: u64,
    /// When its link passed it on.
    pub passed_us: Option<u64>,
    /// When its link passed on the reply.
    pub replied_us: Option<u64>,
    /// When the sender had the answer, or gave up.
    pub answered_us: Option<u64>,
    /// What came back.
    pub answer: Option<Result_>,
}

/// The map's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Topology {
    /// Links that something disturbs.
    pub links: Vec<Link>,
    /// Stores that something was told of.
    pub stores: Vec<Store>,
    /// Messages, in order of sending.
    pub packets: Vec<Packet>,
    /// By how much replicas' clocks are shifted, in milliseconds.
    pub clocks: Vec<(String, i64)>,
}

impl Topology {
    /// What disturbs a link.
    pub fn link(&self, replica: &str, endpoint: Endpoint) -> Option<&Link> {
        self.links.iter().find(|link| link.endpoint == endpoint && link.replica == replica)
    }

    /// What became of a store.
    pub fn store(&self, endpoint: Endpoint) -> Option<&Store> {
        self.stores.iter().find(|store| store.endpoint == endpoint)
    }

    /// What a store's process does.
    pub fn process(&self, endpoint: Endpoint) -> Process {
        self.store(endpoint).map_or(Process::Running, |store| store.process)
    }

    /// Are the stores the lab's own processes? Shared ones are never told of.
    pub fn has_own_stores(&self) -> bool {
        self.stores.iter().any(|store| store.own)
    }

    /// By how much a replica's clock is shifted, in milliseconds.
    pub fn clock(&self, replica: &str) -> i64 {
        self.clocks.iter().find(|(name, _)| name == replica).map_or(0, |(_, ms)| *ms)
    }

    fn link_mut(&mut self, replica: &str, endpoint: Endpoint, change: impl FnOnce(&mut Link)) {
        let found = self.links.iter().position(|link| link.endpoint == endpoint && link.replica == replica);
        let at = found.unwrap_or_else(|| {
            self.links.push(Link::new(replica, endpoint));
            self.links.len() - 1
        });
        change(&mut self.links[at]);
        if self.links[at].is_plain() {
            self.links.swap_remove(at);
        }
    }

    fn store_mut(&mut self, endpoint: Endpoint) -> &mut Store {
        let found = self.stores.iter().position(|store| store.endpoint == endpoint);
        let at = found.unwrap_or_else(|| {
            let process = Process::Running;
            let (own, changing) = (false, false);
            self.stores.push(Store { endpoint, process, own, since_us: 0, back: None, jumped_ms: 0, changing });
            self.stores.len() - 1
        });
        &mut self.stores[at]
    }

    pub(super) fn runner(&mut self, event: &Event) {
        let at = event.at_us;
        match &event.kind {
            Kind::Process { process: ProcessName::Store(endpoint), state, .. } => {
                self.process_of(*endpoint, *state, at)
            }
            Kind::Process { process: ProcessName::Replica(name), state: ProcessState::Gone, .. } => {
                // What it has not read nobody reads; what it sent may still arrive.
                self.packets.retain(|packet| packet.replica != *name || packet.passed_us.is_none());
            }
            Kind::FaultBegan { what, .. } => self.fault(what, true, at),
            Kind::FaultEnded { what, .. } => self.fault(what, false, at),
            Kind::StepBegan { action: Action::Heal { links, drop: true }, .. } => {
                for (replica, endpoint) in links.each() {
                    self.reset(&replica, endpoint, at);
                }
            }
            _ => {}
        }
    }

    fn process_of(&mut self, endpoint: Endpoint, state: ProcessState, at: u64) {
        let store = self.store_mut(endpoint);
        let before = (store.process, store.own);
        store.own = true;
        store.since_us = at;
        store.process = match state {
            ProcessState::Started | ProcessState::Continued => Process::Running,
            ProcessState::Stopped => Process::Stopped,
            ProcessState::Gone => Process::Dead,
        };
        // A pair's replica copies whatever its primary has.
        let copies = matches!(endpoint, Endpoint::RedisReplica(_));
        if state == ProcessState::Started
            && !copies
            && (before.0 == Process::Dead || before == (Process::Running, true))
        {
            let back = match endpoint {
                _ if store.changing && endpoint != Endpoint::Postgres => Back::Promoted,
                Endpoint::Postgres => Back::Kept,
                _ => Back::Empty,
            };
            store.back = Some((back, at));
            // It is another clock that nobody has moved.
            store.jumped_ms = 0;
        }
    }

    fn fault(&mut self, what: &Fault, begins: bool, at: u64) {
        let since = begins.then_some(at);
        match what {
            Fault::Cut { replica, endpoint } => self.link_mut(replica, *endpoint, |link| link.cut_us = since),
            Fault::Delay { replica, endpoint, ms, jitter_ms } => {
                let delay = begins.then_some((*ms, *jitter_ms));
                self.link_mut(replica, *endpoint, |link| link.delay_ms = delay);
            }
            Fault::Hold { replica, endpoint, direction } => {
                self.link_mut(replica, *endpoint, |link| match direction {
                    Direction::Request => link.requests_us = since,
                    Direction::Reply => link.replies_us = since,
                });
            }
            Fault::Clock { replica, shift_ms } => {
                self.clocks.retain(|(name, _)| name != replica);
                if begins {
                    self.clocks.push((replica.clone(), *shift_ms));
                }
            }
            Fault::Terminate { replica } if begins => self.reset(replica, Endpoint::Postgres, at),
            Fault::NodeClock { node, shift_ms } if begins => self.store_mut(*node).jumped_ms += shift_ms,
            Fault::Failover { node } => self.store_mut(*node).changing = begins,
            Fault::Restart { process: ProcessName::Store(endpoint) } => {
                let store = self.store_mut(*endpoint);
                store.changing = begins;
                // A shared store has no process to tell of.
                if begins && !store.own {
                    store.back = Some((Back::Kept, at));
                }
            }
            Fault::Kill { process: ProcessName::Store(endpoint) } => {
                let store = self.store_mut(*endpoint);
                if !store.own {
                    store.process = if begins { Process::Dead } else { Process::Running };
                    store.since_us = at;
                    store.back = (!begins).then_some((Back::Empty, at));
                }
            }
            _ => {}
        }
    }

    /// Connections of a link are reset: nothing that was on it arrives.
    fn reset(&mut self, replica: &str, endpoint: Endpoint, at: u64) {
        self.link_mut(replica, endpoint, |link| link.reset_us = Some(at));
        self.packets.retain(|packet| packet.replica != replica || packet.to != endpoint);
    }

    pub(super) fn replica(&mut self, event: &Event, name: &str, incarnation: u32) {
        let at = event.at_us;
        match &event.kind {
            Kind::Sent { attempt, lock, command } => {
                let StoreCommand { command, name: called, to, text, .. } = command;
                let packet = self.packet(event, name, incarnation, *to);
                let (command, verb) = (Some(*command), verb(text, called));
                self.push(Packet { attempt: attempt.clone(), lock: lock.clone(), command, verb, ..packet });
            }
            Kind::EffectSent { attempt, sink, epoch, text, .. } => {
                let to = if *sink == SinkName::Bank { Endpoint::Bank } else { Endpoint::Postgres };
                let packet = self.packet(event, name, incarnation, to);
                self.push(Packet {
                    attempt: Some(attempt.clone()),
                    epoch: *epoch,
                    verb: verb(text, "effect"),
                    ..packet
                });
            }
            Kind::Answered { lock, command, reply, .. } => {
                let found = self.packets.iter_mut().rev().find(|packet| {
                    packet.command == Some(*command)
                        && packet.lock == *lock
                        && packet.replica == name
                        && packet.incarnation == incarnation
                });
                if let Some(packet) = found {
                    packet.answered_us = Some(at);
                    packet.answer = Some(Result_::Store(reply.clone()));
                }
                if *reply == Reply::NotSent {
                    self.packets.retain(|packet| packet.answer != Some(Result_::Store(Reply::NotSent)));
                }
            }
            Kind::EffectAnswered { attempt, answer, .. } => {
                let mine = |packet: &&mut Packet| packet.command.is_none() && packet.attempt.as_ref() == Some(attempt);
                if let Some(packet) = self.packets.iter_mut().rev().find(mine) {
                    packet.answered_us = Some(at);
                    packet.answer = Some(Result_::Sink(answer.clone()));
                }
            }
            Kind::SessionOpened { endpoint, .. } => {
                self.link_mut(name, *endpoint, |link| link.reset_us = link.reset_us.filter(|reset| *reset > at));
            }
            _ => {}
        }
    }

    fn packet(&self, event: &Event, name: &str, incarnation: u32, to: Endpoint) -> Packet {
        Packet {
            seq: event.seq,
            replica: name.to_owned(),
            incarnation,
            attempt: None,
            lock: String::new(),
            command: None,
            to,
            verb: String::new(),
            epoch: None,
            sent_us: event.at_us,
            delay_ms: self.link(name, to).and_then(|link| link.delay_ms).map_or(0, |(ms, _)| ms),
            passed_us: None,
            replied_us: None,
            answered_us: None,
            answer: None,
        }
    }

    fn push(&mut self, packet: Packet) {
        let now = packet.sent_us;
        self.packets.retain(|old| {
            let last = old.answered_us.map(|answered| answered.max(old.passed_us.unwrap_or(0)));
            last.is_none_or(|last| last + OLD_US > now)
        });
        if self.packets.len() >= MOST {
            self.packets.remove(0);
        }
        self.packets.push(packet);
    }

    pub(super) fn passed(&mut self, event: &Event, replica: &str, endpoint: Endpoint) {
        let Kind::LinkPassed { command, name, attempt, direction, .. } = &event.kind else { return };
        if self.link(replica, endpoint).is_some_and(|link| link.reset_us.is_some_and(|reset| reset < event.at_us)) {
            self.link_mut(replica, endpoint, |link| link.reset_us = None);
        }
        if name.is_none() {
            return;
        }
        let found = self.packets.iter_mut().rev().find(|packet| {
            packet.to == endpoint
                && packet.replica == replica
                && packet.command == *command
                && packet.attempt == *attempt
                && packet.sent_us <= event.at_us
        });
        if let Some(packet) = found {
            let stamp = match direction {
                Direction::Request => &mut packet.passed_us,
                Direction::Reply => &mut packet.replied_us,
            };
            // The first byte counts.
            stamp.get_or_insert(event.at_us);
        }
    }
}

/// The first word of a statement, a command or a request; of a script or a composed statement, whose first
/// word says nothing, what it is called.
fn verb(text: &str, called: &str) -> String {
    match text.split_whitespace().next().unwrap_or_default() {
        "with" | "if" | "local" => called.to_owned(),
        word => word.to_ascii_uppercase(),
    }
}
