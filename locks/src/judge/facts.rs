//! What the log says, gathered as it arrives: one entry an attempt, a process, an accepted effect, a fault.
//! Nothing is judged here. Events arrive in any order of time (a stopped replica's come seconds late), so
//! facts are kept by what they are about and never by what came before them.

use borsh::{BorshDeserialize, BorshSerialize};

use serde::{Deserialize, Serialize};

use crate::action::{Action, Direction};
use crate::event::{EffectAnswer, Event, Fault, Kind, Param, ProcessName, ProcessState, Reply, Source};
use crate::ids::{AttemptId, CommandId, Endpoint, LockName, SinkName, Slot};
use crate::machine::Outcome;
use crate::sorted::Map;

/// An event's number and its time: a point, or the interval that is all its source knows. There are
/// thousands in a checkpoint, which pages carry: it is written as three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(from = "(u64, u64, u64)", into = "(u64, u64, u64)")]
pub(super) struct Stamp {
    pub seq: u64,
    pub at_us: u64,
    pub until_us: u64,
}

impl From<(u64, u64, u64)> for Stamp {
    fn from((seq, at_us, until_us): (u64, u64, u64)) -> Stamp {
        Stamp { seq, at_us, until_us }
    }
}

impl From<Stamp> for (u64, u64, u64) {
    fn from(Stamp { seq, at_us, until_us }: Stamp) -> (u64, u64, u64) {
        (seq, at_us, until_us)
    }
}

impl Stamp {
    fn of(event: &Event) -> Stamp {
        Stamp { seq: event.seq, at_us: event.at_us, until_us: event.until_us.unwrap_or(event.at_us) }
    }

    /// Certainly before that other one?
    pub fn is_before(&self, other: &Stamp) -> bool {
        self.until_us < other.at_us
    }

    /// Perhaps before that other one?
    pub fn may_be_before(&self, other: &Stamp) -> bool {
        self.at_us < other.until_us
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub(super) struct Grant {
    pub stamp: Stamp,
    pub epoch: Option<u64>,
    /// The stores that granted it, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Endpoint>,
}

/// A command about a lock: asking for it, a renewal, a release or a completion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub(super) struct Command {
    pub name: String,
    /// Which node it went to, if to one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Endpoint>,
    pub sent: Option<Stamp>,
    /// The link passed it on to the store.
    pub passed: Option<Stamp>,
    pub answered: Option<Stamp>,
    /// The store says that it took effect.
    pub took: bool,
    /// It ends the sender's own transaction: that counts no rows, and touches nobody else's grant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transaction: bool,
}

impl Command {
    /// May it touch somebody else's grant?
    pub fn touches_a_grant(&self) -> bool {
        !self.transaction && (self.name == "renew" || self.ends_a_grant())
    }

    fn ends_a_grant(&self) -> bool {
        ["release", "complete", "rollback"].contains(&self.name.as_str())
    }

    /// When the store can have executed it: the link's stamp, or between asking and answering.
    pub fn executed(&self) -> Option<Stamp> {
        self.passed.or_else(|| {
            let (sent, answered) = (self.sent?, self.answered?);
            Some(Stamp { seq: sent.seq, at_us: sent.at_us, until_us: answered.until_us })
        })
    }
}

/// One attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub(super) struct Attempt {
    /// Time of its earliest event.
    pub began_us: u64,
    pub slot: Option<Slot>,
    pub lock: Option<LockName>,
    /// The replica took a reply for a grant.
    pub granted: Option<Grant>,
    /// What it took for one was no reply at all: nothing that the store said.
    pub guessed: bool,
    /// Until when the replica trusted its grant, extensions included; `None`: no expiry.
    pub trusted_until_us: Option<u64>,
    pub entered: Option<Stamp>,
    pub left: Option<Stamp>,
    pub finished: Option<(Outcome, Stamp)>,
    /// At so many gates it waits: a renewal may wait at one of its own.
    pub at_gates: u32,
    pub commands: Map<CommandId, Command>,
}

impl Attempt {
    /// When the store last executed a release (or completion) of its grant that took effect. What an earlier
    /// try gave back is none.
    pub fn released(&self) -> Option<Stamp> {
        let since_us = self.granted.as_ref()?.stamp.at_us;
        let ends = |command: &&Command| command.took && command.ends_a_grant();
        let took = self.commands.values().filter(ends).filter_map(Command::executed);
        took.filter(|stamp| stamp.at_us >= since_us).max_by_key(|stamp| stamp.at_us)
    }

    /// When it last took the key of one of several nodes.
    pub fn took_key(&self, node: Endpoint) -> Option<Stamp> {
        let took = |command: &&Command| command.took && command.name == "acquire" && command.to == Some(node);
        self.commands.values().filter(took).filter_map(Command::executed).max_by_key(|stamp| stamp.at_us)
    }
}

