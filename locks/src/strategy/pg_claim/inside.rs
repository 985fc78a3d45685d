//! A claim's critical section: work under a heartbeat, then write the key, and only then the effect goes out. The
//! session carries one command at a time, so that a key waits for the answer of a heartbeat under way.

use super::ask::{Seen, State, Verb};
use super::machine::{Call, Job, Out, PgClaim, SESSION, Stage};
use crate::ids::At;
use crate::strategy::section::{GRANT_LOST, GRANT_OVER};
use crate::strategy::{Input, Output, Reply};

/// What a command inside the section was sent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum For {
    Heartbeat,
    Key,
    /// Whether a key whose answer was lost was written.
    KeyLookedUp,
}

impl PgClaim {
    pub(super) fn inside(&mut self, job: &mut Job, now: At, input: &Input, out: &mut Out) {
        match (&mut job.stage, input) {
            (Stage::Inside { call: Call::Under(command), of, .. }, Input::Reply { command: answered, sent, reply })
                if command == answered =>
            {
                let of = *of;
                self.answered(job, now, of, *sent, reply, out);
            }
            (_, Input::Reply { .. }) => {}
            (Stage::Inside { section, .. }, Input::EffectAnswered { answer, .. }) => {
                job.answer = Some(answer.clone());
                section.on(now, input, out);
            }
            (Stage::Inside { section, .. }, _) => section.on(now, input, out),
            _ => {}
        }
        self.call_if_due(job, now, input, out);
        if let Stage::Inside { section, call, .. } = &job.stage
            && let Some(end) = section.left()
        {
            let (sent, call) = (section.has_sent(), call.clone());
            self.left(job, sent, end, call, out);
        }
    }

    /// A command inside the section was answered.
    fn answered(&mut self, job: &mut Job, now: At, of: For, sent: At, reply: &Reply, out: &mut Out) {
        if *reply == Reply::Unknown {
            out.push(Output::Discard { session: SESSION });
        }
        let again = self.pause(job, now);
        let (lease_end, version) = (job.lease_end, job.version);
        let Stage::Inside { section, beat, call, of: next } = &mut job.stage else { return };
        *call = Call::None;
        match (of, reply) {
            (For::Heartbeat, Reply::Rows { affected: 0, .. }) => {
                *beat = None;
                section.lost(out);
            }
            (For::Heartbeat, Reply::Rows { .. }) => {
                *beat = Some(sent.plus(self.beat_ms()));
                if section.needs_grant() {
                    section.extend(self.deadline(sent), out);
                }
                job.tries = 0;
                job.lease_end = lease_end.max(sent.plus(self.rules.lease_ms));
            }
            (For::Heartbeat, _) => *beat = Some(again),
            (For::Key, Reply::Rows { affected: 1.., .. }) => section.go(out),
            (For::Key, Reply::Rows { .. }) => section.refuse(GRANT_LOST, out),
            (For::KeyLookedUp, Reply::Rows { .. }) => match Seen::of(reply) {
                Some(seen) if seen.version == version && seen.state == State::Sending => section.go(out),
                Some(seen) if seen.version == version && seen.state == State::Claimed => {
                    *call = Call::At(now);
                    *next = For::Key;
                }
                _ => section.refuse(GRANT_LOST, out),
            },
            (For::Key | For::KeyLookedUp, _) if again >= lease_end => section.refuse(GRANT_OVER, out),
            (For::Key, Reply::Unknown) => (*call, *next) = (Call::At(now), For::KeyLookedUp),
            (For::Key | For::KeyLookedUp, _) => *call = Call::At(again),
        }
    }

    /// Send what is due inside the section: the key once the work is done, a heartbeat while it is not.
    fn call_if_due(&mut self, job: &mut Job, now: At, input: &Input, out: &mut Out) {
        let Stage::Inside { section, beat, call, of } = &job.stage else { return };
        let (verb, what, retry) = match call {
            Call::None if section.is_keying() => (Verb::Key { version: job.version }, For::Key, false),
            Call::At(at) if section.is_keying() && now >= *at => match of {
                For::KeyLookedUp => (Verb::Look, For::KeyLookedUp, true),
                _ => (Verb::Key { version: job.version }, For::Key, true),
            },
            Call::None if section.needs_grant() && *input == Input::Tick && beat.is_some_and(|beat| now >= beat) => {
                (Verb::Renew { version: job.version }, For::Heartbeat, job.tries > 0)
            }
            _ => return,
        };
        if !retry {
            job.tries = 0;
        }
        let command = self.send(job, verb, retry, out);
        if let Stage::Inside { call, of, .. } = &mut job.stage {
            (*call, *of) = (Call::Under(command), what);
        }
    }
}
