//! One decision back: stores emptied, new replicas, and the decisions before it made once more. Nothing that really
//! passed the first time is waited for again: work that had ended is ended, and time that went by goes by at once
//! (`elapse`). Only what no clock of the run measures, as a command's own timeout, takes its time. The log goes on:
//! what happened has happened, and everything that is done here stands in it as the steps that it is.

use std::time::Duration;

use locks::action::{Action, Wait};
use locks::ids::Gate;
use locks::machine::LockState;
use locks::setup::SetupChange;
use locks::strategy;
use tokio::time::{Instant, sleep};

use super::actions;
use super::decisions::{Decision, Decisions, Place};
use super::error::ActError;
use super::rig::Rig;
use crate::replica::control::Control;

/// Who is not where it was may get there by itself in this time.
const PATIENCE: Duration = Duration::from_millis(60);
/// It is looked at again so soon where no event tells.
const AGAIN: Duration = Duration::from_millis(5);
/// What did not come to where it was by then does not come there any more.
const LIMIT: Duration = Duration::from_secs(5);

/// Numbers the steps of a run.
pub struct Steps<'a> {
    /// The run.
    pub rig: &'a Rig,
    /// The latest step's number.
    pub step: &'a mut u32,
}

impl Steps<'_> {
    async fn take(&mut self, action: &Action) -> Result<(), ActError> {
        *self.step += 1;
        actions::step(self.rig, *self.step, action).await
    }

    /// Make all decisions but the last once more; `decisions` is what was made of them, however this ends.
    pub async fn back(&mut self, decisions: &mut Decisions) -> Result<Decision, ActError> {
        let Some(last) = decisions.made.pop() else { return Err(ActError::NothingToTakeBack) };
        let again = std::mem::take(&mut decisions.made);
        self.begin_anew(decisions).await?;
        for decision in again {
            self.reach(&decision.before, decision.thought).await?;
            self.repeat(&decision).await?;
            decisions.made.push(decision);
        }
        self.reach(&last.before, last.thought).await?;
        Ok(last)
    }

    /// As it stood when nothing had been decided.
    async fn begin_anew(&mut self, decisions: &Decisions) -> Result<(), ActError> {
        let now = self.rig.state().setup.clone();
        let change = now.change_to(&decisions.from);
        if change != SetupChange::default() {
            self.take(&Action::Set(change)).await?;
        }
        let others: Vec<String> =
            now.replicas.iter().filter(|name| !decisions.from.replicas.contains(name)).cloned().collect();
        if !others.is_empty() {
            self.take(&Action::Remove(others)).await?;
        }
        self.take(&Action::Reset).await?;
        let missing: Vec<String> =
            decisions.from.replicas.iter().filter(|name| !now.replicas.contains(name)).cloned().collect();
        if !missing.is_empty() {
            self.take(&Action::Add(missing)).await?;
        }
        Ok(())
    }

    /// Come to where the run stood, after so long, when the next thing was decided.
    async fn reach(&mut self, place: &Place, after: Duration) -> Result<(), ActError> {
        let began = Instant::now();
        let mut waited = false;
        loop {
            let at = self.rig.board.look(Place::of);
            if place.is_reached(&at) {
                return Ok(());
            }
            for name in place.behind(&at) {
                // What it works on had ended by then.
                self.rig.replicas.tell(name, Control::EndWork)?;
            }
            if !waited && began.elapsed() >= PATIENCE {
                waited = true;
                self.pass(after).await?;
            }
            if began.elapsed() >= LIMIT {
                let behind: Vec<&str> = place.behind(&at).collect();
                return Err(ActError::Missed(format!(
                    "the moves were made once more, and {} did not come to where it stood",
                    if behind.is_empty() { "the lock".to_owned() } else { behind.join(", ") }
                )));
            }
            let reached = |standing: &_| place.is_reached(&Place::of(standing)).then_some(());
            self.rig.board.until(AGAIN, reached).await;
        }
    }

    /// So much time goes by at once.
    async fn pass(&mut self, time: Duration) -> Result<(), ActError> {
        match u64::try_from(time.as_millis()) {
            Ok(ms) if ms > 0 => self.take(&Action::Elapse { ms }).await,
            _ => Ok(()),
        }
    }

    async fn repeat(&mut self, decision: &Decision) -> Result<(), ActError> {
        match &decision.action {
            Action::Wait(Wait::Ms(ms)) => self.take(&Action::Elapse { ms: *ms }).await,
            Action::Wait(Wait::Lock { states, .. }) if states.contains(&LockState::Expired) => {
                self.pass(decision.took).await?;
                let has_lease = {
                    let state = self.rig.state();
                    strategy::info(&state.setup.strategy.strategy).is_some_and(|info| info.has_lease)
                };
                // Where nothing expires, the time was all that there was to wait for.
                if has_lease { self.take(&decision.action).await } else { Ok(()) }
            }
            Action::Advance(advance) => {
                let rig = self.rig.clone();
                *self.step += 1;
                let doing = actions::step(&rig, *self.step, &decision.action);
                tokio::pin!(doing);
                // A gate behind the work is reached when the work has ended.
                let over_work = advance.until.as_ref().is_some_and(|gate| !matches!(gate, Gate::Send(_) | Gate::Enter));
                let began = Instant::now();
                let mut waited = false;
                loop {
                    tokio::select! {
                        done = &mut doing => return done,
                        () = sleep(AGAIN) => {}
                    }
                    for name in advance.replica.iter().filter(|_| over_work) {
                        rig.replicas.tell(name, Control::EndWork)?;
                    }
                    if !waited && began.elapsed() >= PATIENCE && decision.took > PATIENCE {
                        waited = true;
                        self.pass(decision.took).await?;
                    }
                }
            }
            action => self.take(action).await,
        }
    }
}
