//! How `pg-row-lock` comes to its lock: the row first, in a transaction of its own; then BEGIN and FOR UPDATE;
//! where guards ask for epochs, one is minted before and published after. Whatever fails is rolled back, and
//! what is not answered ends with its connection.

use super::ask::Verb;
use super::machine::{EPOCHS, Job, Out, PgRowLock, SESSION, Stage};
use super::{NO_ROW, REPEATABLE_READ};
use crate::ids::{At, CommandId};
use crate::machine::Outcome;
use crate::strategy::section::{End, SESSION_LOST};
use crate::strategy::{Input, Output, Reply, Session, epochs};

/// Where that stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Getting {
    Waiting(At),
    Minting(CommandId),
    Ensuring(CommandId),
    Beginning(CommandId),
    Acquiring(CommandId),
    Confirming(CommandId),
    Publishing(CommandId),
    RollingBack {
        command: CommandId,
        /// How the attempt ends then; `None`: it tries again.
        end: Option<End>,
        /// If there is no time to try again.
        why: &'static str,
    },
}

impl Getting {
    pub fn state(&self) -> &'static str {
        match self {
            Getting::Waiting(_) => "waiting",
            Getting::Minting(_) => "minting",
            Getting::Ensuring(_) => "ensuring",
            Getting::Beginning(_) => "beginning",
            Getting::Acquiring(_) => "acquiring",
            Getting::Confirming(_) => "confirming",
            Getting::Publishing(_) => "publishing",
            Getting::RollingBack { .. } => "rolling back",
        }
    }

    fn command(&self) -> Option<CommandId> {
        match self {
            Getting::Waiting(_) => None,
            Getting::Minting(command)
            | Getting::Ensuring(command)
            | Getting::Beginning(command)
            | Getting::Acquiring(command)
            | Getting::Confirming(command)
            | Getting::Publishing(command)
            | Getting::RollingBack { command, .. } => Some(*command),
        }
    }
}

const CANCELLED: End = (Outcome::Skipped, "cancelled");
const NOT_HELD: End = (Outcome::Skipped, SESSION_LOST.1);

/// What became of a command that only prepares.
fn failed(reply: &Reply) -> Option<End> {
    match reply {
        Reply::Rows { .. } => None,
        Reply::Busy => Some((Outcome::Skipped, "busy")),
        Reply::Refused { .. } => Some((Outcome::Skipped, "the store refused")),
        Reply::NotSent => Some((Outcome::Skipped, "not sent")),
        Reply::Unknown | Reply::Redis(_) => Some((Outcome::Skipped, "no answer")),
    }
}

impl PgRowLock {
    /// Begin to get the lock, from the first thing that is missing.
    pub(super) fn get(&mut self, job: &mut Job, minted: bool, out: &mut Out) {
        let getting = if self.needs_epochs && !minted {
            Getting::Minting(self.send(job, Verb::Epoch(epochs::Ask::Mint), out))
        } else if !self.ensured {
            Getting::Ensuring(self.send(job, Verb::Ensure, out))
        } else {
            job.gone = false;
            let verb = Verb::Begin { repeatable: self.is(REPEATABLE_READ), bound_ms: self.bound_ms() };
            Getting::Beginning(self.send(job, verb, out))
        };
        job.stage = Stage::Getting(getting);
    }

    /// Go on; the attempt's end, when it is final.
    pub(super) fn getting(&mut self, job: &mut Job, now: At, input: &Input, out: &mut Out) -> Option<End> {
        let Stage::Getting(getting) = &job.stage else { return None };
        match (getting, input) {
            (Getting::Waiting(_), Input::Cancel { .. } | Input::Shutdown) => return Some(CANCELLED),
            (Getting::Waiting(until), Input::Tick) if now >= *until => self.get(job, false, out),
            (Getting::Acquiring(_), Input::Cancel { .. } | Input::Shutdown) => {
                // It may wait in the store: only the end of its connection ends that.
                out.push(Output::Discard { session: SESSION });
                job.cancelled = true;
            }
            (_, Input::Cancel { .. } | Input::Shutdown) => job.cancelled = true,
            (_, Input::Reply { command, sent, reply }) if getting.command() == Some(*command) => {
                return self.got(job, now, *sent, reply, out);
            }
            _ => {}
        }
        None
    }

