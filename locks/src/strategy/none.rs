//! `none`: no coordination, the baseline that collides. Every replica that has the slot runs it.

use super::{Epochs, Info, LockAt, LockScope};

/// The strategy's name.
pub(super) const NAME: &str = "none";

/// See [`Info`].
pub(super) const INFO: Info = Info {
    name: NAME,
    text: "No coordination: every replica whose timer fires runs the job.",
    mutants: &[],
    scope: LockScope::Schedule,
    has_lease: false,
    epochs: Epochs::None,
    lock_at: LockAt::Nowhere,
    uses: &[],
    transitions: super::of_machine(&[
        ("idle", "slot due", "entering"),
        ("entering", "entered", "working"),
        ("entering", "entered, though cancelled", "stopping"),
        ("entering", "cancelled", "idle"),
        ("working", "work done", "effecting"),
        ("working", "cancelled", "stopping"),
        ("working", "handler failed", "leaving"),
        ("stopping", "handler stopped", "leaving"),
        ("effecting", "effect sent", "effect sent"),
        ("effecting", "cancelled", "leaving"),
        ("effect sent", "answered, or cancelled", "leaving"),
        ("leaving", "left", "idle"),
        ("leaving", "left, but the effect is unanswered", "settling"),
        ("settling", "effect answered", "idle"),
    ]),
    commands: &[],
};

#[cfg(feature = "strategies")]
pub use machine::{Never, NoLock};

#[cfg(feature = "strategies")]
mod machine {
    use super::INFO;
    use crate::ids::{At, AttemptId};
    use crate::machine::Outcome;
    use crate::setup::Setup;
    use crate::strategy::section::{Grant, Section, end_of};
    use crate::strategy::{Info, Input, Op, Output, Reply, SessionSpec, Strategy, Wire};

    /// The machine of `none`: a critical section with nothing around it.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    pub struct NoLock {
        job: Option<(AttemptId, Section)>,
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
            NoLock { job: None }
        }

        fn sessions(&self) -> Vec<SessionSpec> {
            Vec::new()
        }

        fn on(&mut self, now: At, input: Input) -> Vec<Output<Never>> {
            let mut out = Vec::new();
            match (self.job.take(), input) {
                (None, Input::Due { attempt, .. }) => {
                    let nothing = Grant { token: None, epoch: None, not_after: None, nodes: Vec::new() };
                    self.job = Some((attempt.clone(), Section::enter(attempt, nothing, false, &mut out)));
                }
                (None, _) => {}
                (job, Input::Due { attempt, .. }) => {
                    out.push(Output::Finish {
                        attempt,
                        outcome: Outcome::Skipped,
                        why: "another attempt is under way",
                    });
                    self.job = job;
                }
                (Some((attempt, mut section)), input) if input.attempt().is_none_or(|of| *of == attempt) => {
                    let end = match (section.left(), &input) {
                        (Some(_), Input::EffectAnswered { answer, .. }) => Some(end_of(answer)),
                        _ => {
                            section.on(now, &input, &mut out);
                            section.left().flatten()
                        }
                    };
                    match end {
                        Some((outcome, why)) => out.push(Output::Finish { attempt, outcome, why }),
                        None => self.job = Some((attempt, section)),
                    }
                }
                (job, _) => self.job = job,
            }
            out
        }

        fn state(&self) -> &'static str {
            match &self.job {
                None => "idle",
                Some((_, section)) if section.left().is_some() => "settling",
                Some((_, section)) => section.state(),
            }
        }

        fn next_timer(&self) -> Option<At> {
            None
        }
    }
}
