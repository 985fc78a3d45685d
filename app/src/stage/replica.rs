//! What each replica is (its process) and what it believes (its attempts, one a schedule: the latest).

use borsh::{BorshDeserialize, BorshSerialize};

use locks::event::{EffectAnswer, Param, Reply};
use locks::ids::{AttemptId, Gate, LockName, Slot, Token};
use locks::machine::{Outcome, TaskState};
use locks::sorted::Map;

/// What became of a replica's process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Process {
    /// Started, not ready.
    #[default]
    Starting,
    /// It runs.
    Running,
    /// All its threads are stopped.
    Stopped,
    /// It is gone.
    Dead,
}

/// One replica.
#[derive(Clone, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Replica {
    /// Which process of that name, from 1.
    pub incarnation: u32,
    /// Its process id.
    pub pid: u32,
    /// What became of the process.
    pub process: Process,
    /// Since when.
    pub since_us: u64,
    /// Its sessions are open and its timers set.
    pub ready: bool,
    /// It was asked to shut down for good.
    pub leaving: bool,
    /// The latest attempt of each schedule.
    pub attempts: Map<String, Attempt>,
}

impl Replica {
    pub(super) fn become_(&mut self, process: Process, at_us: u64) {
        self.process = process;
        self.since_us = at_us;
    }

    /// Death ends whatever it believed.
    pub(super) fn die(&mut self, at_us: u64) {
        for attempt in self.attempts.values_mut() {
            if attempt.is_inside() {
                attempt.left_us = Some(at_us);
                "killed".clone_into(&mut attempt.left_why);
            }
            attempt.gate = None;
        }
    }

    /// The attempt of that name, if it is still a latest one.
    pub(super) fn attempt(&mut self, id: &AttemptId) -> Option<&mut Attempt> {
        self.attempts.values_mut().find(|attempt| attempt.id == *id)
    }
}

/// What a replica holds in its hands, as it believes.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Grant {
    /// When it was granted.
    pub at_us: u64,
    /// The token.
    pub token: Token,
    /// The epoch, where there is one.
    pub epoch: Option<u64>,
    /// Until when it trusts the grant; `None`: no expiry.
    pub trusted_until_us: Option<u64>,
}

/// One replica's handling of one slot.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Attempt {
    /// Its name.
    pub id: AttemptId,
    /// Its slot.
    pub slot: Slot,
    /// The lock that it competes for.
    pub lock: LockName,
    /// When it became due.
    pub began_us: u64,
    /// Where it stands.
    pub state: TaskState,
    /// Where it stood before, in order, the present state last.
    pub path: Vec<TaskState>,
    /// Since when it stands there.
    pub since_us: u64,
    /// Where the strategy's machine stands; empty before it moved.
    pub machine: String,
    /// How often it asked for the lock; asking several nodes at once is one try.
    pub asked: u32,
    /// How many of these tries failed because somebody else has it.
    pub busy: u32,
    /// A try is being sent: what is asked next belongs to it.
    asking: bool,
    /// Somebody said in the present try that somebody else has it.
    told_busy: bool,
    /// The gate at which it waits.
    pub gate: Option<Gate>,
    /// What it was granted.
    pub grant: Option<Grant>,
    /// When it entered the critical section.
    pub entered_us: Option<u64>,
    /// When it left.
    pub left_us: Option<u64>,
    /// Why it left.
    pub left_why: String,
    /// When it sent its effect.
    pub effect_sent_us: Option<u64>,
    /// What it was told of its effect.
    pub effect: Option<EffectAnswer>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// Why it ended so.
    pub why: String,
}

impl Attempt {
    pub(super) fn new(id: AttemptId, slot: Slot, lock: LockName, at_us: u64) -> Attempt {
        Attempt {
            id,
            slot,
            lock,
            began_us: at_us,
            state: TaskState::Due,
            path: vec![TaskState::Scheduled, TaskState::Due],
            since_us: at_us,
            machine: String::new(),
            asked: 0,
            busy: 0,
            asking: false,
            told_busy: false,
            gate: None,
            grant: None,
            entered_us: None,
            left_us: None,
            left_why: String::new(),
            effect_sent_us: None,
            effect: None,
            outcome: None,
            why: String::new(),
        }
    }

    /// Was that reading made when it had its grant? One from before says nothing about it. Where nobody grants, entering
    /// is what counts.
    pub fn had_grant_at(&self, read_us: u64) -> bool {
        let granted_us = self.grant.as_ref().map(|grant| grant.at_us);
        read_us >= granted_us.or(self.entered_us).unwrap_or(self.since_us)
    }

    /// Is it in its critical section?
    pub fn is_inside(&self) -> bool {
        self.entered_us.is_some() && self.left_us.is_none()
    }

    /// The epoch that it believes in.
    pub fn epoch(&self) -> Option<u64> {
        self.grant.as_ref().and_then(|grant| grant.epoch)
    }

    /// It asks a store for the lock. Is it the first one of the first try?
    pub(super) fn asks(&mut self) -> bool {
        if std::mem::replace(&mut self.asking, true) {
            return false;
        }
        self.told_busy = false;
        self.asked += 1;
        self.asked == 1
    }

    /// A store answered. Is it the first one of its try that says "busy"?
    pub(super) fn is_told(&mut self, reply: &Reply) -> bool {
        self.asking = false;
        let news = means_busy(reply) && !std::mem::replace(&mut self.told_busy, true);
        self.busy += u32::from(news);
        news
    }

    /// It was granted the lock. Was it told "busy" in the very try, by a store that was outvoted?
    pub(super) fn outvotes(&mut self) -> bool {
        let outvoted = std::mem::take(&mut self.told_busy);
        self.busy -= u32::from(outvoted);
        outvoted
    }

    pub(super) fn move_to(&mut self, state: TaskState, at_us: u64) {
        if self.state != state {
            self.state = state;
            self.path.push(state);
            self.since_us = at_us;
        }
    }

    pub(super) fn finish(&mut self, outcome: Outcome, why: &str, at_us: u64) {
        self.outcome = Some(outcome);
        why.clone_into(&mut self.why);
        if let Some(state) = outcome.state() {
            self.move_to(state, at_us);
        }
    }
}

/// Did the store answer an acquire with "somebody else has it"?
fn means_busy(reply: &Reply) -> bool {
    matches!(reply, Reply::Busy | Reply::Rows { affected: 0, .. } | Reply::Redis(Param::Null))
}
