//! The lab as a learner meets it: a real browser, a real lab, real stores. Every test ends with
//! [`Chrome::close`], which fails on any error in the browser's console.

#[path = "../common/mod.rs"]
mod common;

mod axe;
// The benchmark drives it too, and needs other parts of it.
#[allow(dead_code)]
mod chrome;
mod every_page;
mod faults;
mod hand;
mod homework;
mod interrupted;
mod learner;
mod lesson;
mod machine;
mod matrix;
mod page;
mod places;
mod shots;
mod walk;

use std::collections::BTreeMap;
use std::time::Duration;

use chrome::Chrome;
use common::served::Served;
use serde_json::Value;

/// What "at once" means to somebody who opened the lab for the first time.
const FIRST_COLLISION: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn a_collision_a_switch_and_a_pause() {
    let lab = Served::start();
    let chrome = Chrome::open(1440, 900).await;
    chrome.client.goto(&lab.url).await.unwrap();
    chrome.until("the start page", "return document.querySelector('main h1') !== null").await;
    chrome.keep("start").await;
    chrome.press("Open the lab").await;

    // Without a lock, within ten seconds: stripes in the timeline, a chip, the bank's counter, the audit.
    chrome.until("three replicas", "return document.querySelectorAll('article.card').length === 3").await;
    chrome
        .until_within(
            FIRST_COLLISION,
            "the bank settled a slot more than once",
            "return document.querySelector('.caption .viol')?.textContent.includes('more than once')",
        )
        .await;
    chrome.until("an overlap is measured", "return tally('overlap') > 0").await;
    chrome
        .until(
            "the timeline shows it",
            "return [...document.querySelectorAll('.tl text')].some(t => t.textContent.includes('overlap'))",
        )
        .await;
    chrome.tab("Rows").await;
    chrome.until("the audit has one slot several times", "return new Set(executed()).size < executed().length").await;
    chrome.keep("collision").await;

    // With a lease in the database: ten slots, each once.
    chrome.choose("Strategy", "pg-lease").await;
    let switched = switch(&chrome.log().await).expect("the log has the switch");
    let mut settled = BTreeMap::new();
    while settled.len() < 10 {
        chrome.client.execute_async(NEXT_EFFECT, Vec::new()).await.unwrap();
        settled = accepted_since(&chrome.log().await, switched);
    }
    assert!(settled.values().all(|n| *n == 1), "a slot was settled twice under pg-lease: {settled:?}");
    chrome.until("no overlap since the switch", "return tally('overlap') === 0").await;
    chrome.tab("Wire").await;
    chrome
        .until(
            "the statement, verbatim",
            "return document.querySelector('.wire').textContent.includes('insert into locks')",
        )
        .await;
    chrome.keep("pg-lease").await;

    // A holder that is paused past its lease: it believes, the store denies, the sink accepts.
    chrome.choose("Handler", "stubborn").await;
    chrome.enter("Work", 4000).await;
    chrome.until("somebody works", "return holder() !== undefined && belief(holder()).includes('holds')").await;
    let holder = chrome.script("return holder()").await;
    let holder = holder.as_str().unwrap().to_owned();
    chrome.to_replica(&holder, "Pause").await;
    chrome.until("it is stopped", &format!("return card('{holder}').classList.contains('stopped')")).await;
    chrome
        .until(
            "it believes and the store denies",
            &format!("return card('{holder}').querySelector('.tr.cut') !== null"),
        )
        .await;
    chrome.until("hollow on the timeline", "return document.querySelector('.tl .hollow') !== null").await;
    chrome.keep("paused").await;
    chrome.to_replica(&holder, "Continue").await;
    chrome.until("it runs again", &format!("return !card('{holder}').classList.contains('stopped')")).await;
    chrome.close().await;
}

/// Number of the event that switched to `pg-lease`.
fn switch(log: &[Value]) -> Option<u64> {
    log.iter().find(|event| event["kind"] == "set" && event["change"]["strategy"] == "pg-lease")?["seq"].as_u64()
}

/// Accepted effects of each slot whose attempts began after that event.
fn accepted_since(log: &[Value], seq: u64) -> BTreeMap<String, u32> {
    let begun: Vec<&Value> = log
        .iter()
        .filter(|e| e["kind"] == "slot_due" && e["seq"].as_u64() > Some(seq))
        .map(|e| &e["attempt"])
        .collect();
    let mut settled = BTreeMap::new();
    for event in log.iter().filter(|e| e["kind"] == "effect_settled" && e["answer"] == "accepted") {
        if begun.contains(&&event["attempt"]) {
            *settled.entry(event["slot"].as_str().unwrap().to_owned()).or_insert(0) += 1;
        }
    }
    settled
}

/// Resolves with the next effect that the run's stream tells of.
const NEXT_EFFECT: &str = "const done = arguments[arguments.length - 1];
    const id = document.querySelector('.run-id').getAttribute('href').split('/').pop();
    fetch(`/api/runs/${id}/log`).then(answer => answer.json()).then(events => {
      const next = new EventSource(`/api/runs/${id}/events?after=${events.at(-1).seq}`);
      next.addEventListener('events', message => {
        if (JSON.parse(message.data).some(event => event.kind === 'effect_settled')) { next.close(); done(true); }
      });
    });";
