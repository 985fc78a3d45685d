//! Whatever faults come in whatever order: when all are healed, every byte has arrived, in order.

use std::time::Duration;

use locks::action::Direction;
use proptest::prelude::*;
use server::link::Delay;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{sleep, timeout};

use crate::lab::{A, Heard, LIMIT, Lab, STORE, send};

#[derive(Clone, Debug)]
enum Step {
    Send(usize),
    Rest,
    Cut,
    Heal,
    Delay { ms: u64, jitter_ms: u64 },
    Hold(Direction),
    LetGo(Direction),
}

fn step() -> impl Strategy<Value = Step> {
    let direction = || prop_oneof![Just(Direction::Request), Just(Direction::Reply)];
    prop_oneof![
        4 => (1usize..9_000).prop_map(Step::Send),
        2 => Just(Step::Rest),
        1 => Just(Step::Cut),
        1 => Just(Step::Heal),
        1 => (0u64..4, 0u64..6).prop_map(|(ms, jitter_ms)| Step::Delay { ms, jitter_ms }),
        1 => direction().prop_map(Step::Hold),
        1 => direction().prop_map(Step::LetGo),
    ]
}

async fn play(steps: Vec<Step>, seed: u64) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let mut lab = Lab::echoing().await;
    let (mut client, mut peer) = lab.pair().await;
    let mut sent = Vec::new();
    for step in steps {
        match step {
            Step::Send(count) => {
                let bytes: Vec<u8> = (sent.len()..sent.len() + count).map(|n| (n % 251) as u8).collect();
                send(&mut client, &bytes).await;
                sent.extend(bytes);
            }
            Step::Rest => sleep(Duration::from_millis(1)).await,
            Step::Cut => lab.links.cut(A, STORE).unwrap(),
            Step::Heal => lab.links.heal(A, STORE, false).unwrap(),
            Step::Delay { ms, jitter_ms } => lab.links.delay(A, STORE, Delay { ms, jitter_ms, seed }).unwrap(),
            Step::Hold(direction) => lab.links.hold(A, STORE, direction).unwrap(),
            Step::LetGo(direction) => lab.links.let_go(A, STORE, direction).unwrap(),
        }
    }
    client.shutdown().await.unwrap();
    lab.links.heal(A, STORE, false).unwrap();
    for direction in [Direction::Request, Direction::Reply] {
        lab.links.let_go(A, STORE, direction).unwrap();
    }
    let mut echoed = Vec::new();
    timeout(LIMIT, client.read_to_end(&mut echoed)).await.expect("the end within the limit").unwrap();
    let mut heard = Vec::new();
    while let Some(Heard::Bytes(bytes)) = peer.heard.recv().await {
        heard.extend(bytes);
    }
    (sent, heard, echoed)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn after_any_series_of_faults_every_byte_has_arrived_in_order(
        steps in prop::collection::vec(step(), 1..25),
        seed: u64,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (sent, heard, echoed) = runtime.block_on(play(steps, seed));
        prop_assert!(heard == sent, "the store heard {} of {} bytes", heard.len(), sent.len());
        prop_assert!(echoed == sent, "the replica got {} of {} bytes back", echoed.len(), sent.len());
    }
}
