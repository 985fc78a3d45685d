//! The machine of a lease: everything but what [`super::Lease`] leaves to a strategy's own file. Here: asking,
//! waiting, epochs. The section with its renewals and giving back have files of their own.
//!
//! No session ever carries two commands at once: a release waits for the answer of a renewal under way.

use super::ballot::Ballot;
use super::job::{After, Call, Granted, Job, Stage};
use super::terms::{Asked, Hold, Lease, Rules, Took, took};
use crate::ids::{At, CommandId, Endpoint};
use crate::machine::Outcome;
use crate::setup::Setup;
use crate::strategy::section::{End, Grant, Section, end_of};
use crate::strategy::{Epochs, Info, Input, Output, Reply, Session, SessionSpec, Strategy, epochs};

/// The session for epochs.
const EPOCHS: Session = Session("epochs");
/// How often an attempt tries again because a newer epoch was published meanwhile.
const MOST_OVERTAKEN: u16 = 3;
const OVERTAKEN: End = (Outcome::Skipped, "overtaken by a newer epoch");

/// The machine of a lease strategy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Machine<L> {
    pub(super) lease: L,
    pub(super) rules: Rules,
    commands: u32,
    job: Option<Job>,
}

pub(super) type Out<O> = Vec<Output<O>>;

impl<L: Lease> Strategy for Machine<L> {
    type Op = L::Op;

    fn info() -> &'static Info {
        L::INFO
    }

    fn new(setup: &Setup, mutant: Option<&'static str>, host: &str) -> Self {
        let lease = L::new(setup, mutant, host);
        let mut rules = lease.rules(setup);
        rules.epochs &= L::INFO.epochs == Epochs::Minted;
        Machine { lease, rules, commands: 0, job: None }
    }

    fn sessions(&self) -> Vec<SessionSpec> {
        let of_lock = |(to, session): &(Endpoint, Session)| SessionSpec {
            session: *session,
            to: *to,
            prepare: self.lease.texts(),
            settings: Vec::new(),
            needs_all_keys: self.lease.needs_all_keys(),
        };
        let of_epochs = self.rules.epochs.then(|| SessionSpec {
            session: EPOCHS,
            to: Endpoint::Postgres,
            prepare: epochs::Ask::texts(),
            settings: Vec::new(),
            needs_all_keys: false,
        });
        L::STORES.iter().map(of_lock).chain(of_epochs).collect()
    }

    fn on(&mut self, now: At, input: Input) -> Vec<Output<L::Op>> {
        let mut out = Vec::new();
        match (self.job.take(), input) {
            (None, Input::Due { attempt, lock, token, jitter, .. }) => {
                let mut job = Job {
                    hold: Hold { attempt, lock, token: self.lease.token(token) },
                    jitter,
                    tries: 0,
                    overtaken: 0,
                    minted: None,
                    seen: None,
                    give_up: now.plus(self.rules.acquire_timeout_ms),
                    lease_end: now,
                    cancelled: false,
                    stage: Stage::Waiting(now),
                };
                self.begin_try(&mut job, false, &mut out);
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
            Some(Stage::Minting(_)) => "minting",
            Some(Stage::Acquiring(_) | Stage::Confirming(..)) => "acquiring",
            Some(Stage::Publishing(..)) => "publishing",
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
            _ => None,
        }
    }
}

