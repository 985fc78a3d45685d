//! `none`: no coordination, the baseline that collides. Every replica that has the slot runs it.

use super::{Info, LockScope};

/// The strategy's name.
pub(super) const NAME: &str = "none";

/// See [`Info`].
pub(super) const INFO: Info = Info {
    name: NAME,
    text: "No coordination: every replica whose timer fires runs the job.",
    mutants: &[],
    scope: LockScope::Schedule,
    has_lease: false,
    has_epoch: false,
    uses: &[],
    transitions: &[
        ("idle", "due", "entering"),
        ("entering", "entered", "working"),
        ("working", "work ended", "effecting"),
        ("working", "stopped or failed", "leaving"),
        ("effecting", "effect answered", "leaving"),
        ("leaving", "left", "idle"),
    ],
};

#[cfg(feature = "strategies")]
pub use machine::NoLock;

#[cfg(feature = "strategies")]
mod machine {
    use super::INFO;
    use crate::ids::{At, AttemptId};
    use crate::machine::Outcome;
    use crate::setup::Setup;
    use crate::strategy::{EffectAnswer, Info, Input, Op, Output, Reply, SessionSpec, Strategy, Wire, WorkEnd};

    /// The machine of `none`.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct NoLock {
        state: &'static str,
        attempt: Option<AttemptId>,
        end: (Outcome, &'static str),
    }

    /// There is no command.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub enum Never {}

    impl Op for Never {
        type Store = ();
        fn wire(&self) -> Wire {
            match *self {}
        }
        fn apply(&self, _: &mut (), _: At) -> Reply {
            match *self {}
        }
    }

    impl Strategy for NoLock {
        type Op = Never;

        fn info() -> &'static Info {
            &INFO
        }

        fn new(_: &Setup, _: Option<&'static str>, _: &str) -> Self {
            NoLock { state: "idle", attempt: None, end: (Outcome::Open, "") }
        }

        fn sessions(&self) -> Vec<SessionSpec> {
            Vec::new()
        }

        fn on(&mut self, _: At, input: Input) -> Vec<Output<Never>> {
            match (self.state, input) {
                ("idle", Input::Due { attempt, .. }) => {
                    self.state = "entering";
                    self.attempt = Some(attempt.clone());
                    vec![Output::Enter { attempt, token: None, epoch: None, not_after: None, nodes: Vec::new() }]
                }
                (_, input) => match self.attempt.clone() {
                    Some(attempt) => self.go_on(attempt, input),
                    None => Vec::new(),
                },
            }
        }

        fn state(&self) -> &'static str {
            self.state
        }

        fn next_timer(&self) -> Option<At> {
            None
        }
    }

    impl NoLock {
        fn go_on(&mut self, attempt: AttemptId, input: Input) -> Vec<Output<Never>> {
            match (self.state, input) {
                ("entering", Input::Entered { .. }) => {
                    self.state = "working";
                    Vec::new()
                }
                ("working", Input::Cancel { .. } | Input::Shutdown) => vec![Output::Stop { attempt }],
                ("working", Input::WorkEnded { how: WorkEnd::Done, .. }) => {
                    self.state = "effecting";
                    vec![Output::Effect { attempt, epoch: None, not_after: None, within: None }]
                }
                ("working", Input::WorkEnded { how: WorkEnd::Stopped, .. }) => {
                    self.leave(attempt, (Outcome::Failed, "cancelled"))
                }
                ("working", Input::WorkEnded { how: WorkEnd::Failed, .. }) => {
                    self.leave(attempt, (Outcome::Failed, "handler failed"))
                }
                ("effecting", Input::EffectAnswered { answer, .. }) => {
                    let end = match answer {
                        EffectAnswer::Accepted => (Outcome::Executed, "effect accepted"),
                        EffectAnswer::Rejected(_) => (Outcome::Failed, "effect rejected"),
                        EffectAnswer::GuardUnreachable(_) => (Outcome::Failed, "guard unreachable"),
                        EffectAnswer::Unknown => (Outcome::Failed, "effect unanswered"),
                    };
                    self.leave(attempt, end)
                }
                ("leaving", Input::Left { .. }) => {
                    self.state = "idle";
                    self.attempt = None;
                    vec![Output::Finish { attempt, outcome: self.end.0, why: self.end.1 }]
                }
                _ => Vec::new(),
            }
        }

        fn leave(&mut self, attempt: AttemptId, end: (Outcome, &'static str)) -> Vec<Output<Never>> {
            self.state = "leaving";
            self.end = end;
            vec![Output::Leave { attempt, not_after: None, forced: false, why: end.1 }]
        }
    }
}
