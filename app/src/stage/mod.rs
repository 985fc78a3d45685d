//! The fold of an event log into what the stage shows. `Stage::push` is the only way in: a stage at any
//! moment is the fold of the log up to that event, so rewinding and replaying are the same code as live.
//! Nothing here draws, waits or knows a browser; what is drawn is computed from a stage by [`view`].
//!
//! | module | what it folds |
//! |---|---|
//! | [`replica`] | what each replica is and believes |
//! | [`era`] | which strategy and guard the run had when |
//! | [`lock`] | what the store says of each lock |
//! | [`track`] | what happened when: the marks of the timeline |
//! | [`wire`] | commands and effects, verbatim |
//! | [`topology`] | links, stores, and the messages under way between them |
//! | [`tables`] | rows and keys as the stores report them |
//! | [`menu`] | what can be done to a replica, a link or a store as it is |
//! | [`reel`] | a log in memory, with checkpoints for scrubbing |

use borsh::{BorshDeserialize, BorshSerialize};

use locks::action::Action;
use locks::event::{EffectAnswer, EndReason, Event, Kind, Problem, ProcessName, ProcessState, Schedule, Source};
use locks::ids::{AttemptId, Endpoint, LockName, Slot};
use locks::judge::{Finding, Judge, Verdict};
use locks::setup::{Gated, Setup, StrategyName};
use locks::sorted::Map;
use locks::strategy::{self, Info, LockAt};

pub mod era;
pub mod lock;
pub mod menu;
pub mod reel;
pub mod replica;
pub mod tables;
pub mod topology;
pub mod track;
pub mod view;
pub mod wire;

use era::Era;
use lock::Lock;
use replica::{Attempt, Process, Replica};
use tables::Tables;
use topology::Topology;
use track::{Cause, CauseKind, Track};
use wire::Wire;

/// What the stage shows at one moment of a run.
#[derive(Clone, Debug, Default, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Stage {
    /// The run's identity.
    pub run: String,
    /// The run's title.
    pub title: String,
    /// When it began, in microseconds of the machine's monotonic clock.
    pub origin_us: u64,
    /// Wall-clock time of its beginning, in milliseconds since the Unix epoch.
    pub wall_ms: i64,
    /// The last event folded in; 0: none.
    pub seq: u64,
    /// The latest moment that any event told of.
    pub at_us: u64,
    /// The set-up.
    pub setup: Setup,
    /// Since when the strategy is what it is.
    pub strategy_us: u64,
    /// Since when the guard is, and the strategy.
    pub guard_us: u64,
    /// Since when locks stand where they stand.
    pub store_us: u64,
    /// Every strategy and guard of the run so far, in order, each with when it began; the present one last.
    pub history: Vec<Era>,
    /// The catalog of schedules.
    pub catalog: Vec<Schedule>,
    /// Replicas, by name.
    pub replicas: Map<String, Replica>,
    /// Locks, as the store sees them.
    pub locks: Map<LockName, Lock>,
    /// The latest slot of each schedule.
    pub slots: Map<String, Slot>,
    /// What happened when.
    pub track: Track,
    /// Commands and effects.
    pub wire: Wire,
    /// Rows and keys.
    pub tables: Tables,
    /// Links, stores and messages under way.
    pub topology: Topology,
    /// The judge, with what it was told so far.
    judge: Judge,
    /// What the judge found since the strategy and guard are what they are, as last asked: see [`Stage::judge`].
    #[borsh(skip)]
    pub verdict: Verdict,
    /// Stale effects of the whole run, as last asked: what was stale stays so whatever is changed.
    #[borsh(skip)]
    stale: Vec<Finding>,
    /// Steps begun.
    pub steps: u32,
    /// The last thing that went wrong, with its event.
    pub trouble: Option<(u64, Problem)>,
    /// Why the run ended.
    pub ended: Option<EndReason>,
}

