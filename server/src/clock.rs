//! The machine's monotonic clock, in microseconds. All processes of the lab share it, so that stamps of
//! replicas, links, stores and sinks can be put in one order.

use nix::time::{ClockId, clock_gettime};

/// Microseconds of CLOCK_MONOTONIC now.
pub fn now_us() -> u64 {
    match clock_gettime(ClockId::CLOCK_MONOTONIC) {
        Ok(now) => now.tv_sec() as u64 * 1_000_000 + now.tv_nsec() as u64 / 1_000,
        // POSIX lists only an unknown clock and a bad address as errors; neither can be here.
        Err(error) => unreachable!("CLOCK_MONOTONIC: {error}"),
    }
}
