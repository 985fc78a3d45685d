//! Exercise 8: every story's faults are played on a real lab, and every answer that is known comes to what it should.

mod common;

use common::{data_dir, lab};
use futures_util::{StreamExt, stream};
use locks::homework::{Graded, choose, exercise};

/// The model with one story's choice exchanged.
fn with(story: usize, strategy: &str, guard: &str, lease_ms: u64, renew: bool) -> String {
    let head = format!("[story{story}]\n");
    let (before, rest) = choose::EXERCISE.model.split_once(&head).unwrap();
    let after = rest.split_once("\n\n").map_or("", |(_, after)| after);
    let own = format!("strategy = \"{strategy}\"\nguard = \"{guard}\"\nlease_ms = {lease_ms}\nrenew = {renew}\n");
    format!("{before}{head}{own}\n{after}")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_passes_and_known_wrong_choices_fail_for_their_reason() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let exercise = exercise("choose").unwrap();
    let lab = &lab;
    let grade = async |text: String| server::homework::grade(lab, exercise, text.as_bytes()).await;
    let passed = grade(choose::EXERCISE.model.to_owned()).await;
    assert!(passed.is_passed(), "{passed:?}");
    let wrong = [
        (1, "redlock", "none", 1500, false, "load"),
        (1, "redis-set-nx", "none", 5000, false, "takeover"),
        (1, "pg-lease", "none", 1500, false, "not there"),
        (2, "pg-lease", "none", 1500, false, "stale effect"),
        (2, "pg-lease", "max-seen", 1500, false, "stale effect"),
        (3, "pg-lease", "current-epoch", 1500, false, "two effects"),
        (4, "pg-lease", "none", 1500, false, "overlap"),
        (5, "pg-lease", "unique-slot", 1500, false, "too slow"),
        (6, "redis-set-nx", "none", 5000, false, "overlap"),
    ];
    // Two at a time, as a lab grades them.
    let graded = stream::iter(wrong).map(|(story, strategy, guard, lease_ms, renew, reason)| {
        let text = with(story, strategy, guard, lease_ms, renew);
        async move { (story.to_string(), reason, grade(text.clone()).await, text) }
    });
    let graded: Vec<_> = graded.buffer_unordered(2).collect().await;
    lab.close().await;
    for (story, reason, graded, text) in graded {
        match graded {
            Graded::Failed(failure) => {
                assert_eq!((&*failure.reason, &*failure.schedule), (reason, &*story), "{}", failure.observed);
            }
            other => panic!("{text}\n{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_out_that_fails_is_shown_on_five_real_nodes() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let exercise = exercise("redlock").unwrap();
    for (timeout_ms, reason) in [(1500, "nothing left"), (20, "live nodes given up")] {
        let text = locks::homework::redlock::EXERCISE.model.replace("= 100", &format!("= {timeout_ms}"));
        match server::homework::grade(&lab, exercise, text.as_bytes()).await {
            Graded::Failed(failure) => {
                assert_eq!(failure.reason, reason);
                assert!(failure.at > 0 && !failure.evidence.is_empty(), "a run that shows it");
            }
            other => panic!("{text}\n{other:?}"),
        }
    }
    lab.close().await;
}
