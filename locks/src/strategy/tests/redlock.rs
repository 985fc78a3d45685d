//! What five nodes and a quorum add to the rules of leases.

use super::*;
use crate::strategy::keys::Store;
use crate::strategy::redlock::Redlock;

fn walk(mutant: Option<&'static str>) -> Walk<Redlock> {
    walk_with(mutant, |_| {})
}

fn walk_with(mutant: Option<&'static str>, change: impl FnOnce(&mut Setup)) -> Walk<Redlock> {
    let mut setup = Setup { strategy: "redlock".into(), ..Setup::default() };
    change(&mut setup);
    Walk::new(&setup, mutant)
}

fn nil() -> Reply {
    Reply::Redis(Param::Null)
}

impl Walk<Redlock> {
    /// Answer the latest commands, one of each node, the last first.
    fn votes(&mut self, replies: [Reply; 5]) -> Vec<Output<<Redlock as Strategy>::Op>> {
        self.votes_in([4, 3, 2, 1, 0], replies)
    }

    fn votes_in(&mut self, order: [usize; 5], replies: [Reply; 5]) -> Vec<Output<<Redlock as Strategy>::Op>> {
        let asked = self.sent[self.sent.len() - 5..].to_vec();
        let mut out = Vec::new();
        for at in order {
            let (command, sent, _) = asked[at].clone();
            let reply = replies[at].clone();
            let said = self.feed(Input::Reply { command, sent, reply });
            out.extend(said);
        }
        out
    }
}

/// The nodes of an `Enter`.
fn nodes<O: Op>(out: &[Output<O>]) -> Vec<String> {
    match out.last() {
        Some(Output::Enter { nodes, .. }) => nodes.iter().map(Endpoint::to_string).collect(),
        _ => panic!("{:?}", short(out)),
    }
}

#[test]
fn five_are_asked_at_once_and_the_grant_lasts_less_drift_and_margin() {
    let mut w = walk(None);
    assert_eq!(short(&w.due()), ["send acquire"; 5]);
    w.at(1080);
    // 3000 - 30 - 2 - 50 from when it was asked for.
    assert_eq!(short(&w.votes([ok(), ok(), ok(), ok(), ok()])), ["enter until 3918"]);
}

#[test]
fn each_order_of_answers_gives_the_same_grant() {
    let mut orders = Vec::new();
    for n in 0..3125_usize {
        let order = [n % 5, n / 5 % 5, n / 25 % 5, n / 125 % 5, n / 625];
        if (0..5).all(|node| order.contains(&node)) {
            orders.push(order);
        }
    }
    assert_eq!(orders.len(), 120);
    for order in orders {
        let mut w = walk(None);
        w.due();
        let out = w.votes_in(order, [ok(), nil(), ok(), Reply::Unknown, ok()]);
        assert_eq!(nodes(&out), ["redis-1", "redis-3", "redis-5"]);
    }
}

#[test]
fn two_of_five_are_no_quorum_and_are_unlocked_everywhere() {
    let mut w = walk(None);
    w.due();
    let out = short(&w.votes([ok(), ok(), nil(), Reply::Unknown, nil()]));
    assert_eq!(out[0], "discard");
    assert_eq!(out[1..], ["send release"; 5]);
    assert_eq!(short(&w.votes([count(1), count(1), count(0), count(0), count(0)])), ["skipped: no quorum"]);
}

#[test]
fn where_nobody_granted_nothing_is_given_back() {
    let mut w = walk(None);
    w.due();
    assert_eq!(short(&w.votes([nil(), nil(), nil(), nil(), nil()])), ["skipped: no quorum"]);
    let mut w = walk(None);
    w.due();
    assert_eq!(short(&w.votes([const { Reply::NotSent }; 5])), ["skipped: not sent"]);
}

#[test]
fn tries_are_bounded_jittered_and_each_shows_a_new_token() {
    let mut w = walk_with(None, |setup| setup.acquire_timeout_ms = 500);
    w.due();
    let mut tokens = vec![w.last_text().params[1].clone()];
    let end = loop {
        w.votes([ok(), ok(), nil(), nil(), nil()]);
        let end = short(&w.votes([count(1), count(1), count(0), count(0), count(0)]));
        if !end.is_empty() {
            break end;
        }
        w.now = w.strategy.next_timer().expect("it waits");
        assert_eq!(short(&w.tick()), ["send acquire again"; 5]);
        tokens.push(w.last_text().params[1].clone());
    };
    assert_eq!(end, ["skipped: no quorum"]);
    assert!(w.now.0 <= 1500 && tokens.len() > 3, "{} tries until {:?}", tokens.len(), w.now);
    assert!(tokens.windows(2).all(|two| two[0] != two[1]));
}

