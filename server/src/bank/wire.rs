//! What a replica and the bank say to each other: `POST /settlements` with a [`Settlement`], answered by
//! a [`Reply`]. Both sides use these types; nothing here knows of sockets or tables.

use locks::event::EffectAnswer;
use locks::guard::Guard;
use locks::ids::{AttemptId, LockName, Slot, Token};
use serde::{Deserialize, Serialize};

/// Request header that tells the link which session a connection belongs to.
pub const SESSION_HEADER: &str = "x-aegis-session";

/// Path of settlements: POST sends one, GET lists them, newest first.
pub const SETTLEMENTS: &str = "/settlements";

/// One effect: settle what this slot has to settle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settlement {
    /// The attempt that sends it.
    pub attempt: AttemptId,
    /// The lock under which it was sent.
    pub lock: LockName,
    /// Its slot.
    pub slot: Slot,
    /// Epoch of the grant, where the strategy has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// Token of the grant, where the strategy has one. Kept for people to read; no guard compares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
}

/// The bank's answer to a settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reply {
    /// 201: it was accepted.
    Accepted {
        /// Always true.
        accepted: bool,
        /// Accepted effects of this slot, this one included.
        nth: u32,
    },
    /// 409: a guard rejected it.
    Rejected {
        /// Which.
        rejected_by: Guard,
    },
    /// 503: a guard could not ask, so it was rejected (fails closed).
    Unreachable {
        /// Which.
        guard_unreachable: Guard,
    },
}

impl Reply {
    /// The HTTP status that goes with it.
    pub fn status(&self) -> u16 {
        match self {
            Reply::Accepted { .. } => 201,
            Reply::Rejected { .. } => 409,
            Reply::Unreachable { .. } => 503,
        }
    }

    /// Reads an answer; `None` if it is not one of the three, and the effect's fate is then unknown.
    pub fn read(status: u16, body: &[u8]) -> Option<Reply> {
        serde_json::from_slice(body).ok().filter(|reply: &Reply| reply.status() == status)
    }

    /// The answer as the event log has it.
    pub fn answer(&self) -> EffectAnswer {
        match *self {
            Reply::Accepted { .. } => EffectAnswer::Accepted,
            Reply::Rejected { rejected_by } => EffectAnswer::Rejected(rejected_by),
            Reply::Unreachable { guard_unreachable } => EffectAnswer::GuardUnreachable(guard_unreachable),
        }
    }
}

/// One line of the bank's list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Running number of its arrival.
    pub id: i64,
    /// What arrived.
    pub settlement: Settlement,
    /// What was answered.
    pub answer: EffectAnswer,
    /// Accepted effects of the slot after it was settled.
    pub nth: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_read_back_what_was_sent() {
        let answers = [
            (Reply::Accepted { accepted: true, nth: 2 }, r#"{"accepted":true,"nth":2}"#),
            (Reply::Rejected { rejected_by: Guard::MaxSeen }, r#"{"rejected_by":"max-seen"}"#),
            (Reply::Unreachable { guard_unreachable: Guard::CurrentEpoch }, r#"{"guard_unreachable":"current-epoch"}"#),
        ];
        for (reply, text) in answers {
            assert_eq!(serde_json::to_string(&reply).unwrap(), text);
            assert_eq!(Reply::read(reply.status(), text.as_bytes()), Some(reply));
        }
    }

    #[test]
    fn what_is_no_answer_is_unknown() {
        assert_eq!(Reply::read(409, br#"{"accepted":true,"nth":1}"#), None, "status and body disagree");
        assert_eq!(Reply::read(500, b""), None);
    }
}
