//! The lab as a model: two replicas that run a real strategy, the model of its stores, a sink with real
//! guards, and messages in flight. One slot is given to both.
//!
//! Whatever may happen may also come late or never. So a pause is nothing but time that passes without the
//! replica's steps, a death looks to all others like a pause without end, and a lost message is one that
//! never arrives. In a `prompt` lab a replica does at once what it can do by itself: then nobody is ever
//! paused, and deaths are steps of their own.
//!
//! Of several nodes only those that both replicas reach can make one exclude the other. So the others are kept
//! simple: one that a replica does not reach says no, one that only it reaches answers at once. Nothing is
//! lost by that: an answer that comes late is waited for just as one of a common node is, and one that does
//! not come is one vote less, so that there is less of a grant.

use locks::action::Direction;
use locks::guard::{Seen, rejects};
use locks::ids::{AttemptId, Endpoint};
use locks::setup::{Handler, Setup};
use locks::strategy::{EffectAnswer, Input, LockAt, Op, Output, Param, Reply, Strategy, WorkEnd, pg_row_lock};

use crate::command::{Command, Meaning};
use crate::world::{CLOSE, Letter, Message, NAMES, Place, RUNGS, World};

/// A claim and its name.
pub type Claim<S> = (&'static str, fn(&Lab<S>, &World<S>) -> bool);

/// The bounds of a check. A moment is the time between two steps of the clock.
#[derive(Clone)]
pub struct Bounds {
    /// The last moment.
    pub horizon: u64,
    /// How long a moment is, in milliseconds of all clocks.
    pub moment_ms: u64,
    /// Nobody is paused.
    pub prompt: bool,
    /// Replicas that may die.
    pub deaths: u8,
    /// The nodes that each replica reaches; empty: all that there are.
    pub reach: [&'static [u8]; 2],
    /// What may happen to a store.
    pub fault: Option<Fault>,
    /// Every message arrives before time passes. Without this nothing can be said of how long anything takes.
    pub timely: bool,
    /// Who dies loses its connections at once, as a process does whose machine lives on; otherwise the stores hear
    /// nothing, as when the machine or the network is gone.
    pub closes: bool,
    /// How long one may wait behind the dead, in milliseconds.
    pub takeover_ms: u64,
}

impl Bounds {
    /// Everybody may be paused, for as long as it takes.
    pub fn paused(horizon: u64) -> Bounds {
        Bounds {
            horizon,
            moment_ms: 1,
            prompt: false,
            deaths: 0,
            reach: [&[], &[]],
            fault: None,
            timely: false,
            closes: false,
            takeover_ms: 0,
        }
    }

    /// Nobody is paused, but messages are lost and one replica may die. Four moments behind the first.
    pub fn prompt() -> Bounds {
        Bounds { prompt: true, deaths: 1, ..Bounds::paused(4) }
    }

    /// Nobody is paused or dies, but messages are lost and a store is disturbed.
    pub fn faulty(fault: Fault) -> Bounds {
        Bounds { deaths: 0, fault: Some(fault), ..Bounds::prompt() }
    }

    /// Nobody is paused and no message is late, but one replica dies, and the other waits so long at most.
    pub fn timely(horizon: u64, takeover_ms: u64) -> Bounds {
        Bounds { horizon, takeover_ms, timely: true, ..Bounds::prompt() }
    }
}

/// Something that happens to one Redis node, once.
#[derive(Clone, Copy)]
pub enum Fault {
    /// It loses its memory, and does not answer for so long.
    Forgets { node: u8, away_ms: u64 },
    /// Its clock jumps so far ahead.
    Jumps { node: u8, by_ms: u64 },
    /// Its replica takes its place, with what it has heard of until then; all connections are new, and another
    /// replica comes behind it.
    FailsOver { node: u8 },
}

/// What is checked, within which bounds.
#[derive(Clone)]
pub struct Lab<S: Strategy> {
    /// The strategies at the start, one a replica.
    pub strategies: [S; 2],
    /// Its lease and handler are looked at.
    pub setup: Setup,
    pub bounds: Bounds,
    /// What is claimed of every state, by name.
    pub claims: Vec<Claim<S>>,
}

impl<S> Lab<S>
where
    S: Strategy<Op: Command>,
{
    pub fn attempt(&self, r: usize) -> AttemptId {
        AttemptId { replica: NAMES[r].to_owned(), incarnation: 1, n: 1 }
    }

    /// On how many stores a grant must stand.
    pub fn quorum(&self) -> usize {
        match S::info().lock_at {
            LockAt::Keys { quorum, .. } => usize::from(quorum),
            _ => 1,
        }
    }

    /// How long a store's word counts.
    fn grant_ms(&self) -> u64 {
        match S::info().lock_at {
            LockAt::RowLock => self.setup.lease_ms * pg_row_lock::BOUND,
            _ => self.setup.lease_ms,
        }
    }

    fn reaches(&self, r: usize, to: Endpoint) -> bool {
        match to {
            Endpoint::Redis(node) => self.bounds.reach[r].is_empty() || self.bounds.reach[r].contains(&node),
            _ => true,
        }
    }

    /// Tell a replica's strategy something and perform what it wants, up to the next gate.
    pub fn tell(&self, world: &mut World<S>, r: usize, input: Input) {
        let now = world.now;
        for output in world.replicas[r].strategy.on(now, input) {
            self.perform(world, r, output);
        }
    }

    fn perform(&self, world: &mut World<S>, r: usize, output: Output<S::Op>) {
        let now = world.now;
        let attempt = self.attempt(r);
        let replica = &mut world.replicas[r];
        match output {
            Output::Send { command, to, op, .. } if !self.reaches(r, to) => {
                let no = if op.wire().name == "acquire" { Param::Null } else { Param::Int(0) };
                self.tell(world, r, Input::Reply { command, sent: now, reply: Reply::Redis(no) });
            }
            Output::Send { command, to, op, .. } if !self.reaches(1 - r, to) => {
                let reply = self.execute(world, r, to, &op);
                self.tell(world, r, Input::Reply { command, sent: now, reply });
            }
            Output::Send { command, to, session, op, timeout_ms, .. } => {
                replica.asked.push((command, now, now.plus(timeout_ms)));
                let letter = Letter { replica: r, way: Direction::Request, command: Some(command) };
                world.flying.insert(letter, Message::Ask { op, to, session, sent: now });
            }
            // What was written may still arrive; nothing comes back on a closed connection.
            Output::Discard { session: closed } => {
                world.flying.retain(|letter, message| {
                    let lost = matches!(message, Message::Reply { session, .. } if *session == closed);
                    letter.replica != r || !lost
                });
                if S::Op::LIVES_IN == Some(closed) {
                    let letter = Letter { replica: r, way: Direction::Request, command: Some(CLOSE) };
                    world.flying.insert(letter, Message::Close { session: closed });
                }
            }
            Output::Enter { epoch, not_after, .. } => {
                replica.place = Place::AtEnter { not_after };
                world.seen.bereft = None;
                world.seen.latest = Some(r);
                world.seen.granted[r] = true;
                world.seen.newest = world.seen.newest.max(epoch);
            }
            Output::Extended { .. } => {}
            Output::Stop { .. } if replica.place == Place::Working && self.setup.handler == Handler::Cooperative => {
                replica.place = Place::Nowhere;
                self.tell(world, r, Input::WorkEnded { attempt, how: WorkEnd::Stopped });
            }
            Output::Stop { .. } => {}
            Output::Effect { epoch, not_after, .. } if not_after.is_none_or(|until| now < until) => {
                replica.place = Place::AtEffect { epoch };
            }
            Output::Effect { .. } => self.tell(world, r, Input::EffectRefused { attempt }),
            Output::Leave { .. } => {
                replica.inside = false;
                self.tell(world, r, Input::Left { attempt });
            }
            Output::Finish { outcome, .. } => {
                replica.outcome = Some(outcome);
                replica.asked.clear();
                world.forget_replies(r);
            }
        }
    }

    /// Behind gate `enter`, in time.
    pub fn enter(&self, world: &mut World<S>, r: usize) {
        world.seen.sections_overlapped |= world.inside() > 0;
        world.seen.entered_without |= world.seen.votes_for(r, world.now) < self.quorum();
        world.replicas[r].inside = true;
        world.replicas[r].place = Place::Working;
        self.tell(world, r, Input::Entered { attempt: self.attempt(r) });
    }

    /// A command is executed by a store, and what the onlooker makes of it.
    fn execute(&self, world: &mut World<S>, r: usize, at: Endpoint, op: &S::Op) -> Reply {
        let now = world.now;
        let reply = op.answer(&mut world.store, world.standby.as_ref(), now);
        let until = now.plus(self.grant_ms());
        let seen = &mut world.seen;
        let stands = |who: usize| seen.votes.get(&(who, at)).is_some_and(|until| *until > now);
        let anothers = stands(1 - r) && !stands(r) && S::Op::LIVES_IN.is_none();
        match op.meaning(&reply) {
            Meaning::Grants => {
                seen.votes.insert((r, at), until);
                let others = seen.votes_for(1 - r, now);
                if seen.votes_for(r, now) >= self.quorum() && others >= self.quorum() {
                    seen.grants_overlapped = true;
                    seen.wide_grants_overlapped |= others > self.quorum();
                }
            }
            Meaning::Keeps | Meaning::GivesBack if anothers => seen.foreign = true,
            Meaning::Keeps => drop(seen.votes.insert((r, at), until)),
            Meaning::GivesBack => drop(seen.votes.remove(&(r, at))),
            Meaning::Nothing => {}
        }
        reply
    }

    /// An effect reaches the sinks, which decide as the bank does.
    fn settle(&self, world: &mut World<S>, letter: Letter, epoch: Option<u64>) {
        let current_epoch = S::Op::epoch(&world.store);
        let stale = match epoch {
            Some(_) => epoch < world.seen.newest,
            None => world.seen.latest != Some(letter.replica),
        };
        for (sink, guard) in world.sinks.iter_mut().zip(RUNGS) {
            let seen = Seen { highest_epoch: sink.highest_epoch, current_epoch, effects_of_slot: sink.effects };
            if rejects(guard.as_slice(), epoch, &seen).is_none() {
                sink.effects += 1;
                sink.highest_epoch = sink.highest_epoch.max(epoch);
                sink.stale += u32::from(stale);
            }
        }
        // An answer on its way does nothing but what a later arrival does.
        if std::mem::take(&mut world.replicas[letter.replica].effect_open) {
            let answer = EffectAnswer::Accepted;
            self.tell(world, letter.replica, Input::EffectAnswered { attempt: self.attempt(letter.replica), answer });
        }
    }

    pub fn arrive(&self, world: &mut World<S>, letter: Letter, message: Message<S::Op>) {
        let r = letter.replica;
        match message {
            Message::Ask { op, .. } if !op.is_heard(&world.store, world.now) => {}
            Message::Ask { op, to, session, sent } => {
                let reply = self.execute(world, r, to, &op);
                if world.replicas[r].asked.iter().any(|(command, ..)| Some(*command) == letter.command) {
                    let back = Letter { way: Direction::Reply, ..letter };
                    world.flying.insert(back, Message::Reply { reply, from: to, session, sent });
                }
            }
            Message::Effect { epoch } => self.settle(world, letter, epoch),
            // All that was sent before arrives before, and comes to nothing with its connection.
            Message::Close { session: closed } => {
                world.flying.retain(|letter, message| {
                    let lost = matches!(message, Message::Ask { session, .. } if *session == closed);
                    letter.replica != r || !lost
                });
                S::Op::close(&mut world.store, NAMES[r]);
                world.seen.votes.retain(|(of, _), _| *of != r);
            }
            Message::Reply { reply, sent, .. } => {
                let Some(command) = letter.command else { return };
                world.replicas[r].asked.retain(|(asked, ..)| *asked != command);
                self.tell(world, r, Input::Reply { command, sent, reply });
            }
        }
    }
}
