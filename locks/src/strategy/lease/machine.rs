//! The machine of a lease: everything but what [`super::Lease`] leaves to a strategy's own file.
//!
//! No session ever carries two commands at once: a release waits for the answer of a renewal under way.

use super::terms::{Asked, Hold, Lease, Rules, Took, took};
use crate::ids::{At, CommandId};
use crate::machine::Outcome;
use crate::setup::Setup;
use crate::strategy::section::{End, Grant, Section, end_of};
use crate::strategy::{Info, Input, Output, Reply, Session, SessionSpec, Strategy};

/// The one session.
const SESSION: Session = Session("lock");

/// What is under way on the session for renewing or for giving back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Call {
    /// Nothing, and nothing will be.
    None,
    /// Nothing until then.
    At(At),
    /// That command.
    Under(CommandId),
}

/// Where the attempt under way stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage {
    Acquiring(CommandId),
    Waiting(At),
    Inside {
        section: Section,
        renewal: Call,
    },
    Releasing {
        /// How the attempt ends; `None`: the effect's answer decides.
        end: Option<End>,
        call: Call,
        /// What is under way is the last renewal, not the release.
        renewing: bool,
    },
    /// All is done but the effect's answer.
    Settling,
}

/// The attempt under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Job {
    hold: Hold,
    jitter: u16,
    /// Repetitions of the present kind of call.
    tries: u16,
    /// No further `acquire` after this.
    give_up: At,
    /// No further `release` after this.
    lease_end: At,
    cancelled: bool,
    stage: Stage,
}

/// The machine of a lease strategy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Machine<L> {
    lease: L,
    rules: Rules,
    commands: u32,
    job: Option<Job>,
}

impl<L: Lease> Strategy for Machine<L> {
    type Op = L::Op;

