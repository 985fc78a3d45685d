//! The critical section under a lease: the watchdog that renews it, and what its answers mean.

use super::ballot::Ballot;
use super::job::{Call, Job, Stage};
use super::machine::{Machine, Out};
use super::terms::{Lease, Took, took};
use crate::ids::{At, CommandId};
use crate::strategy::{Input, Output};

impl<L: Lease> Machine<L> {
    pub(super) fn inside(&mut self, job: &mut Job, now: At, input: &Input, out: &mut Out<L::Op>) {
        let Stage::Inside { section, renewal } = &mut job.stage else { return };
        match (&mut *renewal, input) {
            (Call::Under(ballot), Input::Reply { command, sent, reply }) => {
                let Some(store) = ballot.asked(*command) else { return };
                note::<L>(ballot, (*command, store), *sent, took(reply), out);
                let Some(sent) = ballot.done() else { return };
                let took = decided(ballot, self.rules.quorum, L::STORES.len());
                let may_hold = ballot.count(|took| matches!(took, Took::Yes | Took::Unknown)) > 0;
                if took == Took::Yes
                    && section.needs_grant()
                    && let Some(deadline) = self.deadline(sent)
                {
                    section.extend(deadline, out);
                }
                if took == Took::NotMine {
                    section.lost(out);
                }
                let next = match took {
                    Took::Yes => Call::At(self.renew_at(sent)),
                    Took::NotMine => Call::None,
                    Took::NotDone | Took::Unknown => Call::At(now.plus(self.pause_ms(job, true))),
                };
                job.tries = if took == Took::Yes { 0 } else { job.tries.wrapping_add(1) };
                self.renewed(job, sent, may_hold);
                if let Stage::Inside { renewal, .. } = &mut job.stage {
                    *renewal = next;
                }
            }
            (_, Input::Reply { .. }) => {}
            _ => section.on(now, input, out),
        }
        self.renew_if_due(job, now, input, out);
        if let Stage::Inside { section, renewal } = &job.stage
            && let Some(end) = section.left()
        {
            let renewal = renewal.clone();
            self.give_back(job, end.into(), renewal, out);
        }
    }

    /// A renewal that took effect somewhere, or may have, moves the point up to which a release is tried.
    pub(super) fn renewed(&self, job: &mut Job, sent: At, may_hold: bool) {
        if may_hold {
            job.lease_end = job.lease_end.max(sent.plus(self.rules.lease_ms));
        }
    }

    pub(super) fn renew_at(&self, sent: At) -> At {
        sent.plus((self.rules.lease_ms / 3).max(1))
    }

    fn renew_if_due(&mut self, job: &mut Job, now: At, input: &Input, out: &mut Out<L::Op>) {
        let Stage::Inside { section, renewal: Call::At(at) } = &job.stage else { return };
        if *input != Input::Tick || now < *at || !section.needs_grant() {
            return;
        }
        let lease_ms = self.rules.lease_ms;
        let all: Vec<usize> = (0..L::STORES.len()).collect();
        let calls = self.ask(job, &all, job.tries > 0, out, |lease, hold, at| lease.renew(hold, lease_ms, at));
        if let Stage::Inside { renewal, .. } = &mut job.stage {
            *renewal = Call::Under(Ballot::new(calls));
        }
    }
}

/// Note a store's answer. A connection on which one may still arrive is never used again.
pub(super) fn note<L: Lease>(
    ballot: &mut Ballot<Took>,
    (command, store): (CommandId, usize),
    sent: At,
    took: Took,
    out: &mut Out<L::Op>,
) {
    ballot.answer(command, sent, took);
    if took == Took::Unknown {
        out.push(Output::Discard { session: L::STORES[store].1 });
    }
}

/// What the stores decided together.
fn decided(ballot: &Ballot<Took>, quorum: usize, stores: usize) -> Took {
    if ballot.count(|took| took == Took::Yes) >= quorum {
        Took::Yes
    } else if ballot.count(|took| took == Took::NotMine) > stores - quorum {
        Took::NotMine
    } else if ballot.count(|took| took == Took::Unknown) > 0 {
        Took::Unknown
    } else {
        Took::NotDone
    }
}
