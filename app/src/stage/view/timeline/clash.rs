//! Where critical sections of the same lock overlap, joined into one mark where several do at once.
//! This is for drawing; how many overlaps there were is the judge's to say.

use super::{Look, sections};
use crate::stage::Stage;

/// Two or more inside at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The event that began it: the second entering.
    pub seq: u64,
    /// Of which lock.
    pub lock: String,
    /// Who.
    pub replicas: Vec<String>,
    /// From when.
    pub from_us: u64,
    /// Until when; `None`: still.
    pub until_us: Option<u64>,
}

/// The clashes, in order of their beginning.
pub fn clashes(stage: &Stage, look: &Look) -> Vec<Clash> {
    let all: Vec<_> = sections(stage, look).collect();
    let mut out: Vec<Clash> = Vec::new();
    for (i, late) in all.iter().enumerate() {
        for early in all[..i].iter().rev() {
            let ended = early.span.1.is_some_and(|until| until <= late.span.0);
            if ended || early.lock != late.lock || early.attempt == late.attempt {
                continue;
            }
            let from_us = late.span.0.max(early.span.0);
            let until_us = match (early.span.1, late.span.1) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            let (a, b) = (&early.attempt.replica, &late.attempt.replica);
            let pair = [a.min(b), a.max(b)];
            let touches =
                |clash: &&mut Clash| clash.lock == late.lock && clash.until_us.is_none_or(|until| until >= from_us);
            match out.iter_mut().rev().find(touches) {
                Some(clash) => {
                    clash.until_us = clash.until_us.zip(until_us).map(|(a, b)| a.max(b));
                    for name in pair {
                        if let Err(at) = clash.replicas.binary_search(name) {
                            clash.replicas.insert(at, name.clone());
                        }
                    }
                }
                None => {
                    let replicas = pair.map(Clone::clone).to_vec();
                    out.push(Clash { seq: late.seq, lock: late.lock.clone(), replicas, from_us, until_us });
                }
            }
        }
    }
    out
}
