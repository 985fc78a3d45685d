//! Stale effects: accepted with an epoch after a grant with a higher one was answered; without epochs,
//! after a later grant of that lock was answered.

use super::facts::{Accepted, Grant};
use super::{Finding, View, names};
use crate::ids::AttemptId;

pub(super) fn find(view: &View) -> Vec<Finding> {
    let grants = view.grants();
    let mut found = Vec::new();
    for accepted in view.facts.accepted.iter().filter(|accepted| view.counts(&accepted.attempt)) {
        let own = view.facts.attempts.get(&accepted.attempt).and_then(|attempt| attempt.granted.as_ref());
        let of_lock = grants.get(&accepted.lock[..]).map_or(&[][..], |of_lock| &of_lock[..]);
        let newer = of_lock.iter().find(|(id, _, grant)| {
            **id != accepted.attempt
                && grant.stamp.may_be_before(&accepted.stamp)
                && is_newer(grant, accepted.epoch, own)
        });
        if let Some((id, _, grant)) = newer {
            found.push(finding(accepted, id, grant));
        }
    }
    found.sort_by_key(|finding| (finding.until_us, finding.events.last().copied()));
    found
}

/// Is a grant newer than the one that an effect was sent under?
fn is_newer(grant: &Grant, epoch: Option<u64>, own: Option<&Grant>) -> bool {
    match (epoch, grant.epoch) {
        (Some(epoch), Some(newer)) => newer > epoch,
        _ => own.is_some_and(|own| own.stamp.is_before(&grant.stamp)),
    }
}

fn finding(accepted: &Accepted, newer: &AttemptId, grant: &Grant) -> Finding {
    let certain = grant.stamp.is_before(&accepted.stamp);
    let (late, newer) = names(&accepted.attempt, newer);
    let under = |epoch: Option<u64>| epoch.map_or(String::new(), |epoch| format!(" with epoch {epoch}"));
    let lock = &accepted.lock;
    let text = format!(
        "the {} accepted {late}'s effect{} after {newer} had been granted {lock}{}",
        accepted.sink,
        under(accepted.epoch),
        under(grant.epoch),
    );
    let events = vec![grant.stamp.seq, accepted.stamp.seq];
    Finding { events, certain, from_us: grant.stamp.at_us, until_us: accepted.stamp.until_us, text }
}
