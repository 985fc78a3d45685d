//! The critical section of one attempt, from the order to enter to the moment it is left: the part of an
//! attempt's life that is the same under every strategy. It knows nothing of locks or stores; a strategy
//! puts its own commands around it.
//!
//! Deadlines stand here because they are the same for every lease: one that is over stops the handler,
//! is not looked at while the effect waits at its gate (no code closes that window), and counts again once
//! the effect was sent.

use super::{EffectAnswer, Input, Output, Session, WorkEnd};
use crate::ids::{At, AttemptId, Endpoint, Token};
use crate::machine::Outcome;

/// How an attempt ended, and why in a few words.
pub(super) type End = (Outcome, &'static str);

/// Why an attempt that was told to end, ends so.
pub(super) const CANCELLED: End = (Outcome::Failed, "cancelled");
/// The grant's time was over by the replica's own reckoning.
pub(super) const GRANT_OVER: End = (Outcome::Lost, "grant over");
/// The store said that the grant is somebody else's, or nobody's.
pub(super) const GRANT_LOST: End = (Outcome::Lost, "the store says: not yours");
/// The connection is lost, and the lock that lived in it.
pub(super) const SESSION_LOST: End = (Outcome::Lost, "session lost, and the lock with it");

/// What an effect's answer makes of its attempt.
pub(super) fn end_of(answer: &EffectAnswer) -> End {
    match answer {
        EffectAnswer::Accepted => (Outcome::Executed, "effect accepted"),
        EffectAnswer::Rejected(_) => (Outcome::Failed, "effect rejected"),
        EffectAnswer::GuardUnreachable(_) => (Outcome::Failed, "guard unreachable"),
        EffectAnswer::Unknown => (Outcome::Failed, "effect unanswered"),
    }
}

/// What an attempt enters with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Grant {
    pub token: Option<Token>,
    pub epoch: Option<u64>,
    /// Until when it is trusted; `None`: no expiry.
    pub not_after: Option<At>,
    pub nodes: Vec<Endpoint>,
}

/// Where an attempt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// At gate `enter`.
    Entering,
    /// The handler works.
    Working,
    /// The handler was told to stop.
    Stopping,
    /// The work is done; what the strategy writes before the effect is not.
    Keying,
    /// At the last check or at gate `effect`.
    Effecting,
    /// The effect is under way.
    Sent,
    /// At gate `leave`.
    Leaving,
    /// Left, or never entered.
    Outside,
}

/// One attempt's critical section.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Section {
    attempt: AttemptId,
    place: Place,
    epoch: Option<u64>,
    /// The handler does not stop when it is told to.
    stubborn: bool,
    /// The strategy writes something before the effect, and says when it is done.
    keyed: bool,
    /// The effect goes into the transaction that is open there.
    within: Option<Session>,
    /// The effect was sent.
    sent: bool,
    /// When it ends by itself; `None`: no expiry, or nobody who heeds it.
    deadline: Option<At>,
    /// It is to end, and so.
    told: Option<End>,
    /// How it ends; `None` as long as that is open, also while the effect's answer is.
    end: Option<End>,
}

impl Section {
    /// Ask to enter. A `stubborn` handler heeds no deadline once it is inside.
    pub fn enter<O>(attempt: AttemptId, grant: Grant, stubborn: bool, out: &mut Vec<Output<O>>) -> Section {
        let Grant { token, epoch, not_after, nodes } = grant;
        out.push(Output::Enter { attempt: attempt.clone(), token, epoch, not_after, nodes });
        let deadline = not_after.filter(|_| !stubborn);
        Section {
            attempt,
            place: Place::Entering,
            epoch,
            stubborn,
            keyed: false,
            within: None,
            sent: false,
            deadline,
            told: None,
            end: None,
        }
    }

    /// The same, but the effect waits for [`Section::go`] once the work is done.
    pub fn keyed(self) -> Section {
        Section { keyed: true, ..self }
    }

    /// The same, but the effect goes into the transaction that is open on that session.
    pub fn within(self, session: Option<Session>) -> Section {
        Section { within: session, ..self }
    }

