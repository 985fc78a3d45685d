//! Ends: half-close, reset, upstreams that are gone, links that are removed.

use std::io::ErrorKind;

use locks::action::Direction;
use locks::ids::Endpoint;
use server::link::{LinkError, Upstream};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::lab::{A, Heard, Lab, STORE, ends, listen, receives, send};

#[tokio::test]
async fn half_close_is_passed_on_and_the_other_half_goes_on() {
    let mut lab = Lab::open().await;
    let (mut client, mut peer) = lab.pair().await;
    send(&mut client, b"all I have").await;
    client.shutdown().await.unwrap();
    peer.hears(b"all I have").await;
    assert_eq!(peer.hears_end().await, Heard::Fin);
    peer.says(b"a late answer").await;
    receives(&mut client, b"a late answer").await;
    peer.say.take();
    assert_eq!(ends(&mut client).await, None);
}

#[tokio::test]
async fn who_is_gone_is_not_kept_until_a_silent_store_answers() {
    let mut lab = Lab::open().await;
    let (client, mut peer) = lab.pair().await;
    drop(client);
    assert_eq!(peer.hears_end().await, Heard::Fin);
    peer.is_left().await;
}

#[tokio::test]
async fn what_is_held_for_who_is_gone_is_kept_until_it_may_pass() {
    let mut lab = Lab::open().await;
    lab.links.hold(A, STORE, Direction::Reply).unwrap();
    let (client, mut peer) = lab.pair().await;
    let (other, mut other_peer) = lab.pair_of(Endpoint::Redis(1)).await;
    drop(client);
    drop(other);
    peer.hears_end().await;
    other_peer.hears_end().await;
    // As long as it takes elsewhere.
    other_peer.is_left().await;
    peer.says(b"held").await;
    lab.links.let_go(A, STORE, Direction::Reply).unwrap();
    assert_eq!(lab.next_passed().await.direction, Direction::Reply);
    peer.is_left().await;
}

#[tokio::test]
async fn a_reset_is_seen_by_the_replica_as_one_and_by_all_of_that_endpoint() {
    let mut lab = Lab::open().await;
    let (mut client, mut peer) = lab.pair().await;
    let mut other = lab.connect_to(Endpoint::Redis(1)).await;
    let mut other_peer = lab.peer().await;
    lab.links.reset(STORE);
    assert_eq!(ends(&mut client).await, Some(ErrorKind::ConnectionReset));
    peer.hears_end().await;
    send(&mut other, b"untouched").await;
    other_peer.hears(b"untouched").await;
}

#[tokio::test]
async fn without_an_upstream_a_connection_is_reset_and_a_new_upstream_is_used() {
    let lab = Lab::open().await;
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("elsewhere");
    lab.links.set_upstream(STORE, Upstream::Unix(elsewhere.clone()));
    // A reset that comes fast is seen by the connecting call already.
    let seen = match TcpStream::connect(("127.0.0.1", lab.ports[&STORE])).await {
        Ok(mut client) => ends(&mut client).await,
        Err(error) => Some(error.kind()),
    };
    assert_eq!(seen, Some(ErrorKind::ConnectionReset));
    let mut peers = listen(elsewhere, false);
    let mut client = lab.connect().await;
    send(&mut client, b"moved").await;
    peers.recv().await.unwrap().hears(b"moved").await;
}

#[tokio::test]
async fn removed_links_end_with_their_connections() {
    let mut lab = Lab::open().await;
    let (mut client, mut peer) = lab.pair().await;
    lab.links.remove(A);
    assert_eq!(ends(&mut client).await, Some(ErrorKind::ConnectionReset));
    peer.hears_end().await;
    assert!(matches!(lab.links.cut(A, STORE), Err(LinkError::Unknown { .. })));
    // The port closes on the thread of links, soon.
    while TcpStream::connect(("127.0.0.1", lab.ports[&STORE])).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn dropping_the_handle_closes_everything() {
    let mut lab = Lab::open().await;
    let (mut client, mut peer) = lab.pair().await;
    let Lab { links, .. } = lab;
    drop(links);
    ends(&mut client).await;
    peer.hears_end().await;
}

#[tokio::test]
async fn a_second_incarnation_finds_the_links_and_faults_of_the_first() {
    let lab = Lab::open().await;
    lab.links.cut(A, STORE).unwrap();
    assert_eq!(lab.links.add(A).unwrap(), lab.ports);
    assert!(lab.links.rules(A, STORE).unwrap().cut);
}
