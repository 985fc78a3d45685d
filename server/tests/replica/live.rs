//! A replica that is left to itself: its own timers, set-ups that change while it runs, its end.

use std::io::Write;
use std::process::{Command, Stdio};

use locks::event::{Kind, Line};
use locks::ids::Slot;
use locks::machine::Outcome;
use locks::setup::{Gated, Setup};
use server::replica::control::Control;

use crate::common::aegis;
use crate::stage::{Replica, SCHEDULE, Stage};

fn live(strategy: &str) -> Setup {
    Setup { strategy: strategy.into(), work_ms: 30, ..Setup::live() }
}

fn every_second(stage: &Stage) -> impl Future<Output = i64> + '_ {
    stage.ask::<i64>("with every as (update schedules set cron = '* * * * * *' returning 1) select count(*) from every")
}

async fn slots(replica: &mut Replica, count: usize) -> Vec<Slot> {
    let mut slots = Vec::new();
    let mut from = 0;
    while slots.len() < count {
        from = 1 + replica.hears_from(from, |kind| matches!(kind, Kind::SlotDue { by_timer: true, .. })).await;
        if let Kind::SlotDue { slot, .. } = &replica.heard[from - 1].kind
            && slot.schedule == SCHEDULE
        {
            slots.push(slot.clone());
        }
    }
    slots
}

#[tokio::test]
async fn replicas_fire_the_same_slots_each_by_its_own_timer() {
    let stage = Stage::open(&[]).await;
    every_second(&stage).await;
    let mut a = stage.replica("A", &live("pg-lease")).await;
    let mut b = stage.replica("B", &live("pg-lease")).await;
    let of_b = slots(&mut b, 2).await;
    let of_a = slots(&mut a, 3).await;
    assert!(of_b.iter().all(|slot| slot.fire_ms % 1_000 == 0 && of_a.contains(slot)), "{of_a:?} {of_b:?}");
    stage.close().await;
}

#[tokio::test]
async fn a_changed_strategy_is_for_new_attempts_and_a_changed_catalog_for_new_slots() {
    let stage = Stage::open(&[]).await;
    let setup = Setup { cron: false, work_ms: 400, ..live("none") };
    let mut a = stage.replica("A", &setup).await;
    a.fire(1_000).await;
    a.hears(|kind| matches!(kind, Kind::Entered { .. })).await;
    a.tell(&Control::Set { setup: Box::new(Setup { strategy: "pg-lease".into(), work_ms: 20, ..setup.clone() }) })
        .await;
    a.fire(2_000).await;
    assert_eq!(a.outcome(2).await.0, Outcome::Executed);
    assert_eq!(a.outcome(1).await.0, Outcome::Executed);
    let granted: Vec<u32> = a
        .heard
        .iter()
        .filter_map(|line| match &line.kind {
            Kind::Granted { attempt, .. } => Some(attempt.n),
            _ => None,
        })
        .collect();
    assert_eq!(granted, [2]);
    // Timers on, and the schedules fire every second from the next reading of the catalog on.
    every_second(&stage).await;
    a.tell(&Control::Rebind).await;
    a.tell(&Control::Set { setup: Box::new(Setup { cron: true, ..setup }) }).await;
    let slots = slots(&mut a, 2).await;
    assert_eq!(slots[1].fire_ms - slots[0].fire_ms, 1_000);
    stage.close().await;
}

#[tokio::test]
async fn a_shifted_clock_shifts_what_is_due() {
    let stage = Stage::open(&[]).await;
    every_second(&stage).await;
    let mut a = stage.replica("A", &live("none")).await;
    let before = slots(&mut a, 1).await.pop().unwrap();
    a.heard.clear();
    a.tell(&Control::Clock { shift_ms: 3_600_000 }).await;
    let after = slots(&mut a, 2).await.pop().unwrap();
    assert!(after.fire_ms - before.fire_ms > 3_590_000, "{before} {after}");
    stage.close().await;
}

#[tokio::test]
async fn who_is_shut_down_gives_back_what_it_holds() {
    let stage = Stage::open(&[]).await;
    let setup = Setup { gated: Gated::Yes(Vec::new()), cron: false, lease_ms: 60_000, ..live("pg-lease") };
    let mut a = stage.replica("A", &setup).await;
    a.fire(1_000).await;
    a.until(1, locks::ids::Gate::Effect).await;
    assert_eq!(stage.ask::<i64>("select count(*) from locks where token is not null").await, 1);
    a.tell(&Control::Shutdown).await;
    a.ends().await;
    assert_eq!(stage.ask::<i64>("select count(*) from locks where token is not null").await, 0);
    assert_eq!(a.process.exited().await, server::warden::Exit::Status(0));
    stage.close().await;
}

#[tokio::test]
async fn a_replica_at_work_stays_small() {
    let stage = Stage::open(&[]).await;
    every_second(&stage).await;
    let mut a = stage.replica("A", &live("pg-lease")).await;
    slots(&mut a, 2).await;
    let status = std::fs::read_to_string(format!("/proc/{}/status", a.process.pid())).unwrap();
    // Its own memory: how much of the program itself is resident depends on the build and on what else
    // the machine does, and is shared by all replicas. `scripts/bench` measures the whole.
    let own = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    let kb: u64 = own.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kb < 8_000, "{kb} kB of its own");
    stage.close().await;
}

fn told(lines: &str, then_close: bool) -> (Option<i32>, String) {
    let mut replica = Command::new(aegis())
        .arg("replica")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = replica.stdin.take().unwrap();
    stdin.write_all(lines.as_bytes()).unwrap();
    if then_close {
        drop(stdin);
    }
    let ended = replica.wait_with_output().unwrap();
    (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
}

#[test]
fn what_is_no_control_line_ends_it_with_two() {
    for lines in ["hello\n", "{\"control\":\"dance\"}\n", "{\"control\":\"cancel\"}\n"] {
        let (code, errors) = told(lines, false);
        assert_eq!(code, Some(2), "{lines}: {errors}");
        assert!(!errors.is_empty());
    }
}

#[test]
fn the_end_of_its_input_ends_it_at_once() {
    assert_eq!(told("", true).0, Some(0));
}

#[tokio::test]
async fn what_it_says_is_one_json_object_a_line() {
    let stage = Stage::open(&[]).await;
    let mut a = stage.replica("A", &Setup { cron: false, ..live("none") }).await;
    a.fire(1_000).await;
    a.outcome(1).await;
    let stamps: Vec<u64> = a.heard.iter().map(|line: &Line| line.at_us).collect();
    assert!(stamps.is_sorted(), "said in the order in which it happened");
    stage.close().await;
}