    /// The state's name, as transition tables have it.
    pub fn state(&self) -> &'static str {
        match self.place {
            Place::Entering => "entering",
            Place::Working => "working",
            Place::Stopping => "stopping",
            Place::Keying => "keying",
            Place::Effecting => "effecting",
            Place::Sent => "effect sent",
            Place::Leaving | Place::Outside => "leaving",
        }
    }

    /// Is it over? Then what the attempt's end is, if that is known yet: `None` waits for the effect's answer.
    pub fn left(&self) -> Option<Option<End>> {
        (self.place == Place::Outside).then_some(self.end)
    }

    /// Does a grant still serve it, so that renewing it makes sense?
    pub fn needs_grant(&self) -> bool {
        self.told.is_none() && matches!(self.place, Place::Working | Place::Effecting | Place::Sent)
    }

    /// Does the effect wait for [`Section::go`]?
    pub fn is_keying(&self) -> bool {
        self.place == Place::Keying
    }

    /// Was the effect sent?
    pub fn has_sent(&self) -> bool {
        self.sent
    }

    /// When its deadline is to be looked at.
    pub fn next_timer(&self) -> Option<At> {
        let looked_at = matches!(self.place, Place::Working | Place::Keying | Place::Sent);
        self.deadline.filter(|_| self.told.is_none() && looked_at)
    }

    /// What was to be written before the effect is written.
    pub fn go<O>(&mut self, out: &mut Vec<Output<O>>) {
        if self.place == Place::Keying {
            self.effect(out);
        }
    }

    /// What was to be written before the effect cannot be: not even a stubborn handler's effect is sent.
    pub fn refuse<O>(&mut self, end: End, out: &mut Vec<Output<O>>) {
        if self.place == Place::Keying {
            self.leave(Some(end), true, out);
        }
    }

    /// The grant is trusted until then.
    pub fn extend<O>(&mut self, not_after: At, out: &mut Vec<Output<O>>) {
        if let Some(deadline) = &mut self.deadline {
            *deadline = not_after;
        }
        out.push(Output::Extended { attempt: self.attempt.clone(), not_after });
    }

    /// The store says that the grant is gone.
    pub fn lost<O>(&mut self, out: &mut Vec<Output<O>>) {
        if self.deadline.is_some() {
            self.tell(GRANT_LOST, out);
        }
    }

    /// The lock's session is lost: the handler hears of it, if it heeds anything.
    pub fn session_lost<O>(&mut self, out: &mut Vec<Output<O>>) {
        if !self.stubborn {
            self.tell(SESSION_LOST, out);
        }
    }

    /// Go on with an input of this attempt.
    pub fn on<O>(&mut self, now: At, input: &Input, out: &mut Vec<Output<O>>) {
        match (self.place, input) {
            (Place::Entering, Input::Entered { .. }) if self.told.is_some() => self.stop(out),
            (Place::Entering, Input::Entered { .. }) => self.place = Place::Working,
            (Place::Entering, Input::EnterRefused { .. }) => {
                let why = self.told.map_or("grant over before entering", |(_, why)| why);
                self.end = Some((Outcome::Skipped, why));
                self.place = Place::Outside;
            }
            (Place::Working, Input::WorkEnded { how: WorkEnd::Done, .. }) => {
                if self.keyed {
                    self.place = Place::Keying;
                } else {
                    self.effect(out);
                }
            }
            (Place::Working | Place::Stopping, Input::WorkEnded { how, .. }) => {
                let end = match (how, self.told) {
                    (WorkEnd::Failed, _) => (Outcome::Failed, "handler failed"),
                    (_, Some(end)) => end,
                    (_, None) => CANCELLED,
                };
                self.leave(Some(end), self.told.is_some(), out);
            }
            (Place::Effecting, Input::EffectSent { .. }) => {
                self.place = Place::Sent;
                self.sent = true;
                if self.told.is_some() {
                    self.leave(None, true, out);
                }
            }
            (Place::Effecting, Input::EffectRefused { .. }) => {
                self.leave(Some(self.told.unwrap_or(GRANT_OVER)), true, out);
            }
            (Place::Sent, Input::EffectAnswered { answer, .. }) => self.leave(Some(end_of(answer)), false, out),
            (Place::Leaving, Input::EffectAnswered { answer, .. }) => self.end = Some(end_of(answer)),
            (Place::Leaving, Input::Left { .. }) => self.place = Place::Outside,
            (_, Input::Cancel { .. } | Input::Shutdown) => self.tell(CANCELLED, out),
            (_, Input::Tick) if self.next_timer().is_some_and(|deadline| now >= deadline) => {
                self.tell(GRANT_OVER, out);
            }
            _ => {}
        }
    }

    /// It is to end: where the handler works it is stopped, where the effect is under way the section is
    /// left, and an attempt that waits at a gate hears of it behind that gate.
    fn tell<O>(&mut self, end: End, out: &mut Vec<Output<O>>) {
        self.told.get_or_insert(end);
        match self.place {
            Place::Working => self.stop(out),
            Place::Keying => self.leave(self.told, true, out),
            Place::Sent => self.leave(None, true, out),
            _ => {}
        }
    }

    fn effect<O>(&mut self, out: &mut Vec<Output<O>>) {
        self.place = Place::Effecting;
        let (attempt, epoch, not_after) = (self.attempt.clone(), self.epoch, self.deadline);
        out.push(Output::Effect { attempt, epoch, not_after, within: self.within });
    }

    fn stop<O>(&mut self, out: &mut Vec<Output<O>>) {
        self.place = Place::Stopping;
        out.push(Output::Stop { attempt: self.attempt.clone() });
    }

    fn leave<O>(&mut self, end: Option<End>, forced: bool, out: &mut Vec<Output<O>>) {
        self.place = Place::Leaving;
        self.end = end;
        let why = self.told.filter(|_| forced).or(end).map_or("", |(_, why)| why);
        out.push(Output::Leave { attempt: self.attempt.clone(), not_after: self.deadline, forced, why });
    }
}
