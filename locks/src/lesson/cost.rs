//! What a strategy costs in one run: how long a grant takes, what it asks of the stores, how soon somebody else gets
//! in when the holder dies. Read from the log, never estimated.

use super::record::{Attempt, Record};

/// Nobody's lock needs these.
const NOT_OF_THE_LOCK: [&str; 1] = ["audit"];

/// What was measured in a run. What did not happen in it has no value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The quickest grant, from when its command was sent to when the replica knew of it.
    pub grant_us: Option<u64>,
    /// Commands that replicas sent to stores, for each slot.
    pub commands: Option<u64>,
    /// The longest time from a fault on the holder to the next grant by another.
    pub takeover_ms: Option<u64>,
}

impl Cost {
    /// Of a run.
    pub fn of(record: &Record) -> Cost {
        let sent = record.attempts.values().flat_map(|attempt| attempt.commands.values());
        let sent = sent.filter(|one| one.sent.is_some() && !NOT_OF_THE_LOCK.contains(&one.name.as_str())).count();
        let slots = record.slots().len();
        Cost {
            grant_us: record.attempts.values().filter_map(grant_us).min(),
            commands: (sent as u64).checked_div(slots as u64).filter(|_| sent > 0),
            takeover_ms: record.verdict().takeover_ms.iter().flatten().max().copied(),
        }
    }

    /// What both say: the quicker grant, and otherwise what this says first.
    pub fn or(self, other: Cost) -> Cost {
        Cost {
            grant_us: [self.grant_us, other.grant_us].into_iter().flatten().min(),
            commands: self.commands.or(other.commands),
            takeover_ms: self.takeover_ms.or(other.takeover_ms),
        }
    }
}

/// From the command that brought the grant. Nodes of a quorum are asked at once: the first of that try counts.
fn grant_us(attempt: &Attempt) -> Option<u64> {
    let (_, granted) = attempt.granted.as_ref()?;
    let before = attempt.commands.values().filter_map(|one| Some((one.sent?.at_us, one)));
    let mut before: Vec<_> = before.filter(|(at_us, _)| *at_us <= granted.at_us).collect();
    before.sort_by_key(|(at_us, _)| *at_us);
    let (_, last) = before.last()?;
    let of_try = before.iter().rev().take_while(|(_, one)| one.name == last.name);
    // Each node once: what went to the same node earlier was another try.
    let mut nodes = Vec::new();
    let first = of_try.take_while(|(_, one)| {
        let fresh = !nodes.contains(&one.to);
        nodes.push(one.to);
        fresh
    });
    let (first_us, _) = first.last()?;
    Some(granted.at_us.saturating_sub(*first_us))
}
