//! How a claim ends, once its critical section is left: completed if its effect was sent, given back if it
//! was not. Nothing cancels this: it goes on until the store answers, or until the claim is dead by itself.

use super::ask::{Ended, Seen, State, Verb};
use super::machine::{Call, Job, Out, PgClaim, SESSION, Stage};
use crate::guard::Guard;
use crate::ids::At;
use crate::strategy::section::{End, end_of};
use crate::strategy::{EffectAnswer, Input, Output, Reply};

/// What is to be done with the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum What {
    /// The effect's answer decides.
    Settle,
    Complete(Ended),
    Release,
}

/// Where that stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ending {
    what: What,
    /// How the attempt ends; `None`: the effect's answer decides.
    end: Option<End>,
    call: Call,
    /// What is under way is a command of the section.
    earlier: bool,
    /// An unanswered completion is looked up.
    looked_up: bool,
}

impl Ending {
    pub fn state(&self) -> &'static str {
        match self.what {
            What::Settle => "settling",
            What::Complete(_) => "completing",
            What::Release => "releasing",
        }
    }

    pub fn next_timer(&self) -> Option<At> {
        match self.call {
            Call::At(at) => Some(at),
            Call::None | Call::Under(_) => None,
        }
    }
}

/// What an effect's answer makes of the claim. An effect that was certainly not accepted leaves the slot to
/// others, unless it had one already.
fn what(answer: Option<&EffectAnswer>) -> What {
    match answer {
        None => What::Settle,
        Some(EffectAnswer::Accepted | EffectAnswer::Rejected(Guard::UniqueSlot)) => What::Complete(Ended::Done),
        Some(EffectAnswer::Rejected(_) | EffectAnswer::GuardUnreachable(_)) => What::Release,
        Some(EffectAnswer::Unknown) => What::Complete(Ended::Doubtful),
    }
}

impl PgClaim {
    /// The section is left.
    pub(super) fn left(&mut self, job: &mut Job, sent: bool, end: Option<End>, call: Call, out: &mut Out) {
        let what = if sent { what(job.answer.as_ref()) } else { What::Release };
        let earlier = matches!(call, Call::Under(_));
        let call = if earlier { call } else { Call::None };
        self.begin(job, Ending { what, end, call, earlier, looked_up: false }, out);
    }

    /// Never entered.
    pub(super) fn give_back(&mut self, job: &mut Job, end: End, out: &mut Out) {
        let ending = Ending { what: What::Release, end: Some(end), call: Call::None, earlier: false, looked_up: false };
        self.begin(job, ending, out);
    }

    fn begin(&mut self, job: &mut Job, mut ending: Ending, out: &mut Out) {
        job.tries = 0;
        if !ending.earlier {
            ending.call = self.end_it(job, &ending, false, out);
        }
        job.stage = Stage::Ending(ending);
    }

    fn end_it(&mut self, job: &Job, ending: &Ending, retry: bool, out: &mut Out) -> Call {
        let version = job.version;
        let verb = match ending.what {
            What::Settle => return Call::None,
            What::Complete(how) => Verb::Complete { how, version, check: self.check() },
            What::Release => Verb::Release { version },
        };
        Call::Under(self.send(job, verb, retry, out))
    }

    /// Go on; the attempt's end, when it is final.
    pub(super) fn ending(&mut self, job: &mut Job, now: At, input: &Input, out: &mut Out) -> Option<End> {
        let Stage::Ending(mut ending) = job.stage.clone() else { return None };
        let over = match (&ending.call, input) {
            (_, Input::EffectAnswered { answer, .. }) => {
                ending.end = Some(end_of(answer));
                job.answer = Some(answer.clone());
                if ending.what == What::Settle {
                    ending.what = what(Some(answer));
                    if !ending.earlier {
                        ending.call = self.end_it(job, &ending, false, out);
                    }
                }
                false
            }
            (Call::Under(command), Input::Reply { command: answered, sent, reply }) if command == answered => {
                if *reply == Reply::Unknown {
                    out.push(Output::Discard { session: SESSION });
                }
                if ending.earlier {
                    ending.earlier = false;
                    job.lease_end = job.lease_end.max(sent.plus(self.rules.lease_ms));
                    ending.call = self.end_it(job, &ending, false, out);
                    false
                } else {
                    self.ended(job, &mut ending, now, reply, out)
                }
            }
            (Call::At(at), Input::Tick) if now >= *at => {
                if ending.looked_up {
                    ending.call = Call::Under(self.send(job, Verb::Look, true, out));
                } else {
                    ending.call = self.end_it(job, &ending, true, out);
                }
                false
            }
            _ => return None,
        };
        let end = ending.end;
        job.stage = Stage::Ending(ending);
        if over { end } else { None }
    }

    /// The store answered, or not. Is it over?
    fn ended(&mut self, job: &mut Job, ending: &mut Ending, now: At, reply: &Reply, out: &mut Out) -> bool {
        if let (Reply::Rows { .. }, true) = (reply, ending.looked_up) {
            let ours = Seen::of(reply).is_some_and(|seen| {
                seen.version == job.version && matches!(seen.state, State::Claimed | State::Sending)
            });
            ending.looked_up = false;
            if ours {
                ending.call = self.end_it(job, ending, true, out);
            }
            return !ours;
        }
        if let Reply::Rows { .. } = reply {
            return true;
        }
        ending.looked_up |= *reply == Reply::Unknown && matches!(ending.what, What::Complete(_));
        let again = self.pause(job, now);
        ending.call = Call::At(again);
        again >= job.lease_end
    }
}
