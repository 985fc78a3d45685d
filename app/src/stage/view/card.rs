//! A replica's card: its process, its task's machine, and the three witnesses (the replica believes, the
//! store says, the sink took) with the joints between them. A joint compares "does this replica hold?",
//! never strings; it is red only where two are inside or an effect is stale or a second one.

use locks::event::EffectAnswer;
use locks::machine::{LockState, Outcome, TaskState};
use locks::strategy::{LockAt, pg_row_lock};

use super::{epoch_words, machine, words};
use crate::stage::Stage;
use crate::stage::lock::{HoldEnd, Lock};
use crate::stage::replica::{Attempt, Process, Replica};
use crate::stage::track::Effect;

/// A disagreement that is younger than this is a message on its way, not a disagreement.
const SETTLED_US: u64 = 100_000;

/// Do two witnesses agree?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// They agree.
    Equal,
    /// Nobody was asked.
    Open,
    /// They differ, no harm.
    Differs,
    /// They differ, and it does harm.
    Harm,
}

impl Joint {
    /// In words, for those who do not see the circle.
    pub fn words(self) -> &'static str {
        match self {
            Joint::Equal => "agrees with",
            Joint::Open => "was not asked",
            Joint::Differs => "disagrees with",
            Joint::Harm => "disagrees, with harm, with",
        }
    }

    /// Is it a full stop?
    pub fn cuts(self) -> bool {
        matches!(self, Joint::Differs | Joint::Harm)
    }
}

/// What one witness says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// The replica that it speaks of.
    pub of: Option<String>,
    /// What it says.
    pub value: String,
    /// Beside it.
    pub note: String,
}

fn says(of: Option<&str>, value: impl Into<String>, note: impl Into<String>) -> Witness {
    Witness { of: of.map(str::to_owned), value: value.into(), note: note.into() }
}

/// A replica's card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Its name.
    pub name: String,
    /// Its process id, in words.
    pub pid: String,
    /// What became of its process.
    pub process: Process,
    /// The chip's icon and words.
    pub chip: (&'static str, String),
    /// The task's machine, as a picture.
    pub machine: String,
    /// Where the task stands.
    pub state: &'static str,
    /// What the replica believes.
    pub believes: Witness,
    /// What the store says.
    pub store: Witness,
    /// What the sink took.
    pub sink: Witness,
    /// Between the replica and the store.
    pub first: Joint,
    /// Between the store and the sink.
    pub second: Joint,
    /// The sink's name.
    pub sink_name: String,
}

impl Card {
    /// Nothing on it disagrees.
    pub fn agrees(&self) -> bool {
        !self.first.cuts() && !self.second.cuts()
    }
}

/// The card of a replica, looking at one schedule.
pub fn card(stage: &Stage, name: &str, schedule: &str, now_us: u64) -> Card {
    let none = Replica::default();
    let replica = stage.replicas.get(name).unwrap_or(&none);
    let attempt = replica.attempts.get(schedule);
    let lock = stage.locks.get(&stage.lock_of(schedule));
    let inside = stage
        .replicas
        .values()
        .filter_map(|replica| replica.attempts.get(schedule))
        .filter(|attempt| attempt.is_inside())
        .count();

    let (sink, second) = took(stage, name, schedule, attempt, now_us);
    Card {
        name: name.to_owned(),
        pid: match (replica.pid, stage.topology.clock(name)) {
            (0, _) => "starting".to_owned(),
            (pid, 0) => format!("pid {pid}"),
            (_, shift) => format!("clock {}", words::signed(shift)),
        },
        process: replica.process,
        chip: chip(replica, attempt, now_us),
        machine: machine::task(attempt, name),
        state: attempt.map_or(TaskState::Scheduled, |attempt| attempt.state).name(),
        believes: believes(stage, replica, attempt, name, now_us),
        store: store(stage, lock, attempt, name, now_us),
        first: first_joint(stage, replica, attempt, lock, name, inside, now_us),
        sink,
        second,
        sink_name: stage.setup.sink.to_string(),
    }
}

fn chip(replica: &Replica, attempt: Option<&Attempt>, now_us: u64) -> (&'static str, String) {
    let since = words::short(now_us.saturating_sub(replica.since_us));
    match replica.process {
        Process::Starting => ("clock", "Starting".to_owned()),
        Process::Stopped => ("pause", format!("Stopped {since}")),
        Process::Dead => ("kill", format!("Dead {since}")),
        Process::Running => match attempt.and_then(|attempt| attempt.gate.as_ref()) {
            Some(gate) => ("hand", format!("At gate {gate}")),
            None => ("play", "Running".to_owned()),
        },
    }
}

