//! One direction of one connection: what was read and is not passed on yet, in order, with the time from
//! which it may pass. Pure: time and rules are arguments, sockets are somebody else's. Bytes are never
//! reordered, dropped or made up, and the end of the stream is queued behind them like a byte.

use std::collections::VecDeque;

use locks::action::Direction;

use super::delay::Jitter;
use super::rules::Rules;

/// So much waits in the link for one direction; then it stops reading, and TCP holds the sender back.
pub(super) const MOST_KEPT: usize = 1 << 20;

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The sender said that no more will come. The other direction goes on.
    Fin,
    /// The connection broke.
    Reset,
}

/// What is to be passed on now.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<'a> {
    /// Nothing, until something arrives or the rules change.
    Nothing,
    /// Nothing before this time.
    At(u64),
    /// These bytes.
    Bytes(&'a [u8]),
    /// The end; nothing comes after it.
    End(End),
}

#[derive(Debug)]
struct Kept {
    arrived_us: u64,
    due_us: u64,
    what: What,
}

#[derive(Debug)]
enum What {
    Bytes { bytes: Vec<u8>, passed: usize },
    End(End),
}

/// See the module. Call `arrived` and `ended` as things are read, `next` to learn what may pass, and
/// `passed` for what really did.
#[derive(Debug)]
pub(super) struct Flow {
    direction: Direction,
    kept: VecDeque<Kept>,
    bytes_kept: usize,
    /// Nothing may overtake what was queued before it.
    last_due_us: u64,
    /// Since when bytes are known to wait in the kernel while the link may not read.
    noticed_us: Option<u64>,
    has_ended: bool,
    jitter: Jitter,
}

impl Flow {
    pub(super) fn new(connection: u64, direction: Direction) -> Flow {
        Flow {
            direction,
            kept: VecDeque::new(),
            bytes_kept: 0,
            last_due_us: 0,
            noticed_us: None,
            has_ended: false,
            jitter: Jitter::new(connection, direction),
        }
    }

    /// May the source be read?
    pub(super) fn reads(&self, rules: &Rules) -> bool {
        rules.reads() && !self.has_ended && self.bytes_kept < MOST_KEPT
    }

    /// Is it worth knowing whether something waits in the kernel?
    pub(super) fn watches(&self, rules: &Rules) -> bool {
        !rules.reads() && !self.has_ended && self.noticed_us.is_none()
    }

    /// Something waits in the kernel, unread.
    pub(super) fn noticed(&mut self, now_us: u64) {
        self.noticed_us = Some(now_us);
    }

    /// The link may read again, and nothing was there.
    pub(super) fn nothing_waits(&mut self) {
        self.noticed_us = None;
    }

    /// These bytes were read.
    pub(super) fn arrived(&mut self, bytes: &[u8], now_us: u64, rules: &Rules) {
        self.bytes_kept += bytes.len();
        self.keep(What::Bytes { bytes: bytes.to_vec(), passed: 0 }, now_us, rules);
    }

    /// The stream ended, or broke.
    pub(super) fn ended(&mut self, end: End, now_us: u64, rules: &Rules) {
        self.has_ended = true;
        self.keep(What::End(end), now_us, rules);
    }

    fn keep(&mut self, what: What, now_us: u64, rules: &Rules) {
        let arrived_us = self.noticed_us.take().unwrap_or(now_us);
        let due_us = now_us.saturating_add(self.jitter.draw_us(&rules.delay)).max(self.last_due_us);
        self.last_due_us = due_us;
        self.kept.push_back(Kept { arrived_us, due_us, what });
    }

    /// What may pass now.
    pub(super) fn next(&self, now_us: u64, rules: &Rules) -> Next<'_> {
        match self.kept.front() {
            Some(kept) if rules.passes(self.direction) => match &kept.what {
                _ if kept.due_us > now_us => Next::At(kept.due_us),
                What::Bytes { bytes, passed } => Next::Bytes(&bytes[*passed..]),
                What::End(end) => Next::End(*end),
            },
            _ => Next::Nothing,
        }
    }

    /// So many of the bytes that `next` gave were passed on at `now_us`. Answers how long they were kept.
    pub(super) fn passed(&mut self, count: usize, now_us: u64) -> u64 {
        let Some(Kept { arrived_us, what: What::Bytes { bytes, passed }, .. }) = self.kept.front_mut() else {
            return 0;
        };
        let kept_us = now_us.saturating_sub(*arrived_us);
        *passed += count;
        self.bytes_kept -= count;
        if *passed == bytes.len() {
            self.kept.pop_front();
        }
        kept_us
    }
}

#[cfg(test)]
mod tests {
    use super::super::delay::Delay;
    use super::super::rules::Hold;
    use super::*;

    fn flow() -> Flow {
        Flow::new(1, Direction::Request)
    }

