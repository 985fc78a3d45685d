//! The machine of `pg-row-lock` from the grant on: enter, work, send the effect, end the transaction. How it
//! comes to the lock stands in `getting`. With sink `ledger` the effect is in the lock's own transaction:
//! then it is only real once the commit was answered.

use super::ask::{Ask, Verb};
use super::getting::Getting;
use super::{
    ACQUIRE, ACQUIRE_WAITING, BEGIN, BEGIN_REPEATABLE, BOUND, COMMIT, CONFIRM, ENSURE, INFO, NO_BOUND, REPEATABLE_READ,
};
use super::{ROLLBACK, UNHANDLED_ERROR};
use crate::ids::{At, AttemptId, CommandId, Endpoint, LockName, SinkName, Token};
use crate::machine::Outcome;
use crate::setup::Setup;
use crate::strategy::lease::Rules;
use crate::strategy::section::{End, Grant, Section, end_of};
use crate::strategy::{EffectAnswer, Info, Input, Output, Reply, Session, SessionSpec, Strategy, epochs};

/// The session of the lock's transaction.
pub(super) const SESSION: Session = Session("lock");
/// The second session: what it writes is there at once, whatever becomes of the transaction.
pub(super) const EPOCHS: Session = Session("epochs");

/// The machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PgRowLock {
    pub(super) rules: Rules,
    pub(super) mutant: Option<&'static str>,
    pub(super) needs_epochs: bool,
    /// The effect goes into the lock's transaction.
    within: Option<Session>,
    host: String,
    commands: u32,
    /// The row is there.
    pub(super) ensured: bool,
    /// Mutant: the loop that handled slots has ended.
    pub(super) dead: bool,
    job: Option<Job>,
}

/// Where the attempt stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    Getting(Getting),
    Inside(Section),
    /// Ends the transaction.
    Releasing {
        command: CommandId,
        end: Option<End>,
        /// It carries the effect.
        committing: bool,
    },
    /// The effect's answer decides; `open`: the transaction's end too.
    Settling {
        open: bool,
    },
}

/// The attempt under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Job {
    pub attempt: AttemptId,
    pub lock: LockName,
    pub token: Token,
    pub jitter: u16,
    pub tries: u16,
    /// No further try after this.
    pub give_up: At,
    pub epoch: Option<u64>,
    /// When the session's latest statement was sent: the transaction is idle since then at most.
    pub asked: At,
    pub cancelled: bool,
    /// The session was lost since the transaction began, and all that was in it.
    pub gone: bool,
    pub answer: Option<EffectAnswer>,
    pub stage: Stage,
}

pub(super) type Out = Vec<Output<Ask>>;

impl Strategy for PgRowLock {
    type Op = Ask;

