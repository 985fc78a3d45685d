//! What `redis-set-nx` does that `pg-lease` does not: epochs from elsewhere, confirmations, and its mutants on
//! the model of a node. The rules of leases are those of `lease_rules`: it is the same machine.

use super::*;
use crate::guard::Guard;
use crate::strategy::keys::{Ask, Store};
use crate::strategy::redis_set_nx::RedisSetNx;

fn walk(mutant: Option<&'static str>) -> Walk<RedisSetNx> {
    Walk::new(&Setup { strategy: "redis-set-nx".into(), ..Setup::default() }, mutant)
}

fn guarded() -> Walk<RedisSetNx> {
    let guard = vec![Guard::CurrentEpoch];
    Walk::new(&Setup { strategy: "redis-set-nx".into(), guard, ..Setup::default() }, None)
}

/// The first commands of that name that walks with these tokens send.
fn asks(mutant: Option<&'static str>, tokens: &[&str], name: &str) -> Vec<Ask> {
    let one = |token: &&str| {
        let mut w = walk(mutant);
        w.attempts = 1;
        let slot = Slot { schedule: "s".to_owned(), fire_ms: 1 };
        let token = Token((*token).to_owned());
        w.feed(Input::Due { attempt: attempt(1), slot, lock: "s".to_owned(), token, jitter: 0 });
        // Who only looks is glad to find nothing.
        w.reply(if mutant == Some("look-then-take") { Reply::Redis(Param::Null) } else { ok() });
        if w.strategy.state() == "acquiring" {
            w.reply(count(1));
        }
        w.entered();
        w.work_ended(WorkEnd::Failed);
        w.left();
        w.sent.iter().find(|(_, _, op)| op.wire().name == name).expect("it is sent").2.clone()
    };
    tokens.iter().map(one).collect()
}

fn run(store: &mut Store, at: u64, ask: &Ask) -> Reply {
    ask.apply(store, At(at))
}

#[test]
fn an_undisturbed_attempt_needs_no_epochs_where_no_guard_asks() {
    let mut w = walk(None);
    assert_eq!(w.strategy.sessions().len(), 1);
    assert_eq!(short(&w.due()), ["send acquire"]);
    assert_eq!(w.last_text().text, "SET $1 $2 NX PX $3");
    assert_eq!(short(&w.at(1010).reply(ok())), ["enter until 3950"]);
    w.entered();
    assert_eq!(short(&w.work_ended(WorkEnd::Done)), ["effect until 3950"]);
    w.effect_sent();
    w.answered(EffectAnswer::Accepted);
    assert_eq!(short(&w.left()), ["send release"]);
    assert_eq!(short(&w.reply(count(1))), ["executed: effect accepted"]);
}