#[test]
fn one_dead_node_stops_nobody() {
    let mut w = walk(None);
    w.due();
    let out = w.votes([ok(), Reply::NotSent, ok(), ok(), ok()]);
    assert_eq!(nodes(&out).len(), 4);
    w.entered();
    w.work_ended(WorkEnd::Failed);
    assert_eq!(short(&w.left()), ["send release"; 5]);
    assert!(w.votes([count(1), Reply::NotSent, count(1), count(1), count(1)]).is_empty());
    for _ in 0..2 {
        w.now = w.strategy.next_timer().expect("the dead node is tried again");
        assert_eq!(short(&w.tick()), ["send release again"]);
        if w.strategy.state() == "releasing" {
            let end = short(&w.reply(Reply::NotSent));
            if !end.is_empty() {
                assert_eq!(end, ["failed: handler failed"]);
                assert!(w.now < At(4000), "the lock is free: nobody waits for a dead node");
                return;
            }
        }
    }
    panic!("no end");
}

#[test]
fn all_nodes_needed_is_stopped_by_one() {
    let mut w = walk(Some("all-nodes-needed"));
    w.due();
    let out = short(&w.votes([ok(), Reply::NotSent, ok(), ok(), ok()]));
    assert_eq!(out, ["send release"; 5]);
}

#[test]
fn a_quorum_that_came_too_late_is_given_back_but_for_the_mutant() {
    for (mutant, enters) in [(None, false), (Some("elapsed-unchecked"), true)] {
        let mut w = walk(mutant);
        w.due();
        w.at(4100);
        let out = short(&w.votes([ok(), ok(), ok(), ok(), ok()]));
        assert_eq!(out[0].starts_with("enter"), enters, "{out:?}");
    }
}

#[test]
fn leaks_on_failure_leaves_its_keys() {
    let mut w = walk(Some("leaks-on-failure"));
    w.due();
    assert_eq!(short(&w.votes([ok(), ok(), nil(), nil(), nil()])), ["skipped: no quorum"]);
}

#[test]
fn an_extension_needs_a_quorum_within_validity() {
    let renewing = || {
        let mut w = walk_with(None, |setup| setup.renew = true);
        w.due();
        w.votes([ok(), ok(), ok(), ok(), ok()]);
        w.entered();
        assert_eq!(short(&w.at(2000).tick()), ["send renew"; 5]);
        w
    };
    let mut w = renewing();
    assert_eq!(
        short(&w.votes([count(1), count(1), count(1), Reply::Unknown, count(0)])),
        ["discard", "extended until 4918"]
    );
    let mut w = renewing();
    assert_eq!(short(&w.votes([count(1), count(1), count(0), count(0), count(0)])), ["stop"]);
    let mut w = renewing();
    assert_eq!(w.votes([count(1), count(1), count(0), Reply::NotSent, Reply::NotSent]).len(), 0);
    assert!(w.strategy.next_timer() < Some(At(2200)), "tried again soon");
}

#[test]
fn duplicate_ticks_and_strange_replies_change_nothing() {
    let mut w = walk_with(None, |setup| setup.renew = true);
    w.due();
    w.votes([ok(), ok(), ok(), ok(), ok()]);
    w.entered();
    w.at(2000).tick();
    assert!(w.tick().is_empty(), "a renewal is under way");
    let before = w.strategy.clone();
    assert!(w.feed(Input::Reply { command: CommandId(999), sent: At(0), reply: ok() }).is_empty());
    let (command, sent, _) = w.sent[0].clone();
    assert!(w.feed(Input::Reply { command, sent, reply: ok() }).is_empty(), "answered before");
    assert_eq!(w.strategy, before);
}

#[test]
fn cancelled_while_acquiring_it_gives_back_what_it_got() {
    let mut w = walk(None);
    w.due();
    w.cancel();
    assert_eq!(short(&w.votes([ok(), ok(), ok(), nil(), nil()])), ["send release"; 5]);
    assert_eq!(short(&w.votes([count(1), count(1), count(1), count(0), count(0)])), ["skipped: cancelled"]);
}

#[test]
fn nodes_of_the_model_are_independent() {
    let mut w = walk(None);
    w.due();
    let mut store = Store::default();
    for (_, _, op) in &w.sent {
        assert_eq!(op.apply(&mut store, At(0)), ok());
    }
    assert_eq!(store.keys.len(), 5);
}

#[test]
fn only_delayed_restart_delays_restarts() {
    let setup = |strategy: &str| Setup { strategy: strategy.into(), ..Setup::default() };
    assert_eq!(restart_delay_ms(&setup("redlock/delayed-restart")), 3050);
    assert_eq!(restart_delay_ms(&setup("redlock")), 0);
}
