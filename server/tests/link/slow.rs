//! Delay and hold, alone and together.

use std::time::{Duration, Instant};

use locks::action::Direction::{Reply, Request};
use server::link::Delay;
use tokio::time::sleep;

use crate::lab::{A, Heard, Lab, STORE, receives, receives_nothing, send};

fn ms(ms: u64) -> Delay {
    Delay { ms, jitter_ms: 0, seed: 1 }
}

#[tokio::test]
async fn a_delay_shifts_what_passes_and_keeps_it_in_flight_together() {
    let mut lab = Lab::echoing().await;
    let (mut client, _peer) = lab.pair().await;
    lab.links.delay(A, STORE, ms(60)).unwrap();
    let begun = Instant::now();
    for n in 0..20u8 {
        send(&mut client, &[n]).await;
        sleep(Duration::from_millis(1)).await;
    }
    receives(&mut client, &(0..20u8).collect::<Vec<_>>()).await;
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(120), "both ways are delayed: {took:?}");
    assert!(took < Duration::from_millis(20 * 60), "one after the other: {took:?}");
}

#[tokio::test]
async fn a_delay_that_ended_delays_no_more() {
    let mut lab = Lab::echoing().await;
    let (mut client, _peer) = lab.pair().await;
    lab.links.delay(A, STORE, ms(5_000)).unwrap();
    lab.links.delay(A, STORE, ms(0)).unwrap();
    let begun = Instant::now();
    send(&mut client, b"x").await;
    receives(&mut client, b"x").await;
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn holding_replies_holds_exactly_the_reply_to_the_next_request() {
    let mut lab = Lab::echoing().await;
    let (mut client, mut peer) = lab.pair().await;
    send(&mut client, b"first").await;
    receives(&mut client, b"first").await;
    peer.hears(b"first").await;
    lab.links.hold(A, STORE, Reply).unwrap();
    send(&mut client, b"second").await;
    peer.hears(b"second").await;
    receives_nothing(&mut client).await;
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(lab.next_passed().await.direction);
    }
    assert_eq!(seen, [Request, Reply, Request]);
    assert!(lab.passed.try_recv().is_err(), "the held reply has not passed");
    lab.links.let_go(A, STORE, Reply).unwrap();
    receives(&mut client, b"second").await;
    let reply = lab.next_passed().await;
    assert_eq!(reply.direction, Reply);
    assert!(reply.kept_us >= 50_000, "kept for {} us", reply.kept_us);
}

#[tokio::test]
async fn held_requests_of_a_replica_that_has_gone_are_delivered_with_its_end() {
    let mut lab = Lab::open().await;
    let (mut client, mut peer) = lab.pair().await;
    lab.links.hold(A, STORE, Request).unwrap();
    send(&mut client, b"release").await;
    drop(client);
    peer.hears_nothing().await;
    lab.links.let_go(A, STORE, Request).unwrap();
    peer.hears(b"release").await;
    assert_eq!(peer.hears_end().await, Heard::Fin);
}

#[tokio::test]
async fn held_requests_survive_a_replica_that_was_killed_with_replies_unread() {
    let mut lab = Lab::open().await;
    let (mut client, mut peer) = lab.pair().await;
    peer.says(b"never read").await;
    lab.next_passed().await;
    client.readable().await.unwrap();
    lab.links.hold(A, STORE, Request).unwrap();
    send(&mut client, b"release").await;
    // The kernel resets a connection that is closed with bytes unread.
    drop(client);
    peer.hears_nothing().await;
    lab.links.let_go(A, STORE, Request).unwrap();
    peer.hears(b"release").await;
    peer.hears_end().await;
}

#[tokio::test]
async fn delay_and_hold_together_pass_when_both_allow() {
    let mut lab = Lab::open().await;
    let (mut client, mut peer) = lab.pair().await;
    lab.links.delay(A, STORE, ms(30)).unwrap();
    lab.links.hold(A, STORE, Request).unwrap();
    send(&mut client, b"both").await;
    peer.hears_nothing().await;
    lab.links.let_go(A, STORE, Request).unwrap();
    peer.hears(b"both").await;
    let begun = Instant::now();
    send(&mut client, b"delay only").await;
    peer.hears(b"delay only").await;
    assert!(begun.elapsed() >= Duration::from_millis(30));
}

#[tokio::test]
async fn a_held_direction_keeps_a_bounded_part_and_holds_the_sender_back() {
    const WHOLE: usize = 48 << 20;
    let mut lab = Lab::open().await;
    let (client, mut peer) = lab.pair().await;
    lab.links.hold(A, STORE, Request).unwrap();
    let bytes: Vec<u8> = (0..WHOLE).map(|n| (n / 7) as u8).collect();
    let mut sent = 0;
    // Writable no more for a while: link and kernel are full.
    while tokio::time::timeout(Duration::from_millis(300), client.writable()).await.is_ok() && sent < WHOLE {
        sent += client.try_write(&bytes[sent..]).unwrap_or(0);
    }
    assert!(sent < WHOLE, "the sender was never held back");
    lab.links.let_go(A, STORE, Request).unwrap();
    peer.hears(&bytes[..sent]).await;
}
