//! What the README says of its own example is so.

mod common;

use locks::guard::Guard;
use locks::scenario::Scenario;
use server::run::runner::{Outcome, run};

/// The example, as somebody would copy it.
fn example() -> Scenario {
    let readme = include_str!("../../README.md");
    let lines = readme.lines().skip_while(|line| !line.starts_with("    name = "));
    let block: Vec<&str> = lines.take_while(|line| line.is_empty() || line.starts_with("    ")).collect();
    Scenario::parse(&block.join("\n")).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

#[tokio::test]
async fn its_example_holds_with_the_guard_and_fails_without() {
    let data = common::data_dir();
    let lab = common::lab(data.path()).await;
    let guarded = example();
    assert_eq!(guarded.setup.guard, [Guard::CurrentEpoch]);
    let finished = run(&lab, &guarded, None).await;
    assert_eq!(finished.outcome, Outcome::Held, "{:#?}", finished.checks);
    let mut open = guarded.clone();
    open.setup.guard.clear();
    assert_eq!(run(&lab, &open, None).await.outcome, Outcome::Failed);
    lab.close().await;
}
