//! The rules of `pg-row-lock`, each as one walk, and what its mutants do differently.

use super::*;
use crate::guard::Guard;
use crate::ids::SinkName;
use crate::strategy::pg_row_lock::{PgRowLock, Store};

fn walk(change: impl FnOnce(&mut Setup), mutant: Option<&'static str>) -> Walk<PgRowLock> {
    let mut setup = Setup { strategy: "pg-row-lock".into(), ..Setup::default() };
    change(&mut setup);
    Walk::new(&setup, mutant)
}

fn ledger(setup: &mut Setup) {
    setup.sink = SinkName::Ledger;
}

const LOST: Input = Input::SessionLost { session: Session("lock") };

/// Ensured, begun, locked, entered.
fn inside(w: &mut Walk<PgRowLock>) {
    w.due();
    w.reply(rows(1));
    w.reply(rows(0));
    w.reply(rows(1));
    w.entered();
    assert_eq!(w.strategy.state(), "working");
}

fn sending(w: &mut Walk<PgRowLock>) {
    inside(w);
    w.work_ended(WorkEnd::Done);
    w.effect_sent();
}

#[test]
fn the_row_first_then_the_lock_and_its_commit_is_the_release() {
    let mut w = walk(|_| (), None);
    assert_eq!(short(&w.due()), ["send ensure"]);
    assert_eq!(short(&w.reply(rows(1))), ["send begin"]);
    assert_eq!(short(&w.reply(rows(0))), ["send acquire"]);
    assert_eq!(short(&w.reply(rows(1))), ["enter until 9950"], "three leases");
    w.entered();
    assert_eq!(short(&w.work_ended(WorkEnd::Done)), ["effect until 9950"]);
    w.effect_sent();
    assert_eq!(short(&w.answered(EffectAnswer::Accepted)), ["leave until 9950: effect accepted"]);
    assert_eq!(short(&w.left()), ["send release"]);
    assert_eq!(w.last_text().text, "commit");
    assert_eq!(short(&w.reply(rows(0))), ["executed: effect accepted"]);
    assert_eq!(short(&w.due()), ["send begin"], "the row is there");
}

#[test]
fn c37_no_row_is_no_lock() {
    let mut w = walk(|_| (), None);
    w.due();
    w.reply(rows(1));
    w.reply(rows(0));
    assert_eq!(short(&w.reply(rows(0))), ["send rollback"]);
    assert_eq!(short(&w.reply(rows(0))), ["skipped: no row"]);
    assert_eq!(short(&w.due()), ["send ensure"], "it makes it again");
    let mut w = walk(|_| (), Some("no-row"));
    assert_eq!(short(&w.due()), ["send begin"]);
    w.reply(rows(0));
    assert_eq!(short(&w.reply(rows(0))), ["enter until 9950"]);
}

#[test]
fn c39_a_lost_race_is_rolled_back_and_the_next_slot_is_run() {
    let mut w = walk(|_| (), None);
    w.due();
    w.reply(rows(1));
    w.reply(rows(0));
    assert_eq!(short(&w.reply(Reply::Busy)), ["send rollback"]);
    assert_eq!(short(&w.reply(rows(0))), ["skipped: busy"]);
    assert_eq!(short(&w.due()), ["send begin"]);
    let mut w = walk(|_| (), Some("unhandled-error"));
    w.due();
    w.reply(rows(1));
    w.reply(rows(0));
    w.reply(Reply::Busy);
    assert_eq!(short(&w.due()), ["skipped: the loop is dead"]);
}

#[test]
fn c39_a_serialisation_failure_of_ensuring_says_that_the_row_is_there() {
    let mut w = walk(|_| (), None);
    w.due();
    assert_eq!(short(&w.reply(Reply::Busy)), ["send begin"]);
}

#[test]
fn who_waits_in_the_store_asks_once_more_whether_the_lock_is_still_there() {
    let mut w = walk(|setup| setup.acquire_timeout_ms = 20_000, None);
    w.due();
    w.reply(rows(1));
    w.reply(rows(0));
    assert!(!w.last_text().text.contains("nowait"));
    assert_eq!(short(&w.at(15_000).reply(rows(1))), ["send confirm"]);
    assert_eq!(short(&w.at(15_010).reply(rows(1))), ["enter until 23950"], "counted from when that was sent");
}

#[test]
fn a_grant_without_an_answer_ends_with_its_connection() {
    let mut w = walk(|_| (), None);
    w.due();
    w.reply(rows(1));
    w.reply(rows(0));
    assert_eq!(short(&w.reply(Reply::Unknown)), ["discard", "skipped: no answer"]);
}

#[test]
fn a_lock_on_a_lost_session_is_no_lock() {
    let mut w = walk(|_| (), None);
    w.due();
    w.reply(rows(1));
    w.reply(rows(0));
    w.feed(LOST);
    assert_eq!(short(&w.reply(rows(1))), ["skipped: session lost, and the lock with it"]);
    let mut w = walk(|_| (), None);
    inside(&mut w);
    assert_eq!(short(&w.feed(LOST)), ["stop"]);
    assert_eq!(short(&w.work_ended(WorkEnd::Stopped)), ["leave at once: session lost, and the lock with it"]);
    assert_eq!(short(&w.left()), ["lost: session lost, and the lock with it"], "there is nothing to release");
}

