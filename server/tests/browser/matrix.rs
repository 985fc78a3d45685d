//! The matrix page as a learner uses it: predict by mouse and by key, reveal by running, look closer, race.

use std::time::{Duration, Instant};

use fantoccini::Locator;

use crate::chrome::Chrome;
use crate::common::served::Served;

/// How long runs may take on a busy machine.
const RUNS: Duration = Duration::from_secs(90);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn predict_reveal_and_race() {
    let lab = Served::start();
    let chrome = Chrome::open(1440, 900).await;
    chrome.client.goto(&format!("{}/matrix", lab.url)).await.unwrap();
    chrome.until("the table", "return document.querySelectorAll('.mc.un .say').length > 50").await;
    chrome.script("window.same = true").await;

    // One by mouse, one by key; both without leaving the page.
    chrome.button("predict", "none/two-at-once/covered").await;
    chrome.until("it is predicted", &shows("none", "two-at-once", "run to reveal")).await;
    chrome.script("document.getElementById('c-none-two-at-once').focus()").await;
    chrome.keys("\u{e014}c").await;
    chrome.until("the next one, too", &shows("pg-lease", "two-at-once", "run to reveal")).await;
    chrome.until("the key's cell has the focus", "return document.activeElement.id === 'c-pg-lease-two-at-once'").await;
    chrome.keys("\u{e007}").await;
    chrome.button("run", "none/two-at-once").await;
    chrome.until_within(RUNS, "it is measured", &shows("none", "two-at-once", "not covered")).await;
    chrome.until_within(RUNS, "it is measured", &shows("pg-lease", "two-at-once", "covered")).await;
    let joints = "const joint = id => document.querySelector(`#c-${id} .joint`).ariaLabel;
        return joint('none-two-at-once') === 'disagrees with' && joint('pg-lease-two-at-once') === 'agrees with'";
    chrome.until("what was said stands beside it", joints).await;
    chrome.until("a wrong guess is ink", "return document.querySelector('.matrix .joint.harm') === null").await;

    // The cell, with its timeline and the event that proves it.
    chrome.client.find(Locator::Id("c-none-two-at-once")).await.unwrap().click().await.unwrap();
    chrome.until("its timeline", "return document.querySelector('#cell svg .viol-solid') !== null").await;
    let run = chrome.script("return document.querySelector('#cell [data-leaves]').getAttribute('href')").await;
    chrome.press("Run again").await;
    let another = format!(
        "const run = document.querySelector('#cell [data-leaves]')?.getAttribute('href');
         return run && run !== {run} && document.querySelector('#cell svg .viol-solid') !== null"
    );
    chrome.until_within(RUNS, "it is measured again", &another).await;
    chrome.until("its address", "return location.search.includes('cell=none/two-at-once')").await;
    chrome.until("no page was left", "return window.same === true").await;
    chrome.client.back().await.unwrap();
    chrome.until("back again", "return document.getElementById('cell') === null").await;

    // Another guard is another matrix; what was measured is exported.
    chrome.press("max-seen").await;
    chrome.until("nothing is known there", &shows("none", "two-at-once", "predict first")).await;
    chrome.press("none").await;
    chrome.until("and here it is", &shows("none", "two-at-once", "not covered")).await;
    chrome
        .script("fetch('/api/matrix/export?form=markdown').then(a => a.text()).then(t => { window.table = t; })")
        .await;
    chrome.until("a table", "return window.table.includes('| Two replicas at once | not covered')").await;

    // The race: all strategies on one scale, each with its verdict.
    chrome.client.goto(&format!("{}/matrix?race=two-at-once&cell=none/two-at-once", lab.url)).await.unwrap();
    let verdicts = "return [...document.querySelectorAll('.race-v b')].map(b => b.textContent)";
    assert_eq!(chrome.script(verdicts).await.as_array().map(Vec::len), Some(2));
    chrome.button("race", "two-at-once").await;
    chrome.until_within(RUNS, "every line ends", "return document.querySelectorAll('.race-v b').length >= 6").await;
    let said = chrome.script(verdicts).await.to_string();
    assert!(said.contains("Overlap") && said.contains("No overlap"), "{said}");
    for width in [390, 768, 1024, 1440] {
        chrome.resize(width, 844).await;
        let wide = chrome.script(&format!("return document.documentElement.scrollWidth - {width}")).await;
        assert_eq!(wide, 0, "at {width} the page is wider than the screen");
        chrome.keep(&format!("matrix-{width}")).await;
    }
    chrome.press("Open run at #").await;
    chrome
        .until("the run, at that event", "return document.querySelector('.caption')?.textContent.includes('inside')")
        .await;
    chrome.close().await;
}

/// Each button is part of the page's form, and the page is whole each time.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn without_a_script_the_form_does_the_same() {
    let lab = Served::start();
    let chrome = Chrome::open(1440, 900).await;
    chrome.forbid_scripts().await;
    chrome.client.goto(&format!("{}/matrix", lab.url)).await.unwrap();
    chrome.button("predict", "none/two-at-once/covered").await;
    chrome.button("run", "none/two-at-once").await;
    let end = Instant::now() + RUNS;
    let cell = Locator::Css("#c-none-two-at-once[href]");
    while chrome.client.find(cell).await.is_err() {
        assert!(Instant::now() < end, "the cell is not measured");
        chrome.client.refresh().await.unwrap();
    }
    chrome.client.find(cell).await.unwrap().click().await.unwrap();
    let opened = chrome.client.find(Locator::Id("cell")).await.unwrap().text().await.unwrap();
    assert!(opened.contains("you said") && opened.contains("not covered"), "{opened}");
    chrome.close().await;
}

fn shows(strategy: &str, fault: &str, text: &str) -> String {
    // The word of the cell, whole: "covered" is no part of "not covered".
    format!(
        "const cell = document.getElementById('c-{strategy}-{fault}').closest('td');
         return cell.querySelector('.w')?.textContent === '{text}'"
    )
}

impl Chrome {
    /// A button of the page's form, by what it sends.
    async fn button(&self, name: &str, value: &str) {
        let selector = format!("button[name='{name}'][value='{value}']");
        self.client.find(Locator::Css(&selector)).await.expect(&selector).click().await.unwrap();
    }
}
