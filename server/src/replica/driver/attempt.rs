//! The attempt under way: where its task stands, from the slot's becoming due to the finish.

use locks::event::{Kind, WorkEnd};
use locks::ids::{AttemptId, Gate, LockName, Slot, Token};
use locks::machine::{Outcome, TaskState};
use locks::strategy::{Input, Strategy};

use super::Driver;
use crate::replica::gates::Waiting;
use crate::replica::handler::AtWork;
use crate::replica::me::Me;

/// Why a slot that comes too early for its schedule is skipped.
const STILL_RUNNING: &str = "previous slot still running";

/// One attempt.
pub(super) struct Attempt {
    pub(super) id: AttemptId,
    pub(super) slot: Slot,
    pub(super) lock: LockName,
    pub(super) token: Option<Token>,
    pub(super) epoch: Option<u64>,
    pub(super) at_work: Option<AtWork>,
    task: TaskState,
}

impl Attempt {
    /// The task moves.
    pub(super) fn moves_to(&mut self, me: &Me, to: TaskState) {
        let from = std::mem::replace(&mut self.task, to);
        debug_assert!(from.may_become(to), "{}: {from:?} to {to:?}", self.id);
        me.say(Kind::Task { attempt: self.id.clone(), from, to });
    }

    /// The lock is asked for; nothing new if it was before.
    pub(super) fn asks(&mut self, me: &Me) {
        if self.task == TaskState::Due {
            self.moves_to(me, TaskState::Acquiring);
        }
    }
}

impl<S: Strategy> Driver<S> {
    /// A slot is due: an attempt begins, unless the one before it is still under way.
    pub(super) fn due(&mut self, slot: Slot, lock: LockName, by_timer: bool) {
        let me = self.me.clone();
        let id = me.next_attempt();
        me.say(Kind::SlotDue { attempt: id.clone(), slot: slot.clone(), lock: lock.clone(), by_timer });
        let mut attempt = Attempt {
            id: id.clone(),
            slot: slot.clone(),
            lock: lock.clone(),
            token: None,
            epoch: None,
            at_work: None,
            task: TaskState::Scheduled,
        };
        attempt.moves_to(&me, TaskState::Due);
        if self.attempt.is_some() {
            return self.finished(attempt, Outcome::Skipped, STILL_RUNNING);
        }
        // The attempt before is final: nothing keeps it at its gate.
        if let Some(waiting) = self.gates.take(|waiting| waiting.gate == Gate::Done) {
            self.say_passed(&waiting);
        }
        self.attempt = Some(attempt);
        self.inputs.push_back(Input::Due { attempt: id, slot, lock, token: me.token(), jitter: me.jitter() });
    }

    /// The handler ended.
    pub(super) fn work_ended(&mut self, attempt: AttemptId, how: WorkEnd) {
        if let Some(under_way) = self.under_way(&attempt) {
            under_way.at_work = None;
            self.me.say(Kind::WorkEnded { attempt: attempt.clone(), how });
            self.inputs.push_back(Input::WorkEnded { attempt, how });
        }
    }

    /// The strategy says that an attempt is final.
    pub(super) fn finish(&mut self, id: AttemptId, outcome: Outcome, why: &'static str) {
        let Some(attempt) = self.attempt.take_if(|attempt| attempt.id == id) else { return };
        self.finished(attempt, outcome, why);
        if self.gates.closed_at(&Gate::Done, false) {
            self.wait(Waiting { attempt: id, gate: Gate::Done, until: None, outputs: Default::default() });
        }
    }

    fn finished(&mut self, mut attempt: Attempt, outcome: Outcome, why: &'static str) {
        if let Some(state) = outcome.state() {
            attempt.moves_to(&self.me, state);
        }
        let Attempt { id, slot, lock, epoch, .. } = attempt;
        self.me.say(Kind::Finished { attempt: id.clone(), slot: slot.clone(), outcome, why: why.to_owned() });
        self.audit.write(&id, &lock, &slot, outcome, epoch);
    }

    /// The attempt under way, if that is the one.
    pub(super) fn under_way(&mut self, id: &AttemptId) -> Option<&mut Attempt> {
        self.attempt.as_mut().filter(|attempt| attempt.id == *id)
    }
}