impl<L: Lease> Machine<L> {
    /// Go on with the attempt under way; its end, when it is final.
    fn step(&mut self, job: &mut Job, now: At, input: &Input, out: &mut Out<L::Op>) -> Option<End> {
        if matches!(input, Input::Cancel { .. } | Input::Shutdown) {
            job.cancelled = true;
        }
        match (&mut job.stage, input) {
            (Stage::Minting(command), Input::Reply { command: answered, reply, .. }) if command == answered => {
                self.minted(job, reply, out)
            }
            (Stage::Acquiring(ballot), Input::Reply { command, sent, reply }) => {
                let store = ballot.asked(*command)?;
                let asked = self.lease.asked(reply);
                ballot.answer(*command, *sent, asked);
                if asked == Asked::Unknown {
                    out.push(Output::Discard { session: L::STORES[store].1 });
                }
                let (sent, ballot) = (ballot.done()?, ballot.clone());
                self.acquired(job, now, sent, &ballot, out)
            }
            (Stage::Confirming(command, granted), Input::Reply { command: answered, reply, .. })
                if command == answered =>
            {
                let granted = granted.clone();
                self.confirmed(job, now, granted, reply, out);
                None
            }
            (Stage::Publishing(command, granted), Input::Reply { command: answered, reply, .. })
                if command == answered =>
            {
                let granted = granted.clone();
                self.published(job, now, granted, reply, out);
                None
            }
            (Stage::Waiting(_), Input::Cancel { .. } | Input::Shutdown) => Some((Outcome::Skipped, "cancelled")),
            (Stage::Waiting(until), Input::Tick) if now >= *until => {
                self.begin_try(job, true, out);
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

    /// A try begins with an epoch, where one is needed.
    fn begin_try(&mut self, job: &mut Job, retry: bool, out: &mut Out<L::Op>) {
        let mint = epochs::Ask::MintSeeing { lock: job.hold.lock.clone() };
        match self.lease.epoch(mint).filter(|_| self.rules.epochs) {
            Some(op) => job.stage = Stage::Minting(self.ask_epochs(job, op, retry, out)),
            None => self.acquire(job, retry, out),
        }
    }

    fn minted(&mut self, job: &mut Job, reply: &Reply, out: &mut Out<L::Op>) -> Option<End> {
        if *reply == Reply::Unknown {
            out.push(Output::Discard { session: EPOCHS });
        }
        if job.cancelled {
            return Some((Outcome::Skipped, "cancelled"));
        }
        let Some(epoch) = epochs::minted(reply) else { return Some((Outcome::Skipped, "no epoch")) };
        let retry = job.minted.replace(epoch).is_some();
        job.seen = epochs::seen(reply);
        self.acquire(job, retry, out);
        None
    }

    fn acquire(&mut self, job: &mut Job, retry: bool, out: &mut Out<L::Op>) {
        let lease_ms = self.rules.lease_ms;
        let all: Vec<usize> = (0..L::STORES.len()).collect();
        let calls = self.ask(job, &all, retry, out, |lease, hold, at| lease.acquire(hold, lease_ms, at));
        job.stage = Stage::Acquiring(Ballot::new(calls));
    }

    /// All stores have answered, or were waited for long enough.
    fn acquired(
        &mut self,
        job: &mut Job,
        now: At,
        sent: At,
        ballot: &Ballot<Asked>,
        out: &mut Out<L::Op>,
    ) -> Option<End> {
        let epoch = ballot.find(|asked| if let Asked::Granted(epoch) = asked { epoch } else { None });
        let granted = ballot.stores(|asked| matches!(asked, Asked::Granted(_)));
        let unknown = ballot.count(|asked| asked == Asked::Unknown);
        let enough = granted.len() >= self.rules.quorum;
        if enough || (unknown > 0 && self.lease.quirks().guesses) {
            let all: Vec<usize> = (0..L::STORES.len()).collect();
            let nodes = if enough { granted } else { all }.iter().map(|store| L::STORES[*store].0).collect();
            let sent = if self.lease.quirks().counts_from_answer { now } else { sent };
            self.granted(job, now, Granted { sent, epoch: epoch.or(job.minted), nodes }, out);
            return None;
        }
        let why = if L::STORES.len() > 1 {
            "no quorum"
        } else if unknown > 0 {
            "no answer"
        } else {
            ballot.find(|asked| if let Asked::NotGranted(why) = asked { Some(why) } else { None }).unwrap_or("not sent")
        };
        let end = (Outcome::Skipped, if job.cancelled && unknown == 0 { "cancelled" } else { why });
        if granted.is_empty() && unknown == 0 {
            if ballot.count(|asked| asked == Asked::NotSent) == L::STORES.len() {
                return Some(if job.cancelled { end } else { (Outcome::Skipped, "not sent") });
            }
            return self.again(job, now, end);
        }
        // Some store holds, or may hold, what is no use to anybody.
        job.lease_end = sent.plus(self.rules.lease_ms);
        if self.lease.quirks().leaks_tries {
            return self.again(job, now, end);
        }
        let after = if L::STORES.len() > 1 { After::Again(end) } else { After::End(end) };
        self.give_back(job, after, Call::None, out);
        None
    }

    /// Try again after a pause, unless time is up: then the attempt ends so.
    pub(super) fn again(&mut self, job: &mut Job, now: At, end: End) -> Option<End> {
        let again = now.plus(self.pause_ms(job, false));
        // Only the try that was overtaken is made up for: one that finds the lock busy is like any other.
        let overtaken = end == OVERTAKEN && job.overtaken <= MOST_OVERTAKEN;
        if job.cancelled || (again > job.give_up && !overtaken) {
            return Some(end);
        }
        job.tries = job.tries.wrapping_add(1);
        job.stage = Stage::Waiting(again);
        None
    }

    /// Granted; enter, unless more must be asked first, or it is no use any more. The lease counts from when
    /// it was asked for.
    fn granted(&mut self, job: &mut Job, now: At, granted: Granted, out: &mut Out<L::Op>) {
        job.lease_end = granted.sent.plus(self.rules.lease_ms);
        if self.is_useless(job, now, &granted, out) {
            return;
        }
        match self.lease.confirm(&job.hold, self.rules.lease_ms) {
            Some(op) => {
                let command = self.send(job, op, L::STORES[0], self.rules.timeout_ms, false, out);
                job.stage = Stage::Confirming(command, granted);
            }
            None => self.publish(job, granted, out),
        }
    }

    fn confirmed(&mut self, job: &mut Job, now: At, granted: Granted, reply: &Reply, out: &mut Out<L::Op>) {
        let why = match self.lease.confirmed(reply) {
            Asked::Granted(_) if self.is_useless(job, now, &granted, out) => return,
            Asked::Granted(_) => return self.publish(job, granted, out),
            Asked::NotGranted(why) => why,
            Asked::NotSent => "not sent",
            Asked::Unknown => {
                out.push(Output::Discard { session: L::STORES[0].1 });
                "no answer"
            }
        };
        self.give_back(job, After::Again((Outcome::Skipped, why)), Call::None, out);
    }

    fn publish(&mut self, job: &mut Job, granted: Granted, out: &mut Out<L::Op>) {
        let publish = granted
            .epoch
            .filter(|_| self.rules.epochs)
            .map(|epoch| epochs::Ask::PublishOver { lock: job.hold.lock.clone(), epoch, seen: job.seen })
            .and_then(|publish| self.lease.epoch(publish));
        match publish {
            Some(op) => job.stage = Stage::Publishing(self.ask_epochs(job, op, false, out), granted),
            None => self.enter(job, granted, out),
        }
    }

    fn published(&mut self, job: &mut Job, now: At, granted: Granted, reply: &Reply, out: &mut Out<L::Op>) {
        let after = match took(reply) {
            Took::Yes if self.is_useless(job, now, &granted, out) => return,
            Took::Yes => return self.enter(job, granted, out),
            Took::NotMine => {
                job.overtaken = job.overtaken.saturating_add(1);
                After::Again(OVERTAKEN)
            }
            Took::NotDone => After::End((Outcome::Skipped, "the epoch was not published")),
            Took::Unknown => {
                out.push(Output::Discard { session: EPOCHS });
                After::End((Outcome::Skipped, "the epoch was not published"))
            }
        };
        self.give_back(job, after, Call::None, out);
    }

    /// A grant that is over or that nobody wants any more is given back.
    fn is_useless(&mut self, job: &mut Job, now: At, granted: &Granted, out: &mut Out<L::Op>) -> bool {
        let why = if job.cancelled {
            "cancelled"
        } else if self.deadline(granted.sent).is_some_and(|deadline| now >= deadline) {
            "granted too late"
        } else {
            return false;
        };
        self.give_back(job, After::End((Outcome::Skipped, why)), Call::None, out);
        true
    }

    fn enter(&mut self, job: &mut Job, granted: Granted, out: &mut Out<L::Op>) {
        job.tries = 0;
        let Granted { sent, epoch, nodes } = granted;
        let grant = Grant { token: Some(job.hold.token.clone()), epoch, not_after: self.deadline(sent), nodes };
        let section = Section::enter(job.hold.attempt.clone(), grant, self.rules.stubborn, out);
        let renewal = if self.rules.renew { Call::At(self.renew_at(sent)) } else { Call::None };
        job.stage = Stage::Inside { section, renewal };
    }

    /// Until when a grant or renewal sent then is trusted.
    pub(super) fn deadline(&self, sent: At) -> Option<At> {
        let deadline = sent.plus(self.rules.lease_ms).minus(self.rules.margin_ms);
        (!self.lease.quirks().trusts_for_ever).then_some(deadline)
    }

    pub(super) fn pause_ms(&self, job: &Job, doubling: bool) -> u64 {
        let jitter = (!self.lease.quirks().in_step).then_some(job.jitter);
        self.rules.pause_ms(job.tries, jitter, doubling)
    }

    fn ask_epochs(&mut self, job: &Job, op: L::Op, retry: bool, out: &mut Out<L::Op>) -> CommandId {
        self.send(job, op, (Endpoint::Postgres, EPOCHS), self.rules.epoch_timeout_ms, retry, out)
    }

    /// Ask these stores the same at once.
    pub(super) fn ask(
        &mut self,
        job: &Job,
        stores: &[usize],
        retry: bool,
        out: &mut Out<L::Op>,
        op: impl Fn(&L, &Hold, Endpoint) -> L::Op,
    ) -> Vec<(CommandId, usize)> {
        let mut calls = Vec::new();
        for &store in stores {
            let op = op(&self.lease, &job.hold, L::STORES[store].0);
            calls.push((self.send(job, op, L::STORES[store], self.rules.timeout_ms, retry, out), store));
        }
        calls
    }

    fn send(
        &mut self,
        job: &Job,
        op: L::Op,
        (to, session): (Endpoint, Session),
        timeout_ms: u64,
        retry: bool,
        out: &mut Out<L::Op>,
    ) -> CommandId {
        self.commands = self.commands.wrapping_add(1);
        let command = CommandId(self.commands);
        let attempt = Some(job.hold.attempt.clone());
        out.push(Output::Send { command, attempt, to, session, op, timeout_ms, retry });
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
