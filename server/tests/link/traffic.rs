//! Control calls while traffic is at its densest: none hangs, and none returns before its fault is in force.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use locks::action::Direction::{Reply, Request};
use server::clock::now_us;
use server::link::Delay;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::lab::{A, LIMIT, Lab, STORE};

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_control_call_during_traffic_never_hangs_and_nothing_passes_once_it_returned() {
    let mut lab = Lab::echoing().await;
    let stop = Arc::new(AtomicBool::new(false));
    let rounds = Arc::new(AtomicU64::new(0));
    let clients: Vec<_> = (0..4)
        .map(|_| (lab.ports[&STORE], stop.clone(), rounds.clone()))
        .map(|(port, stop, rounds)| {
            tokio::spawn(async move {
                let mut client = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                client.set_nodelay(true).unwrap();
                let mut reply = [0; 4];
                while !stop.load(Ordering::Relaxed) {
                    client.write_all(b"ping").await.unwrap();
                    client.read_exact(&mut reply).await.unwrap();
                    rounds.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();

    let mut silent = Vec::new();
    let mut slowest = Duration::ZERO;
    let mut timed = |call: &mut dyn FnMut()| {
        let begun = Instant::now();
        call();
        slowest = slowest.max(begun.elapsed());
    };
    for n in 0..150 {
        let before = rounds.load(Ordering::Relaxed);
        let moving = async {
            while rounds.load(Ordering::Relaxed) < before + 20 {
                tokio::task::yield_now().await;
            }
        };
        timeout(LIMIT, moving).await.expect("traffic goes on between faults");
        timed(&mut || match n % 2 {
            0 => lab.links.cut(A, STORE).unwrap(),
            _ => {
                lab.links.hold(A, STORE, Request).unwrap();
                lab.links.hold(A, STORE, Reply).unwrap();
            }
        });
        let from = now_us();
        tokio::time::sleep(Duration::from_millis(2)).await;
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
        count += 1;
        let broken = silent.iter().find(|(from, until)| (*from..*until).contains(&passed.at_us));
        assert_eq!(broken, None, "passed at {} while a fault was in force", passed.at_us);
    }
    assert!(count >= 2 * 150 * 20, "each round is a request and a reply");
}
