//! What strangers send to the grader: each submission ends soon with a clear result, the next one works, and no
//! process, file or folder is left.

mod common;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{data_dir, lab, processes_of};
use locks::homework::{Exercise, Graded, exercise};
use serde::Deserialize;
use server::homework::grade;
use server::lab::Lab;

/// Each must be over within this.
const LIMIT: Duration = Duration::from_secs(4);
/// What one of them would make, if it could.
const MADE: &str = "/tmp/aegis-hostile";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    sql: Vec<Hostile>,
    lua: Vec<Hostile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hostile {
    name: String,
    text: String,
    is: String,
    code: Option<String>,
}

fn suite() -> Suite {
    toml::from_str(include_str!("../homework/hostile.toml")).unwrap()
}

/// Grade all of them; what is not as it must be.
async fn all(
    lab: &Arc<Lab>,
    folder: &Path,
    exercise: &'static Exercise,
    suite: Vec<(String, Vec<u8>, String, Option<String>)>,
) -> Vec<String> {
    let mut told = Vec::new();
    // Whatever takes time once is over.
    let model = grade(lab, exercise, exercise.model.as_bytes()).await;
    assert!(model.is_passed(), "{model:?}");
    let before: Vec<u32> = processes_of(folder).into_iter().map(|(pid, _)| pid).collect();
    for (name, text, is, code) in suite {
        let began = Instant::now();
        let graded = grade(lab, exercise, &text).await;
        let took = began.elapsed();
        let (was, found) = match &graded {
            Graded::Passed { .. } => ("passed", None),
            Graded::Failed(failure) => ("failed", Some(failure.reason.clone())),
            Graded::YourError(mistake) => ("error", mistake.code.clone()),
            Graded::LabFailed { .. } => ("the lab failed", None),
        };
        let shown = format!("{graded:?}");
        let shown: String = shown.chars().take(400).collect();
        if was != is || (code.is_some() && found != code) {
            told.push(format!("{name}: {was} and not {is} {code:?}: {shown}"));
        }
        if took > LIMIT {
            told.push(format!("{name}: took {took:?}: {shown}"));
        }
        let left: Vec<_> = processes_of(folder).into_iter().filter(|(pid, _)| !before.contains(pid)).collect();
        if !left.is_empty() {
            told.push(format!("{name}: left {left:?}"));
        }
    }
    let model = grade(lab, exercise, exercise.model.as_bytes()).await;
    assert!(model.is_passed(), "{model:?}");
    assert!(!Path::new(MADE).exists());
    told
}

fn of(hostile: Vec<Hostile>) -> Vec<(String, Vec<u8>, String, Option<String>)> {
    let mut suite: Vec<_> =
        hostile.into_iter().map(|one| (one.name, one.text.into_bytes(), one.is, one.code)).collect();
    let refused = |name: &str, bytes: Vec<u8>| (name.to_owned(), bytes, "error".to_owned(), None);
    suite.push(refused("the byte 0", b"select 1\0; drop table lease".to_vec()));
    suite.push(refused("no text", b"return '\xff\xfe'".to_vec()));
    suite.push(refused("nothing", Vec::new()));
    suite.push(refused("blanks", b" \n".to_vec()));
    suite.push(refused("two megabytes", vec![b' '; 2_000_000]));
    suite
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_statements() {
    let folder = data_dir();
    let lab = lab(folder.path()).await;
    let mut suite = of(suite().sql);
    let deep = format!("select {}1{}, 1", "(".repeat(7900), ")".repeat(7900));
    suite.push(("parentheses".to_owned(), deep.into_bytes(), "failed".to_owned(), None));
    let told = all(&lab, folder.path(), exercise("lease").unwrap(), suite).await;
    lab.close().await;
    assert!(told.is_empty(), "{}", told.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_scripts() {
    let folder = data_dir();
    let lab = lab(folder.path()).await;
    let told = all(&lab, folder.path(), exercise("release").unwrap(), of(suite().lua)).await;
    lab.close().await;
    assert!(told.is_empty(), "{}", told.join("\n"));
}
