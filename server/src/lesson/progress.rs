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

    /// A file's bytes, if everything in them is of this lesson.
    pub fn read(bytes: &[u8]) -> Result<File, BadFile> {
        #[derive(Deserialize)]
        struct Form {
            version: u32,
        }
        // Its version first: what it has besides is for a reader of that version.
        let no_progress = |error: serde_json::Error| BadFile(format!("This is no file of progress: {error}."));
        let Form { version } = serde_json::from_slice(bytes).map_err(no_progress)?;
        if version != VERSION {
            return Err(BadFile(format!("This file is of version {version}; here is version {VERSION}.")));
        }
        let file: File = serde_json::from_slice(bytes).map_err(no_progress)?;
        file.check()?;
        Ok(file)
    }

    /// Is everything in it of this lesson?
    fn check(&self) -> Result<(), BadFile> {
        self.answers.iter().try_for_each(check_answer)?;
        self.proofs.iter().try_for_each(check_proof)
    }

    /// Add what it has to what is kept: all of it or nothing. Proofs that are there stay, and so do answers.
    pub async fn add(&self, control: &Control, learner: &str) -> Result<(), LabError> {
        control.add_lesson(learner, &self.answers, &self.proofs).await
    }
}

fn check_answer(row: &AnswerRow) -> Result<(), BadFile> {
    let AnswerRow { question, answer, said_at, .. } = row;
    let asked = in_step(question).and_then(|(step, id)| Lesson::step(step)?.questions().find(|asked| asked.id == id));
    let asked = asked.ok_or_else(|| BadFile(format!("The lesson asks no question {question:?}.")))?;
    let values: Vec<&str> = answer.split(',').collect();
    if !asked.takes(&values) {
        return Err(BadFile(format!("{answer:?} is no answer to question {question:?}.")));
    }
    match is_sane(said_at) {
        true => Ok(()),
        false => Err(BadFile(format!("{question:?} cannot have been answered at {said_at}."))),
    }
}

fn check_proof(row: &ProofRow) -> Result<(), BadFile> {
    let ProofRow { mark, run, event, proved_at } = row;
    let by = by(mark).ok_or_else(|| BadFile(format!("The lesson has no task that {mark:?} would prove.")))?;
    let is_run = run.is_empty() || (run.len() == 32 && run.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if *event < 0 || !is_run {
        return Err(BadFile(format!("{run:?}, event {event}, is no event of a run; it is to prove {mark:?}.")));
    }
    if matches!(by, By::Log(_)) && (run.is_empty() || *event == 0) {
        return Err(BadFile(format!("Only a run proves {mark:?}; this names no run, or no event of it.")));
    }
    match is_sane(proved_at) {
        true => Ok(()),
        false => Err(BadFile(format!("{mark:?} cannot have been proved at {proved_at}."))),
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

    fn read(file: &File) -> Result<File, BadFile> {
        File::read(&serde_json::to_vec(file).unwrap())
    }

    #[test]
    fn only_what_is_of_this_lesson_is_taken() {
        let good = file("1/p1", "1/a/done");
        assert_eq!(read(&good), Ok(good.clone()));
        for (question, mark, says) in [
            ("1/p9", "1/a/done", "no question \"1/p9\""),
            ("01/p1", "1/a/done", "no question"),
            ("2/p1", "1/a/done", "no answer to question"),
            ("1/p1", "1/z/done", "no task that \"1/z/done\""),
            ("1/p1", "1/a/other", "no task"),
            ("1/p1", "+1/a/done", "no task"),
        ] {
            let said = read(&file(question, mark)).unwrap_err().to_string();
            assert!(said.contains(says), "{question}, {mark}: {said}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let other = File { version: 2, ..file("1/p1", "1/a/done") };
        assert!(read(&other).unwrap_err().to_string().contains("version 2"));
        let said = |text: &str| File::read(text.as_bytes()).unwrap_err().to_string();
        assert!(said("a picture").contains("no file of progress"));
        assert!(said(r#"{"version":1,"answers":[]}"#).contains("proofs"));
        let mut nameless = file("1/p1", "1/a/done");
        nameless.proofs[0].run.clear();
        assert!(read(&nameless).unwrap_err().to_string().contains("names no run"));
    }
}