    fn info() -> &'static Info {
        &INFO
    }

    fn new(setup: &Setup, mutant: Option<&'static str>, host: &str) -> Self {
        PgRowLock {
            rules: Rules::of(setup),
            mutant,
            needs_epochs: setup.needs_epochs(),
            within: (setup.sink == SinkName::Ledger).then_some(SESSION),
            host: host.to_owned(),
            commands: 0,
            ensured: mutant == Some(super::NO_ROW),
            dead: false,
            job: None,
        }
    }

    fn sessions(&self) -> Vec<SessionSpec> {
        let begin = if self.is(REPEATABLE_READ) { BEGIN_REPEATABLE } else { BEGIN };
        let acquire = if self.waits() { ACQUIRE_WAITING } else { ACQUIRE };
        let mut sessions = vec![SessionSpec {
            session: SESSION,
            to: Endpoint::Postgres,
            prepare: vec![ENSURE, begin, acquire, CONFIRM, COMMIT, ROLLBACK],
            settings: self.settings(),
            needs_all_keys: false,
        }];
        if self.needs_epochs {
            sessions.push(SessionSpec {
                session: EPOCHS,
                to: Endpoint::Postgres,
                prepare: epochs::Ask::texts(),
                settings: Vec::new(),
                needs_all_keys: false,
            });
        }
        sessions
    }

    fn on(&mut self, now: At, input: Input) -> Out {
        let mut out = Vec::new();
        match (self.job.take(), input) {
            (None, Input::Due { attempt, .. }) if self.dead => {
                out.push(Output::Finish { attempt, outcome: Outcome::Skipped, why: "the loop is dead" });
            }
            (None, Input::Due { attempt, lock, token, jitter, .. }) => {
                let mut job = Job {
                    attempt,
                    lock,
                    token,
                    jitter,
                    tries: 0,
                    give_up: now.plus(self.rules.acquire_timeout_ms),
                    epoch: None,
                    asked: now,
                    cancelled: false,
                    gone: false,
                    answer: None,
                    stage: Stage::Getting(Getting::Waiting(now)),
                };
                self.get(&mut job, false, &mut out);
                self.job = Some(job);
            }
            (None, _) => {}
            (Some(job), Input::Due { attempt, .. }) => {
                out.push(Output::Finish { attempt, outcome: Outcome::Skipped, why: "another attempt is under way" });
                self.job = Some(job);
            }
            (Some(mut job), input) if input.attempt().is_none_or(|attempt| *attempt == job.attempt) => {
                match self.step(&mut job, now, &input, &mut out) {
                    Some((outcome, why)) => out.push(Output::Finish { attempt: job.attempt, outcome, why }),
                    None => self.job = Some(job),
                }
            }
            (job, _) => self.job = job,
        }
        out
    }

    fn state(&self) -> &'static str {
        match self.job.as_ref().map(|job| &job.stage) {
            None => "idle",
            Some(Stage::Getting(getting)) => getting.state(),
            Some(Stage::Inside(section)) => section.state(),
            Some(Stage::Releasing { .. }) => "releasing",
            Some(Stage::Settling { .. }) => "settling",
        }
    }

    fn next_timer(&self) -> Option<At> {
        match &self.job.as_ref()?.stage {
            Stage::Getting(Getting::Waiting(until)) => Some(*until),
            Stage::Inside(section) => section.next_timer(),
            Stage::Getting(_) | Stage::Releasing { .. } | Stage::Settling { .. } => None,
        }
    }
}

impl PgRowLock {
    pub(super) fn is(&self, mutant: &str) -> bool {
        self.mutant == Some(mutant)
    }

    pub(super) fn waits(&self) -> bool {
        self.rules.acquire_timeout_ms > 0
    }

    /// How long a transaction may be idle.
    pub(super) fn bound_ms(&self) -> Option<u64> {
        (!self.is(NO_BOUND)).then(|| self.rules.lease_ms.saturating_mul(BOUND).min(i32::MAX as u64))
    }

    /// Until when the lock is trusted: the server counts from the end of a statement, this from its beginning.
    fn deadline(&self, job: &Job) -> Option<At> {
        self.bound_ms().map(|bound_ms| job.asked.plus(bound_ms).minus(self.rules.margin_ms))
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let waits_ms = self.rules.acquire_timeout_ms;
        let mut settings = vec![
            ("lock_timeout", format!("{waits_ms}ms")),
            ("statement_timeout", format!("{}ms", waits_ms.saturating_add(30_000))),
        ];
        match self.bound_ms() {
            Some(bound_ms) => {
                let seconds = bound_ms.div_ceil(1000);
                settings.push(("idle_in_transaction_session_timeout", format!("{bound_ms}ms")));
                settings.push(("tcp_keepalives_idle", seconds.to_string()));
                settings.push(("tcp_keepalives_interval", "1".to_owned()));
                settings.push(("tcp_keepalives_count", "3".to_owned()));
                settings.push(("tcp_user_timeout", format!("{bound_ms}ms")));
            }
            None => settings.push(("idle_in_transaction_session_timeout", "0".to_owned())),
        }
        settings
    }

