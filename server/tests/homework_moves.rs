//! Exercise 7: moves are played on a real lab, and every answer that is known comes to what it should.

mod common;

use common::{data_dir, lab};
use locks::homework::{Graded, break_it, exercise};

/// The model with the moves of its parts exchanged.
fn with(part1: Option<&str>, part2: Option<&str>) -> String {
    let part1 = part1.unwrap_or(r#""A until effect", "elapse", "B done", "A done""#);
    let part2 = part2.unwrap_or(r#""hold A 1 2", "A until effect", "jump 3", "B done", "A done""#);
    format!("[part1]\nmoves = [{part1}]\n[part2]\nmoves = [{part2}]\n[part3]\nbecause = \"lock-row\"\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_known_answer_comes_to_what_it_should() {
    let data = data_dir();
    let lab = lab(data.path()).await;
    let exercise = exercise("break").unwrap();
    let grade = async |text: String| server::homework::grade(&lab, exercise, text.as_bytes()).await;

    for (text, score) in [
        (break_it::EXERCISE.model.to_owned(), 9),
        (with(Some(r#""A until effect", "pause A", "elapse", "B done", "resume A", "A done""#), None), 11),
        (with(None, Some(r#""A until effect", "jump 1", "jump 2", "jump 3", "B done", "A done""#)), 10),
        (with(None, Some(r#""hold A 4 5", "A until effect", "jump 2", "B done", "A done""#)), 9),
    ] {
        match grade(text.clone()).await {
            Graded::Passed { score: Some(found), .. } => assert_eq!(found, score, "{text}"),
            other => panic!("{text}\n{other:?}"),
        }
    }
    for (part1, part2, reason) in [
        (Some(r#""A done", "B done""#), None, "nothing stale"),
        (Some(r#""A until leave", "elapse", "B done""#), None, "nothing stale"),
        (Some(r#""A until effect", "elapse", "B done""#), None, "one effect"),
        (Some(r#""A until effect", "B done", "A done""#), None, "one effect"),
        (None, Some(r#""A until effect", "jump 3", "B done", "A done""#), "one effect"),
        (None, Some(r#""hold A 1 2 3", "A until effect", "B done", "A done""#), "a move did not end"),
    ] {
        let text = with(part1, part2);
        match grade(text.clone()).await {
            Graded::Failed(failure) => {
                assert_eq!(failure.reason, reason, "{text}\n{}", failure.observed);
                assert!(failure.at > 0 && !failure.evidence.is_empty(), "a run that opens at an event");
            }
            other => panic!("{text}\n{other:?}"),
        }
    }
    match grade(with(None, None).replace("lock-row", "written")).await {
        Graded::Failed(failure) => assert_eq!((&*failure.reason, &*failure.schedule), ("another reason", "3")),
        other => panic!("{other:?}"),
    }
    lab.close().await;
}
