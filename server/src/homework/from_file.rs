//! From a scenario file's steps to a schedule's. Whoever wrote the file may rearrange what the exercise has, and no
//! more: statements of the grader's own are those of the exercise's schedules, word by word, because they run with
//! rights that no learner has.

use std::collections::BTreeSet;
use std::mem::discriminant;

use locks::action::{Action, Wait};
use locks::scenario::Scenario;
use serde_json::{Map, Value};

use super::evidence::About;
use super::schedule::{Arg, Replica, Schedule, Session, Step, bytes, command, of, own};

/// What an exercise has.
pub struct Known<'a> {
    /// Its replicas.
    pub about: &'a About,
    /// Its schedules.
    pub schedules: &'a [Schedule],
}

/// The steps, or what is wrong with the first that cannot be done.
pub fn steps(scenario: &Scenario, known: &Known) -> Result<Vec<Step>, String> {
    let mut waiting = BTreeSet::new();
    let mut steps = Vec::new();
    for (number, step) in (1..).zip(&scenario.steps) {
        let read = known.step(&step.action, &waiting).and_then(|step| {
            in_order(&step, &mut waiting)?;
            Ok(step)
        });
        steps.push(read.map_err(|what| format!("step {number}, `{}`: {what}", step.action.name()))?);
    }
    Ok(steps)
}

/// One statement of a session at a time: it is sent, and then its answer is read.
fn in_order(step: &Step, waiting: &mut BTreeSet<Session>) -> Result<(), String> {
    let (by, sends, reads) = match step {
        Step::Send(by, ..) => (of(by), true, false),
        Step::Own(by, _) => (own(by), true, false),
        Step::Answer(by) => (*by, false, true),
        Step::Settle(by) if waiting.contains(by) => return Ok(()),
        Step::Settle(by) => return Err(format!("{} was sent nothing whose answer is to come", by.replica)),
        Step::Submit(by, _) => (of(by), false, false),
        Step::Begin(by) | Step::Commit(by) | Step::Rollback(by) | Step::Set(by, ..) => (*by, false, false),
        Step::Pass(_) | Step::Wait(_) | Step::Elapse(_) | Step::Sql(_) | Step::Redis(_) => return Ok(()),
    };
    match (reads, waiting.contains(&by)) {
        (true, false) => Err(format!("{} was sent nothing whose answer is to come", by.replica)),
        (false, true) => Err(format!("the answer to what {} was sent before is not read yet", by.replica)),
        (true, true) => {
            waiting.remove(&by);
            Ok(())
        }
        (false, false) => {
            if sends {
                waiting.insert(by);
            }
            Ok(())
        }
    }
}

