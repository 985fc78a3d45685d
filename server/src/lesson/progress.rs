//! What is kept of a learner, and the same as a file: it belongs to them, not to one browser.

use app::lesson::{Answer, Known, Lesson, ProofAt};
use chrono::{DateTime, Datelike, Utc};
use locks::lesson::By;
use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::control::lesson::{AnswerRow, ProofRow};
use crate::lab::LabError;

/// The form that files have.
const VERSION: u32 = 1;
/// An answer has at most so many bytes.
const LONGEST_ANSWER: usize = 100;

/// Progress as a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    version: u32,
    answers: Vec<AnswerRow>,
    proofs: Vec<ProofRow>,
}

/// Why a file is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadFile(String);

/// Everything that is kept of a learner.
pub async fn known(control: &Control, learner: &str) -> Result<Known, LabError> {
    let (answers, proofs) = (control.answers(learner).await?, control.proofs(learner).await?);
    let answer = |row: AnswerRow| {
        let said = Answer { value: row.answer, at_ms: row.said_at.timestamp_millis(), late: row.late };
        (row.question, said)
    };
    let proof = |row: ProofRow| {
        let at_ms = row.proved_at.timestamp_millis();
        (row.mark, ProofAt { run: row.run, event: row.event.unsigned_abs(), at_ms })
    };
    Ok(Known { answers: answers.into_iter().map(answer).collect(), proofs: proofs.into_iter().map(proof).collect() })
}

impl File {
    /// What is kept of a learner.
    pub async fn of(control: &Control, learner: &str) -> Result<File, LabError> {
        let (answers, proofs) = (control.answers(learner).await?, control.proofs(learner).await?);
        Ok(File { version: VERSION, answers, proofs })
    }

    /// Is everything in it of this lesson?
    pub fn check(&self) -> Result<(), BadFile> {
        if self.version != VERSION {
            return Err(BadFile(format!("This file is of version {}; here is version {VERSION}.", self.version)));
        }
        for row in &self.answers {
            let known = in_step(&row.question).is_some_and(|(step, id)| has_question(step, id));
            if !known || row.answer.len() > LONGEST_ANSWER || row.answer.contains('\0') || !is_sane(&row.said_at) {
                return Err(BadFile(format!("The lesson asks no question {:?}, or not so.", row.question)));
            }
        }
        for row in &self.proofs {
            let hexadecimal = row.run.bytes().all(|byte| byte.is_ascii_hexdigit());
            let by = by(&row.mark);
            if by.is_none() || row.event < 0 || row.run.len() > 32 || !hexadecimal {
                return Err(BadFile(format!("The lesson has no task that {:?} would prove so.", row.mark)));
            }
            if matches!(by, Some(By::Log(_))) && (row.run.is_empty() || row.event == 0) {
                return Err(BadFile(format!(
                    "Only a run proves {:?}; this names no run, or no event of it.",
                    row.mark
                )));
            }
            if !is_sane(&row.proved_at) {
                return Err(BadFile(format!("{:?} cannot have been proved at {}.", row.mark, row.proved_at)));
            }
        }
        Ok(())
    }

    /// Add what it has to what is kept: proofs that are there stay, and so do answers.
    pub async fn add(&self, control: &Control, learner: &str) -> Result<(), LabError> {
        let there = control.answers(learner).await?;
        for row in self.answers.iter().filter(|row| there.iter().all(|other| other.question != row.question)) {
            control.keep_answer(learner, row).await?;
        }
        for row in &self.proofs {
            control.keep_proof(learner, row).await?;
        }
        Ok(())
    }
}

fn in_step(name: &str) -> Option<(u8, &str)> {
    let (step, rest) = name.split_once('/')?;
    Some((number(step)?, rest))
}

/// The number of a step, written as the lesson writes it.
pub fn number(text: &str) -> Option<u8> {
    locks::lesson::STEPS.iter().map(|step| step.number).find(|number| number.to_string() == text)
}

/// Can somebody have learned here then?
fn is_sane(at: &DateTime<Utc>) -> bool {
    (2000..=2200).contains(&at.year())
}

fn has_question(step: u8, id: &str) -> bool {
    Lesson::step(step).is_some_and(|text| text.questions().any(|question| question.id == id))
}

/// Where the proof of a mark is looked for, if there is such a mark.
fn by(name: &str) -> Option<By> {
    let (step, rest) = in_step(name)?;
    let (task, mark) = rest.split_once('/')?;
    let task = locks::lesson::step(step)?.task(task)?;
    task.marks.contains(&mark).then_some(task.by)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(question: &str, mark: &str) -> File {
        let answer = AnswerRow { question: question.into(), answer: "two".into(), late: false, said_at: Utc::now() };
        let proof = ProofRow { mark: mark.into(), run: "0".repeat(32), event: 7, proved_at: Utc::now() };
        File { version: VERSION, answers: vec![answer], proofs: vec![proof] }
    }

    #[test]
    fn only_what_is_of_this_lesson_is_taken() {
        assert_eq!(file("1/p1", "1/a/done").check(), Ok(()));
        assert!(file("1/p9", "1/a/done").check().is_err());
        assert!(file("1/p1", "1/z/done").check().is_err());
        assert!(file("1/p1", "1/a/other").check().is_err());
        assert!(file("01/p1", "1/a/done").check().is_err());
        assert!(file("1/p1", "+1/a/done").check().is_err());
        let other = File { version: 2, ..file("1/p1", "1/a/done") };
        assert!(other.check().unwrap_err().to_string().contains("version 2"));
    }
}