/// Does it believe that it holds?
fn believes_to_hold(replica: &Replica, attempt: &Attempt) -> bool {
    let granted = attempt.grant.is_some() && attempt.outcome.is_none() && attempt.left_us.is_none();
    replica.process != Process::Dead && (attempt.is_inside() || granted)
}

fn believes(stage: &Stage, replica: &Replica, attempt: Option<&Attempt>, name: &str, now_us: u64) -> Witness {
    if replica.process == Process::Dead {
        return says(None, "nothing", "its process is gone");
    }
    let Some(attempt) = attempt else { return says(None, "holds nothing", "waits for a slot") };
    if believes_to_hold(replica, attempt) {
        let Some(grant) = &attempt.grant else { return says(Some(name), "may work", "asked nobody") };
        let value = match grant.epoch {
            Some(epoch) => format!("holds epoch {epoch}"),
            None => "holds".to_owned(),
        };
        let note = match grant.trusted_until_us {
            None => "no deadline".to_owned(),
            // No lease: Postgres ends a transaction that is idle for so long.
            Some(until) if until > now_us && idle_bound_ms(stage).is_some() => {
                format!("idle bound in {}", words::ms(until - now_us))
            }
            Some(until) if until > now_us => format!("for {} more", words::ms(until - now_us)),
            Some(until) => format!("deadline {} ago", words::short(now_us - until)),
        };
        return says(Some(name), value, note);
    }
    let ago = |at: u64| words::short(now_us.saturating_sub(at));
    let note = match (attempt.outcome, attempt.left_us) {
        (Some(Outcome::Executed), Some(left)) => format!("left {} ago", ago(left)),
        (Some(_), _) => attempt.why.clone(),
        (None, Some(left)) => format!("left {} ago: {}", ago(left), attempt.left_why),
        (None, None) if attempt.busy > 0 => format!("told “busy” {} ×", attempt.busy),
        (None, None) if attempt.asked > 0 => format!("asked {} ago", ago(attempt.since_us)),
        (None, None) => "slot due".to_owned(),
    };
    says(None, "holds nothing", note)
}

/// How long a holder's transaction may be idle, where the lock is one.
fn idle_bound_ms(stage: &Stage) -> Option<u64> {
    let bounded = stage.setup.strategy.mutant.as_deref() != Some("no-bound");
    let is_row_lock = stage.strategy()?.lock_at == LockAt::RowLock;
    (bounded && is_row_lock).then(|| stage.setup.lease_ms * pg_row_lock::BOUND)
}

fn store(stage: &Stage, lock: Option<&Lock>, attempt: Option<&Attempt>, name: &str, now_us: u64) -> Witness {
    if !stage.asks_a_store() {
        return says(None, "not asked", format!("{} asks no store", stage.setup.strategy));
    }
    let Some(lock) = lock else { return says(None, "free", "never held") };
    let expired_here = lock.before.as_ref().filter(|before| {
        before.end == HoldEnd::Expired && before.owner.is_some() && before.owner.as_ref() == attempt.map(|a| &a.id)
    });
    let expired_note =
        expired_here.map(|before| format!("{name} expired {} ago", words::short(now_us.saturating_sub(before.at_us))));
    match lock.state {
        LockState::Held => {
            let owner = lock.owner.as_ref().map(|owner| owner.replica.as_str());
            let value = match lock.epoch {
                Some(epoch) => format!("holds epoch {epoch}"),
                None => "holds".to_owned(),
            };
            let note = match (expired_note, lock.expires_us) {
                (Some(note), _) => note,
                (None, _) if owner != Some(name) && attempt.is_some_and(|attempt| attempt.busy > 0) => {
                    format!("told {name} “busy”")
                }
                (None, Some(expires)) => format!("ttl {}", words::ms(expires.saturating_sub(now_us))),
                (None, None) => match idle_bound_ms(stage) {
                    Some(bound) => format!("no expiry; idle bound {}", words::ms(bound * 1000)),
                    None => "no expiry".to_owned(),
                },
            };
            says(owner, value, note)
        }
        LockState::Expired => says(None, "expired", expired_note.unwrap_or_else(|| "free to take".to_owned())),
        LockState::Free => says(None, "free", format!("for {}", words::short(now_us.saturating_sub(lock.since_us)))),
    }
}

