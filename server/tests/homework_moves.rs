//! Exercise 7: moves are played on a real lab, and every answer that is known comes to what it should.

mod common;

use common::{data_dir, lab};
use futures_util::{StreamExt, stream};
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
    let (lab, exercise) = (&lab, exercise);
    let grade = move |text: String| async move {
        let graded = server::homework::grade(lab, exercise, text.as_bytes()).await;
        (text, graded)
    };

    let right = [
        (break_it::EXERCISE.model.to_owned(), 9),
        (with(Some(r#""A until effect", "pause A", "elapse", "B done", "resume A", "A done""#), None), 11),
        (with(None, Some(r#""A until effect", "jump 1", "jump 2", "jump 3", "B done", "A done""#)), 10),
        (with(None, Some(r#""hold A 4 5", "A until effect", "jump 2", "B done", "A done""#)), 9),
    ];
    let wrong = [
        (Some(r#""A done", "B done""#), None, "nothing stale"),
        (Some(r#""A until leave", "elapse", "B done""#), None, "nothing stale"),
        (Some(r#""A until effect", "elapse", "B done""#), None, "one effect"),
        (Some(r#""A until effect", "B done", "A done""#), None, "one effect"),
        (None, Some(r#""A until effect", "jump 3", "B done", "A done""#), "one effect"),
        (None, Some(r#""hold A 1 2 3", "A until effect", "B done", "A done""#), "a move did not end"),
    ];
    // Two at a time, as a lab grades them.
    let right = stream::iter(right).map(|(text, score)| async move { (score, grade(text).await) });
    let right: Vec<_> = right.buffer_unordered(2).collect().await;
    let wrong =
        stream::iter(wrong).map(|(part1, part2, reason)| async move { (reason, grade(with(part1, part2)).await) });
    let wrong: Vec<_> = wrong.buffer_unordered(2).collect().await;
    let (_, other_reason) = grade(with(None, None).replace("lock-row", "written")).await;
    lab.close().await;

    for (score, (text, graded)) in right {
        match graded {
            Graded::Passed { score: Some(found), .. } => assert_eq!(found, score, "{text}"),
            other => panic!("{text}\n{other:?}"),
        }
    }
    for (reason, (text, graded)) in wrong {
        match graded {
            Graded::Failed(failure) => {
                assert_eq!(failure.reason, reason, "{text}\n{}", failure.observed);
                assert!(failure.at > 0 && !failure.evidence.is_empty(), "a run that opens at an event");
            }
            other => panic!("{text}\n{other:?}"),
        }
    }
    match other_reason {
        Graded::Failed(failure) => assert_eq!((&*failure.reason, &*failure.schedule), ("another reason", "3")),
        other => panic!("{other:?}"),
    }
}
