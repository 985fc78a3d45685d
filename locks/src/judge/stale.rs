//! Stale effects: accepted with an epoch after a grant with a higher one was answered; without epochs,
//! after a later grant of that lock was answered.

use super::facts::Accepted;
use super::{Finding, Granted, View, names};

pub(super) fn find(view: &View) -> Vec<Finding> {
    let counted = view.facts.accepted.iter().filter(|accepted| view.counts(&accepted.attempt));
    let found = counted
        .filter_map(|accepted| Some((accepted, first_newer(view, accepted)?)))
        .filter(|(accepted, newer)| newer.grant.stamp.may_be_before(&accepted.stamp))
        .map(|(accepted, newer)| finding(accepted, newer))
        .collect();
    view.done(found)
}

/// The first grant that is newer than the one that an effect was sent under.
fn first_newer<'v>(view: &'v View, accepted: &Accepted) -> Option<&'v Granted<'v>> {
    let grants = view.grants(&accepted.lock);
    let older = match accepted.epoch {
        Some(_) => grants.partition_point(|granted| granted.highest_epoch <= accepted.epoch),
        None => {
            let own = view.facts.attempts.get(&accepted.attempt)?.granted.as_ref()?;
            grants.partition_point(|granted| !own.stamp.is_before(&granted.grant.stamp))
        }
    };
    grants.get(older)
}

fn finding(accepted: &Accepted, newer: &Granted) -> Finding {
    let stamp = newer.grant.stamp;
    let certain = stamp.is_before(&accepted.stamp);
    let (late, holder) = names(&accepted.attempt, newer.id);
    let under = |epoch: Option<u64>| epoch.map_or(String::new(), |epoch| format!(" with epoch {epoch}"));
    let lock = &accepted.lock;
    let text = format!(
        "the {} accepted {late}'s effect{} after {holder} had been granted {lock}{}",
        accepted.sink,
        under(accepted.epoch),
        under(newer.grant.epoch),
    );
    let events = vec![stamp.seq, accepted.stamp.seq];
    Finding { events, certain, from_us: stamp.at_us, until_us: accepted.stamp.until_us, text }
}
