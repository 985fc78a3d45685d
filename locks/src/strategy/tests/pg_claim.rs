//! The rules of `pg-claim`, each as one walk, and what its mutants do differently.

use super::*;
use crate::guard::Guard;
use crate::strategy::pg_claim::{Ended, PgClaim, State, Store, Verb};

fn walk(mutant: Option<&'static str>) -> Walk<PgClaim> {
    Walk::new(&Setup { strategy: "pg-claim".into(), ..Setup::default() }, mutant)
}

fn seen(state: &str, version: i64, picked_by: Option<&str>, dead: bool) -> Reply {
    let picked_by = picked_by.map_or(Param::Null, |token| Param::Text(token.to_owned()));
    let row = vec![Param::Text(state.to_owned()), Param::Int(version), picked_by, Param::Bool(dead)];
    Reply::Rows { affected: 1, row }
}

fn rescued(version: i64, state: &str) -> Reply {
    Reply::Rows { affected: 1, row: vec![Param::Int(version), Param::Text(state.to_owned())] }
}

/// Looked, claimed, entered.
fn inside(w: &mut Walk<PgClaim>) {
    w.due();
    w.reply(seen("due", 0, None, false));
    w.reply(granted(1));
    w.entered();
}

/// Up to the effect's being sent.
fn sending(w: &mut Walk<PgClaim>) {
    inside(w);
    w.work_ended(WorkEnd::Done);
    w.reply(rows(1));
    w.effect_sent();
}

#[test]
fn an_undisturbed_attempt_looks_claims_writes_its_key_and_completes() {
    let mut w = walk(None);
    assert_eq!(short(&w.due()), ["send look"]);
    assert_eq!(short(&w.reply(seen("due", 0, None, false))), ["send acquire"]);
    assert_eq!(short(&w.at(1020).reply(granted(1))), ["enter until 3950"], "counted from when it was sent");
    w.entered();
    assert_eq!(short(&w.work_ended(WorkEnd::Done)), ["send key"]);
    assert_eq!(short(&w.reply(rows(1))), ["effect until 3950"]);
    w.effect_sent();
    assert_eq!(short(&w.answered(EffectAnswer::Accepted)), ["leave until 3950: effect accepted"]);
    assert_eq!(short(&w.left()), ["send complete"]);
    assert_eq!(short(&w.reply(rows(1))), ["executed: effect accepted"]);
}

#[test]
fn a_row_that_another_makes_at_this_very_moment_is_looked_at_again() {
    let mut w = walk(None);
    w.due();
    for _ in 0..3 {
        assert_eq!(short(&w.reply(rows(0))), ["send look again"]);
    }
    assert_eq!(short(&w.reply(rows(0))), ["skipped: busy"]);
}

#[test]
fn what_ended_is_never_run_again() {
    for (state, end) in [("done", "skipped: already done"), ("doubtful", "skipped: in doubt: never run again")] {
        let mut w = walk(None);
        w.due();
        assert_eq!(short(&w.reply(seen(state, 3, Some("x"), true))), [end]);
    }
}

#[test]
fn c40_a_claim_that_changed_no_row_is_lost() {
    for reply in [rows(0), Reply::Busy] {
        let mut w = walk(None);
        w.due();
        w.reply(seen("due", 0, None, false));
        assert_eq!(short(&w.reply(reply)), ["skipped: busy"]);
    }
}

#[test]
fn c42_a_dead_claim_is_looked_at_twice() {
    let mut w = walk(None);
    w.due();
    assert!(w.reply(seen("claimed", 1, Some("x"), true)).is_empty());
    assert_eq!(w.strategy.next_timer(), Some(At(2000)), "a heartbeat's time");
    assert_eq!(short(&w.at(2000).tick()), ["send look"]);
    assert_eq!(short(&w.reply(seen("claimed", 1, Some("x"), true))), ["send rescue"]);
    assert_eq!(short(&w.reply(rescued(2, "claimed"))), ["enter until 4950"]);
    // It beats again; or another has rescued it, which is another claim.
    for second in [seen("claimed", 1, Some("x"), false), seen("claimed", 2, Some("y"), false)] {
        let mut w = walk(None);
        w.due();
        w.reply(seen("claimed", 1, Some("x"), true));
        w.at(2000).tick();
        assert_eq!(short(&w.reply(second)), ["skipped: busy"]);
    }
    let mut w = walk(Some("rescues-live"));
    w.due();
    assert_eq!(short(&w.reply(seen("claimed", 1, Some("x"), true))), ["send rescue"]);
}