#[test]
fn in_the_ledger_the_effect_is_in_the_locks_own_transaction_and_the_commit_decides() {
    let mut w = walk(ledger, None);
    inside(&mut w);
    match &w.work_ended(WorkEnd::Done)[..] {
        [Output::Effect { within, .. }] => assert_eq!(*within, Some(Session("lock"))),
        other => panic!("{other:?}"),
    }
    let ends = [
        (rows(0), vec!["executed: effect accepted"]),
        (Reply::Unknown, vec!["discard", "failed: commit unanswered"]),
        (Reply::NotSent, vec!["failed: not committed"]),
    ];
    for (reply, end) in ends {
        let mut w = walk(ledger, None);
        sending(&mut w);
        w.answered(EffectAnswer::Accepted);
        assert_eq!(short(&w.left()), ["send release"]);
        assert_eq!(w.last_text().text, "commit");
        assert_eq!(short(&w.reply(reply)), end);
    }
    // Lost at gate `release`: the commit finds a new connection, and nothing to commit.
    let mut w = walk(ledger, None);
    sending(&mut w);
    w.answered(EffectAnswer::Accepted);
    w.left();
    w.feed(LOST);
    assert_eq!(short(&w.reply(rows(0))), ["failed: not committed"]);
}

#[test]
fn a_rejection_in_the_locks_own_transaction_rolls_it_back() {
    let mut w = walk(ledger, None);
    sending(&mut w);
    w.answered(EffectAnswer::Rejected(Guard::UniqueSlot));
    assert_eq!(short(&w.left()), ["send release"]);
    assert_eq!(w.last_text().text, "rollback");
    assert_eq!(short(&w.reply(rows(0))), ["failed: effect rejected"]);
}

#[test]
fn a_transaction_is_not_ended_under_the_effect_that_it_carries() {
    let mut w = walk(ledger, None);
    sending(&mut w);
    assert_eq!(short(&w.at(9950).tick()), ["leave at once: grant over"]);
    assert!(w.left().is_empty());
    assert_eq!(short(&w.answered(EffectAnswer::Accepted)), ["send release"]);
    assert_eq!(short(&w.reply(rows(0))), ["executed: effect accepted"]);
    let mut w = walk(ledger, None);
    sending(&mut w);
    w.at(9950).tick();
    w.left();
    let unknown = short(&w.answered(EffectAnswer::Unknown));
    assert_eq!(unknown, ["discard", "failed: effect unanswered"], "closing it undoes what it may have written");
}

#[test]
fn an_epoch_is_minted_before_and_published_behind_the_lock_on_a_session_of_its_own() {
    let mut w = walk(|setup| setup.guard = vec![Guard::CurrentEpoch], None);
    assert_eq!(w.strategy.sessions().len(), 2);
    assert_eq!(short(&w.due()), ["send mint"]);
    assert_eq!(short(&w.reply(granted(7))), ["send ensure"]);
    w.reply(rows(1));
    w.reply(rows(0));
    match &w.reply(rows(1))[..] {
        [Output::Send { op, session, .. }] => {
            assert_eq!(op.wire().name, "publish");
            assert_eq!(*session, Session("epochs"));
        }
        other => panic!("{other:?}"),
    }
    match &w.reply(rows(1))[..] {
        [Output::Enter { epoch, .. }] => assert_eq!(*epoch, Some(7)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn c36_the_bound_is_set_shown_and_kept() {
    let settings = |mutant| {
        let w = walk(|setup| setup.lease_ms = 1000, mutant);
        let settings = w.strategy.sessions().remove(0).settings;
        settings.into_iter().find(|(name, _)| *name == "idle_in_transaction_session_timeout").unwrap().1
    };
    assert_eq!(settings(None), "3000ms");
    assert_eq!(settings(Some("no-bound")), "0");
    let mut w = walk(|_| (), Some("no-bound"));
    inside(&mut w);
    assert_eq!(w.strategy.next_timer(), None, "it trusts its lock for ever");
}

#[test]
fn cancelling_ends_the_wait_in_the_store() {
    let mut w = walk(|setup| setup.acquire_timeout_ms = 20_000, None);
    w.due();
    w.reply(rows(1));
    w.reply(rows(0));
    assert_eq!(short(&w.cancel()), ["discard"]);
    assert_eq!(short(&w.reply(Reply::Unknown)), ["discard", "skipped: cancelled"]);
}

#[test]
fn on_the_model_one_holds_and_the_bound_lets_go() {
    let commands = |host: &str| {
        let mut w = Walk::<PgRowLock> {
            strategy: PgRowLock::new(&Setup { lease_ms: 1000, ..Setup::default() }, None, host),
            now: At(1000),
            moves: Moves::new(),
            sent: Vec::new(),
            attempts: 0,
        };
        inside(&mut w);
        w.sent.into_iter().map(|(_, _, op)| op).collect::<Vec<_>>()
    };
    let (a, b) = (commands("a"), commands("b"));
    let mut store = Store::default();
    for ask in &a {
        ask.apply(&mut store, At(0));
    }
    b[0].apply(&mut store, At(2999));
    b[1].apply(&mut store, At(2999));
    assert_eq!(b[2].apply(&mut store, At(2999)), Reply::Busy);
    store.open.remove("b");
    b[1].apply(&mut store, At(3000));
    assert!(matches!(b[2].apply(&mut store, At(3000)), Reply::Rows { affected: 1, .. }));
}
