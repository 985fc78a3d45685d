//! The machine of `pg-claim`: look, claim or rescue, work under a heartbeat, write the key, send the effect,
//! complete. Here is how it comes to a claim; the section and its end have files of their own. One session, which never carries two commands at once. What was sent and not answered is looked
//! up, never guessed.

use super::ask::{Ask, Check, Claimer, Ended, Seen, State, Verb, number};
use super::ending::Ending;
use super::inside::For;
use super::{CLAIMS_BY_ID, COMMANDS};
use super::{EFFECT_BEFORE_KEY, INFO, RESCUES_LIVE, UNCHECKED_COMPLETE};
use crate::ids::{At, AttemptId, CommandId, Endpoint, LockName, Token};
use crate::machine::Outcome;
use crate::setup::Setup;
use crate::strategy::lease::Rules;
use crate::strategy::section::{End, Grant, Section};
use crate::strategy::{EffectAnswer, Info, Input, Output, Param, Reply, Session, SessionSpec, Strategy};

pub(super) const SESSION: Session = Session("lock");
/// How often a look that showed nothing is repeated at once.
const LOOKS: u16 = 3;

/// The machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PgClaim {
    pub(super) rules: Rules,
    mutant: Option<&'static str>,
    commands: u32,
    job: Option<Job>,
}

/// What is under way on the session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Call {
    /// Nothing, and nothing will be.
    None,
    /// Nothing until then.
    At(At),
    /// That command.
    Under(CommandId),
}

/// Where the attempt stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    Looking(CommandId),
    Waiting {
        until: At,
        /// A second look at a claim that was found dead.
        again: bool,
    },
    Claiming(CommandId),
    /// The claim was sent then and not answered.
    LookingUp {
        claimed: At,
        call: Call,
    },
    Inside {
        section: Section,
        /// When the next heartbeat is due, if any is.
        beat: Option<At>,
        call: Call,
        of: For,
    },
    Ending(Ending),
}

/// The attempt under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Job {
    pub attempt: AttemptId,
    lock: LockName,
    token: Token,
    jitter: u16,
    /// Repetitions of the present kind of call.
    pub tries: u16,
    /// No further look after this.
    give_up: At,
    /// Nothing of the claim is repeated after this.
    pub lease_end: At,
    cancelled: bool,
    /// The version of a claim that was found dead at the look before.
    dead: Option<u64>,
    /// Of our claim.
    pub version: u64,
    /// What the sink said.
    pub answer: Option<EffectAnswer>,
    pub stage: Stage,
}

pub(super) type Out = Vec<Output<Ask>>;

impl Strategy for PgClaim {
    type Op = Ask;

    fn info() -> &'static Info {
        &INFO
    }

    fn new(setup: &Setup, mutant: Option<&'static str>, _: &str) -> Self {
        PgClaim { rules: Rules::of(setup), mutant, commands: 0, job: None }
    }

    fn sessions(&self) -> Vec<SessionSpec> {
        let mutant = self.mutant.and_then(|name| INFO.mutant(name));
        let prepare = COMMANDS.iter().filter_map(|(name, _)| INFO.command(mutant, name)).collect();
        vec![SessionSpec {
            session: SESSION,
            to: Endpoint::Postgres,
            prepare,
            settings: Vec::new(),
            needs_all_keys: false,
        }]
    }

    fn on(&mut self, now: At, input: Input) -> Out {
        let mut out = Vec::new();
        match (self.job.take(), input) {
            (None, Input::Due { attempt, lock, token, jitter, .. }) => {
                let mut job = Job {
                    attempt,
                    lock,
                    token,
                    jitter,
                    tries: 0,
                    give_up: now.plus(self.rules.acquire_timeout_ms),
                    lease_end: now,
                    cancelled: false,
                    dead: None,
                    version: 0,
                    answer: None,
                    stage: Stage::Waiting { until: now, again: false },
                };
                self.look(&mut job, false, &mut out);
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
            Some(Stage::Looking(_)) => "looking",
            Some(Stage::Waiting { .. }) => "waiting",
            Some(Stage::Claiming(_)) => "acquiring",
            Some(Stage::LookingUp { .. }) => "looking it up",
            Some(Stage::Inside { section, .. }) => section.state(),
            Some(Stage::Ending(ending)) => ending.state(),
        }
    }

    fn next_timer(&self) -> Option<At> {
        match &self.job.as_ref()?.stage {
            Stage::Waiting { until, .. } | Stage::LookingUp { call: Call::At(until), .. } => Some(*until),
            Stage::Inside { section, beat, call, .. } => {
                let next = match call {
                    Call::At(at) if section.is_keying() => Some(*at),
                    Call::None => beat.filter(|_| section.needs_grant()),
                    _ => None,
                };
                [next, section.next_timer()].into_iter().flatten().min()
            }
            Stage::Ending(ending) => ending.next_timer(),
            Stage::Looking(_) | Stage::Claiming(_) | Stage::LookingUp { .. } => None,
        }
    }
}

