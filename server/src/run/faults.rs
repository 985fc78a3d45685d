//! Numbers of the faults that are in force, so that the log says of each when it began and when it ended.

use locks::event::Fault;

/// Faults in force, in the order in which they began.
#[derive(Debug, Default)]
pub struct Faults {
    count: u32,
    open: Vec<(u32, Fault)>,
}

impl Faults {
    /// One more; its number. `None` if just that fault is in force already.
    pub fn begin(&mut self, what: &Fault) -> Option<u32> {
        if self.open.iter().any(|(_, open)| open == what) {
            return None;
        }
        self.count += 1;
        self.open.push((self.count, what.clone()));
        Some(self.count)
    }

    /// End all those that are meant.
    pub fn end(&mut self, meant: impl Fn(&Fault) -> bool) -> Vec<(u32, Fault)> {
        let (ended, open) = std::mem::take(&mut self.open).into_iter().partition(|(_, what)| meant(what));
        self.open = open;
        ended
    }

    /// Those in force.
    pub fn open(&self) -> &[(u32, Fault)] {
        &self.open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(shift_ms: i64) -> Fault {
        Fault::Clock { replica: "A".to_owned(), shift_ms }
    }

    #[test]
    fn a_fault_in_force_does_not_begin_again() {
        let mut faults = Faults::default();
        assert_eq!(faults.begin(&clock(1)), Some(1));
        assert_eq!(faults.begin(&clock(1)), None);
        assert_eq!(faults.begin(&clock(2)), Some(2));
        assert_eq!(faults.end(|what| *what == clock(1)), [(1, clock(1))]);
        assert_eq!(faults.begin(&clock(1)), Some(3), "numbers are not used again");
    }
}
