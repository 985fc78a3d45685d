//! The whole lesson: every task of every step, with wrong guesses and wrong moves among them, and each page loaded
//! anew in the middle of it. It is one script over a hand, walked by mouse and by keyboard alone. Several learners
//! walk at once, each in a browser of their own, on one lab: what one does must not show on another's page, and
//! nobody waits for another's leases.

mod costs;
mod doubts;
mod illusion;
mod locks;

use crate::common::served::Served;
use crate::hand::Hand;
use crate::learner::Learner;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn every_task_by_mouse() {
    walk(Hand::Mouse).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn every_task_by_keyboard_alone() {
    walk(Hand::Keyboard).await;
}

async fn walk(hand: Hand) {
    let lab = Served::start();
    let lab = &lab;
    // Each of them begins where a stage waits longest: five kills, four stale effects, three leases, three slots.
    tokio::join!(
        of(hand, async |one| {
            doubts::tests(one, lab).await;
            illusion::tick_to_release(one, lab).await;
        }),
        of(hand, async |one| {
            illusion::one_replica_too_many(one, lab).await;
            illusion::boundaries(one, lab).await;
            illusion::data_flow(one, lab).await;
        }),
        of(hand, async |one| {
            locks::states(one, lab).await;
            locks::strategies(one, lab).await;
        }),
        of(hand, async |one| {
            costs::matrix(one, lab).await;
            costs::guards(one, lab).await;
        }),
    );
}

/// A learner, from the first page to the last.
async fn of(hand: Hand, walks: impl AsyncFnOnce(&Learner)) {
    let learner = Learner::open(hand, 1440, 900).await;
    walks(&learner).await;
    learner.close().await;
}
