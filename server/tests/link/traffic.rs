//! Control calls while traffic is at its densest: none hangs, and none returns before its fault is in force.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use locks::action::Direction::{Reply, Request};
use locks::ids::Endpoint;
use server::clock::now_us;
use server::link::Delay;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::lab::{A, LIMIT, Lab, STORE};

/// An endpoint without faults.
const BESIDE: Endpoint = Endpoint::Redis(1);
/// So many requests and replies are traffic.
const ROUNDS: u64 = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_control_call_during_traffic_never_hangs_and_nothing_passes_once_it_returned() {
    let mut lab = Lab::echoing().await;
    let stop = Arc::new(AtomicBool::new(false));
    let traffic = |endpoint, clients| {
        let rounds = Arc::new(AtomicU64::new(0));
        let running: Vec<_> =
            (0..clients).map(|_| tokio::spawn(client(lab.ports[&endpoint], stop.clone(), rounds.clone()))).collect();
        (rounds, running)
    };
    let (rounds, mut clients) = traffic(STORE, 4);
    // No fault is on this one: as long as it goes on, so could the other.
    let (beside, neighbour) = traffic(BESIDE, 1);
    clients.extend(neighbour);

    let mut silent = Vec::new();
    let mut slowest = Duration::ZERO;
    let mut timed = |call: &mut dyn FnMut()| {
        let begun = Instant::now();
        call();
        slowest = slowest.max(begun.elapsed());
    };
    for n in 0..150 {
        go_on(&rounds).await;
        timed(&mut || match n % 2 {
            0 => lab.links.cut(A, STORE).unwrap(),
            _ => {
                lab.links.hold(A, STORE, Request).unwrap();
                lab.links.hold(A, STORE, Reply).unwrap();
            }
        });
        let from = now_us();
        go_on(&beside).await;
        timed(&mut || lab.links.delay(A, STORE, Delay { ms: 0, jitter_ms: n % 2, seed: n }).unwrap());
        let until = now_us();
        silent.push((from, until));
        timed(&mut || {
            lab.links.heal(A, STORE, false).unwrap();
            lab.links.let_go(A, STORE, Request).unwrap();
            lab.links.let_go(A, STORE, Reply).unwrap();
        });
    }
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        timeout(LIMIT, client).await.expect("traffic ends").unwrap();
    }
    assert!(slowest < Duration::from_secs(1), "a control call took {slowest:?}");
    let mut count = 0;
    while let Ok(passed) = lab.passed.try_recv() {
        if passed.endpoint != STORE {
            continue;
        }
        count += 1;
        let broken = silent.iter().find(|(from, until)| (*from..*until).contains(&passed.at_us));
        assert_eq!(broken, None, "passed at {} while a fault was in force", passed.at_us);
    }
    assert!(count >= 2 * 150 * ROUNDS, "each round is a request and a reply");
}

/// Ask and be answered, on and on.
async fn client(port: u16, stop: Arc<AtomicBool>, rounds: Arc<AtomicU64>) {
    let mut client = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    client.set_nodelay(true).unwrap();
    let mut reply = [0; 4];
    while !stop.load(Ordering::Relaxed) {
        client.write_all(b"ping").await.unwrap();
        client.read_exact(&mut reply).await.unwrap();
        rounds.fetch_add(1, Ordering::Relaxed);
    }
}

async fn go_on(rounds: &AtomicU64) {
    let before = rounds.load(Ordering::Relaxed);
    let moving = async {
        while rounds.load(Ordering::Relaxed) < before + ROUNDS {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, moving).await.expect("traffic goes on");
}