#[test]
fn a_look_without_an_answer_forgets_what_was_dead() {
    let mut w = Walk::<PgClaim>::new(&Setup { acquire_timeout_ms: 20_000, ..Setup::default() }, None);
    w.due();
    w.reply(seen("claimed", 1, Some("x"), true));
    w.at(2000).tick();
    assert_eq!(short(&w.reply(Reply::Unknown)), ["discard"]);
    w.now = w.strategy.next_timer().unwrap();
    w.tick();
    assert!(w.reply(seen("claimed", 1, Some("x"), true)).is_empty(), "dead for the first time again");
}

#[test]
fn c41_a_dead_claim_with_a_key_is_ended_and_not_run() {
    let mut w = walk(None);
    w.due();
    w.reply(seen("sending", 1, Some("x"), true));
    w.at(2000).tick();
    w.reply(seen("sending", 1, Some("x"), true));
    assert_eq!(short(&w.reply(rescued(2, "doubtful"))), ["skipped: in doubt: never run again"]);
}

#[test]
fn an_unanswered_claim_is_looked_up() {
    let ours = |state: &str| seen(state, 1, Some("token-1"), false);
    let cases = [
        (ours("claimed"), vec!["enter until 3950"]),
        (ours("doubtful"), vec!["skipped: in doubt: never run again"]),
        (seen("claimed", 1, Some("another"), false), vec!["skipped: no answer, and not ours"]),
        (seen("due", 0, None, false), vec!["skipped: no answer, and not ours"]),
    ];
    for (row, end) in cases {
        let mut w = walk(None);
        w.due();
        w.reply(seen("due", 0, None, false));
        assert_eq!(short(&w.reply(Reply::Unknown)), ["discard", "send look again"]);
        assert_eq!(short(&w.reply(row)), end);
    }
    let mut w = walk(None);
    w.due();
    w.reply(seen("due", 0, None, false));
    w.reply(Reply::Unknown);
    w.at(3950);
    assert_eq!(short(&w.reply(ours("claimed"))), ["send release"], "ours, but too late");
}

#[test]
fn an_unanswered_claim_is_looked_up_while_it_may_be_alive_and_no_longer() {
    let mut w = walk(None);
    w.due();
    w.reply(seen("due", 0, None, false));
    w.reply(Reply::Unknown);
    let end = loop {
        let end = short(&w.reply(Reply::NotSent));
        if !end.is_empty() {
            break end;
        }
        w.now = w.strategy.next_timer().unwrap();
        w.tick();
    };
    assert_eq!(end, ["skipped: no answer"]);
    assert!(w.now < At(4000), "{:?}", w.now);
}

#[test]
fn without_its_key_no_effect_is_sent() {
    let mut w = walk(None);
    inside(&mut w);
    w.work_ended(WorkEnd::Done);
    assert_eq!(short(&w.reply(rows(0))), ["leave at once: the store says: not yours"]);
    assert_eq!(short(&w.left()), ["send release"]);
    assert_eq!(short(&w.reply(rows(0))), ["lost: the store says: not yours"]);
}

#[test]
fn an_unanswered_key_is_looked_up() {
    for (row, end) in [
        (seen("sending", 1, Some("token-1"), false), "effect until 3950"),
        (seen("claimed", 1, Some("token-1"), false), "send key again"),
        (seen("claimed", 2, Some("another"), false), "leave at once: the store says: not yours"),
    ] {
        let mut w = walk(None);
        inside(&mut w);
        w.work_ended(WorkEnd::Done);
        assert_eq!(short(&w.reply(Reply::Unknown)), ["discard", "send look again"]);
        assert_eq!(short(&w.reply(row)), [end]);
    }
}