impl PgClaim {
    fn is(&self, mutant: &str) -> bool {
        self.mutant == Some(mutant)
    }

    /// Go on with the attempt under way; its end, when it is final.
    fn step(&mut self, job: &mut Job, now: At, input: &Input, out: &mut Out) -> Option<End> {
        match (&job.stage, input) {
            (Stage::Looking(command), Input::Reply { command: answered, reply, .. }) if command == answered => {
                self.looked(job, now, reply, out)
            }
            (Stage::Claiming(command), Input::Reply { command: answered, sent, reply }) if command == answered => {
                self.claimed(job, now, *sent, reply, out)
            }
            (Stage::Waiting { until, again }, Input::Tick) if now >= *until => {
                // A second look is a step of its own, a repeated one is not.
                let retry = !again;
                self.look(job, retry, out);
                None
            }
            (Stage::Waiting { .. }, Input::Cancel { .. } | Input::Shutdown) => Some((Outcome::Skipped, "cancelled")),
            (Stage::LookingUp { .. }, _) => self.looking_up(job, now, input, out),
            (Stage::Inside { .. }, _) => {
                self.inside(job, now, input, out);
                None
            }
            (Stage::Ending(_), _) => self.ending(job, now, input, out),
            (_, Input::Cancel { .. } | Input::Shutdown) => {
                job.cancelled = true;
                None
            }
            _ => None,
        }
    }

    fn look(&mut self, job: &mut Job, retry: bool, out: &mut Out) {
        job.stage = Stage::Looking(self.send(job, Verb::Look, retry, out));
    }

    fn looked(&mut self, job: &mut Job, now: At, reply: &Reply, out: &mut Out) -> Option<End> {
        if *reply == Reply::Unknown {
            out.push(Output::Discard { session: SESSION });
        }
        if job.cancelled {
            return Some((Outcome::Skipped, "cancelled"));
        }
        let dead_before = job.dead.take();
        let Some(seen) = Seen::of(reply) else {
            let why = match reply {
                // Another has made the row at this very moment: the next look shows it.
                Reply::Rows { .. } | Reply::Busy if job.tries < LOOKS => {
                    job.tries += 1;
                    self.look(job, true, out);
                    return None;
                }
                Reply::Rows { .. } | Reply::Busy => "busy",
                Reply::Refused { .. } => return Some((Outcome::Skipped, "the store refused")),
                Reply::NotSent => "not sent",
                Reply::Unknown | Reply::Redis(_) => "no answer",
            };
            return self.wait(job, now, why);
        };
        let by = Claimer { token: job.token.clone(), owner: job.attempt.clone(), lease_ms: self.rules.lease_ms };
        let verb = match seen.state {
            State::Due => Verb::Claim { by, version: (!self.is(CLAIMS_BY_ID)).then_some(seen.version) },
            State::Claimed | State::Sending if !seen.dead => return self.wait(job, now, "busy"),
            State::Claimed | State::Sending if dead_before == Some(seen.version) || self.is(RESCUES_LIVE) => {
                Verb::Rescue { by, version: seen.version }
            }
            State::Claimed | State::Sending => {
                job.dead = Some(seen.version);
                job.stage = Stage::Waiting { until: now.plus(self.beat_ms()), again: true };
                return None;
            }
            State::Ended(Ended::Done) => return Some((Outcome::Skipped, "already done")),
            State::Ended(Ended::Doubtful) => return Some(IN_DOUBT),
        };
        job.tries = 0;
        job.stage = Stage::Claiming(self.send(job, verb, false, out));
        None
    }

    /// Look again later, if there is time left.
    fn wait(&mut self, job: &mut Job, now: At, why: &'static str) -> Option<End> {
        let until = now.plus(self.rules.pause_ms(job.tries, Some(job.jitter), false));
        if until > job.give_up {
            return Some((Outcome::Skipped, why));
        }
        job.tries = job.tries.wrapping_add(1);
        job.stage = Stage::Waiting { until, again: false };
        None
    }

