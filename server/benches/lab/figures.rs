//! What is made of many measurements: a median, a percentile, and words with units.

use std::time::Duration;

/// Measurements of the same thing. None is left out.
#[derive(Default)]
pub struct Many(Vec<Duration>);

impl Many {
    /// One more.
    pub fn push(&mut self, one: Duration) {
        self.0.push(one);
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The measurement that so many in a hundred do not exceed.
    pub fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort();
        let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(at).copied().unwrap_or_default()
    }

    /// The one in the middle.
    pub fn median(&self) -> Duration {
        self.percentile(50)
    }

    /// The longest.
    pub fn longest(&self) -> Duration {
        self.percentile(100)
    }
}

/// `0.34 s`.
pub fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

/// `12.3 ms`.
pub fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// `420 µs`.
pub fn microseconds(time: Duration) -> String {
    format!("{} µs", time.as_micros())
}
