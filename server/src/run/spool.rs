//! The log of a live session on disk while it goes on: one file a segment, appended ten times a second, so
//! that a crash loses at most that. A file that is there when the lab starts is a run that was
//! interrupted; it is closed as such and handed to whoever stores runs.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use locks::event::{EndReason, Event, Kind, Source};
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::log::{Log, RunId};

/// How often the file is appended.
const EVERY: Duration = Duration::from_millis(100);

/// The file's first line.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    owner: String,
}

/// Appends one log to its file. Dropping it stops the appending and leaves the file.
pub struct Spool {
    path: PathBuf,
    task: JoinHandle<()>,
}

impl Spool {
    /// Begin the file of a run in `folder`, which is made if it is missing.
    pub fn begin(folder: &Path, id: &RunId, owner: &str, log: Arc<Log>) -> io::Result<Spool> {
        fs::create_dir_all(folder)?;
        let path = folder.join(format!("{id}.jsonl"));
        let mut file = fs::File::create(&path)?;
        let mut header = serde_json::to_vec(&Header { owner: owner.to_owned() })?;
        header.push(b'\n');
        file.write_all(&header)?;
        Ok(Spool { path, task: tokio::spawn(append(file, log)) })
    }

    /// The run is stored elsewhere: the file is needed no more.
    pub fn discard(self) {
        self.task.abort();
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "a run's file could not be removed");
        }
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Append what is new, until the log has ended.
async fn append(mut file: fs::File, log: Arc<Log>) {
    let mut written = 0;
    loop {
        let ended = log.is_ended();
        let events = log.after(written);
        if let Some(last) = events.last() {
            written = last.seq;
            match tokio::task::spawn_blocking(move || file.write_all(&lines(&events)?).map(|()| file)).await {
                Ok(Ok(same)) => file = same,
                Ok(Err(error)) => return tracing::error!(%error, "a run's log cannot be written to disk"),
                Err(_) => return,
            }
        }
        if ended {
            return;
        }
        sleep(EVERY).await;
    }
}

/// Events as one JSON object a line.
pub fn lines(events: &[Arc<Event>]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    for event in events {
        serde_json::to_writer(&mut text, event)?;
        text.push(b'\n');
    }
    Ok(text)
}

/// A run that was going on when the lab ended.
pub struct Interrupted {
    /// Whose it was.
    pub owner: String,
    /// Its log, closed.
    pub events: Vec<Arc<Event>>,
    path: PathBuf,
}

impl Interrupted {
    /// It is stored elsewhere: the file is needed no more.
    pub fn discard(self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "a run's file could not be removed");
        }
    }
}

/// The runs that were interrupted. A file that nothing can be made of is set aside, not lost.
pub fn interrupted(folder: &Path) -> io::Result<Vec<Interrupted>> {
    let mut found = Vec::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        match close(&fs::read(&path)?) {
            Some((owner, events)) => found.push(Interrupted { owner, events, path }),
            None => {
                tracing::warn!(path = %path.display(), "no run can be read from this file; it is set aside");
                fs::rename(&path, path.with_extension("unreadable"))?;
            }
        }
    }
    Ok(found)
}

/// Read as far as lines are whole and in order, and end with `ended`.
fn close(text: &[u8]) -> Option<(String, Vec<Arc<Event>>)> {
    let mut lines = text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let header: Header = serde_json::from_slice(lines.next()?).ok()?;
    let mut events: Vec<Arc<Event>> = Vec::new();
    for line in lines {
        match serde_json::from_slice::<Event>(line) {
            Ok(event) if event.seq == events.len() as u64 + 1 => events.push(Arc::new(event)),
            _ => break,
        }
    }
    let last = events.last()?;
    if !matches!(last.kind, Kind::Ended { .. }) {
        let at_us = events.iter().map(|event| event.until_us.unwrap_or(event.at_us)).max()?;
        let kind = Kind::Ended { why: EndReason::Interrupted };
        events.push(Arc::new(Event { seq: last.seq + 1, at_us, until_us: None, source: Source::Runner, kind }));
    }
    Some((header.owner, events))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::log::Recorder;

    #[tokio::test]
    async fn a_crash_loses_the_last_moment_only_and_the_run_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let recorder = Recorder::default();
        (0..10).for_each(|_| assert!(recorder.note(Kind::Ready).is_some()));
        let spool = Spool::begin(folder.path(), &"f".repeat(32), "learner", recorder.log()).unwrap();
        let path = spool.path.clone();
        let whole = lines(&recorder.log().after(0)).unwrap();
        let written = async {
            while fs::metadata(&path).unwrap().len() < whole.len() as u64 {
                sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(5), written).await.unwrap();
        drop(spool);
        let mut cut = fs::read(&path).unwrap();
        cut.extend_from_slice(br#"{"seq":11,"at_us":"#);
        fs::write(&path, cut).unwrap();

        let mut found = interrupted(folder.path()).unwrap();
        let run = found.pop().unwrap();
        assert_eq!((run.owner.as_str(), run.events.len()), ("learner", 11));
        assert_eq!(run.events[10].kind, Kind::Ended { why: EndReason::Interrupted });
        run.discard();
        assert!(interrupted(folder.path()).unwrap().is_empty());
    }

    #[test]
    fn a_file_that_is_no_run_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("x.jsonl"), "nonsense\n").unwrap();
        assert!(interrupted(folder.path()).unwrap().is_empty());
        assert!(folder.path().join("x.unreadable").exists());
    }
}