impl Known<'_> {
    fn all(&self) -> impl Iterator<Item = &Step> {
        self.schedules.iter().flat_map(|schedule| &schedule.steps)
    }

    fn step(&self, action: &Action, waiting: &BTreeSet<Session>) -> Result<Step, String> {
        let whose = "this is none of the exercise's own statements, and nobody else's are run";
        let step = match action {
            Action::Session(fields) => self.session(fields.iter().map(|(k, v)| (k.clone(), v.clone())).collect())?,
            Action::Wait(Wait::Ms(ms)) => Step::Wait(*ms),
            Action::Wait(Wait::Blocked { replica, .. }) => {
                let (learner, grader) = (of(self.replica(replica)?), own(self.replica(replica)?));
                Step::Settle(if waiting.contains(&grader) { grader } else { learner })
            }
            Action::Elapse { ms } => Step::Elapse(i64::try_from(*ms).map_err(|_| "that is too long")?),
            Action::Sql(sql) => {
                self.all().find(|step| matches!(step, Step::Sql(known) if known == sql)).cloned().ok_or(whose)?
            }
            Action::Redis { command: text, .. } => {
                let is = |step: &&Step| matches!(step, Step::Redis(parts) if command(parts) == *text);
                self.all().find(is).cloned().ok_or(whose)?
            }
            _ => return Err("this is no step of homework".to_owned()),
        };
        match self.all().any(|known| discriminant(known) == discriminant(&step)) {
            true => Ok(step),
            false => Err("this exercise has no such step".to_owned()),
        }
    }

    fn replica(&self, name: &str) -> Result<Replica, String> {
        let names = self.about.replicas;
        let found = names.iter().find(|replica| **replica == name).copied();
        found.ok_or_else(|| format!("the exercise has no replica {name}; there are {}", names.join(", ")))
    }

    fn session(&self, fields: Map<String, Value>) -> Result<Step, String> {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let replica = self.replica(text("replica").unwrap_or_default())?;
        let is_own = fields.get("own").and_then(Value::as_bool).unwrap_or(false);
        let by = Session { replica, own: is_own };
        if let Some(set) = fields.get("set").and_then(Value::as_object) {
            return self.setting(by, set);
        }
        let learners = |step: Step| if is_own { Err("it is the learner's, not `own`".to_owned()) } else { Ok(step) };
        match text("do").unwrap_or_default() {
            "begin" => Ok(Step::Begin(by)),
            "commit" => Ok(Step::Commit(by)),
            "rollback" => Ok(Step::Rollback(by)),
            "answer" => Ok(Step::Answer(by)),
            "pass" => learners(Step::Pass(replica)),
            "submit" => learners(Step::Submit(replica, self.args(fields.get("with"))?)),
            _ if is_own => {
                let sql = text("sql").unwrap_or_default();
                let is = |step: &&Step| matches!(step, Step::Own(by, known) if *by == replica && known == sql);
                self.all().find(is).cloned().ok_or_else(|| "the exercise's own sessions are not sent that".to_owned())
            }
            _ => Ok(Step::Send(replica, self.args(fields.get("with"))?, self.gate(text("until"))?)),
        }
    }

    fn setting(&self, by: Session, set: &Map<String, Value>) -> Result<Step, String> {
        let [(name, value)] = &set.iter().collect::<Vec<_>>()[..] else {
            return Err("one setting a step".to_owned());
        };
        let known = self.all().find_map(|step| match step {
            Step::Set(_, known, _) if known == name => Some(*known),
            _ => None,
        });
        let known = known.ok_or_else(|| format!("the exercise's sessions do not set {name}"))?;
        Ok(Step::Set(by, known, value.as_str().unwrap_or_default().to_owned()))
    }

    fn gate(&self, name: Option<&str>) -> Result<Option<&'static str>, String> {
        let Some(name) = name else { return Ok(None) };
        let known = self.all().find_map(|step| match step {
            Step::Send(_, _, Some(known)) if *known == name => Some(*known),
            _ => None,
        });
        known.map(Some).ok_or_else(|| format!("the exercise has no gate {name}"))
    }

    /// Parameters of the same number and kinds as in the exercise's schedules.
    fn args(&self, with: Option<&Value>) -> Result<Vec<Arg>, String> {
        let like = self.all().find_map(|step| match step {
            Step::Submit(_, args) | Step::Send(_, args, _) => Some(args.as_slice()),
            _ => None,
        });
        let (like, with) = (like.unwrap_or_default(), with.and_then(Value::as_array).map_or(&[][..], Vec::as_slice));
        let args = like.iter().zip(with).map(|(like, value)| arg(like, value));
        let args: Option<Vec<Arg>> = if like.len() == with.len() { args.collect() } else { None };
        args.ok_or_else(|| format!("`with` is no list of the exercise's {} parameters", like.len()))
    }
}

fn arg(like: &Arg, value: &Value) -> Option<Arg> {
    match like {
        Arg::Text(_) => Some(Arg::text(value.as_str()?)),
        Arg::Bytes(_) => Some(Arg::Bytes(bytes(value.as_str()?)?)),
        Arg::Int(_) => value.as_i64().map(Arg::Int),
        Arg::Clock(_) => value.get("clock_ms")?.as_i64().map(Arg::Clock),
    }
}