/// One process of a replica.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub(super) struct Process {
    pub started: Option<Stamp>,
    pub gone: Option<Stamp>,
    pub stopped: bool,
    /// Time of the latest event that it wrote.
    pub heard_us: u64,
}

/// An accepted effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub(super) struct Accepted {
    pub stamp: Stamp,
    pub sink: SinkName,
    pub attempt: AttemptId,
    pub lock: LockName,
    pub slot: Slot,
    pub epoch: Option<u64>,
}

/// A fault on a replica.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub(super) struct Struck {
    pub stamp: Stamp,
    pub replica: String,
}

/// Everything that the judge needs from a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
pub(super) struct Facts {
    /// The latest time in the log.
    pub now_us: u64,
    pub ended: Option<Stamp>,
    /// The moment at which the run began, and what the machine's wall clock showed then, in milliseconds.
    began: Option<(u64, i64)>,
    /// Replicas take turns, so most are not appended.
    pub attempts: Map<AttemptId, Box<Attempt>>,
    /// By `A.1`: replica and incarnation.
    processes: Map<String, Process>,
    pub accepted: Vec<Accepted>,
    pub faults: Vec<Struck>,
    /// Slots that `fire` gave out, and when.
    pub fired: Map<Slot, u64>,
    /// When somebody had everything begin again.
    pub resets_us: Vec<u64>,
}

impl Facts {
    pub fn process(&self, replica: &str, incarnation: u32) -> Option<&Process> {
        self.processes.get(&process_key(replica, incarnation))
    }

    pub fn process_of(&self, attempt: &AttemptId) -> Option<&Process> {
        self.process(&attempt.replica, attempt.incarnation)
    }

    /// What the machine's wall clock shows at the latest time in the log, in milliseconds.
    pub fn wall_ms(&self) -> Option<i64> {
        let (began_us, wall_ms) = self.began?;
        Some(wall_ms.saturating_add_unsigned(self.now_us.saturating_sub(began_us) / 1000))
    }

    pub fn take(&mut self, event: &Event) {
        self.now_us = self.now_us.max(event.at_us);
        let stamp = Stamp::of(event);
        if let Source::Replica { name, incarnation } = &event.source {
            let heard_us = &mut self.process_mut(name, *incarnation).heard_us;
            *heard_us = (*heard_us).max(event.at_us);
        }
        match &event.kind {
            Kind::Began { wall_ms, .. } => self.began = Some((event.at_us, *wall_ms)),
            Kind::Ended { .. } => self.ended = Some(stamp),
            Kind::StepBegan { action: Action::Reset, .. } => self.resets_us.push(event.at_us),
            Kind::SlotFired { slot, .. } => {
                self.fired.insert(slot.clone(), event.at_us);
            }
            Kind::Process { process: ProcessName::Replica(name), incarnation, state, .. } => {
                let process = self.process_mut(name, *incarnation);
                match state {
                    ProcessState::Started => process.started = Some(stamp),
                    ProcessState::Stopped => process.stopped = true,
                    ProcessState::Continued => process.stopped = false,
                    ProcessState::Gone => process.gone = Some(stamp),
                }
            }
            Kind::FaultBegan { what, .. } => {
                if let Some(replica) = struck(what) {
                    self.faults.push(Struck { stamp, replica: replica.to_owned() });
                }
            }
            Kind::EffectSettled { attempt, lock, slot, epoch, answer: EffectAnswer::Accepted, .. } => {
                let Source::Sink(sink) = event.source else { return };
                let (attempt, lock, slot) = (attempt.clone(), lock.clone(), slot.clone());
                self.accepted.push(Accepted { stamp, sink, attempt, lock, slot, epoch: *epoch });
            }
            kind => self.take_of_attempt(kind, stamp),
        }
    }

