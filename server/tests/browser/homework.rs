//! The homework as a learner does it: wrong, then right; the keyboard alone; a draft that is there after a reload; and
//! all of it without scripts.

use std::time::Duration;

use fantoccini::Locator;
use locks::homework::{keep, redlock, release};
use serde_json::json;

use crate::chrome::Chrome;
use crate::common::served::Served;

/// How long grading on real stores may take on a busy machine.
const GRADED: Duration = Duration::from_secs(150);
const ESCAPE: &str = "\u{e00c}";
const TAB: &str = "\u{e004}";
const CONTROL_ENTER: &str = "\u{e009}\u{e007}";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn a_table_wrong_then_right() {
    let lab = Served::start();
    let chrome = Chrome::open(1440, 900).await;
    chrome.client.goto(&format!("{}/homework", lab.url)).await.unwrap();
    chrome.until("the list", "return document.querySelectorAll('.agenda-l li').length === 8").await;
    chrome.keep("homework-list").await;
    chrome.press("Keep it, or let go").await;
    chrome.until("the editor", LIVE).await;

    // The starter, as it stands there: the shortest way to a violation, drawn and told.
    chrome.press("Grade").await;
    chrome.until("it failed", "return document.querySelector('#h-result .viol-chip') !== null").await;
    chrome.until("eight moves", "return document.querySelectorAll('#h-moves tbody tr').length === 8").await;
    chrome.until("drawn", "return document.querySelector('#h-result svg text') !== null").await;
    chrome.until("with focus", "return document.activeElement.id === 'h-result'").await;
    chrome.keep("homework-keep-failed").await;
    for (name, width, height) in [("phone", 390, 844), ("desk", 1440, 900)] {
        chrome.resize(width, height).await;
        for scheme in ["light", "dark"] {
            chrome.client.refresh().await.unwrap();
            chrome.until("the page", LIVE).await;
            chrome.theme(scheme).await;
            chrome.keep(&format!("homework-{name}-{scheme}")).await;
            let wide = chrome.script(&format!("return document.documentElement.scrollWidth - {width}")).await;
            assert_eq!(wide, 0, "the exercise at {width} is wider than the screen");
        }
    }

    // With the margin gone both are inside: that way is a run, opened where they are.
    chrome.write(&keep::EXERCISE.model.replace("margin = 1", "margin = 0")).await;
    chrome.press("Grade").await;
    chrome.until("ten moves", "return document.querySelectorAll('#h-moves tbody tr').length === 10").await;
    chrome.press("Open at event #").await;
    chrome.until("the run", "return location.pathname.startsWith('/runs/') && hydrated()").await;
    let both = "return document.querySelector('.caption.harm') !== null
        && document.querySelector('.run-h h2').textContent.includes('as the search found it')";
    chrome.until("both inside", both).await;
    chrome.keep("homework-keep-run").await;
    chrome.client.back().await.unwrap();
    chrome.until("the editor again", LIVE).await;

    // A slip of the pen: line and column, and the line marked.
    chrome.write(&keep::EXERCISE.model.replace("zero = \"Stopped\"", "zero = \"Stoped\"")).await;
    chrome.press("Grade").await;
    chrome
        .until("its place", "return document.querySelector('#h-result b')?.textContent === 'Line 12, column 8.'")
        .await;
    chrome.until("its line", "return document.querySelector('.lns .mark')?.textContent === '12'").await;
    chrome.keep("homework-keep-error").await;

    chrome.write(keep::EXERCISE.model).await;
    chrome.press("Grade").await;
    chrome.until("it passed", "return document.querySelector('#h-result .chip-solid')?.textContent === 'Passed'").await;
    chrome.until("the discussion", "return document.querySelector('#h-after .prose') !== null").await;
    chrome.until("and the bar", "return document.querySelector('#h-bar [aria-current] .sn.done') !== null").await;
    chrome.until("four attempts", "return document.querySelectorAll('#h-attempts li').length === 4").await;
    chrome.keep("homework-keep-passed").await;
    chrome.close().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn arithmetic_by_the_keyboard_alone() {
    let lab = Served::start();
    let chrome = Chrome::open(1440, 900).await;
    chrome.client.goto(&format!("{}/homework/redlock", lab.url)).await.unwrap();
    chrome.until("the editor", LIVE).await;
    let area = chrome.client.find(Locator::Id("h-text")).await.unwrap();
    area.click().await.unwrap();
    area.send_keys(CONTROL_ENTER).await.unwrap();
    chrome.until("it failed", "return document.querySelector('#h-result .viol-chip') !== null").await;

    // Tab indents; behind Escape it leaves.
    area.click().await.unwrap();
    chrome.script("document.getElementById('h-text').setSelectionRange(0, 0)").await;
    area.send_keys(TAB).await.unwrap();
    chrome.until("indented", "return document.getElementById('h-text').value.startsWith('  quorum')").await;
    chrome.until("still inside", "return document.activeElement.id === 'h-text'").await;
    area.send_keys(ESCAPE).await.unwrap();
    area.send_keys(TAB).await.unwrap();
    chrome.until("left", "return document.activeElement.id !== 'h-text'").await;

    // What was written is there after a reload.
    chrome.until("kept", "return document.getElementById('h-kept').textContent.startsWith('Draft kept')").await;
    chrome.client.refresh().await.unwrap();
    chrome.until("there again", "return document.getElementById('h-text').value.startsWith('  quorum')").await;

    chrome.write(redlock::EXERCISE.model).await;
    let area = chrome.client.find(Locator::Id("h-text")).await.unwrap();
    area.send_keys(CONTROL_ENTER).await.unwrap();
    chrome.until("it passed", "return document.querySelector('#h-result .chip-solid')?.textContent === 'Passed'").await;
    chrome.keep("homework-redlock-passed").await;
    chrome.close().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn a_script_on_a_real_store_wrong_then_right() {
    let lab = Served::start();
    let chrome = Chrome::open(1440, 900).await;
    chrome.client.goto(&format!("{}/homework", lab.url)).await.unwrap();
    chrome.press("Begin").await;
    chrome.until("the editor", LIVE).await;
    chrome.press("Grade").await;
    chrome.until_within(GRADED, "it failed", "return document.querySelector('#h-result .viol-chip') !== null").await;
    chrome.until("in the third", "return document.querySelector('.sched .fail .n')?.textContent === '3'").await;
    chrome.keep("homework-release-failed").await;

    // The schedule is a run, and opens at the event.
    chrome.press("Open at event #").await;
    chrome
        .until("the run", "return location.pathname.startsWith('/runs/') && location.search.startsWith('?at=')")
        .await;
    chrome.until("its sessions", SESSIONS).await;
    chrome.keep("homework-release-run").await;
    chrome.client.back().await.unwrap();
    chrome.until("the editor again", LIVE).await;

    chrome.write(release::EXERCISE.model).await;
    chrome.press("Grade").await;
    let passed = "return document.querySelector('#h-result .chip-solid')?.textContent === 'Passed'";
    chrome.until_within(GRADED, "it passed", passed).await;
    chrome.until("all of them", "return document.querySelectorAll('.sched .r').length === 13").await;
    chrome.keep("homework-release-passed").await;
    chrome.close().await;
}

/// The others, one after the other by one learner: the schedule or part in which the starter fails.
const OTHERS: [(&str, &str); 5] = [("lease", "5"), ("claim", "3"), ("fence", "3"), ("break", "1"), ("choose", "1")];

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn all_the_others_wrong_then_right() {
    let lab = Served::start();
    let chrome = Chrome::open(1440, 900).await;
    for (number, (slug, fails_in)) in (1..).zip(OTHERS) {
        chrome.client.goto(&format!("{}/homework/{slug}", lab.url)).await.unwrap();
        chrome.until("the editor", LIVE).await;
        chrome.press("Grade").await;
        let failed = "return document.querySelector('#h-result .viol-chip') !== null";
        chrome.until_within(GRADED, &format!("{slug} failed"), failed).await;
        let there = format!("return document.querySelector('.sched .fail .n')?.textContent === '{fails_in}'");
        chrome.until(&format!("{slug} failed in {fails_in}"), &there).await;
        chrome.keep(&format!("homework-{slug}-failed")).await;
        if slug == "lease" {
            a_run_of_sessions(&chrome).await;
        }
        chrome.write(locks::homework::exercise(slug).unwrap().model).await;
        chrome.press("Grade").await;
        let passed = "return document.querySelector('#h-result .chip-solid')?.textContent === 'Passed'";
        chrome.until_within(GRADED, &format!("{slug} passed"), passed).await;
        chrome.keep(&format!("homework-{slug}-passed")).await;
        let done = format!("return document.querySelectorAll('#h-bar .sn.done').length === {number}");
        chrome.until(&format!("{number} are done"), &done).await;
    }
    chrome.close().await;
}

/// A failure is opened as a run: there are no replicas whose sections could be drawn, so it tells what each session
/// did and where the rule was broken, and the log stands at that event.
async fn a_run_of_sessions(chrome: &Chrome) {
    chrome.press("Open at event #").await;
    chrome.until("the run", SESSIONS).await;
    let broken = "return document.querySelector('#sessions tr.fail .viol')?.textContent.includes('clock decided')";
    chrome.until("the step that broke the rule", broken).await;
    let steps =
        "return [...document.querySelectorAll('#sessions tbody tr')].map(row => row.cells[1].textContent).join()";
    assert_eq!(chrome.script(steps).await, "A,B", "each step is a session's");
    let drawn = "return [...document.querySelectorAll('.stage > .caption, .stage > .col')]
        .filter(part => getComputedStyle(part).display !== 'none').length";
    assert_eq!(chrome.script(drawn).await, 0, "an empty stage says nothing");
    let sent = chrome.script("return document.querySelectorAll('#stage td.cmd').length").await;
    assert_eq!(sent, 2, "what A sent, and B");
    let wide = chrome.script("return document.documentElement.scrollWidth - 1440").await;
    assert_eq!(wide, 0, "wider than the screen");
    chrome.keep("homework-run-of-sessions").await;
    // A step's number shows the log as it was then.
    let before = "document.querySelector('#sessions [data-seq]').click();
        return document.querySelector('#stage td.cmd') === null";
    chrome.until("before anything was sent", before).await;
    chrome.client.back().await.unwrap();
    chrome.until("the editor again", LIVE).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn without_scripts() {
    let lab = Served::start();
    let chrome = Chrome::open(1440, 900).await;
    chrome.forbid_scripts().await;
    chrome.client.goto(&format!("{}/homework/keep", lab.url)).await.unwrap();
    let area = chrome.client.find(Locator::Id("h-text")).await.unwrap();
    area.send_keys("# mine\n").await.unwrap();
    chrome.press("Keep the draft").await;
    chrome.client.wait().for_element(Locator::Id("h-text")).await.unwrap();
    let kept = chrome.client.find(Locator::Id("h-kept")).await.unwrap();
    assert!(kept.text().await.unwrap().starts_with("Draft kept"));
    chrome.press("Grade").await;
    let failed = chrome.client.wait().for_element(Locator::Css("#h-result .viol-chip")).await.unwrap();
    assert_eq!(failed.text().await.unwrap(), "Failed");
    let area = chrome.client.find(Locator::Id("h-text")).await.unwrap();
    let text = area.prop("value").await.unwrap().unwrap();
    assert!(text.ends_with("# mine\n"), "{text}");
    chrome.close().await;
}

/// A run of sessions is there, and what they sent by then.
const SESSIONS: &str = "return location.pathname.startsWith('/runs/') && document.getElementById('sessions') !== null
    && document.querySelector('#stage td.cmd') !== null";

/// The editor is coloured.
const LIVE: &str = "return document.querySelector('.editor.live .paint .ln') !== null";

impl Chrome {
    /// Write something over all that stands in the editor, as somebody does who pastes it.
    async fn write(&self, text: &str) {
        let script = "const area = document.getElementById('h-text'); area.focus(); area.select();
            document.execCommand('insertText', false, arguments[0]);";
        self.client.execute(script, vec![json!(text)]).await.unwrap();
    }
}
