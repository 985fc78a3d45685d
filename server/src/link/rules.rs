//! The faults that are in force on a link: small values that compose, and the two questions that they
//! answer together: may a byte be read, may a byte be passed on. Pure: no clock, no sockets.

use locks::action::Direction;
use serde::{Deserialize, Serialize};

use super::delay::Delay;

/// What is in force on a link now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Neither socket is read and nothing is passed on; bytes and FIN wait in the kernel.
    pub cut: bool,
    /// Requests or replies wait in the link.
    pub hold: Hold,
    /// What is read is passed on later.
    pub delay: Delay,
    /// How often connections were reset. A connection belongs to the number at which it was accepted.
    #[serde(skip)]
    pub(super) resets: u64,
    /// The link is gone, and with it all that came over it.
    #[serde(skip)]
    pub(super) closed: bool,
}

/// Which directions are held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Requests wait.
    pub requests: bool,
    /// Replies wait.
    pub replies: bool,
}

impl Hold {
    /// Does this direction wait?
    pub fn holds(&self, direction: Direction) -> bool {
        match direction {
            Direction::Request => self.requests,
            Direction::Reply => self.replies,
        }
    }

    /// Let this direction wait, or not.
    pub fn set(&mut self, direction: Direction, held: bool) {
        match direction {
            Direction::Request => self.requests = held,
            Direction::Reply => self.replies = held,
        }
    }
}

impl Rules {
    /// May the link read its sockets?
    pub fn reads(&self) -> bool {
        !self.cut
    }

    /// May the link pass on what goes this way?
    pub fn passes(&self, direction: Direction) -> bool {
        !self.cut && !self.hold.holds(direction)
    }

    /// Does a connection live that was accepted at this number of resets?
    pub(super) fn lives(&self, accepted_at: u64) -> bool {
        !self.closed && self.resets == accepted_at
    }
}