    fn claimed(&mut self, job: &mut Job, now: At, sent: At, reply: &Reply, out: &mut Out) -> Option<End> {
        let cancelled = job.cancelled.then_some((Outcome::Skipped, "cancelled"));
        match reply {
            Reply::Rows { affected: 0, .. } | Reply::Busy => cancelled.or_else(|| self.wait(job, now, "busy")),
            Reply::Rows { row, .. } => {
                if row.get(1) == Some(&Param::Text(State::Ended(Ended::Doubtful).name().to_owned())) {
                    return Some(IN_DOUBT);
                }
                job.version = row.first().and_then(number).unwrap_or_default();
                self.granted(job, now, sent, out);
                None
            }
            Reply::Refused { .. } => Some((Outcome::Skipped, "the store refused")),
            Reply::NotSent | Reply::Redis(_) => cancelled.or(Some((Outcome::Skipped, "not sent"))),
            Reply::Unknown => {
                out.push(Output::Discard { session: SESSION });
                job.lease_end = sent.plus(self.rules.lease_ms);
                let call = Call::Under(self.send(job, Verb::Look, true, out));
                job.stage = Stage::LookingUp { claimed: sent, call };
                None
            }
        }
    }

    /// The claim was not answered: the row tells whose it is.
    fn looking_up(&mut self, job: &mut Job, now: At, input: &Input, out: &mut Out) -> Option<End> {
        let Stage::LookingUp { claimed, call } = job.stage.clone() else { return None };
        match (call, input) {
            (_, Input::Cancel { .. } | Input::Shutdown) => job.cancelled = true,
            (Call::Under(command), Input::Reply { command: answered, reply, .. }) if command == *answered => {
                if *reply == Reply::Unknown {
                    out.push(Output::Discard { session: SESSION });
                }
                match Seen::of(reply) {
                    Some(seen) if seen.picked_by.as_ref() != Some(&job.token) => {
                        return Some((Outcome::Skipped, "no answer, and not ours"));
                    }
                    Some(Seen { state: State::Claimed, version, .. }) => {
                        job.version = version;
                        self.granted(job, now, claimed, out);
                    }
                    Some(_) => return Some(IN_DOUBT),
                    None => {
                        let again = self.pause(job, now);
                        if again >= job.lease_end {
                            return Some((Outcome::Skipped, "no answer"));
                        }
                        job.stage = Stage::LookingUp { claimed, call: Call::At(again) };
                    }
                }
            }
            (Call::At(at), Input::Tick) if now >= at => {
                let call = Call::Under(self.send(job, Verb::Look, true, out));
                job.stage = Stage::LookingUp { claimed, call };
            }
            _ => {}
        }
        None
    }

    /// The claim is ours; enter, unless that is no use any more. The lease counts from when it was asked for.
    fn granted(&mut self, job: &mut Job, now: At, sent: At, out: &mut Out) {
        job.tries = 0;
        job.lease_end = sent.plus(self.rules.lease_ms);
        let deadline = self.deadline(sent);
        if job.cancelled {
            return self.give_back(job, (Outcome::Skipped, "cancelled"), out);
        }
        if now >= deadline {
            return self.give_back(job, (Outcome::Skipped, "claimed too late"), out);
        }
        let grant = Grant {
            token: Some(job.token.clone()),
            epoch: Some(job.version),
            not_after: Some(deadline),
            nodes: vec![Endpoint::Postgres],
        };
        let section = Section::enter(job.attempt.clone(), grant, self.rules.stubborn, out);
        let section = if self.is(EFFECT_BEFORE_KEY) { section } else { section.keyed() };
        let beat = self.rules.renew.then(|| sent.plus(self.beat_ms()));
        job.stage = Stage::Inside { section, beat, call: Call::None, of: For::Heartbeat };
    }

    /// Until when a claim or heartbeat sent then is trusted.
    pub(super) fn deadline(&self, sent: At) -> At {
        sent.plus(self.rules.lease_ms).minus(self.rules.margin_ms)
    }

    /// When to try again, each time later.
    pub(super) fn pause(&self, job: &mut Job, now: At) -> At {
        let again = now.plus(self.rules.pause_ms(job.tries, Some(job.jitter), true));
        job.tries = job.tries.wrapping_add(1);
        again
    }

    /// How often a heart beats.
    pub(super) fn beat_ms(&self) -> u64 {
        (self.rules.lease_ms / 3).max(1)
    }

    /// What completing looks like, and checks.
    pub(super) fn check(&self) -> Check {
        match self.mutant {
            Some(UNCHECKED_COMPLETE) => Check::Nothing,
            Some(EFFECT_BEFORE_KEY) => Check::Claim,
            _ => Check::Key,
        }
    }

    pub(super) fn send(&mut self, job: &Job, verb: Verb, retry: bool, out: &mut Out) -> CommandId {
        self.commands = self.commands.wrapping_add(1);
        let command = CommandId(self.commands);
        out.push(Output::Send {
            command,
            attempt: Some(job.attempt.clone()),
            to: Endpoint::Postgres,
            session: SESSION,
            op: Ask { slot: job.lock.clone(), verb },
            timeout_ms: self.rules.timeout_ms,
            retry,
        });
        command
    }
}

/// The effect of the slot may be out; it is never run again.
const IN_DOUBT: End = (Outcome::Skipped, "in doubt: never run again");
