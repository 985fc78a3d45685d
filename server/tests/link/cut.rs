//! Cut and heal.

use std::io::ErrorKind;

use tokio::io::AsyncWriteExt;

use crate::lab::{A, Heard, Lab, STORE, ends, receives, receives_nothing, send};

#[tokio::test]
async fn behind_a_cut_bytes_and_fin_wait_and_arrive_when_it_heals() {
    let mut lab = Lab::open().await;
    let (mut client, mut peer) = lab.pair().await;
    send(&mut client, b"before").await;
    peer.hears(b"before").await;
    lab.links.cut(A, STORE).unwrap();
    send(&mut client, b"request").await;
    client.shutdown().await.unwrap();
    peer.says(b"reply").await;
    peer.say.take();
    peer.hears_nothing().await;
    receives_nothing(&mut client).await;
    lab.links.heal(A, STORE, false).unwrap();
    peer.hears(b"request").await;
    assert_eq!(peer.hears_end().await, Heard::Fin);
    receives(&mut client, b"reply").await;
    assert_eq!(ends(&mut client).await, None);
}

#[tokio::test]
async fn what_waited_behind_a_cut_was_kept_since_it_came() {
    let mut lab = Lab::open().await;
    let (mut client, mut peer) = lab.pair().await;
    lab.links.cut(A, STORE).unwrap();
    send(&mut client, b"request").await;
    peer.hears_nothing().await;
    lab.links.heal(A, STORE, false).unwrap();
    peer.hears(b"request").await;
    let passed = lab.next_passed().await;
    assert!(passed.kept_us >= 50_000, "kept for {} us", passed.kept_us);
}

#[tokio::test]
async fn healing_with_drop_resets_and_the_next_connection_works() {
    let mut lab = Lab::open().await;
    let (mut client, mut peer) = lab.pair().await;
    lab.links.cut(A, STORE).unwrap();
    send(&mut client, b"lost").await;
    lab.links.heal(A, STORE, true).unwrap();
    assert_eq!(ends(&mut client).await, Some(ErrorKind::ConnectionReset));
    assert_ne!(peer.hears_end().await, Heard::Bytes(b"lost".to_vec()));
    let (mut client, mut peer) = lab.pair().await;
    send(&mut client, b"new").await;
    peer.hears(b"new").await;
}

#[tokio::test]
async fn healing_what_is_not_cut_changes_nothing() {
    let mut lab = Lab::open().await;
    let (mut client, mut peer) = lab.pair().await;
    lab.links.heal(A, STORE, true).unwrap();
    send(&mut client, b"still here").await;
    peer.hears(b"still here").await;
}

#[tokio::test]
async fn a_new_connection_sees_silence_behind_a_cut_and_works_behind_its_end() {
    let mut lab = Lab::open().await;
    lab.links.cut(A, STORE).unwrap();
    let mut client = lab.connect().await;
    send(&mut client, b"hello").await;
    lab.no_peer().await;
    receives_nothing(&mut client).await;
    lab.links.heal(A, STORE, false).unwrap();
    let mut peer = lab.peer().await;
    peer.hears(b"hello").await;
    peer.says(b"hello yourself").await;
    receives(&mut client, b"hello yourself").await;
}

#[tokio::test]
async fn a_connection_made_and_left_behind_a_cut_still_delivers() {
    let mut lab = Lab::open().await;
    lab.links.cut(A, STORE).unwrap();
    let mut client = lab.connect().await;
    send(&mut client, b"last words").await;
    drop(client);
    lab.no_peer().await;
    lab.links.heal(A, STORE, false).unwrap();
    let mut peer = lab.peer().await;
    peer.hears(b"last words").await;
    assert_eq!(peer.hears_end().await, Heard::Fin);
}

#[tokio::test]
async fn a_cut_is_of_one_endpoint_only() {
    let mut lab = Lab::open().await;
    lab.links.cut(A, STORE).unwrap();
    let mut client = lab.connect_to(locks::ids::Endpoint::Bank).await;
    send(&mut client, b"to the bank").await;
    lab.peer().await.hears(b"to the bank").await;
}