#[test]
fn the_deadline_ends_an_attempt_that_writes_its_key() {
    let mut w = walk(None);
    inside(&mut w);
    w.work_ended(WorkEnd::Done);
    assert_eq!(w.strategy.next_timer(), Some(At(3950)));
    assert_eq!(short(&w.at(3950).tick()), ["leave at once: grant over"]);
    assert!(w.left().is_empty(), "two commands on one session");
    assert_eq!(short(&w.reply(rows(1))), ["send release"], "no effect was sent: others may have the slot");
    assert_eq!(short(&w.reply(rows(1))), ["lost: grant over"]);
}

#[test]
fn the_answer_decides_what_becomes_of_the_slot() {
    let cases = [
        (EffectAnswer::Accepted, "complete", Some("done"), "executed: effect accepted"),
        (EffectAnswer::Rejected(Guard::UniqueSlot), "complete", Some("done"), "failed: effect rejected"),
        (EffectAnswer::Unknown, "complete", Some("doubtful"), "failed: effect unanswered"),
        (EffectAnswer::Rejected(Guard::CurrentEpoch), "release", None, "failed: effect rejected"),
        (EffectAnswer::GuardUnreachable(Guard::CurrentEpoch), "release", None, "failed: guard unreachable"),
    ];
    for (answer, command, how, end) in cases {
        for late in [false, true] {
            let mut w = walk(None);
            sending(&mut w);
            let sent = if late {
                w.at(3950).tick();
                assert!(w.left().is_empty(), "the answer is awaited");
                assert_eq!(w.strategy.state(), "settling");
                short(&w.answered(answer.clone()))
            } else {
                w.answered(answer.clone());
                short(&w.left())
            };
            assert_eq!(sent, [format!("send {command}")]);
            if let Some(how) = how {
                assert_eq!(w.last_text().params[1], Param::Text(how.to_owned()));
            }
            assert_eq!(short(&w.reply(rows(1))), [end]);
        }
    }
}

#[test]
fn an_unanswered_completion_is_looked_up() {
    let mut w = walk(None);
    sending(&mut w);
    w.answered(EffectAnswer::Accepted);
    w.left();
    assert_eq!(short(&w.reply(Reply::Unknown)), ["discard"]);
    w.now = w.strategy.next_timer().unwrap();
    assert_eq!(short(&w.tick()), ["send look again"]);
    assert_eq!(short(&w.reply(seen("sending", 1, Some("token-1"), false))), ["send complete again"]);
    assert_eq!(short(&w.reply(Reply::Unknown)), ["discard"]);
    w.now = w.strategy.next_timer().unwrap();
    w.tick();
    assert_eq!(short(&w.reply(seen("done", 1, Some("token-1"), false))), ["executed: effect accepted"]);
}

#[test]
fn heartbeats_come_at_a_third_and_a_claim_that_is_gone_stops_the_handler() {
    let mut w = Walk::<PgClaim>::new(&Setup { renew: true, ..Setup::default() }, None);
    inside(&mut w);
    assert_eq!(w.strategy.next_timer(), Some(At(2000)));
    assert_eq!(short(&w.at(2000).tick()), ["send renew"]);
    assert_eq!(short(&w.reply(rows(1))), ["extended until 4950"]);
    assert_eq!(short(&w.at(3000).tick()), ["send renew"]);
    assert_eq!(short(&w.reply(rows(0))), ["stop"]);
}

#[test]
fn a_key_waits_for_the_heartbeat_under_way() {
    let mut w = Walk::<PgClaim>::new(&Setup { renew: true, ..Setup::default() }, None);
    inside(&mut w);
    w.at(2000).tick();
    assert!(w.work_ended(WorkEnd::Done).is_empty(), "two commands on one session");
    assert_eq!(short(&w.reply(rows(1))), ["send key"]);
}

#[test]
fn cancelling_gives_the_claim_back() {
    let mut w = walk(None);
    inside(&mut w);
    assert_eq!(short(&w.cancel()), ["stop"]);
    w.work_ended(WorkEnd::Stopped);
    assert_eq!(short(&w.left()), ["send release"]);
    assert_eq!(short(&w.reply(rows(1))), ["failed: cancelled"]);
    let mut w = walk(None);
    w.due();
    w.reply(seen("due", 0, None, false));
    w.cancel();
    assert_eq!(short(&w.reply(granted(1))), ["send release"]);
}

