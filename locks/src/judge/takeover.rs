//! Takeovers: from a fault on the holder to the next grant of its lock by another, in milliseconds. A
//! holder that gave the lock back by itself before that was not taken over.

use super::View;
use super::facts::{Attempt, Struck};
use crate::ids::AttemptId;
use crate::sorted::by_numbers;

pub(super) fn measure(view: &View) -> Vec<Option<u64>> {
    let mut faults: Vec<&Struck> =
        view.facts.faults.iter().filter(|fault| fault.stamp.at_us >= view.began_us).collect();
    by_numbers(&mut faults, |fault| (fault.stamp.at_us, fault.stamp.seq));
    let measured = faults.into_iter().filter_map(|fault| {
        let at_us = fault.stamp.at_us;
        let holding = view.attempts().filter(|(id, attempt)| holds(view, fault, id, attempt));
        let (_, holder) = holding.max_by_key(|(_, attempt)| attempt.entered.map(|entered| entered.at_us))?;
        let mut grants = view.grants(holder.lock.as_deref()?).iter();
        let next = grants.find(|next| next.id.replica != fault.replica && next.grant.stamp.at_us > at_us);
        let taken_us = next.map(|next| next.grant.stamp.at_us);
        let given_back = holder.released().is_some_and(|released| taken_us.is_some_and(|at| released.at_us < at));
        let done_us = taken_us.unwrap_or(at_us);
        let taken_us = taken_us.filter(|_| !given_back);
        (done_us >= view.done_us).then_some(taken_us.map(|taken_us| (taken_us - at_us) / 1000))
    });
    measured.collect()
}

/// Did an attempt of the struck replica hold its lock when the fault took hold?
fn holds(view: &View, fault: &Struck, id: &AttemptId, attempt: &Attempt) -> bool {
    let at_us = fault.stamp.at_us;
    let before = |at: u64| at <= at_us;
    let replaced = view
        .facts
        .process(&id.replica, id.incarnation + 1)
        .is_some_and(|next| next.started.is_some_and(|started| before(started.at_us)));
    id.replica == fault.replica
        && !replaced
        && attempt.granted.as_ref().is_some_and(|grant| before(grant.stamp.at_us))
        && !attempt.left.is_some_and(|left| before(left.at_us))
        && !attempt.finished.is_some_and(|(_, finished)| before(finished.at_us))
}
