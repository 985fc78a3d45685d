//! Every exercise's own answer passes twenty times out of twenty. It takes a quarter of an hour, so it is run by hand:
//! `cargo test -p server --test homework_twenty -- --ignored --nocapture`.

// Its figures are what it is for.
#![allow(clippy::print_stdout)]

mod common;

use std::time::Instant;

use common::{data_dir, lab};
use locks::homework::EXERCISES;
use server::homework::grade;

const TIMES: usize = 20;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes a quarter of an hour"]
async fn every_answer_of_ours_passes_twenty_times() {
    let folder = data_dir();
    let lab = lab(folder.path()).await;
    let mut told = Vec::new();
    for exercise in EXERCISES {
        let (mut passed, began) = (0, Instant::now());
        for time in 1..=TIMES {
            let graded = grade(&lab, exercise, exercise.model.as_bytes()).await;
            passed += usize::from(graded.is_passed());
            if !graded.is_passed() {
                told.push(format!("{}, time {time}: {graded:?}", exercise.slug));
            }
        }
        println!("{}: {passed} of {TIMES}, in {} s", exercise.slug, began.elapsed().as_secs());
    }
    lab.close().await;
    assert!(told.is_empty(), "{}", told.join("\n"));
}
