//! Pictures of every page in both themes and sizes, for people to look at: `scripts/shots` says where to
//! (`AEGIS_SHOTS`). Where nobody wants them there is nothing to do.

use std::time::Duration;

use serde_json::json;

use crate::chrome::Chrome;
use crate::common::served::Served;
use crate::places::{measure, places};

/// The desk, and the phone.
const SIZES: [(&str, u32, u32); 2] = [("d", 1440, 900), ("m", 390, 844)];
/// How long something of the live lab may take to come.
const COMES: Duration = Duration::from_secs(40);
/// How long nine replicas may take to start, and races to end, on a busy machine.
const LONG: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/shots runs it"]
async fn every_page_in_both_themes_and_sizes() {
    if std::env::var_os("AEGIS_SHOTS").is_none() {
        return;
    }
    let lab = Served::start();
    let chrome = Chrome::open(1440, 900).await;

    in_the_lab(&chrome, &lab).await;
    for place in
        places(&chrome, &lab).await.into_iter().filter(|place| !matches!(place.name, "lab" | "matrix" | "cell"))
    {
        chrome.resize(1440, 900).await;
        chrome.visit(&lab, &place).await;
        if place.name == "start" {
            // Played to its end.
            chrome
                .until("the run was played", "return document.getAnimations().every(a => a.playState !== 'running')")
                .await;
        }
        chrome.looks(place.name).await;
    }
    of_the_matrix(&chrome, &lab).await;
    chrome.close().await;
}

/// The stage as it goes on: a collision, a lease, a paused holder, nine replicas.
async fn in_the_lab(chrome: &Chrome, lab: &Served) {
    chrome.client.goto(&format!("{}/lab", lab.url)).await.unwrap();
    chrome.until_within(COMES, "an overlap", "return hydrated() && tally('overlap') > 0").await;
    chrome.looks("lab-collision").await;

    chrome.choose("Strategy", "pg-lease").await;
    chrome.until_within(COMES, "somebody is inside", "return holder() !== undefined && tally('overlap') === 0").await;
    chrome.looks("lab-lease").await;

    chrome.choose("Handler", "stubborn").await;
    chrome.enter("Work", 4000).await;
    chrome.until_within(COMES, "somebody works", "return holder() && belief(holder()).includes('holds')").await;
    let holder = chrome.script("return holder()").await;
    let holder = holder.as_str().expect("a holder").to_owned();
    chrome.to_replica(&holder, "Pause").await;
    let denied = format!("return card('{holder}').querySelector('.tr.cut.harm, .tr.cut') !== null");
    chrome.until_within(COMES, "it believes and the store denies", &denied).await;
    let both = "return names().filter(name => state(name) === 'Running').length > 1 && tally('overlap') > 0";
    chrome.until_within(COMES, "another is inside", both).await;
    chrome.looks("lab-paused").await;
    chrome.to_replica(&holder, "Continue").await;

    let more: Vec<&str> = vec!["D", "E", "F", "G", "H", "I"];
    let run = chrome.script("return document.querySelector('.run-id').getAttribute('href').split('/').pop()").await;
    let path = format!("/api/runs/{}/actions", run.as_str().expect("the run's name"));
    chrome.fetched(&path, "POST", &json!({ "set": { "strategy": "redlock", "work_ms": 400 } }).to_string()).await;
    chrome.fetched(&path, "POST", &json!({ "add": more }).to_string()).await;
    chrome.until_within(LONG, "nine replicas", "return names().length === 9 && holder() !== undefined").await;
    chrome.looks("lab-nine").await;
}

/// The matrix, partly revealed, with a cell open and a race that was run.
async fn of_the_matrix(chrome: &Chrome, lab: &Served) {
    for cell in ["pg-lease/pause-past-lease", "redlock/two-at-once", "pg-row-lock/crash-while-holding"] {
        measure(chrome, cell).await;
    }
    chrome.fetched("/api/matrix/runs", "POST", &json!({ "race": "pause-past-lease" }).to_string()).await;
    let page = format!("{}/matrix?cell=pg-lease/pause-past-lease", lab.url);
    chrome.client.goto(&page).await.unwrap();
    chrome.until_within(LONG, "the race", "return document.getElementById('main').dataset.busy === 'false'").await;
    chrome.looks("matrix").await;
    chrome.client.goto(&format!("{page}#race")).await.unwrap();
    chrome.looks("race").await;
}

impl Chrome {
    /// What stands here, in each size and theme.
    async fn looks(&self, name: &str) {
        for (size, width, height) in SIZES {
            self.resize(width, height).await;
            self.script("document.querySelector(':target')?.scrollIntoView()").await;
            for theme in ["light", "dark"] {
                self.theme(theme).await;
                // Two frames: what follows the size is measured in one and drawn in the next.
                let drawn =
                    "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(true)))";
                self.client.execute_async(drawn, Vec::new()).await.expect("two frames");
                self.keep(&format!("{name}-{size}-{theme}")).await;
            }
        }
        self.resize(1440, 900).await;
        self.theme("light").await;
    }
}