    /// Go on with the attempt under way; its end, when it is final.
    fn step(&mut self, job: &mut Job, now: At, input: &Input, out: &mut Out) -> Option<End> {
        match input {
            Input::SessionLost { session } => job.gone |= *session == SESSION,
            Input::EffectAnswered { answer, .. } => {
                job.answer = Some(answer.clone());
                if *answer == EffectAnswer::Unknown && self.within.is_some() && !job.gone {
                    // Closing it undoes what it may have written.
                    out.push(Output::Discard { session: SESSION });
                    job.gone = true;
                }
            }
            _ => {}
        }
        match (&mut job.stage, input) {
            (Stage::Getting(_), _) => self.getting(job, now, input, out),
            (Stage::Inside(section), _) => {
                match input {
                    Input::SessionLost { .. } if job.gone => section.session_lost(out),
                    _ => section.on(now, input, out),
                }
                let end = section.left()?;
                self.left(job, end, out)
            }
            (Stage::Releasing { command, end, committing }, Input::Reply { command: answered, reply, .. })
                if command == answered =>
            {
                let (end, committing) = (*end, *committing);
                if *reply == Reply::Unknown {
                    // Closing it undoes what was not committed, and lets the row go.
                    out.push(Output::Discard { session: SESSION });
                }
                let end = match (committing, reply) {
                    (true, Reply::Unknown) => Some((Outcome::Failed, "commit unanswered")),
                    (true, Reply::Rows { .. }) if !job.gone => end,
                    (true, _) => Some((Outcome::Failed, "not committed")),
                    (false, _) => end.or_else(|| job.answer.as_ref().map(end_of)),
                };
                if end.is_none() {
                    job.stage = Stage::Settling { open: false };
                }
                end
            }
            (Stage::Settling { open: false }, Input::EffectAnswered { answer, .. }) => Some(end_of(answer)),
            (Stage::Settling { open: true }, Input::EffectAnswered { answer, .. }) => {
                let end = end_of(answer);
                self.left(job, Some(end), out)
            }
            _ => None,
        }
    }

    /// The lock is ours; enter, unless that is no use any more.
    pub(super) fn granted(&mut self, job: &mut Job, now: At, out: &mut Out) -> Option<End> {
        let deadline = self.deadline(job);
        if job.cancelled {
            return self.undo(job, (Outcome::Skipped, "cancelled"), out);
        }
        if deadline.is_some_and(|deadline| now >= deadline) {
            return self.undo(job, (Outcome::Skipped, "granted too late"), out);
        }
        let grant = Grant {
            token: Some(job.token.clone()),
            epoch: job.epoch,
            not_after: deadline,
            nodes: vec![Endpoint::Postgres],
        };
        let section = Section::enter(job.attempt.clone(), grant, self.rules.stubborn, out);
        job.stage = Stage::Inside(section.within(self.within));
        None
    }

    /// The section is left: end the transaction, unless it is gone or still carries the effect.
    fn left(&mut self, job: &mut Job, end: Option<End>, out: &mut Out) -> Option<End> {
        let end = end.or_else(|| job.answer.as_ref().map(end_of));
        let accepted = job.answer == Some(EffectAnswer::Accepted);
        if self.within.is_some() && end.is_none() {
            job.stage = Stage::Settling { open: true };
            return None;
        }
        let committing = self.within.is_some() && accepted;
        if job.gone {
            let end = if committing { Some((Outcome::Failed, "not committed")) } else { end };
            if end.is_none() {
                job.stage = Stage::Settling { open: false };
            }
            return end;
        }
        // Only what was accepted is kept: a guard's rejection undoes the transaction.
        let keeps = self.within.is_none() || accepted;
        let verb = if keeps { Verb::Commit } else { Verb::Undo };
        let command = self.send(job, verb, out);
        job.stage = Stage::Releasing { command, end, committing };
        None
    }

    /// Send it; repetitions do not exist here, because what is not answered ends with its connection.
    pub(super) fn send(&mut self, job: &Job, verb: Verb, out: &mut Out) -> CommandId {
        self.commands = self.commands.wrapping_add(1);
        let command = CommandId(self.commands);
        let waits_ms = match &verb {
            Verb::Acquire { .. } => self.rules.acquire_timeout_ms,
            _ => 0,
        };
        out.push(Output::Send {
            command,
            attempt: Some(job.attempt.clone()),
            to: Endpoint::Postgres,
            session: if matches!(verb, Verb::Epoch(_)) { EPOCHS } else { SESSION },
            op: Ask { lock: job.lock.clone(), on: self.host.clone(), verb },
            timeout_ms: self.rules.timeout_ms.saturating_add(waits_ms),
            retry: job.tries > 0,
        });
        command
    }

    pub(super) fn dies_of_errors(&self) -> bool {
        self.is(UNHANDLED_ERROR)
    }
}
