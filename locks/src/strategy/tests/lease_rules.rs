//! Each rule of leases, as one walk of `pg-lease`.

use super::*;
use crate::setup::Handler;
use crate::strategy::pg_lease::PgLease;

fn walk() -> Walk<PgLease> {
    Walk::new(&setup(), None)
}

fn walk_with(change: impl FnOnce(&mut Setup)) -> Walk<PgLease> {
    let mut setup = setup();
    change(&mut setup);
    Walk::new(&setup, None)
}

#[test]
fn an_undisturbed_attempt_asks_enters_sends_leaves_and_releases() {
    let mut w = walk();
    assert_eq!(short(&w.due()), ["send acquire"]);
    w.at(1020);
    assert_eq!(short(&w.reply(granted(7))), ["enter until 3950"], "counted from when it was sent");
    assert!(w.entered().is_empty());
    assert_eq!(short(&w.work_ended(WorkEnd::Done)), ["effect until 3950"]);
    assert!(w.effect_sent().is_empty());
    assert_eq!(short(&w.answered(EffectAnswer::Accepted)), ["leave until 3950: effect accepted"]);
    assert_eq!(short(&w.left()), ["send release"]);
    assert_eq!(short(&w.reply(rows(1))), ["executed: effect accepted"]);
    assert_eq!(w.strategy.state(), "idle");
    assert_eq!(w.strategy.next_timer(), None);
}