/// The commands that a walk has sent, run on the model.
fn run(store: &mut Store, w: &Walk<PgClaim>, names: &[&str]) -> Vec<u64> {
    let of = |name: &&str| w.sent.iter().rev().find(|(_, _, op)| op.wire().name == *name).expect("it was sent");
    let affected = |reply| match reply {
        Reply::Rows { affected, .. } => affected,
        other => panic!("{other:?}"),
    };
    names.iter().map(|name| affected(of(name).2.apply(store, At(5000)))).collect()
}

#[test]
fn claims_by_id_both_win() {
    for (mutant, wins) in [(None, [1, 0]), (Some("claims-by-id"), [1, 1])] {
        let mut w = walk(mutant);
        sending(&mut w);
        let mut store = Store::default();
        run(&mut store, &w, &["look"]);
        assert_eq!(run(&mut store, &w, &["acquire", "acquire"]), wins, "{mutant:?}");
    }
}

#[test]
fn a_slot_ends_once_unless_completing_is_unchecked() {
    for (mutant, ended) in
        [(None, vec![Ended::Doubtful]), (Some("unchecked-complete"), vec![Ended::Doubtful, Ended::Done])]
    {
        let mut w = walk(mutant);
        sending(&mut w);
        w.answered(EffectAnswer::Accepted);
        w.left();
        let mut store = Store::default();
        run(&mut store, &w, &["look", "acquire", "key"]);
        let row = store.slots.get_mut("s").unwrap();
        (row.version, row.state) = (2, State::Ended(Ended::Doubtful));
        row.ended.push(Ended::Doubtful);
        run(&mut store, &w, &["complete"]);
        assert_eq!(store.slots["s"].ended, ended);
    }
}

#[test]
fn effect_before_key_leaves_a_claim_as_if_nothing_had_been_done() {
    let mut w = walk(Some("effect-before-key"));
    inside(&mut w);
    assert_eq!(short(&w.work_ended(WorkEnd::Done)), ["effect until 3950"]);
    w.effect_sent();
    w.answered(EffectAnswer::Accepted);
    w.left();
    let mut store = Store::default();
    assert_eq!(run(&mut store, &w, &["look", "acquire"]), [1, 1]);
    assert_eq!(store.slots["s"].state, State::Claimed);
    assert_eq!(run(&mut store, &w, &["complete"]), [1]);
}

#[test]
fn what_pages_show_is_what_is_sent() {
    for mutant in PgClaim::info().mutants.iter().map(Some).chain([None]) {
        let prepared = PgClaim::new(&setup(), mutant.map(|mutant| mutant.name), "h").sessions().remove(0).prepare;
        let mut w = walk(mutant.map(|mutant| mutant.name));
        sending_anyhow(&mut w);
        for (_, _, op) in &w.sent {
            let wire = op.wire();
            assert!(prepared.contains(&wire.text), "{mutant:?}: {} was not prepared", wire.name);
            assert_eq!(PgClaim::info().command(mutant, wire.name), Some(wire.text), "{mutant:?}: {}", wire.name);
            for n in 1..=wire.params.len() {
                let typed = ["text", "bigint"].map(|of| format!("${n}::{of}"));
                assert!(typed.iter().any(|one| wire.text.contains(one)), "{}: ${n}:\n{}", wire.name, wire.text);
            }
            assert!(!wire.text.contains(&format!("${}", wire.params.len() + 1)), "{}", wire.text);
        }
        assert!(w.sent.iter().any(|(_, _, op)| matches!(op.verb, Verb::Complete { .. })));
    }
}

fn sending_anyhow(w: &mut Walk<PgClaim>) {
    inside(w);
    w.work_ended(WorkEnd::Done);
    if w.strategy.state() == "keying" {
        w.reply(rows(1));
    }
    w.effect_sent();
    w.answered(EffectAnswer::Accepted);
    w.left();
}
