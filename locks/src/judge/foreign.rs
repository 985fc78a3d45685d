//! Foreign releases: a release or renewal that the store says took effect, passed on to the store (by the
//! link's stamp, not the sender's) after another attempt's grant was answered and before that one ended.

use super::facts::{Attempt, Command, Stamp};
use super::{Finding, Granted, View, names};
use crate::ids::AttemptId;

pub(super) fn find(view: &View) -> Vec<Finding> {
    let mut found = Vec::new();
    for (id, attempt) in view.attempts() {
        let Some(lock) = attempt.lock.as_deref() else { continue };
        for command in attempt.commands.values().filter(|command| command.took && command.touches_a_grant()) {
            let (by, grants) = ((id, attempt), view.grants(lock));
            found.extend(command.executed().and_then(|at| judge(by, lock, command, at, grants)));
        }
    }
    view.done(found)
}

fn judge(
    (id, attempt): (&AttemptId, &Attempt),
    lock: &str,
    command: &Command,
    executed: Stamp,
    grants: &[Granted],
) -> Option<Finding> {
    // Whose grant stood: the latest one answered before. Earlier ones have ended with it.
    let before = grants.partition_point(|granted| granted.grant.stamp.may_be_before(&executed));
    let Granted { id: holder, attempt: held, grant, .. } = grants[..before].last()?;
    if *holder == id || has_ended(held, executed.at_us) {
        return None;
    }
    // With a quorum each has its own keys: what one node did for one is no matter to a grant of the others, and
    // whoever took a node's key after the holder touches its own.
    if let Some(node) = command.to.filter(|_| !grant.nodes.is_empty()) {
        let own = || Some(held.took_key(node)?.is_before(&attempt.took_key(node)?));
        if !grant.nodes.contains(&node) || own() == Some(true) {
            return None;
        }
    }
    let certain = grant.stamp.is_before(&executed) && !has_ended(held, executed.until_us);
    let (foreign, holder) = names(id, holder);
    let text = format!("{foreign}'s {} took effect on {holder}'s grant of {lock}", command.name);
    let events = [Some(grant.stamp), command.passed.or(command.sent), command.answered];
    let events = events.into_iter().flatten().map(|stamp| stamp.seq).collect();
    Some(Finding { events, certain, from_us: executed.at_us, until_us: executed.until_us, text })
}

/// Was a grant over by then: given back, or run out?
fn has_ended(held: &Attempt, at_us: u64) -> bool {
    held.trusted_until_us.is_some_and(|until_us| until_us < at_us)
        || held.released().is_some_and(|released| released.at_us < at_us)
}