#[test]
fn the_grant_carries_token_epoch_and_node() {
    let mut w = walk();
    w.due();
    match &w.reply(granted(7))[..] {
        [Output::Enter { token, epoch, nodes, .. }] => {
            assert_eq!(token.as_ref().unwrap().0, "token-1");
            assert_eq!(*epoch, Some(7));
            assert_eq!(nodes[..], [Endpoint::Postgres]);
        }
        other => panic!("{other:?}"),
    }
    w.entered();
    match &w.work_ended(WorkEnd::Done)[..] {
        [Output::Effect { epoch, .. }] => assert_eq!(*epoch, Some(7)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn busy_is_skipped_at_once_when_nobody_waits() {
    for reply in [rows(0), Reply::Busy] {
        let mut w = walk();
        w.due();
        assert_eq!(short(&w.reply(reply)), ["skipped: busy"]);
    }
    let mut w = walk();
    w.due();
    let refused = Reply::Refused { code: "42P01".to_owned(), message: "no such table".to_owned() };
    assert_eq!(short(&w.reply(refused)), ["skipped: the store refused"]);
}

#[test]
fn busy_is_asked_again_with_jitter_and_a_bound() {
    let mut w = walk_with(|s| s.acquire_timeout_ms = 1000);
    w.due();
    let mut pauses = Vec::new();
    let mut end = Vec::new();
    while end.is_empty() {
        end = short(&w.reply(rows(0)));
        if let Some(at) = w.strategy.next_timer() {
            pauses.push(at.0 - w.now.0);
            w.now = at;
            assert_eq!(short(&w.tick()), ["send acquire again"]);
        }
    }
    assert_eq!(end, ["skipped: busy"]);
    assert!((1900..=2000).contains(&w.now.0), "waited until {:?}", w.now);
    assert!(pauses.iter().all(|ms| (50..100).contains(ms)), "{pauses:?}");
    assert!(pauses.windows(2).any(|two| two[0] != two[1]), "no jitter: {pauses:?}");
}

#[test]
fn a_grant_after_waiting_counts_from_the_call_that_was_granted() {
    let mut w = walk_with(|s| s.acquire_timeout_ms = 1000);
    w.due();
    w.reply(rows(0));
    w.at(1200).tick();
    w.at(1210);
    assert_eq!(short(&w.reply(granted(2))), ["enter until 4150"]);
}

#[test]
fn not_sent_is_skipped_without_a_release() {
    let mut w = walk();
    w.due();
    assert_eq!(short(&w.reply(Reply::NotSent)), ["skipped: not sent"]);
}

#[test]
fn no_answer_is_never_a_grant_and_is_released_with_the_same_token() {
    let mut w = walk();
    w.due();
    let asked = w.last_text().params[1].clone();
    w.at(1200);
    assert_eq!(short(&w.reply(Reply::Unknown)), ["discard", "send release"]);
    assert_eq!(w.last_text().params[1], asked);
    w.at(1400);
    assert_eq!(short(&w.reply(Reply::Unknown)), ["discard"]);
    w.now = w.strategy.next_timer().unwrap();
    assert_eq!(short(&w.tick()), ["send release again"]);
    assert_eq!(short(&w.reply(rows(1))), ["skipped: no answer"]);
}

#[test]
fn a_release_is_retried_until_the_lease_is_over_and_no_longer() {
    let mut w = walk();
    w.inside().work_ended(WorkEnd::Failed);
    w.left();
    let mut tries = 1;
    let end = loop {
        let end = short(&w.reply(Reply::NotSent));
        if !end.is_empty() {
            break end;
        }
        w.now = w.strategy.next_timer().unwrap();
        assert!(w.now < At(4000), "retried after the lease's end: {:?}", w.now);
        assert_eq!(short(&w.tick()), ["send release again"]);
        tries += 1;
    };
    assert_eq!(end, ["failed: handler failed"]);
    assert!((3..12).contains(&tries), "{tries} tries: too few, or no growing pauses");
}

#[test]
fn a_renewal_moves_the_point_up_to_which_a_release_is_retried() {
    for reply in [rows(1), Reply::Unknown] {
        let mut w = walk_with(|s| s.renew = true);
        w.inside().at(3000).tick();
        w.reply(reply);
        w.work_ended(WorkEnd::Failed);
        w.left();
        w.at(3500);
        w.reply(Reply::NotSent);
        w.at(5500);
        assert_eq!(short(&w.tick()), ["send release again"], "the renewal may hold until 6000");
        assert_eq!(short(&w.at(6000).reply(Reply::NotSent)), ["failed: handler failed"]);
    }
}

#[test]
fn a_pause_between_release_retries_ends_them_when_the_lease_is_over() {
    let mut w = walk();
    w.inside().work_ended(WorkEnd::Failed);
    w.left();
    w.reply(Reply::Busy);
    assert_eq!(short(&w.at(9000).tick()), ["failed: handler failed"]);
}

#[test]
fn c14_a_release_of_a_lost_lock_says_so_at_once() {
    let mut w = walk();
    w.inside().work_ended(WorkEnd::Done);
    w.effect_sent();
    w.answered(EffectAnswer::Accepted);
    w.at(9000).left();
    assert_eq!(short(&w.reply(rows(0))), ["executed: effect accepted"]);
}

#[test]
fn a_late_grant_is_given_back_and_never_entered() {
    let mut w = walk();
    w.due();
    assert_eq!(short(&w.at(3950).reply(granted(1))), ["send release"]);
    assert_eq!(short(&w.reply(rows(1))), ["skipped: granted too late"]);
    let mut w = walk();
    w.due();
    assert_eq!(short(&w.at(3949).reply(granted(1))), ["enter until 3950"]);
}

#[test]
fn a_grant_that_is_over_behind_gate_enter_is_given_back() {
    let mut w = walk();
    w.due();
    w.reply(granted(1));
    assert_eq!(w.strategy.next_timer(), None, "nothing to do at the deadline before the gate is passed");
    w.at(5000);
    assert_eq!(short(&w.feed(Input::EnterRefused { attempt: attempt(1) })), ["send release"]);
    assert_eq!(short(&w.reply(rows(0))), ["skipped: grant over before entering"]);
}

#[test]
fn the_deadline_stops_a_cooperative_handler_whether_or_not_a_call_is_outstanding() {
    for renewing in [false, true] {
        let mut w = walk_with(|s| s.renew = renewing);
        w.inside();
        if renewing {
            assert_eq!(short(&w.at(2000).tick()), ["send renew"]);
        }
        assert_eq!(w.strategy.next_timer(), Some(At(3950)));
        assert!(w.at(3949).tick().is_empty());
        assert_eq!(short(&w.at(3950).tick()), ["stop"]);
        assert_eq!(short(&w.work_ended(WorkEnd::Stopped)), ["leave at once: grant over"]);
        if renewing {
            assert!(w.left().is_empty(), "two commands on one session");
            assert_eq!(short(&w.reply(Reply::Unknown)), ["discard", "send release"]);
        } else {
            assert_eq!(short(&w.left()), ["send release"]);
        }
        assert_eq!(short(&w.reply(rows(0))), ["lost: grant over"]);
    }
}

#[test]
fn work_that_ends_just_as_it_is_told_to_stop_sends_no_effect() {
    let mut w = walk();
    w.inside().at(3950).tick();
    assert_eq!(short(&w.work_ended(WorkEnd::Done)), ["leave at once: grant over"]);
}

#[test]
fn at_gate_effect_the_deadline_is_not_looked_at_and_behind_it_counts_again() {
    let mut w = walk();
    w.inside().work_ended(WorkEnd::Done);
    assert_eq!(w.strategy.next_timer(), None);
    assert!(w.at(8000).tick().is_empty());
    assert!(w.effect_sent().is_empty());
    assert_eq!(w.strategy.next_timer(), Some(At(3950)), "over already: a tick at once");
    assert_eq!(short(&w.tick()), ["leave at once: grant over"]);
    assert_eq!(short(&w.left()), ["send release"]);
    assert!(w.reply(rows(0)).is_empty(), "the answer is still awaited");
    assert_eq!(w.strategy.state(), "settling");
    assert_eq!(short(&w.answered(EffectAnswer::Accepted)), ["executed: effect accepted"]);
}

#[test]
fn an_effect_refused_by_the_last_check_is_lost() {
    let mut w = walk();
    w.inside().work_ended(WorkEnd::Done);
    w.at(4000);
    assert_eq!(short(&w.feed(Input::EffectRefused { attempt: attempt(1) })), ["leave at once: grant over"]);
    w.left();
    assert_eq!(short(&w.reply(rows(1))), ["lost: grant over"]);
}

#[test]
fn the_answer_decides_wherever_it_arrives() {
    use EffectAnswer::*;
    let failed = [
        (Rejected(crate::guard::Guard::CurrentEpoch), "failed: effect rejected"),
        (GuardUnreachable(crate::guard::Guard::CurrentEpoch), "failed: guard unreachable"),
        (Unknown, "failed: effect unanswered"),
        (Accepted, "executed: effect accepted"),
    ];
    for (answer, end) in failed {
        // In time; between leave and left; while releasing.
        for place in 0..3 {
            let mut w = walk();
            w.inside().work_ended(WorkEnd::Done);
            w.effect_sent();
            if place == 0 {
                w.answered(answer.clone());
                w.left();
            } else {
                w.at(3950).tick();
                if place == 1 {
                    assert!(w.answered(answer.clone()).is_empty());
                }
                w.left();
                if place == 2 {
                    assert!(w.answered(answer.clone()).is_empty());
                }
            }
            assert_eq!(short(&w.reply(rows(1))), [end], "place {place}");
        }
    }
}

#[test]
fn a_stubborn_handler_has_no_deadline_once_inside() {
    let mut w = walk_with(|s| s.handler = Handler::Stubborn);
    w.due();
    assert_eq!(short(&w.reply(granted(1))), ["enter until 3950"], "the check before entering is the replica's");
    w.entered();
    assert_eq!(w.strategy.next_timer(), None);
    assert!(w.at(9000).tick().is_empty());
    assert_eq!(short(&w.work_ended(WorkEnd::Done)), ["effect until ever"]);
    w.effect_sent();
    assert_eq!(w.strategy.next_timer(), None);
    assert_eq!(short(&w.answered(EffectAnswer::Accepted)), ["leave until ever: effect accepted"]);
    w.left();
    assert_eq!(short(&w.reply(rows(0))), ["executed: effect accepted"]);
}

#[test]
fn a_stubborn_handler_goes_on_when_a_renewal_fails() {
    let mut w = walk_with(|s| (s.handler, s.renew) = (Handler::Stubborn, true));
    w.inside().at(2000).tick();
    assert!(w.reply(rows(0)).is_empty());
    assert_eq!(w.strategy.state(), "working");
    assert_eq!(w.strategy.next_timer(), None);
}

#[test]
fn renewals_come_at_a_third_of_the_lease_and_count_from_when_they_were_sent() {
    let mut w = walk_with(|s| s.renew = true);
    w.inside();
    assert_eq!(w.strategy.next_timer(), Some(At(2000)));
    assert_eq!(short(&w.at(2000).tick()), ["send renew"]);
    assert_eq!(short(&w.at(2100).reply(rows(1))), ["extended until 4950"]);
    assert_eq!(w.strategy.next_timer(), Some(At(3000)));
    w.at(2900).work_ended(WorkEnd::Done);
    assert_eq!(short(&w.at(3000).tick()), ["send renew"], "also while it waits at gate effect");
    w.reply(rows(1));
    w.effect_sent();
    assert_eq!(short(&w.answered(EffectAnswer::Accepted)), ["leave until 5950: effect accepted"]);
    assert_eq!(w.strategy.next_timer(), None, "no renewal while leaving");
}

#[test]
fn a_renewal_that_finds_nothing_stops_the_handler() {
    let mut w = walk_with(|s| s.renew = true);
    w.inside().at(2000).tick();
    assert_eq!(short(&w.reply(rows(0))), ["stop"]);
    assert_eq!(short(&w.work_ended(WorkEnd::Stopped)), ["leave at once: the store says: not yours"]);
    w.left();
    assert_eq!(short(&w.reply(rows(0))), ["lost: the store says: not yours"]);
}

#[test]
fn a_renewal_that_finds_nothing_at_gate_effect_is_heard_behind_it() {
    let mut w = walk_with(|s| s.renew = true);
    w.inside().work_ended(WorkEnd::Done);
    w.at(2000).tick();
    assert!(w.reply(rows(0)).is_empty());
    assert_eq!(short(&w.effect_sent()), ["leave at once: the store says: not yours"]);
}

#[test]
fn an_unanswered_renewal_is_tried_again_while_the_grant_is_trusted() {
    let mut w = walk_with(|s| s.renew = true);
    w.inside().at(2000).tick();
    assert_eq!(short(&w.at(2200).reply(Reply::Unknown)), ["discard"]);
    w.now = w.strategy.next_timer().unwrap();
    assert!((2250..2300).contains(&w.now.0), "{:?}", w.now);
    assert_eq!(short(&w.tick()), ["send renew again"]);
    let until = w.now.plus(2950).0;
    assert_eq!(short(&w.reply(rows(1))), [format!("extended until {until}")]);
}

#[test]
fn a_holder_that_cannot_renew_stops_at_its_deadline() {
    let mut w = walk_with(|s| s.renew = true);
    w.inside();
    loop {
        w.now = w.strategy.next_timer().unwrap();
        match &short(&w.tick())[..] {
            [stop] if stop == "stop" => break,
            [renew] if renew.starts_with("send renew") => {
                let late = w.now.plus(200);
                if late >= At(3950) {
                    assert_eq!(short(&w.at(3950).tick()), ["stop"]);
                    break;
                }
                w.now = late;
                assert_eq!(short(&w.reply(Reply::Unknown)), ["discard"]);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(w.now, At(3950));
}

#[test]
fn a_renewal_that_reaches_a_stopped_handler_changes_nothing() {
    let mut w = walk_with(|s| s.renew = true);
    w.inside().at(2000).tick();
    w.at(3950).tick();
    assert!(w.reply(rows(1)).is_empty(), "told to stop: no going back");
    w.work_ended(WorkEnd::Stopped);
    w.left();
    assert_eq!(short(&w.reply(rows(1))), ["lost: grant over"]);
}

#[test]
fn cancelling_gives_back_what_is_held_wherever_the_attempt_stands() {
    // Asking: the answer tells what there is to give back.
    for (reply, end) in [
        (granted(1), vec!["send release"]),
        (Reply::Unknown, vec!["discard", "send release"]),
        (rows(0), vec!["skipped: cancelled"]),
        (Reply::NotSent, vec!["skipped: cancelled"]),
    ] {
        let mut w = walk_with(|s| s.acquire_timeout_ms = 1000);
        w.due();
        assert!(w.cancel().is_empty());
        assert_eq!(short(&w.reply(reply)), end);
    }
    // Waiting for a busy lock.
    let mut w = walk_with(|s| s.acquire_timeout_ms = 1000);
    w.due();
    w.reply(rows(0));
    assert_eq!(short(&w.cancel()), ["skipped: cancelled"]);
    // At gate enter: withdrawn by the driver, or just passed.
    let mut w = walk();
    w.due();
    w.reply(granted(1));
    assert!(w.cancel().is_empty());
    assert_eq!(short(&w.feed(Input::EnterRefused { attempt: attempt(1) })), ["send release"]);
    assert_eq!(short(&w.reply(rows(1))), ["skipped: cancelled"]);
    let mut w = walk();
    w.due();
    w.reply(granted(1));
    w.cancel();
    assert_eq!(short(&w.entered()), ["stop"]);
    // Working.
    let mut w = walk();
    w.inside();
    assert_eq!(short(&w.cancel()), ["stop"]);
    assert_eq!(short(&w.work_ended(WorkEnd::Stopped)), ["leave at once: cancelled"]);
    assert_eq!(short(&w.left()), ["send release"]);
    assert!(w.cancel().is_empty(), "nothing cancels a release");
    assert_eq!(short(&w.reply(rows(1))), ["failed: cancelled"]);
    // At gate effect.
    let mut w = walk();
    w.inside().work_ended(WorkEnd::Done);
    w.cancel();
    assert_eq!(short(&w.feed(Input::EffectRefused { attempt: attempt(1) })), ["leave at once: cancelled"]);
    // The effect is under way.
    let mut w = walk();
    w.inside().work_ended(WorkEnd::Done);
    w.effect_sent();
    assert_eq!(short(&w.cancel()), ["leave at once: cancelled"]);
    w.left();
    w.reply(rows(1));
    assert_eq!(short(&w.answered(EffectAnswer::Accepted)), ["executed: effect accepted"]);
}

#[test]
fn shutting_down_gives_back_too() {
    let mut w = walk();
    w.inside();
    assert_eq!(short(&w.feed(Input::Shutdown)), ["stop"]);
    let mut w = walk();
    assert!(w.feed(Input::Shutdown).is_empty());
}

#[test]
fn what_it_does_not_know_is_ignored() {
    let mut w = walk();
    assert!(w.entered().is_empty());
    assert!(w.tick().is_empty());
    w.inside();
    let strange = Input::Reply { command: CommandId(99), sent: At(0), reply: granted(1) };
    assert!(w.feed(strange).is_empty());
    assert!(w.feed(Input::Cancel { attempt: attempt(99) }).is_empty());
    assert!(w.feed(Input::SessionLost { session: Session("lock") }).is_empty(), "a lease outlives its connection");
    assert_eq!(w.strategy.state(), "working");
    let first = w.attempts;
    assert_eq!(short(&w.due()), ["skipped: another attempt is under way"]);
    w.attempts = first;
    assert_eq!(short(&w.work_ended(WorkEnd::Done)), ["effect until 3950"]);
}
