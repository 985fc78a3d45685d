//! Giving back: on every store, with the same token, until each has answered or the lease is over by itself.
//! Nothing cancels this.

use super::ballot::Ballot;
use super::inside::note;
use super::job::{After, Call, Job, Stage};
use super::machine::{Machine, Out};
use super::terms::{Lease, Took, took};
use crate::ids::At;
use crate::strategy::Input;
use crate::strategy::section::{End, end_of};

/// Once a quorum is free the lock is, and stores that do not answer are not tried more often than this.
const MOST_TRIES: u16 = 3;

impl<L: Lease> Machine<L> {
    /// Give the lock back, behind the answer of a renewal that is still under way.
    pub(super) fn give_back(&mut self, job: &mut Job, after: After, renewal: Call, out: &mut Out<L::Op>) {
        job.tries = 0;
        let left: Vec<usize> = (0..L::STORES.len()).collect();
        let (call, renewing) = match renewal {
            Call::Under(_) => (renewal, true),
            // The mutant leaves it to the lease's end.
            _ if job.cancelled && self.lease.quirks().leaks_cancelled => (Call::At(job.lease_end), false),
            Call::At(_) | Call::None => (self.release(job, &left, out), false),
        };
        job.stage = Stage::Releasing { after, call, renewing, left };
    }

    fn release(&mut self, job: &Job, stores: &[usize], out: &mut Out<L::Op>) -> Call {
        Call::Under(Ballot::new(self.ask(job, stores, job.tries > 0, out, |lease, hold, at| lease.release(hold, at))))
    }

    pub(super) fn releasing(&mut self, job: &mut Job, now: At, input: &Input, out: &mut Out<L::Op>) -> Option<End> {
        let Stage::Releasing { mut after, call, renewing, mut left } = job.stage.clone() else { return None };
        let (next, renewing) = match (call, input) {
            (call, Input::EffectAnswered { answer, .. }) => {
                after = After::End(end_of(answer));
                (Some(call), renewing)
            }
            (Call::Under(mut ballot), Input::Reply { command, sent, reply }) => {
                let store = ballot.asked(*command)?;
                note::<L>(&mut ballot, (*command, store), *sent, took(reply), out);
                match ballot.done() {
                    None => (Some(Call::Under(ballot)), renewing),
                    Some(sent) if renewing => {
                        let may_hold = ballot.count(|took| matches!(took, Took::Yes | Took::Unknown)) > 0;
                        self.renewed(job, sent, may_hold);
                        (Some(self.release(job, &left, out)), false)
                    }
                    Some(_) => {
                        let insists = self.lease.quirks().insists;
                        let given_back = ballot.stores(|took| took == Took::Yes || (took == Took::NotMine && !insists));
                        left.retain(|store| !given_back.contains(store));
                        let again = now.plus(self.pause_ms(job, true));
                        job.tries = job.tries.wrapping_add(1);
                        let is_free = L::STORES.len() - left.len() > L::STORES.len() - self.rules.quorum;
                        let over = left.is_empty()
                            || (again >= job.lease_end && !insists)
                            || (is_free && job.tries >= MOST_TRIES);
                        ((!over).then_some(Call::At(again)), false)
                    }
                }
            }
            (Call::At(at), Input::Tick) if now >= at => {
                let may_hold = now < job.lease_end || self.lease.quirks().insists;
                (may_hold.then(|| self.release(job, &left, out)), false)
            }
            _ => return None,
        };
        match (next, after) {
            (Some(call), after) => {
                job.stage = Stage::Releasing { after, call, renewing, left };
                None
            }
            (None, After::End(end)) => Some(end),
            (None, After::Effect) => {
                job.stage = Stage::Settling;
                None
            }
            (None, After::Again(end)) => {
                // A new try shows a new proof: a release that is still on its way must not free it.
                job.hold.token = self.lease.token(job.hold.token.next());
                self.again(job, now, end)
            }
        }
    }
}