    fn delayed(ms: u64, jitter_ms: u64) -> Rules {
        Rules { delay: Delay { ms, jitter_ms, seed: 5 }, ..Rules::default() }
    }

    fn held() -> Rules {
        Rules { hold: Hold { requests: true, replies: false }, ..Rules::default() }
    }

    #[test]
    fn without_faults_bytes_pass_at_once_and_the_end_behind_them() {
        let (mut flow, rules) = (flow(), Rules::default());
        flow.arrived(b"abc", 10, &rules);
        flow.ended(End::Fin, 11, &rules);
        assert_eq!(flow.next(11, &rules), Next::Bytes(b"abc"));
        assert_eq!(flow.passed(1, 11), 1);
        assert_eq!(flow.next(12, &rules), Next::Bytes(b"bc"), "a write may take less than all");
        flow.passed(2, 12);
        assert_eq!(flow.next(12, &rules), Next::End(End::Fin));
        assert!(!flow.reads(&rules), "nothing is read behind the end");
    }

    #[test]
    fn a_delay_shifts_chunks_and_does_not_serialise_them() {
        let (mut flow, rules) = (flow(), delayed(10, 0));
        flow.arrived(b"a", 0, &rules);
        flow.arrived(b"b", 1_000, &rules);
        assert_eq!(flow.next(9_999, &rules), Next::At(10_000));
        assert_eq!(flow.next(10_000, &rules), Next::Bytes(b"a"));
        flow.passed(1, 10_000);
        assert_eq!(flow.next(10_000, &rules), Next::At(11_000));
    }

    #[test]
    fn jitter_never_lets_a_chunk_overtake() {
        let (mut flow, rules) = (flow(), delayed(0, 50));
        for n in 0..100u8 {
            flow.arrived(&[n], u64::from(n), &rules);
        }
        let mut now = 0;
        for n in 0..100u8 {
            while let Next::At(due) = flow.next(now, &rules) {
                assert!(due > now);
                now = due;
            }
            assert_eq!(flow.next(now, &rules), Next::Bytes(&[n]));
            flow.passed(1, now);
        }
    }

    #[test]
    fn what_travels_already_keeps_its_delay_when_the_delay_ends() {
        let mut flow = flow();
        flow.arrived(b"a", 0, &delayed(10, 0));
        flow.arrived(b"b", 1, &Rules::default());
        assert_eq!(flow.next(1, &Rules::default()), Next::At(10_000), "b does not overtake a");
    }

    #[test]
    fn a_cut_neither_reads_nor_passes_what_was_read_before() {
        let mut flow = flow();
        let cut = Rules { cut: true, ..Rules::default() };
        flow.arrived(b"a", 0, &Rules::default());
        assert!(!flow.reads(&cut));
        assert_eq!(flow.next(5, &cut), Next::Nothing);
        assert_eq!(flow.next(5, &Rules::default()), Next::Bytes(b"a"));
    }

    #[test]
    fn bytes_that_waited_in_the_kernel_were_kept_since_they_were_noticed() {
        let mut flow = flow();
        let cut = Rules { cut: true, ..Rules::default() };
        assert!(flow.watches(&cut));
        flow.noticed(100);
        assert!(!flow.watches(&cut), "once is enough");
        flow.arrived(b"a", 900, &Rules::default());
        assert_eq!(flow.passed(1, 1_000), 900);
    }

    #[test]
    fn what_was_noticed_and_was_not_there_counts_for_nothing_later() {
        let mut flow = flow();
        flow.noticed(100);
        flow.nothing_waits();
        flow.arrived(b"a", 900, &Rules::default());
        assert_eq!(flow.passed(1, 1_000), 100);
    }

    #[test]
    fn a_hold_keeps_one_direction_reads_on_and_stops_reading_at_its_bound() {
        let (mut flow, mut reply) = (flow(), Flow::new(1, Direction::Reply));
        flow.arrived(b"a", 0, &held());
        reply.arrived(b"b", 0, &held());
        assert_eq!(flow.next(1 << 40, &held()), Next::Nothing);
        assert_eq!(reply.next(0, &held()), Next::Bytes(b"b"));
        flow.arrived(&vec![0; MOST_KEPT - 2], 1, &held());
        assert!(flow.reads(&held()));
        flow.arrived(b"z", 2, &held());
        assert!(!flow.reads(&held()));
        flow.passed(1, 3);
        assert!(flow.reads(&Rules::default()));
    }

    #[test]
    fn a_held_chunk_that_was_delayed_too_passes_when_both_allow() {
        let mut flow = flow();
        let both = Rules { delay: Delay { ms: 10, ..Delay::default() }, ..held() };
        flow.arrived(b"a", 0, &both);
        assert_eq!(flow.next(20_000, &both), Next::Nothing);
        assert_eq!(flow.next(5_000, &delayed(10, 0)), Next::At(10_000));
        assert_eq!(flow.next(10_000, &delayed(10, 0)), Next::Bytes(b"a"));
    }
}