#[test]
fn an_epoch_is_minted_before_and_published_behind_the_grant() {
    let mut w = guarded();
    assert_eq!(w.strategy.sessions().len(), 2);
    assert_eq!(short(&w.due()), ["send mint"]);
    assert_eq!(short(&w.at(1100).reply(granted(7))), ["send acquire"]);
    assert_eq!(short(&w.at(1200).reply(ok())), ["send publish"]);
    match &w.at(1300).reply(rows(1))[..] {
        [Output::Enter { epoch, not_after, nodes, .. }] => {
            assert_eq!(*epoch, Some(7));
            assert_eq!(*not_after, Some(At(4050)), "counted from when the lock was asked for");
            assert_eq!(nodes[..], [Endpoint::Redis(1)]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn who_is_overtaken_gives_back_and_tries_again_with_a_new_epoch_and_a_new_token() {
    let mut w = guarded();
    w.due();
    w.reply(granted(7));
    let first = w.last_text().params[1].clone();
    w.reply(ok());
    assert_eq!(short(&w.reply(rows(0))), ["send release"]);
    assert!(w.reply(count(1)).is_empty());
    assert_eq!(w.strategy.state(), "waiting");
    w.now = w.strategy.next_timer().unwrap();
    assert_eq!(short(&w.tick()), ["send mint again"]);
    assert_eq!(short(&w.reply(granted(9))), ["send acquire again"]);
    assert_ne!(w.last_text().params[1], first);
    w.reply(ok());
    assert_eq!(short(&w.reply(rows(1)))[0][..11], *"enter until");
}

/// A try whose epoch was overtaken, given back, and the next one's beginning.
fn overtaken(w: &mut Walk<RedisSetNx>) {
    w.reply(granted(7));
    w.reply(ok());
    w.reply(rows(0));
    w.reply(count(1));
    w.now = w.strategy.next_timer().unwrap();
    w.tick();
}

/// Overtaken once, it tries once more, and is told busy: it waits for no lock, so that is its end.
#[test]
fn who_was_overtaken_and_finds_the_lock_busy_gives_up() {
    let mut w = guarded();
    w.due();
    overtaken(&mut w);
    w.reply(granted(8));
    assert_eq!(short(&w.reply(Reply::Redis(Param::Null))), ["skipped: busy"]);
}

/// What was published when the epoch was minted goes along, so that a late publish changes nothing.
#[test]
fn it_publishes_over_what_it_saw() {
    let mut w = guarded();
    w.due();
    w.reply(Reply::Rows { affected: 1, row: vec![Param::Int(7), Param::Int(4)] });
    w.reply(ok());
    assert_eq!(w.last_text().params[1..], [Param::Int(7), Param::Int(4)]);
}

#[test]
fn who_is_overtaken_again_and_again_gives_up() {
    let mut w = guarded();
    w.due();
    for _ in 0..3 {
        overtaken(&mut w);
    }
    w.reply(granted(7));
    w.reply(ok());
    w.reply(rows(0));
    assert_eq!(short(&w.reply(count(1))), ["skipped: overtaken by a newer epoch"]);
}

#[test]
fn a_grant_that_is_over_when_its_epoch_is_published_is_given_back() {
    let mut w = guarded();
    w.due();
    w.reply(granted(7));
    w.reply(ok());
    assert_eq!(short(&w.at(3950).reply(rows(1))), ["send release"]);
    assert_eq!(short(&w.reply(count(0))), ["skipped: granted too late"]);
}

#[test]
fn without_an_epoch_nothing_is_asked_for_and_without_an_answer_it_is_given_back() {
    let mut w = guarded();
    w.due();
    assert_eq!(short(&w.reply(Reply::Unknown)), ["discard", "skipped: no epoch"]);
    let mut w = guarded();
    w.due();
    w.reply(granted(7));
    w.reply(ok());
    assert_eq!(short(&w.reply(Reply::Unknown)), ["discard", "send release"]);
    assert_eq!(short(&w.reply(count(1))), ["skipped: the epoch was not published"]);
}

#[test]
fn wait_1_gives_back_what_no_replica_has() {
    let mut w = walk(Some("wait-1"));
    w.due();
    assert_eq!(short(&w.reply(ok())), ["send confirm"]);
    assert_eq!(w.last_text().text, "WAIT 1 $1");
    assert_eq!(short(&w.reply(count(0))), ["send release"]);
    assert_eq!(short(&w.reply(count(1))), ["skipped: no replica has it"]);
    let mut w = walk(Some("wait-1"));
    w.due();
    w.reply(ok());
    assert_eq!(short(&w.at(1100).reply(count(1))), ["enter until 3950"]);
}

#[test]
fn a_new_token_has_as_many_bits_and_is_another() {
    let token = Token("0123456789abcdef0123456789abcdef01234567".to_owned());
    assert_eq!(token.next().0.len(), 40);
    assert_ne!(token.next(), token);
}

#[test]
fn the_right_one_excludes_expires_and_frees_only_its_own() {
    let (mut store, names) = (Store::default(), ["a", "b"]);
    let (take, free) = (asks(None, &names, "acquire"), asks(None, &names, "release"));
    assert_eq!(run(&mut store, 0, &take[0]), ok());
    assert_eq!(run(&mut store, 2999, &take[1]), Reply::Redis(Param::Null));
    assert_eq!(run(&mut store, 3000, &take[1]), ok());
    assert_eq!(run(&mut store, 3001, &free[0]), count(0));
    assert_eq!(run(&mut store, 3002, &free[1]), count(1));
    assert_eq!(run(&mut store, 3003, &take[0]), ok());
}

#[test]
fn plain_del_frees_what_is_somebody_elses() {
    let (mut store, names) = (Store::default(), ["a", "b"]);
    let (take, free) = (asks(Some("plain-del"), &names, "acquire"), asks(Some("plain-del"), &names, "release"));
    run(&mut store, 0, &take[0]);
    run(&mut store, 3000, &take[1]);
    assert_eq!(run(&mut store, 3001, &free[0]), count(1));
    assert_eq!(run(&mut store, 3002, &take[0]), ok());
}

#[test]
fn look_then_take_lets_in_whoever_looked_in_between() {
    let mutant = Some("look-then-take");
    let (looks, takes) = (asks(mutant, &["a", "b"], "look"), asks(mutant, &["a", "b"], "acquire"));
    let mut store = Store::default();
    let nil = || Reply::Redis(Param::Null);
    assert_eq!((run(&mut store, 0, &looks[0]), run(&mut store, 1, &looks[1])), (nil(), nil()));
    assert_eq!((run(&mut store, 2, &takes[0]), run(&mut store, 3, &takes[1])), (ok(), ok()));
    let mut w = walk(mutant);
    assert_eq!(short(&w.due()), ["send look"]);
    let taken = run(&mut store, 4, &looks[0]);
    assert_eq!(short(&w.reply(taken)), ["skipped: busy"], "who looks too late stays out");
}

#[test]
fn setnx_expire_leaves_a_lock_for_ever_in_between() {
    let mut store = Store::default();
    let mutant = Some("setnx-expire");
    assert_eq!(run(&mut store, 0, &asks(mutant, &["a"], "acquire")[0]), count(1));
    assert_eq!(run(&mut store, 1 << 40, &asks(mutant, &["b"], "acquire")[0]), count(0));
    assert_eq!(run(&mut store, 1 << 40, &asks(mutant, &["a"], "expire")[0]), count(1));
    assert_eq!(run(&mut store, 1 << 41, &asks(mutant, &["b"], "acquire")[0]), count(1));
}

#[test]
fn whole_seconds_make_half_a_second_none() {
    let mut w = Walk::<RedisSetNx>::new(&Setup { lease_ms: 500, ..Setup::default() }, Some("whole-seconds"));
    w.due();
    assert_eq!(w.last_text().params[2], Param::Int(0));
    let refused = w.sent[0].2.apply(&mut Store::default(), At(0));
    assert_eq!(short(&w.reply(refused)), ["skipped: the store refused"]);
}

#[test]
fn host_token_lets_two_processes_of_one_name_in() {
    let take = asks(Some("host-token"), &["a", "b"], "acquire");
    let mut store = Store::default();
    assert_eq!(run(&mut store, 0, &take[0]), ok());
    assert_eq!(run(&mut store, 1, &take[1]), ok());
    assert_eq!(run(&mut store, 2, &asks(None, &["c"], "acquire")[0]), Reply::Redis(Param::Null));
}

#[test]
fn insists_is_told_again_and_again_that_it_is_not_its_own() {
    let mut w = walk(Some("insists"));
    w.due();
    w.reply(ok());
    w.entered();
    w.work_ended(WorkEnd::Failed);
    w.left();
    for _ in 0..20 {
        assert!(w.reply(count(0)).is_empty());
        w.now = w.strategy.next_timer().unwrap();
        assert_eq!(short(&w.tick()), ["send release again"]);
    }
    assert!(w.now > At(4000), "beyond the lease's end");
}

#[test]
fn late_count_enters_on_an_expired_grant() {
    let mut w = walk(Some("late-count"));
    w.due();
    assert_eq!(short(&w.at(9000).reply(ok())), ["enter until 11950"]);
    let mut w = walk(None);
    w.due();
    assert_eq!(short(&w.at(9000).reply(ok())), ["send release"]);
}

#[test]
fn leaks_cancelled_waits_for_the_leases_end() {
    let mut w = walk(Some("leaks-cancelled"));
    w.due();
    w.reply(ok());
    w.entered();
    w.cancel();
    w.work_ended(WorkEnd::Stopped);
    assert!(w.left().is_empty());
    assert_eq!(w.strategy.next_timer(), Some(At(4000)));
    assert_eq!(short(&w.at(4000).tick()), ["failed: cancelled"]);
}

#[test]
fn no_jitter_tries_in_step() {
    for (mutant, in_step) in [(Some("no-jitter"), true), (None, false)] {
        let again = |jitter| {
            let setup = Setup { acquire_timeout_ms: 1000, ..Setup::default() };
            let mut w = Walk::<RedisSetNx>::new(&setup, mutant);
            let slot = Slot { schedule: "s".to_owned(), fire_ms: 1 };
            let token = Token("a".to_owned());
            w.feed(Input::Due { attempt: attempt(1), slot, lock: "s".to_owned(), token, jitter });
            w.reply(Reply::Redis(Param::Null));
            w.strategy.next_timer()
        };
        assert_eq!(again(7) == again(30_000), in_step);
    }
}

#[test]
fn scripts_name_one_key_and_are_loaded_first() {
    let mutants = RedisSetNx::info().mutants.iter().map(|mutant| Some(mutant.name)).chain([None]);
    for mutant in mutants {
        let prepared = walk(mutant).strategy.sessions().remove(0).prepare;
        for name in ["acquire", "release"] {
            let wire = asks(mutant, &["a"], name)[0].wire();
            if matches!(wire.language, Language::Lua | Language::LuaByHash) {
                assert!(prepared.contains(&wire.text), "{mutant:?}: {name} was not loaded");
                let keys = wire.params.iter().filter(|param| matches!(param, Param::Key(_))).count();
                let named = (1..=9).filter(|n| wire.text.contains(&format!("KEYS[{n}]"))).count();
                let two = mutant == Some("two-keys") && name == "release";
                assert_eq!((keys, named), if two { (2, 2) } else { (1, 1) }, "{mutant:?}: {name}");
            }
            let shown = RedisSetNx::info().command(RedisSetNx::info().mutant(mutant.unwrap_or("")), name);
            assert_eq!(shown, Some(wire.text), "{mutant:?}");
        }
    }
}
