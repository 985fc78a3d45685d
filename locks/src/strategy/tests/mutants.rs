//! What each mutant of `pg-lease` does differently, on the model of the store.

use super::*;
use crate::setup::Clock;
use crate::strategy::pg_lease::{Ask, PgLease, Store};

fn ask(setup: &Setup, mutant: Option<&'static str>, token: &str, input: &[(u64, Reply)]) -> Ask {
    let mut w = Walk::<PgLease>::new(setup, mutant);
    let slot = Slot { schedule: "s".to_owned(), fire_ms: 1 };
    let token = Token(token.to_owned());
    w.attempts = 1;
    w.feed(Input::Due { attempt: attempt(1), slot, lock: "s".to_owned(), token, jitter: 0 });
    for (now, reply) in input {
        w.at(*now).reply(reply.clone());
        w.entered();
        w.tick();
    }
    w.sent.last().unwrap().2.clone()
}

fn acquire(mutant: Option<&'static str>, token: &str) -> Ask {
    ask(&setup(), mutant, token, &[])
}

fn renew(mutant: Option<&'static str>, token: &str) -> Ask {
    ask(&Setup { renew: true, ..setup() }, mutant, token, &[(2000, granted(1))])
}

fn release(mutant: Option<&'static str>, token: &str) -> Ask {
    ask(&setup(), mutant, token, &[(3950, granted(1))])
}

/// Run commands at times of the store; what each affected.
fn run(store: &mut Store, commands: &[(u64, Ask)]) -> Vec<u64> {
    let affected = |reply| match reply {
        Reply::Rows { affected, .. } => affected,
        other => panic!("{other:?}"),
    };
    commands.iter().map(|(at, ask)| affected(ask.apply(store, At(*at)))).collect()
}

#[test]
fn the_right_one_excludes_expires_renews_and_frees() {
    let mut store = Store::default();
    let commands = [
        (0, acquire(None, "a")),
        (2999, acquire(None, "b")),
        (2999, renew(None, "b")),
        (2000, renew(None, "a")),
        (4999, release(None, "b")),
        (5000, renew(None, "a")),
        (5000, acquire(None, "b")),
        (5001, release(None, "a")),
        (5002, release(None, "b")),
        (5002, release(None, "b")),
        (5003, acquire(None, "a")),
    ];
    assert_eq!(run(&mut store, &commands), [1, 0, 0, 1, 0, 0, 1, 0, 1, 0, 1]);
    assert_eq!(store.epochs["s"], 3);
    assert_eq!(store.locks["s"].expires_at, 8003);
}

#[test]
fn replica_clock_takes_a_lock_that_still_holds() {
    for (setup, mutant) in [(setup(), Some("replica-clock")), (Setup { clock: Clock::Replica, ..setup() }, None)] {
        let mut ahead = ask(&setup, mutant, "b", &[]);
        assert_eq!(ahead.wire().params.last(), Some(&Param::WallClock));
        ahead.replica_clock = Some(4000);
        let mut store = Store::default();
        assert_eq!(run(&mut store, &[(0, acquire(None, "a")), (100, ahead)]), [1, 1]);
    }
}

#[test]
fn no_owner_check_frees_and_extends_what_is_somebody_elses() {
    let mutant = Some("no-owner-check");
    let mut store = Store::default();
    let commands =
        [(0, acquire(None, "a")), (10, renew(mutant, "b")), (20, release(mutant, "b")), (21, acquire(None, "c"))];
    assert_eq!(run(&mut store, &commands), [1, 1, 1, 1]);
}

#[test]
fn host_token_lets_two_processes_of_one_name_in() {
    let mutant = Some("host-token");
    let mut store = Store::default();
    let commands =
        [(0, acquire(mutant, "a")), (10, acquire(mutant, "b")), (20, renew(mutant, "a")), (30, renew(mutant, "b"))];
    assert_eq!(run(&mut store, &commands), [1, 1, 1, 1]);
    assert_eq!(store.locks["s"].token, Some(Token("host-a".to_owned())));
    let stranger = acquire(None, "c");
    assert_eq!(run(&mut store, &[(40, stranger)]), [0], "another name stays out");
}

#[test]
fn timeout_as_granted_enters_without_knowing() {
    let mut w = Walk::<PgLease>::new(&setup(), Some("timeout-as-granted"));
    w.due();
    assert_eq!(short(&w.at(1200).reply(Reply::Unknown)), ["discard", "enter until 3950"]);
}

#[test]
fn leads_on_neither_stops_at_its_deadline_nor_when_a_renewal_fails() {
    let mut w = Walk::<PgLease>::new(&Setup { renew: true, ..setup() }, Some("leads-on"));
    w.due();
    assert_eq!(short(&w.reply(granted(1))), ["enter until ever"]);
    w.entered();
    w.at(2000).tick();
    assert_eq!(short(&w.at(2200).reply(Reply::Unknown)), ["discard"]);
    assert_eq!(short(&w.at(9000).tick()), ["send renew again"]);
    assert!(w.reply(rows(0)).is_empty());
    assert_eq!(w.strategy.state(), "working");
    assert_eq!(short(&w.work_ended(WorkEnd::Done)), ["effect until ever"]);
}

/// Parameters are numbered from 1 without gaps, as many as are given, and each states its type.
#[test]
fn every_text_fits_its_parameters_under_every_mutant_and_clock() {
    let mutants = PgLease::info().mutants.iter().map(|mutant| Some(mutant.name)).chain([None]);
    for mutant in mutants {
        for clock in [Clock::Store, Clock::Replica] {
            let plain = Setup { clock, ..setup() };
            let renewing = Setup { renew: true, ..plain.clone() };
            let asks = [
                ask(&plain, mutant, "a", &[]),
                ask(&renewing, mutant, "a", &[(2000, granted(1))]),
                ask(&plain, mutant, "a", &[(1001, Reply::Unknown), (1002, rows(0)), (1003, rows(1))]),
            ];
            let prepared = PgLease::new(&plain, mutant, "host-a").sessions().remove(0).prepare;
            for ask in asks {
                let wire = ask.wire();
                assert!(prepared.contains(&wire.text), "{mutant:?}: {} was not prepared", wire.name);
                for n in 1..=wire.params.len() {
                    let typed = ["text", "bigint", "timestamptz"].map(|of| format!("${n}::{of}"));
                    let shown = format!("${n}");
                    assert!(
                        wire.text.contains(&shown),
                        "{mutant:?} {clock:?}: {} lacks ${n}:\n{}",
                        wire.name,
                        wire.text
                    );
                    assert!(typed.iter().any(|one| wire.text.contains(one)), "{shown} has no type: {}", wire.text);
                }
                assert!(!wire.text.contains(&format!("${}", wire.params.len() + 1)), "{mutant:?}: {}", wire.text);
                assert_eq!(wire.text.contains("clock_timestamp()"), ask.replica_clock.is_none());
            }
        }
    }
}

#[test]
fn what_pages_show_is_what_is_sent() {
    let info = PgLease::info();
    for mutant in info.mutants.iter().map(Some).chain([None]) {
        let prepared = PgLease::new(&setup(), mutant.map(|mutant| mutant.name), "h").sessions().remove(0).prepare;
        let shown: Vec<_> = ["acquire", "renew", "release"].map(|name| info.command(mutant, name).unwrap()).to_vec();
        assert_eq!(prepared, shown, "{mutant:?}");
    }
}
