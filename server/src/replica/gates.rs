//! What waits at which gate. A gate holds an output and everything that the strategy wanted done behind it,
//! so that order is kept; what a strategy says later is not held up by it.

use std::collections::VecDeque;

use locks::ids::{At, AttemptId, Gate};
use locks::setup::Gated;
use locks::strategy::Output;

/// An attempt that waits.
pub(super) struct Waiting<O> {
    pub(super) attempt: AttemptId,
    pub(super) gate: Gate,
    /// The gate opens by itself then.
    pub(super) until: Option<At>,
    /// What waits, and what is to be done behind it; nothing at gate `done`.
    pub(super) outputs: VecDeque<Output<O>>,
}

/// The gates of one schedule's driver.
pub(super) struct Gates<O> {
    closed: Gated,
    waiting: Vec<Waiting<O>>,
}

impl<O> Gates<O> {
    /// Gates, closed as the set-up says.
    pub(super) fn new(closed: Gated) -> Gates<O> {
        Gates { closed, waiting: Vec::new() }
    }

    /// Must an attempt wait there?
    pub(super) fn closed_at(&self, gate: &Gate, retry: bool) -> bool {
        self.closed.closed_at(gate, retry)
    }

    /// From now on nothing waits; returns what did.
    pub(super) fn open(&mut self) -> Vec<Waiting<O>> {
        self.closed = Gated::No;
        std::mem::take(&mut self.waiting)
    }

    /// Wait.
    pub(super) fn wait(&mut self, waiting: Waiting<O>) {
        self.waiting.push(waiting);
    }

    /// Let an attempt pass the gate at which it has waited longest, or that one only.
    pub(super) fn pass(&mut self, attempt: &AttemptId, gate: Option<&Gate>) -> Option<Waiting<O>> {
        self.take(|waiting| waiting.attempt == *attempt && gate.is_none_or(|gate| *gate == waiting.gate))
    }

    /// One whose gate has opened by itself.
    pub(super) fn over(&mut self, now: At) -> Option<Waiting<O>> {
        self.take(|waiting| waiting.until.is_some_and(|until| until <= now))
    }

    /// When the next gate opens by itself.
    pub(super) fn next_timer(&self) -> Option<At> {
        self.waiting.iter().filter_map(|waiting| waiting.until).min()
    }

    /// The first that waits so.
    pub(super) fn take(&mut self, so: impl Fn(&Waiting<O>) -> bool) -> Option<Waiting<O>> {
        let first = self.waiting.iter().position(so)?;
        Some(self.waiting.remove(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(n: u32, gate: Gate, until: Option<At>) -> Waiting<()> {
        let attempt = AttemptId { replica: "A".to_owned(), incarnation: 1, n };
        Waiting { attempt, gate, until, outputs: VecDeque::new() }
    }

    #[test]
    fn an_attempt_passes_the_gate_at_which_it_has_waited_longest() {
        let mut gates = Gates::new(Gated::Yes(Vec::new()));
        gates.wait(waiting(1, Gate::Done, None));
        gates.wait(waiting(2, Gate::Effect, None));
        gates.wait(waiting(2, Gate::Leave, None));
        let second = waiting(2, Gate::Done, None).attempt;
        assert_eq!(gates.pass(&second, Some(&Gate::Done)).map(|waiting| waiting.gate), None);
        assert_eq!(gates.pass(&second, None).unwrap().gate, Gate::Effect);
        assert_eq!(gates.pass(&second, Some(&Gate::Leave)).unwrap().gate, Gate::Leave);
        assert!(gates.pass(&second, None).is_none());
    }

    #[test]
    fn a_gate_with_a_limit_opens_by_itself() {
        let mut gates = Gates::new(Gated::Yes(Vec::new()));
        gates.wait(waiting(1, Gate::Leave, Some(At(50))));
        gates.wait(waiting(2, Gate::Effect, None));
        assert_eq!(gates.next_timer(), Some(At(50)));
        assert!(gates.over(At(49)).is_none());
        assert_eq!(gates.over(At(50)).unwrap().gate, Gate::Leave);
        assert!(gates.over(At(u64::MAX)).is_none());
    }
}
