//! What was handed in is kept: drafts, submissions with their results, and the log of a failure as a run.

mod common;

use app::stage::Stage;
use common::{data_dir, lab};
use locks::homework::{Graded, exercise};
use server::homework::{grade, keep};
use server::run::shelf::Shelf;

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_a_run_that_can_be_opened_at_its_event() {
    let folder = data_dir();
    let lab = lab(folder.path()).await;
    let (shelf, exercise) = (Shelf::new(lab.clone()), exercise("release").unwrap());
    let graded = grade(&lab, exercise, exercise.starter.as_bytes()).await;
    let (id, kept) = keep(&lab, &shelf, "ann", exercise, exercise.starter, graded).await.unwrap();
    let Graded::Failed(failure) = &kept else { panic!("{kept:?}") };
    let run = failure.run.clone().unwrap();
    assert!(failure.evidence.is_empty());
    let log = shelf.log(&run).await.unwrap();
    assert!(log.is_ended() && failure.at < log.newest());
    // It is shown by the same fold as every run.
    let stage = Stage::of(log.after(0).iter().map(|event| &**event));
    assert_eq!((stage.trouble.map(|(seq, _)| seq), stage.replicas.len()), (Some(failure.at), 3));
    assert_eq!(stage.wire.rows.len(), 1, "what A sent");
    let tag = format!("homework/release/{}", failure.schedule);
    let stored = lab.control().await.unwrap().load_run(&run).await.unwrap().unwrap();
    assert_eq!((stored.tag, stored.owner), (Some(tag), Some("ann".to_owned())));
    assert_eq!(shelf.list("ann").await.unwrap()[0].counted, None, "nobody entered: no overlaps is no praise");

    let control = lab.control().await.unwrap();
    assert_eq!(control.submission("ann", id).await.unwrap().unwrap().graded, kept);
    assert!(control.submission("bob", id).await.unwrap().is_none(), "another's");
    // A run may be deleted; the result stays.
    shelf.delete("ann", &run).await.unwrap();
    let Graded::Failed(failure) = control.submission("ann", id).await.unwrap().unwrap().graded else { panic!() };
    assert_eq!((failure.run, failure.schedule.as_str()), (None, "3"));
    lab.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_best_answer_is_the_first_of_the_least_score() {
    let folder = data_dir();
    let lab = lab(folder.path()).await;
    let control = lab.control().await.unwrap();
    control.save_draft("ann", "break", "one").await.unwrap();
    control.save_draft("ann", "break", "two\0").await.unwrap();
    assert_eq!(control.draft("ann", "break").await.unwrap().unwrap().text, "two\u{fffd}");
    assert!(control.draft("ann", "keep").await.unwrap().is_none());
    let passed = |score| Graded::Passed { schedules: 3, score: Some(score), said: None };
    for (text, graded) in [
        ("a", Graded::mistake("of a byte \0")),
        ("b", passed(6)),
        ("c", passed(4)),
        ("d", passed(4)),
        ("e", Graded::LabFailed { why: "no Redis".to_owned() }),
    ] {
        control.keep_submission("ann", "break", text, graded, None).await.unwrap();
    }
    let standing = control.homework("ann").await.unwrap();
    assert_eq!(standing.len(), 1);
    assert_eq!((standing[0].submissions, standing[0].best, standing[0].score), (5, Some(3), Some(4)));
    assert_eq!(standing[0].schedules, Some(3));
    assert_eq!(standing[0].attempts, 4, "what the lab failed at does not count");
    assert!(standing[0].passed_at.is_some());
    let latest = control.submissions("ann", "break", 2).await.unwrap();
    assert_eq!(latest.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), ["e", "d"]);
    assert_eq!(control.homework("bob").await.unwrap(), []);
    lab.close().await;
}
