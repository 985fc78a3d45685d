//! The way in: who hangs up has sent all the same, what is no settlement is refused, the books can be read.

use locks::event::EffectAnswer;
use locks::guard::Guard::UniqueSlot;
use server::bank::wire::{Listed, Reply, SETTLEMENTS};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::counter::{Counter, effect, head, request, run, until_blocked};

#[tokio::test]
async fn an_effect_that_has_arrived_is_settled_though_its_sender_hangs_up() {
    let mut counter = Counter::open(&[]).await;
    let mut barrier = counter.in_bank().await;
    run(&mut barrier, "begin").await;
    run(&mut barrier, "insert into slots (schedule, fire_ms) values ('x', 1)").await;
    let body = serde_json::to_string(&effect("A", "x", 1, Some(1))).unwrap();
    let mut sender = TcpStream::connect(("127.0.0.1", counter.port())).await.unwrap();
    sender.write_all((head("POST", SETTLEMENTS, body.len()) + &body).as_bytes()).await.unwrap();
    until_blocked(&mut counter.in_bank().await, 1).await;
    sender.set_zero_linger().unwrap();
    drop(sender);
    run(&mut barrier, "rollback").await;
    let told = counter.told().await;
    assert_eq!((told.answer, told.nth), (EffectAnswer::Accepted, 1));
    counter.close().await;
}

#[tokio::test]
async fn closing_waits_for_what_is_under_way() {
    let mut counter = Counter::open(&[]).await;
    let mut barrier = counter.in_bank().await;
    run(&mut barrier, "begin").await;
    run(&mut barrier, "insert into slots (schedule, fire_ms) values ('x', 1)").await;
    let port = counter.port();
    let sending = tokio::spawn(async move { crate::counter::post(port, &effect("A", "x", 1, None)).await });
    until_blocked(&mut counter.in_bank().await, 1).await;
    let (_, ()) = tokio::join!(counter.bank.close(), async { run(&mut barrier, "rollback").await });
    assert_eq!(counter.settled.try_recv().map(|told| told.nth), Ok(1), "told before the bank was closed");
    assert_eq!(sending.await.unwrap(), Some(Reply::Accepted { accepted: true, nth: 1 }));
    counter.close().await;
}

#[tokio::test]
async fn the_books_are_listed_newest_first_and_what_is_no_settlement_is_refused() {
    let counter = Counter::open(&[UniqueSlot]).await;
    let port = counter.port();
    let sent = [effect("A", "x", 1, Some(3)), effect("B", "x", 1, None)];
    for settlement in &sent {
        counter.send(settlement).await.expect("an answer");
    }
    let (status, body) = request(port, "GET", SETTLEMENTS, "").await;
    let listed: Vec<Listed> = serde_json::from_slice(&body).unwrap();
    assert_eq!(status, 200);
    assert_eq!(listed.iter().map(|one| &one.settlement).collect::<Vec<_>>(), [&sent[1], &sent[0]]);
    assert_eq!(listed[0].answer, EffectAnswer::Rejected(UniqueSlot));
    assert_eq!((&listed[1].answer, listed[1].nth), (&EffectAnswer::Accepted, 1));
    assert_eq!(request(port, "GET", "/settlements?limit=1", "").await.1.len(), {
        serde_json::to_string(&listed[..1]).unwrap().len()
    });

    assert_eq!(request(port, "GET", "/healthz", "").await.0, 200);
    assert_eq!(request(port, "POST", SETTLEMENTS, r#"{"attempt":"A.1.1"}"#).await.0, 422);
    let unknown = serde_json::to_string(&sent[0]).unwrap().replacen('{', r#"{"amount":1,"#, 1);
    assert_eq!(request(port, "POST", SETTLEMENTS, &unknown).await.0, 422);
    let too_high = effect("A", "x", 2, Some(u64::MAX));
    assert_eq!(request(port, "POST", SETTLEMENTS, &serde_json::to_string(&too_high).unwrap()).await.0, 422);
    let too_long = format!(r#"{{"lock":"{}"}}"#, "x".repeat(20_000));
    assert_eq!(request(port, "POST", SETTLEMENTS, &too_long).await.0, 413);
    counter.close().await;
}