impl Stage {
    /// The fold of a whole log.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Stage {
        let mut stage = Stage::default();
        for event in events {
            stage.push(event);
        }
        stage.judge();
        stage
    }

    /// Ask the judge. This costs time in the number of attempts so far, so it is not done for each event.
    pub fn judge(&mut self) {
        self.verdict = self.judge.verdict_since(self.strategy_us, self.guard_us);
        self.stale = self.judge.stale_effects();
    }

    /// What the judge finds in the whole run, whatever was changed meanwhile.
    pub fn whole_verdict(&self) -> Verdict {
        self.judge.verdict()
    }

    /// Where a reader who comes to a finished run begins to look: at the first thing that the judge found, an
    /// overlap just before its end; else where somebody first entered. `None`: at its end.
    pub fn opening<'a>(&self, events: impl IntoIterator<Item = &'a Event>) -> Option<u64> {
        let verdict = self.whole_verdict();
        let certain = |found: &&Finding| found.certain;
        let clash = verdict.overlaps.iter().find(certain).map(|found| (found.events.last().copied(), found.until_us));
        let late = [&verdict.stale_effects, &verdict.foreign_releases].into_iter().flatten().filter(certain);
        let late = late.filter_map(|found| found.events.last().copied()).min();
        let (mut both, mut again, mut entered) = (None, None, None);
        for event in events {
            if let Some((began, until_us)) = clash
                && Some(event.seq) >= began
                && event.at_us < until_us
            {
                both = Some(event.seq);
            }
            match &event.kind {
                Kind::EffectSettled { answer: EffectAnswer::Accepted, nth: 2.., .. } => {
                    again = again.or(Some(event.seq));
                }
                Kind::Entered { .. } => entered = entered.or(Some(event.seq)),
                _ => {}
            }
        }
        [both, late, again].into_iter().flatten().min().or(entered)
    }

    /// Was the effect that this event tells of stale?
    pub fn is_stale(&self, seq: u64) -> bool {
        self.stale.iter().any(|found| found.certain && found.events.contains(&seq))
    }

    /// The strategy that an attempt began under, if it was changed since.
    pub fn begun_under(&self, attempt: &Attempt) -> Option<&StrategyName> {
        if attempt.began_us >= self.strategy_us {
            return None;
        }
        let era = self.history.iter().rev().find(|era| era.from_us <= attempt.began_us);
        era.map(|era| &era.strategy)
    }

    /// Does what the store says concern an attempt? Not if it began when locks stood somewhere else.
    pub fn concerns(&self, attempt: &Attempt) -> bool {
        attempt.began_us >= self.store_us
    }

    fn changed(&mut self, at_us: u64, setup: &Setup) {
        let at_of = |name: &StrategyName| strategy::info(&name.strategy).map(|info| info.lock_at);
        if self.setup.strategy != setup.strategy {
            self.strategy_us = at_us;
        }
        if at_of(&self.setup.strategy) != at_of(&setup.strategy) {
            self.store_us = at_us;
            self.locks.clear();
            self.track.move_locks(at_us);
        }
        self.guard_us = at_us;
        self.history.push(Era::new(at_us, setup));
    }

    /// Is a reading one of the present strategy's lock? Of an earlier one's store it says nothing.
    fn is_of_lock(&self, endpoint: Endpoint, at_us: u64) -> bool {
        let at = self.strategy().map(|info| info.lock_at);
        at_us >= self.store_us
            && match at {
                Some(LockAt::Keys { .. }) => matches!(endpoint, Endpoint::Redis(_)),
                Some(LockAt::Nowhere) => false,
                _ => endpoint == Endpoint::Postgres,
            }
    }

    /// Do the locks of this set-up have epochs?
    fn has_epochs(&self) -> bool {
        self.strategy().is_none_or(|info| info.has_epochs(&self.setup))
    }

    /// Fold in the next event. Events that were folded in before are passed over, so that a stream which
    /// begins too early does no harm.
    pub fn push(&mut self, event: &Event) {
        if event.seq <= self.seq {
            return;
        }
        self.seq = event.seq;
        self.at_us = self.at_us.max(event.at_us);
        self.judge.push(event);
        match &event.source {
            Source::Runner => self.runner(event),
            Source::Replica { name, incarnation } => self.replica(event, name, *incarnation),
            Source::Store(_) => self.store(event),
            Source::Sink(_) => self.sink(event),
            Source::Link { replica, endpoint } => {
                self.wire.link(event);
                self.topology.passed(event, replica, *endpoint);
            }
        }
    }

    /// The strategy's description, if this build knows it.
    pub fn strategy(&self) -> Option<&'static Info> {
        strategy::info(&self.setup.strategy.strategy)
    }

    /// Does the strategy ask a store at all?
    pub fn asks_a_store(&self) -> bool {
        self.strategy().is_none_or(|info| !info.uses.is_empty())
    }

    /// Does the run stop at gates?
    pub fn is_gated(&self) -> bool {
        self.setup.gated != Gated::No
    }

    /// The name of the lock that guards a schedule's latest slot.
    pub fn lock_of(&self, schedule: &str) -> LockName {
        let slot = self.slots.get(schedule).zip(self.strategy());
        slot.map_or_else(|| schedule.to_owned(), |(slot, info)| info.scope.lock_of(slot))
    }

    fn runner(&mut self, event: &Event) {
        let at = event.at_us;
        self.topology.runner(event);
        match &event.kind {
            Kind::Began { run, title, wall_ms, setup, catalog, .. } => {
                self.run.clone_from(run);
                self.title.clone_from(title);
                self.origin_us = at;
                (self.strategy_us, self.guard_us, self.store_us) = (at, at, at);
                self.history = vec![Era::new(at, setup)];
                self.wall_ms = *wall_ms;
                self.setup = Setup::clone(setup);
                self.catalog.clone_from(catalog);
                for name in &setup.replicas {
                    self.replicas.or_default(name.clone());
                }
            }
            Kind::Set { setup, .. } => {
                if self.history.last().is_none_or(|last| !last.is_of(setup)) {
                    self.changed(at, setup);
                }
                self.setup = Setup::clone(setup);
            }
            Kind::CatalogChanged { catalog } => self.catalog.clone_from(catalog),
            Kind::StepBegan { step, action } => {
                self.steps = *step;
                if let Action::Remove(names) = action {
                    for name in names {
                        if let Some(replica) = self.replicas.get_mut(name) {
                            replica.leaving = true;
                        }
                    }
                }
                if let Some(cause) = Cause::of_action(event.seq, at, action) {
                    self.track.cause(cause);
                }
            }
            Kind::SlotFired { slot, .. } => self.slot(event, slot),
            Kind::Process { process: ProcessName::Replica(name), pid, incarnation, state } => {
                self.process(event, name, *pid, *incarnation, *state);
            }
            Kind::StepEnded { problem: Some(problem), .. } | Kind::Trouble { problem } => {
                self.trouble = Some((event.seq, problem.clone()));
            }
            Kind::Ended { why } => {
                self.ended = Some(*why);
                self.track.close_all(at);
            }
            _ => {}
        }
    }

    fn process(&mut self, event: &Event, name: &str, pid: u32, incarnation: u32, state: ProcessState) {
        let at = event.at_us;
        let replica = self.replicas.or_default(name.to_owned());
        match state {
            ProcessState::Started => {
                *replica = Replica { pid, incarnation, since_us: at, ..Replica::default() };
                self.track.go_on(name, at);
            }
            ProcessState::Stopped => {
                replica.become_(Process::Stopped, at);
                self.track.stop(name, at, false);
            }
            ProcessState::Continued => {
                replica.become_(Process::Running, at);
                self.track.go_on(name, at);
            }
            ProcessState::Gone => {
                replica.become_(Process::Dead, at);
                replica.die(at);
                let leaving = replica.leaving;
                self.track.go_on(name, at);
                self.track.die(name, at);
                if leaving {
                    self.replicas.remove(name);
                } else {
                    self.track.stop(name, at, true);
                }
            }
        }
    }

    /// A slot became due or was fired: remember it as its schedule's latest, and mark it once.
    fn slot(&mut self, event: &Event, slot: &Slot) {
        let latest = self.slots.get(&slot.schedule);
        if latest.is_none_or(|latest| latest.fire_ms < slot.fire_ms) {
            self.slots.insert(slot.schedule.clone(), slot.clone());
            self.track.cause(Cause {
                seq: event.seq,
                at_us: event.at_us,
                schedule: Some(slot.schedule.clone()),
                kind: CauseKind::Slot,
                text: view::words::clock(slot.fire_ms),
            });
        }
    }

    fn attempt(&mut self, id: &AttemptId) -> Option<&mut Attempt> {
        self.replicas.get_mut(&id.replica)?.attempt(id)
    }

    fn replica(&mut self, event: &Event, name: &str, incarnation: u32) {
        let at = event.at_us;
        let machine = match &event.kind {
            Kind::Sent { attempt: Some(id), .. } | Kind::EffectSent { attempt: id, .. } => {
                self.attempt(id).map(|attempt| attempt.machine.clone())
            }
            _ => None,
        };
        self.wire.replica(event, name, incarnation, machine);
        self.topology.replica(event, name, incarnation);
        match &event.kind {
            Kind::Ready => {
                let replica = self.replicas.or_default(name.to_owned());
                replica.ready = true;
                if replica.process == Process::Starting {
                    replica.become_(Process::Running, at);
                }
            }
            Kind::SlotDue { attempt, slot, lock, .. } => {
                self.slot(event, slot);
                let replica = self.replicas.or_default(name.to_owned());
                // A slot that comes due while the one before still runs is skipped at once: what the replica
                // is busy with stays in view.
                let busy = replica
                    .attempts
                    .get(&slot.schedule)
                    .is_some_and(|old| old.outcome.is_none() && old.id.incarnation == attempt.incarnation);
                if !busy {
                    let new = Attempt::new(attempt.clone(), slot.clone(), lock.clone(), at);
                    replica.attempts.insert(slot.schedule.clone(), new);
                }
            }
            Kind::Task { attempt, to, .. } => {
                if let Some(attempt) = self.attempt(attempt) {
                    attempt.move_to(*to, at);
                }
            }
            Kind::Strategy { attempt: Some(attempt), to, .. } => {
                if let Some(attempt) = self.attempt(attempt) {
                    attempt.machine.clone_from(to);
                }
            }
            Kind::GateReached { attempt, gate, .. } => {
                if let Some(attempt) = self.attempt(attempt) {
                    attempt.gate = Some(gate.clone());
                }
            }
            Kind::GatePassed { attempt, .. } => {
                if let Some(attempt) = self.attempt(attempt) {
                    attempt.gate = None;
                }
            }
            Kind::Sent { attempt: Some(id), command, .. } => {
                let Some(attempt) = self.attempt(id) else { return };
                if command.name == "acquire" {
                    let schedule = attempt.slot.schedule.clone();
                    if attempt.asks() {
                        self.track.wait(id, schedule, at);
                    }
                }
            }
            Kind::Answered { attempt: Some(id), name, reply, .. } if name == "acquire" => {
                let Some(attempt) = self.attempt(id) else { return };
                if attempt.is_told(reply) {
                    self.track.busy(id, at);
                }
            }
            Kind::Granted { attempt: id, token, epoch, trusted_until_us, .. } => {
                if let Some(attempt) = self.attempt(id) {
                    attempt.grant = Some(replica::Grant {
                        at_us: at,
                        token: token.clone(),
                        epoch: *epoch,
                        trusted_until_us: *trusted_until_us,
                    });
                    if attempt.outvotes() {
                        self.track.outvoted(id);
                    }
                }
                self.track.end_wait(id, at);
            }
            Kind::Extended { attempt, trusted_until_us } => {
                if let Some(grant) = self.attempt(attempt).and_then(|attempt| attempt.grant.as_mut()) {
                    grant.trusted_until_us = Some(*trusted_until_us);
                }
            }
            Kind::Entered { attempt: id, lock, epoch } => {
                let Some(attempt) = self.attempt(id) else { return };
                attempt.entered_us = Some(at);
                let (schedule, began_us) = (attempt.slot.schedule.clone(), attempt.began_us);
                let elsewhere = began_us < self.store_us;
                self.track.end_wait(id, at);
                self.track.enter(track::Section {
                    seq: event.seq,
                    attempt: id.clone(),
                    schedule,
                    lock: lock.clone(),
                    epoch: *epoch,
                    span: (at, None),
                    denied: Vec::new(),
                    elsewhere,
                });
            }
            Kind::EffectSent { attempt: id, slot, epoch, .. } => {
                if let Some(attempt) = self.attempt(id) {
                    attempt.effect_sent_us = Some(at);
                }
                self.track.effect_sent(id, slot, *epoch, at);
            }
            Kind::EffectAnswered { attempt: id, answer, .. } => {
                if let Some(attempt) = self.attempt(id) {
                    attempt.effect = Some(answer.clone());
                }
                self.track.effect_over(id);
            }
            Kind::Left { attempt: id, why, .. } => {
                if let Some(attempt) = self.attempt(id) {
                    attempt.left_us = Some(at);
                    attempt.left_why.clone_from(why);
                }
                self.track.leave(id, at);
            }
            Kind::Trouble { problem } => self.trouble = Some((event.seq, problem.clone())),
            Kind::Finished { attempt: id, outcome, why, .. } => {
                if let Some(attempt) = self.attempt(id) {
                    attempt.finish(*outcome, why, at);
                }
                self.track.end_wait(id, at);
            }
            _ => {}
        }
    }

    fn store(&mut self, event: &Event) {
        let Source::Store(endpoint) = &event.source else { return };
        match &event.kind {
            Kind::StoreSays { .. } if !self.is_of_lock(*endpoint, event.at_us) => {}
            Kind::StoreSays { lock, state, token, owner, epoch, ttl_ms } => {
                let reading = lock::Reading {
                    endpoint: *endpoint,
                    state: *state,
                    token: token.clone(),
                    owner: owner.clone(),
                    epoch: epoch.filter(|_| self.has_epochs()),
                    ttl_ms: *ttl_ms,
                    at_us: event.at_us,
                };
                if self.locks.or_default(lock.clone()).read(&reading) {
                    self.track.store_says(lock, &reading);
                }
            }
            _ => self.tables.push(event, endpoint),
        }
    }

    fn sink(&mut self, event: &Event) {
        if let Kind::EffectSettled { attempt, lock, slot, epoch, answer, nth } = &event.kind {
            self.track.settled(track::Effect {
                seq: event.seq,
                attempt: attempt.clone(),
                lock: lock.clone(),
                slot: slot.clone(),
                epoch: *epoch,
                answer: answer.clone(),
                nth: *nth,
                sent_us: None,
                at_us: event.at_us,
            });
        }
    }
}