    fn got(&mut self, job: &mut Job, now: At, sent: At, reply: &Reply, out: &mut Out) -> Option<End> {
        let Stage::Getting(getting) = job.stage.clone() else { return None };
        if *reply == Reply::Unknown {
            let session = match getting {
                Getting::Minting(_) | Getting::Publishing(_) => EPOCHS,
                _ => SESSION,
            };
            discard(session, job, out);
        }
        let cancelled = job.cancelled.then_some(CANCELLED);
        match getting {
            Getting::Waiting(_) => None,
            Getting::Minting(_) => match epochs::minted(reply) {
                Some(epoch) if cancelled.is_none() => {
                    job.epoch = Some(epoch);
                    self.get(job, true, out);
                    None
                }
                _ => cancelled.or(failed(reply)).or(Some((Outcome::Skipped, "no epoch"))),
            },
            Getting::Ensuring(_) => {
                // Busy (40001, under stricter isolation): another has made it at this very moment.
                let failed = failed(reply).filter(|_| *reply != Reply::Busy);
                self.ensured = failed.is_none();
                let end = cancelled.or(failed);
                if end.is_none() {
                    self.get(job, true, out);
                }
                end
            }
            Getting::Beginning(_) => match (failed(reply), cancelled) {
                (Some(end), cancelled) => cancelled.or(Some(end)),
                (None, Some(end)) => self.roll_back(job, Some(end), "", out),
                (None, None) => {
                    let command = self.send(job, Verb::Acquire { waits: self.waits() }, out);
                    job.stage = Stage::Getting(Getting::Acquiring(command));
                    None
                }
            },
            // Its connection is discarded already.
            Getting::Acquiring(_) if job.cancelled => Some(CANCELLED),
            Getting::Acquiring(_) if job.gone && *reply != Reply::Unknown => Some(NOT_HELD),
            Getting::Acquiring(_) => self.acquired(job, now, sent, reply, out),
            Getting::Confirming(_) | Getting::Publishing(_) if job.gone => cancelled.or(Some(NOT_HELD)),
            Getting::Confirming(_) => match cancelled.or(failed(reply)) {
                Some(end) => self.roll_back(job, Some(end), "", out),
                None => {
                    job.asked = sent;
                    self.publish(job, now, out)
                }
            },
            Getting::Publishing(_) => match (reply, cancelled) {
                (_, Some(end)) => self.roll_back(job, Some(end), "", out),
                (Reply::Rows { affected: 0, .. }, None) => self.roll_back(job, None, "overtaken", out),
                (Reply::Rows { .. }, None) => self.granted(job, now, out),
                (_, None) => self.roll_back(job, Some((Outcome::Skipped, "epoch not published")), "", out),
            },
            Getting::RollingBack { end, why, .. } => cancelled.or(end).or_else(|| self.wait(job, now, why)),
        }
    }

    fn acquired(&mut self, job: &mut Job, now: At, sent: At, reply: &Reply, out: &mut Out) -> Option<End> {
        match reply {
            Reply::Rows { affected: 0, .. } if !self.is(NO_ROW) => {
                self.ensured = false;
                self.roll_back(job, None, "no row", out)
            }
            Reply::Rows { .. } => {
                job.tries = 0;
                job.asked = sent;
                if now <= sent.plus(self.rules.timeout_ms) {
                    return self.publish(job, now, out);
                }
                let command = self.send(job, Verb::Confirm, out);
                job.stage = Stage::Getting(Getting::Confirming(command));
                None
            }
            Reply::Busy if self.dies_of_errors() => {
                self.dead = true;
                out.push(Output::Discard { session: SESSION });
                Some((Outcome::Skipped, "an error that nobody handles: the loop is dead"))
            }
            Reply::Busy => self.roll_back(job, None, "busy", out),
            Reply::Unknown => failed(reply),
            Reply::Refused { .. } | Reply::NotSent | Reply::Redis(_) => self.roll_back(job, failed(reply), "", out),
        }
    }

    /// Where guards ask for epochs, make ours the lock's; then enter.
    fn publish(&mut self, job: &mut Job, now: At, out: &mut Out) -> Option<End> {
        let Some(epoch) = job.epoch else { return self.granted(job, now, out) };
        let publish = epochs::Ask::Publish { lock: job.lock.clone(), epoch };
        let command = self.send(job, Verb::Epoch(publish), out);
        job.stage = Stage::Getting(Getting::Publishing(command));
        None
    }

    /// Granted, and no use any more.
    pub(super) fn undo(&mut self, job: &mut Job, end: End, out: &mut Out) -> Option<End> {
        self.roll_back(job, Some(end), "", out)
    }

    fn roll_back(&mut self, job: &mut Job, end: Option<End>, why: &'static str, out: &mut Out) -> Option<End> {
        let command = self.send(job, Verb::Rollback, out);
        job.stage = Stage::Getting(Getting::RollingBack { command, end, why });
        None
    }

    fn wait(&mut self, job: &mut Job, now: At, why: &'static str) -> Option<End> {
        let until = now.plus(self.rules.pause_ms(job.tries, Some(job.jitter), false));
        if until > job.give_up {
            return Some((Outcome::Skipped, why));
        }
        job.tries = job.tries.wrapping_add(1);
        job.stage = Stage::Getting(Getting::Waiting(until));
        None
    }
}

/// Close a connection on which something is unanswered. A transaction on it is gone.
fn discard(session: Session, job: &mut Job, out: &mut Out) {
    job.gone |= session == SESSION;
    out.push(Output::Discard { session });
}