    fn take_of_attempt(&mut self, kind: &Kind, stamp: Stamp) {
        match kind {
            Kind::SlotDue { attempt, slot, lock, .. } => {
                let attempt = self.attempt_mut(attempt, stamp);
                attempt.slot = Some(slot.clone());
                attempt.lock = Some(lock.clone());
            }
            Kind::GateReached { attempt, .. } => self.attempt_mut(attempt, stamp).at_gates += 1,
            Kind::GatePassed { attempt, .. } => {
                let attempt = self.attempt_mut(attempt, stamp);
                attempt.at_gates = attempt.at_gates.saturating_sub(1);
            }
            Kind::Granted { attempt, lock, epoch, trusted_until_us, nodes, .. } => {
                let nodes = if nodes.len() > 1 { nodes.clone() } else { Vec::new() };
                let attempt = self.attempt_mut(attempt, stamp);
                attempt.lock = Some(lock.clone());
                attempt.granted = Some(Grant { stamp, epoch: *epoch, nodes });
                attempt.trusted_until_us = *trusted_until_us;
            }
            Kind::Extended { attempt, trusted_until_us } => {
                self.attempt_mut(attempt, stamp).trusted_until_us = Some(*trusted_until_us);
            }
            Kind::Entered { attempt, lock, .. } => {
                let attempt = self.attempt_mut(attempt, stamp);
                attempt.lock = Some(lock.clone());
                attempt.entered = Some(stamp);
            }
            Kind::Left { attempt, .. } => self.attempt_mut(attempt, stamp).left = Some(stamp),
            Kind::Finished { attempt, slot, outcome, .. } => {
                let attempt = self.attempt_mut(attempt, stamp);
                attempt.slot = Some(slot.clone());
                attempt.finished = Some((*outcome, stamp));
            }
            Kind::Sent { attempt: Some(attempt), command, .. } => {
                if let Some(known) = self.command_mut(attempt, command.command, &command.name, stamp) {
                    known.sent = Some(stamp);
                    known.to = Some(command.to).filter(|to| matches!(to, Endpoint::Redis(_)));
                    known.transaction = ["commit", "rollback"].contains(&command.text.as_str());
                }
            }
            // What was not answered is looked up: then the store says it after all.
            Kind::Answered { attempt: Some(attempt), name, reply: Reply::Rows { .. }, .. } if name == "look" => {
                self.attempt_mut(attempt, stamp).guessed = false;
            }
            Kind::Answered { attempt: Some(attempt), command, name, reply, .. }
                if name == "acquire" || name == "rescue" =>
            {
                self.attempt_mut(attempt, stamp).guessed = *reply == Reply::Unknown;
                self.answered(attempt, *command, name, reply, stamp);
            }
            Kind::Answered { attempt: Some(attempt), command, name, reply, .. } => {
                self.answered(attempt, *command, name, reply, stamp);
            }
            Kind::LinkPassed {
                attempt: Some(attempt),
                command: Some(command),
                name: Some(name),
                direction: Direction::Request,
                ..
            } => {
                if let Some(known) = self.command_mut(attempt, *command, name, stamp) {
                    known.passed = Some(stamp);
                }
            }
            _ => {}
        }
    }

    fn attempt_mut(&mut self, id: &AttemptId, stamp: Stamp) -> &mut Attempt {
        if !self.attempts.contains_key(id) {
            self.attempts.insert(id.clone(), Box::new(Attempt { began_us: stamp.at_us, ..Attempt::default() }));
        }
        let attempt = self.attempts.or_default(id.clone());
        attempt.began_us = attempt.began_us.min(stamp.at_us);
        attempt
    }

    fn answered(&mut self, id: &AttemptId, command: CommandId, name: &str, reply: &Reply, stamp: Stamp) {
        if let Some(known) = self.command_mut(id, command, name, stamp) {
            known.answered = Some(stamp);
            known.took = took_effect(reply) || (known.transaction && matches!(reply, Reply::Rows { .. }));
        }
    }

    /// A command that matters: one that takes a lock, or may touch somebody else's grant.
    fn command_mut(&mut self, id: &AttemptId, command: CommandId, name: &str, stamp: Stamp) -> Option<&mut Command> {
        if !["acquire", "renew", "release", "complete", "rollback"].contains(&name) {
            return None;
        }
        let command = self.attempt_mut(id, stamp).commands.or_default(command);
        if command.name.is_empty() {
            name.clone_into(&mut command.name);
        }
        Some(command)
    }

    fn process_mut(&mut self, replica: &str, incarnation: u32) -> &mut Process {
        self.processes.or_default(process_key(replica, incarnation))
    }
}

fn process_key(replica: &str, incarnation: u32) -> String {
    format!("{replica}.{incarnation}")
}

/// The replica that a fault keeps from going on, if it is one of those.
fn struck(fault: &Fault) -> Option<&str> {
    match fault {
        Fault::Pause { process: ProcessName::Replica(name) } | Fault::Kill { process: ProcessName::Replica(name) } => {
            Some(name)
        }
        Fault::Cut { replica, .. }
        | Fault::Delay { replica, .. }
        | Fault::Hold { replica, .. }
        | Fault::Terminate { replica } => Some(replica),
        Fault::Pause { .. }
        | Fault::Kill { .. }
        | Fault::Clock { .. }
        | Fault::Restart { .. }
        | Fault::NodeClock { .. }
        | Fault::Failover { .. } => None,
    }
}

fn took_effect(reply: &Reply) -> bool {
    match reply {
        Reply::Rows { affected, .. } => *affected > 0,
        Reply::Redis(answer) => !matches!(answer, Param::Null | Param::Int(0) | Param::Bool(false)),
        Reply::Busy | Reply::Refused { .. } | Reply::NotSent | Reply::Unknown => false,
    }
}
