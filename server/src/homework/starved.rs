//! Was it slow, or was it kept from running? The kernel counts for every process how long it ran and how long it was
//! ready to run and had to wait. What ran out of its time having hardly run at all is no mistake of whoever wrote it.

use std::time::Duration;

/// What hardly ran: a right answer needs a tenth of it, and what never ends has it soon, also on a busy machine.
const HARDLY: Duration = Duration::from_millis(200);
/// What had to wait for long.
const LONG: Duration = Duration::from_millis(500);
/// A grader that takes so much longer from one step to the next than its schedule says is late itself.
const LATE: Duration = Duration::from_millis(700);

/// What a process had of the machine's processors since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Had {
    ran: Duration,
    waited: Duration,
}

impl Had {
    /// That process, now; `None` where the kernel does not say, or it is gone.
    pub fn of(pid: u32) -> Option<Had> {
        Had::read(&std::fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?)
    }

    fn read(text: &str) -> Option<Had> {
        let mut words = text.split_whitespace();
        let mut next = || words.next()?.parse().ok().map(Duration::from_nanos);
        Some(Had { ran: next()?, waited: next()? })
    }

    /// What it had since.
    fn since(self, before: Had) -> Had {
        Had { ran: self.ran.saturating_sub(before.ran), waited: self.waited.saturating_sub(before.waited) }
    }

    /// It was kept from running.
    fn is_starved(self) -> bool {
        self.ran < HARDLY && self.waited > LONG
    }
}

/// A process ran out of its time, and had that when it began: why that is the machine's fault, if it is.
pub fn kept_waiting(pid: u32, before: Option<Had>) -> Option<String> {
    let had = Had::of(pid)?.since(before?);
    had.is_starved().then(|| {
        let (ran, waited) = (had.ran.as_millis(), had.waited.as_millis());
        format!("the machine is too busy: what you wrote ran for {ran} ms and was kept waiting for {waited} ms")
    })
}

/// From sending something to looking for its answer that long passed, and the schedule waits so long between: why
/// that is the grader's fault, if it is.
pub fn late(passed: Duration, scheduled: Duration) -> Option<String> {
    let late = passed.saturating_sub(scheduled);
    (late > LATE)
        .then(|| format!("the machine is too busy: the grader was {} ms late with its steps", late.as_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ran: u64, waited: u64) -> Had {
        Had { ran: Duration::from_millis(ran), waited: Duration::from_millis(waited) }
    }

    #[test]
    fn only_what_hardly_ran_and_waited_long_was_starved() {
        assert!(ms(20, 1900).is_starved());
        assert!(!ms(20, 30).is_starved(), "it waited for something else: a lock");
        assert!(!ms(1000, 1000).is_starved(), "it had half of a processor, and did not end");
        assert!(!ms(300, 1700).is_starved(), "a loop on a machine that is very busy");
        assert_eq!(ms(30, 90).since(ms(10, 40)), ms(20, 50));
    }

    #[test]
    fn the_kernel_is_understood() {
        assert_eq!(Had::read("5000000 7000000 12\n"), Some(ms(5, 7)));
        assert_eq!(Had::read("what"), None);
        if let Some(before) = Had::of(std::process::id()) {
            assert_eq!(kept_waiting(std::process::id(), Some(before)), None);
        }
        assert_eq!(kept_waiting(u32::MAX, Some(Had::default())), None, "it is gone");
    }

    #[test]
    fn a_late_grader_blames_nobody_else() {
        let ms = Duration::from_millis;
        assert!(late(ms(1500), ms(250)).is_some());
        assert!(late(ms(600), ms(250)).is_none());
    }
}