fn first_joint(
    stage: &Stage,
    replica: &Replica,
    attempt: Option<&Attempt>,
    lock: Option<&Lock>,
    name: &str,
    inside: usize,
    now_us: u64,
) -> Joint {
    let believes = attempt.is_some_and(|attempt| believes_to_hold(replica, attempt));
    let is_inside = attempt.is_some_and(Attempt::is_inside);
    let denied = if is_inside && inside > 1 { Joint::Harm } else { Joint::Differs };
    // Nobody was asked, or somebody whom nobody asks any more.
    if !stage.asks_a_store() || attempt.is_some_and(|attempt| believes && !stage.concerns(attempt)) {
        return match (is_inside, inside) {
            (true, 2..) => Joint::Harm,
            (true, _) => Joint::Open,
            _ => Joint::Equal,
        };
    }
    let Some(lock) = lock else { return Joint::Equal };
    let held_here = lock.owner.as_ref().is_some_and(|owner| owner.replica == name) && lock.state == LockState::Held;
    if believes {
        let attempt_holds = attempt.is_some_and(|attempt| lock.is_held_by(&attempt.id));
        let heard = attempt.is_some_and(|attempt| attempt.had_grant_at(lock.read_us));
        match (attempt_holds, heard) {
            (true, _) => Joint::Equal,
            (false, true) => denied,
            // What the store said last is older than the grant.
            (false, false) => Joint::Open,
        }
    } else if held_here {
        // It holds without believing so: it died, or the answer is still on its way.
        let young = now_us.saturating_sub(lock.since_us) < SETTLED_US;
        let giving_back = attempt.is_some_and(|attempt| {
            attempt.state == TaskState::Releasing
                || attempt.left_us.is_some_and(|left| now_us.saturating_sub(left) < SETTLED_US)
        });
        if replica.process != Process::Dead && (young || giving_back) { Joint::Equal } else { Joint::Differs }
    } else {
        Joint::Equal
    }
}

/// What the sink took for the slot that this replica looks at.
fn took(stage: &Stage, name: &str, schedule: &str, attempt: Option<&Attempt>, now_us: u64) -> (Witness, Joint) {
    let Some(slot) = attempt.map(|attempt| &attempt.slot).or_else(|| stage.slots.get(schedule)) else {
        return (says(None, "nothing yet", ""), Joint::Equal);
    };
    let effects: Vec<&Effect> = stage.track.effects.iter().filter(|effect| effect.slot == *slot).collect();
    let accepted: Vec<&&Effect> = effects.iter().filter(|effect| effect.answer == EffectAnswer::Accepted).collect();
    let mine = effects.iter().rev().find(|effect| effect.attempt.replica == name);
    let flight = stage
        .track
        .flights
        .iter()
        .find(|flight| flight.attempt.replica == name && flight.slot == *slot && !flight.settled);

    let own_note = match (mine.map(|effect| &effect.answer), flight) {
        (Some(EffectAnswer::Rejected(guard) | EffectAnswer::GuardUnreachable(guard)), _) => {
            Some(format!("rejected by {guard}"))
        }
        (_, Some(flight)) => {
            let ago = words::short(now_us.saturating_sub(flight.sent_us));
            Some(format!("{name}{} sent {ago} ago", epoch_words(flight.epoch)))
        }
        _ => None,
    };
    let Some(last) = accepted.last() else {
        return (says(None, "nothing yet", own_note.unwrap_or_default()), Joint::Equal);
    };
    let stale = accepted.iter().any(|effect| stage.is_stale(effect.seq));
    let value = match (accepted.len(), last.epoch) {
        (1, Some(epoch)) => format!("epoch {epoch}"),
        (1, None) => "1 effect".to_owned(),
        (n, _) => format!("{n} effects"),
    };
    let note = own_note.unwrap_or_else(|| {
        let ago = words::short(now_us.saturating_sub(last.at_us));
        match accepted.len() {
            1 if last.epoch.is_some() => format!("1 effect, {ago} ago"),
            1 => format!("{ago} ago"),
            _ => "settled more than once".to_owned(),
        }
    });
    let joint = if accepted.len() > 1 || stale { Joint::Harm } else { Joint::Equal };
    (says(Some(&last.attempt.replica), value, note), joint)
}