    fn info() -> &'static Info {
        L::INFO
    }

    fn new(setup: &Setup, mutant: Option<&'static str>, host: &str) -> Self {
        Machine { lease: L::new(setup, mutant, host), rules: Rules::of(setup), commands: 0, job: None }
    }

    fn sessions(&self) -> Vec<SessionSpec> {
        vec![SessionSpec { session: SESSION, to: L::STORE, prepare: self.lease.texts(), settings: Vec::new() }]
    }

    fn on(&mut self, now: At, input: Input) -> Vec<Output<L::Op>> {
        let mut out = Vec::new();
        match (self.job.take(), input) {
            (None, Input::Due { attempt, lock, token, jitter, .. }) => {
                let hold = Hold { attempt, lock, token: self.lease.token(token) };
                let give_up = now.plus(self.rules.acquire_timeout_ms);
                let stage = Stage::Waiting(now);
                let mut job = Job { hold, jitter, tries: 0, give_up, lease_end: now, cancelled: false, stage };
                self.acquire(&mut job, false, &mut out);
                self.job = Some(job);
            }
            (None, _) => {}
            (Some(job), Input::Due { attempt, .. }) => {
                out.push(Output::Finish { attempt, outcome: Outcome::Skipped, why: "another attempt is under way" });
                self.job = Some(job);
            }
            (Some(mut job), input) if input.attempt().is_none_or(|attempt| *attempt == job.hold.attempt) => {
                match self.step(&mut job, now, &input, &mut out) {
                    Some((outcome, why)) => out.push(Output::Finish { attempt: job.hold.attempt, outcome, why }),
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
            Some(Stage::Acquiring(_)) => "acquiring",
            Some(Stage::Waiting(_)) => "waiting",
            Some(Stage::Inside { section, .. }) => section.state(),
            Some(Stage::Releasing { .. }) => "releasing",
            Some(Stage::Settling) => "settling",
        }
    }

    fn next_timer(&self) -> Option<At> {
        match &self.job.as_ref()?.stage {
            Stage::Waiting(until) => Some(*until),
            Stage::Inside { section, renewal } => match renewal {
                Call::At(at) if section.needs_grant() => {
                    Some(section.next_timer().map_or(*at, |deadline| deadline.min(*at)))
                }
                _ => section.next_timer(),
            },
            Stage::Releasing { call: Call::At(at), .. } => Some(*at),
            Stage::Acquiring(_) | Stage::Releasing { .. } | Stage::Settling => None,
        }
    }
}

type Out<O> = Vec<Output<O>>;

impl<L: Lease> Machine<L> {
    /// Go on with the attempt under way; its end, when it is final.
    fn step(&mut self, job: &mut Job, now: At, input: &Input, out: &mut Out<L::Op>) -> Option<End> {
        match (&mut job.stage, input) {
            (Stage::Acquiring(command), Input::Reply { command: answered, sent, reply }) if command == answered => {
                self.acquired(job, now, *sent, reply, out)
            }
            (Stage::Acquiring(_), Input::Cancel { .. } | Input::Shutdown) => {
                job.cancelled = true;
                None
            }
            (Stage::Waiting(_), Input::Cancel { .. } | Input::Shutdown) => Some((Outcome::Skipped, "cancelled")),
            (Stage::Waiting(until), Input::Tick) if now >= *until => {
                self.acquire(job, true, out);
                None
            }
            (Stage::Inside { .. }, _) => {
                self.inside(job, now, input, out);
                None
            }
            (Stage::Releasing { .. }, _) => self.releasing(job, now, input, out),
            (Stage::Settling, Input::EffectAnswered { answer, .. }) => Some(end_of(answer)),
            _ => None,
        }
    }

    fn acquire(&mut self, job: &mut Job, retry: bool, out: &mut Out<L::Op>) {
        let op = self.lease.acquire(&job.hold, self.rules.lease_ms);
        job.stage = Stage::Acquiring(self.send(job, op, retry, out));
    }

    fn acquired(&mut self, job: &mut Job, now: At, sent: At, reply: &Reply, out: &mut Out<L::Op>) -> Option<End> {
        match self.lease.asked(reply) {
            Asked::Granted(epoch) => self.granted(job, now, sent, epoch, out),
            Asked::Unknown => {
                out.push(Output::Discard { session: SESSION });
                if self.lease.guesses() {
                    self.granted(job, now, sent, None, out);
                } else {
                    job.lease_end = sent.plus(self.rules.lease_ms);
                    self.give_back(job, Some((Outcome::Skipped, "no answer")), Call::None, out);
                }
            }
            Asked::NotSent | Asked::NotGranted(_) if job.cancelled => return Some((Outcome::Skipped, "cancelled")),
            Asked::NotSent => return Some((Outcome::Skipped, "not sent")),
            Asked::NotGranted(why) => {
                let again = now.plus(self.rules.pause_ms(job.tries, job.jitter, false));
                if again > job.give_up {
                    return Some((Outcome::Skipped, why));
                }
                job.tries = job.tries.wrapping_add(1);
                job.stage = Stage::Waiting(again);
            }
        }
        None
    }

    /// The lock is ours; enter, unless that is no use any more. The lease counts from when it was asked for.
    fn granted(&mut self, job: &mut Job, now: At, sent: At, epoch: Option<u64>, out: &mut Out<L::Op>) {
        job.tries = 0;
        job.lease_end = sent.plus(self.rules.lease_ms);
        let deadline = self.deadline(sent);
        if job.cancelled {
            return self.give_back(job, Some((Outcome::Skipped, "cancelled")), Call::None, out);
        }
        if deadline.is_some_and(|deadline| now >= deadline) {
            return self.give_back(job, Some((Outcome::Skipped, "granted too late")), Call::None, out);
        }
        let token = Some(job.hold.token.clone());
        let grant = Grant { token, epoch, not_after: deadline, nodes: vec![L::STORE] };
        let section = Section::enter(job.hold.attempt.clone(), grant, self.rules.stubborn, out);
        let renewal = if self.rules.renew { Call::At(self.renew_at(sent)) } else { Call::None };
        job.stage = Stage::Inside { section, renewal };
    }

    /// Until when a grant or renewal sent then is trusted.
    fn deadline(&self, sent: At) -> Option<At> {
        let deadline = sent.plus(self.rules.lease_ms).minus(self.rules.margin_ms);
        (!self.lease.trusts_for_ever()).then_some(deadline)
    }

    fn renew_at(&self, sent: At) -> At {
        sent.plus((self.rules.lease_ms / 3).max(1))
    }

    fn inside(&mut self, job: &mut Job, now: At, input: &Input, out: &mut Out<L::Op>) {
        let Stage::Inside { section, renewal } = &mut job.stage else { return };
        match (&renewal, input) {
            (Call::Under(command), Input::Reply { command: answered, sent, reply }) if command == answered => {
                let took = took(reply);
                *renewal = match took {
                    Took::Yes => Call::At(self.renew_at(*sent)),
                    Took::NotMine => Call::None,
                    Took::NotDone | Took::Unknown => {
                        Call::At(now.plus(self.rules.pause_ms(job.tries, job.jitter, true)))
                    }
                };
                job.tries = if took == Took::Yes { 0 } else { job.tries.wrapping_add(1) };
                match took {
                    Took::Yes if section.needs_grant() => {
                        if let Some(deadline) = self.deadline(*sent) {
                            section.extend(deadline, out);
                        }
                    }
                    Took::NotMine => section.lost(out),
                    _ => {}
                }
                self.renewed(job, *sent, took, out);
            }
            (_, Input::Reply { .. }) => {}
            _ => section.on(now, input, out),
        }
        self.renew_if_due(job, now, input, out);
        if let Stage::Inside { section, renewal } = &job.stage
            && let Some(end) = section.left()
        {
            let renewal = renewal.clone();
            self.give_back(job, end, renewal, out);
        }
    }

    /// A renewal that took effect, or may have, moves the point up to which a release is tried.
    fn renewed(&self, job: &mut Job, sent: At, took: Took, out: &mut Out<L::Op>) {
        if matches!(took, Took::Yes | Took::Unknown) {
            job.lease_end = job.lease_end.max(sent.plus(self.rules.lease_ms));
        }
        if took == Took::Unknown {
            out.push(Output::Discard { session: SESSION });
        }
    }

    fn renew_if_due(&mut self, job: &mut Job, now: At, input: &Input, out: &mut Out<L::Op>) {
        let Stage::Inside { section, renewal: Call::At(at) } = &job.stage else { return };
        if *input != Input::Tick || now < *at || !section.needs_grant() {
            return;
        }
        let op = self.lease.renew(&job.hold, self.rules.lease_ms);
        let command = self.send(job, op, job.tries > 0, out);
        if let Stage::Inside { renewal, .. } = &mut job.stage {
            *renewal = Call::Under(command);
        }
    }

    /// Give the lock back, behind the answer of a renewal that is still under way.
    fn give_back(&mut self, job: &mut Job, end: Option<End>, renewal: Call, out: &mut Out<L::Op>) {
        job.tries = 0;
        job.stage = match renewal {
            Call::Under(_) => Stage::Releasing { end, call: renewal, renewing: true },
            Call::At(_) | Call::None => {
                let call = self.release(job, out);
                Stage::Releasing { end, call, renewing: false }
            }
        };
    }

    fn release(&mut self, job: &Job, out: &mut Out<L::Op>) -> Call {
        let op = self.lease.release(&job.hold);
        Call::Under(self.send(job, op, job.tries > 0, out))
    }

    /// Nothing cancels this: it goes on until the store answers, or until the lease is over by itself.
    fn releasing(&mut self, job: &mut Job, now: At, input: &Input, out: &mut Out<L::Op>) -> Option<End> {
        let Stage::Releasing { end, call, renewing } = job.stage.clone() else { return None };
        let (end, next) = match (&call, input) {
            (_, Input::EffectAnswered { answer, .. }) => (Some(end_of(answer)), Some(call)),
            (Call::Under(command), Input::Reply { command: answered, sent, reply }) if command == answered => {
                let took = took(reply);
                if renewing {
                    self.renewed(job, *sent, took, out);
                    (end, Some(self.release(job, out)))
                } else {
                    if took == Took::Unknown {
                        out.push(Output::Discard { session: SESSION });
                    }
                    let again = now.plus(self.rules.pause_ms(job.tries, job.jitter, true));
                    job.tries = job.tries.wrapping_add(1);
                    let over = matches!(took, Took::Yes | Took::NotMine) || again >= job.lease_end;
                    (end, (!over).then_some(Call::At(again)))
                }
            }
            (Call::At(at), Input::Tick) if now >= *at => {
                (end, if now < job.lease_end { Some(self.release(job, out)) } else { None })
            }
            _ => return None,
        };
        match next {
            Some(call) => {
                let renewing = renewing && matches!(input, Input::EffectAnswered { .. });
                job.stage = Stage::Releasing { end, call, renewing };
                None
            }
            None => {
                job.stage = Stage::Settling;
                end
            }
        }
    }

    fn send(&mut self, job: &Job, op: L::Op, retry: bool, out: &mut Out<L::Op>) -> CommandId {
        self.commands = self.commands.wrapping_add(1);
        let command = CommandId(self.commands);
        out.push(Output::Send {
            command,
            attempt: Some(job.hold.attempt.clone()),
            to: L::STORE,
            session: SESSION,
            op,
            timeout_ms: self.rules.timeout_ms,
            retry,
        });
        command
    }
}

impl<L> Machine<L> {
    /// Where the model checker sets what differs from replica to replica.
    #[must_use]
    pub fn map(self, change: impl FnOnce(L) -> L) -> Self {
        Machine { lease: change(self.lease), ..self }
    }
}
