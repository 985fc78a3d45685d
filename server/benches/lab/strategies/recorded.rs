//! The commands of one attempt as a replica said them: what is sent at once forms a step. Sent bare with
//! another lock's name, they are what every implementation of that strategy has to send.

use locks::event::{Kind, Line, Param, StoreCommand};

use super::SCHEDULE;

/// Commands that were sent at once.
pub(crate) type Step = Vec<StoreCommand>;

/// An attempt that was granted.
#[derive(Clone, Default)]
pub(crate) struct Recorded {
    /// What it sent up to its grant.
    pub acquiring: Vec<Step>,
    /// What it sent afterwards.
    pub behind: Vec<Step>,
    token: String,
    fire_ms: i64,
    owner: String,
}

impl Recorded {
    /// From the lines of one attempt.
    pub fn of(lines: &[Line], fire_ms: i64) -> Option<Recorded> {
        let mut recorded = Recorded { fire_ms, ..Recorded::default() };
        let (mut granted, mut answered) = (false, true);
        for Line { kind, .. } in lines {
            match kind {
                Kind::SlotDue { attempt, .. } => recorded.owner = attempt.to_string(),
                Kind::Granted { token, .. } => {
                    granted = true;
                    recorded.token.clone_from(&token.0);
                }
                Kind::Sent { attempt: Some(_), command, .. } if command.name != "audit" => {
                    let steps = if granted { &mut recorded.behind } else { &mut recorded.acquiring };
                    match steps.last_mut() {
                        Some(step) if !answered => step.push(command.clone()),
                        _ => steps.push(vec![command.clone()]),
                    }
                    answered = false;
                }
                Kind::Answered { attempt: Some(_), .. } => answered = true,
                _ => {}
            }
        }
        granted.then_some(recorded)
    }

    /// Every command.
    pub fn commands(&self) -> impl Iterator<Item = &StoreCommand> {
        self.acquiring.iter().chain(&self.behind).flatten()
    }

    /// Does it ask several nodes at once?
    pub fn has_quorum(&self) -> bool {
        self.acquiring.iter().any(|step| step.len() > 1)
    }

    /// A parameter for another contender and another slot. The lock is another one than the replicas'.
    pub fn param(&self, param: &Param, contender: &str, fire_ms: i64) -> Param {
        let Param::Text(text) = param else {
            return if *param == Param::Int(self.fire_ms) { Param::Int(fire_ms) } else { param.clone() };
        };
        Param::Text(
            text.replace(&self.token, &format!("{contender:0>40}"))
                .replace(&self.owner, contender)
                .replace(&self.fire_ms.to_string(), &fire_ms.to_string())
                .replace(SCHEDULE, "bare"),
        )
    }
}
