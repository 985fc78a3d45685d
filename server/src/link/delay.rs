//! Delay with seeded jitter: how long after its arrival a chunk is passed on. The same seed gives the
//! same series to each direction of each connection. Order is not this file's business: the flow keeps it.

use std::time::Duration;

use locks::action::Direction;
use serde::{Deserialize, Serialize};

/// How long what passes is kept. The default keeps nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delay {
    /// At least so long, in milliseconds.
    pub ms: u64,
    /// Most that a random part adds, in milliseconds.
    pub jitter_ms: u64,
    /// Where the random part comes from.
    pub seed: u64,
}

impl Delay {
    /// The longest that it keeps anything.
    pub(super) fn longest(&self) -> Duration {
        Duration::from_millis(self.ms.saturating_add(self.jitter_ms))
    }
}

/// The random series of one direction of one connection.
#[derive(Clone, Debug)]
pub(super) struct Jitter {
    stream: u64,
    drawn: u64,
}

impl Jitter {
    pub(super) fn new(connection: u64, direction: Direction) -> Jitter {
        Jitter { stream: connection << 1 | u64::from(direction == Direction::Reply), drawn: 0 }
    }

    /// How long the next chunk is kept, in microseconds.
    pub(super) fn draw_us(&mut self, delay: &Delay) -> u64 {
        let random = mix(mix(delay.seed ^ mix(self.stream)).wrapping_add(self.drawn));
        self.drawn += 1;
        let span = delay.jitter_ms.saturating_mul(1000);
        delay.ms.saturating_mul(1000).saturating_add(random % span.saturating_add(1))
    }
}

/// One step of SplitMix64: every bit of the input reaches every bit of the output.
fn mix(input: u64) -> u64 {
    let mut z = input.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(seed: u64, connection: u64, direction: Direction) -> Vec<u64> {
        let mut jitter = Jitter::new(connection, direction);
        (0..50).map(|_| jitter.draw_us(&Delay { ms: 10, jitter_ms: 5, seed })).collect()
    }

    #[test]
    fn the_same_seed_makes_the_same_series_and_streams_differ() {
        let first = series(1, 1, Direction::Request);
        assert_eq!(first, series(1, 1, Direction::Request));
        for other in
            [series(2, 1, Direction::Request), series(1, 2, Direction::Request), series(1, 1, Direction::Reply)]
        {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn the_random_part_stays_within_its_span_and_uses_it() {
        let drawn = series(7, 3, Direction::Reply);
        assert!(drawn.iter().all(|us| (10_000..=15_000).contains(us)));
        assert!(drawn.iter().any(|us| *us < 11_500) && drawn.iter().any(|us| *us > 13_500));
    }

    #[test]
    fn without_jitter_a_delay_is_exact() {
        let mut jitter = Jitter::new(1, Direction::Request);
        assert_eq!(jitter.draw_us(&Delay { ms: 3, ..Delay::default() }), 3000);
        assert_eq!(jitter.draw_us(&Delay::default()), 0);
    }
}
