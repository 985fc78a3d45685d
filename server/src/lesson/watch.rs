//! Looks at the log of a run that goes on for what the tasks of its step ask. It only reads: what a run does is
//! never changed by who looks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use locks::lesson::{By, Record, Step};
use tokio::time::{sleep, timeout};

use super::tutor::{Latest, Shared};
use crate::clock;
use crate::control::lesson::ProofRow;
use crate::lab::LabError;
use crate::run::live::Live;

/// Many events at once are looked at once.
const TOGETHER: Duration = Duration::from_millis(120);
/// After so much quiet nothing more is on its way: what waits for stragglers is decided then.
const QUIET: Duration = Duration::from_millis(700);

/// Look until the run has ended.
/// `steps`: so many steps does the script have that is played on it.
pub(super) async fn watch(shared: Arc<Shared>, learner: String, step: &'static Step, steps: usize, live: Arc<Live>) {
    let mut proved = match shared.proofs(&learner).await {
        Ok(proved) => proved,
        Err(error) => {
            tracing::error!(%error, "what was proved cannot be read");
            BTreeSet::new()
        }
    };
    let mut log = live.log();
    let (mut record, mut seen, mut settled) = (Record::default(), 0, false);
    loop {
        let mut changed = log.changed();
        let events = log.after(seen);
        for event in &events {
            record.push(event);
            seen = event.seq;
        }
        if !events.is_empty() || !settled {
            settled = events.is_empty();
            if settled {
                record.pass(clock::now_us());
            }
            if let Err(error) = look(&shared, &learner, (step, steps), &live.id(), &record, &mut proved).await {
                tracing::error!(%error, "what was proved cannot be kept");
            }
        }
        if log.is_ended() && seen == log.newest() {
            let next = live.log();
            if Arc::ptr_eq(&next, &log) {
                return;
            }
            (log, record, seen, settled) = (next, Record::default(), 0, false);
            continue;
        }
        match settled {
            true => drop(changed.changed().await),
            false => drop(timeout(QUIET, changed.changed()).await),
        }
        sleep(TOGETHER).await;
    }
}

async fn look(
    shared: &Shared,
    learner: &str,
    (step, steps): (&'static Step, usize),
    run: &str,
    record: &Record,
    proved: &mut BTreeSet<String>,
) -> Result<(), LabError> {
    let mut misses = BTreeMap::new();
    let mut is_news = false;
    for task in step.tasks {
        let name = |mark: &str| format!("{}/{}/{mark}", step.number, task.id);
        if task.marks.iter().all(|mark| proved.contains(&name(mark))) {
            continue;
        }
        let By::Log(look) = task.by else { continue };
        let seen = look(record);
        for proof in seen.proved {
            let mark = name(proof.mark);
            let event = i64::try_from(proof.event).unwrap_or(i64::MAX);
            let row = ProofRow { mark: mark.clone(), run: run.to_owned(), event, proved_at: Utc::now() };
            is_news |= shared.lab.control().await?.keep_proof(learner, &row).await?;
            proved.insert(mark);
        }
        if let Some(miss) = seen.misses {
            misses.insert(task.id.to_owned(), miss.to_owned());
        }
    }
    // What a learner asks for beyond the script is answered to them at once.
    let script = record.broken_off.as_ref().filter(|(step, _)| *step as usize <= steps);
    let said = script.map(|(_, why)| {
        format!("The script could not go on: {why}. Nothing is proved by this run; open the stage from its beginning.")
    });
    shared.note(learner, step.number, Latest { misses, said }, is_news);
    Ok(())
}
