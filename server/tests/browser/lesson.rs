//! The lesson as a learner walks through it: a wrong prediction, tasks ticked while they are done, hints for what is
//! missing, a reload in the middle, the keyboard alone.

use std::time::Duration;

use fantoccini::Locator;

use crate::chrome::Chrome;
use crate::common::served::Served;
use crate::learner::ticked;

/// Several slots, five seconds apart, on a busy machine.
const SLOTS: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn the_first_step_from_a_wrong_guess_to_three_ticks() {
    let lab = Served::start();
    let chrome = Chrome::open(1440, 900).await;
    chrome.client.goto(&format!("{}/lesson", lab.url)).await.unwrap();
    chrome.press("Begin").await;
    chrome.until("the step", "return document.querySelector('main h1')?.textContent.includes('illusion')").await;
    chrome.keep("lesson-before").await;

    // A wrong guess, by its label.
    chrome.label("One. The catalog").await;
    chrome.press("Keep my answer").await;
    chrome.until("it is kept", "return document.querySelector('#q-p1 .mine')?.textContent.includes('One.')").await;
    chrome.press("Start one replica").await;
    chrome
        .until("one replica", "return document.querySelectorAll('#stage article.card').length === 1 && hydrated()")
        .await;
    chrome.until("and the guess is still there", "return document.querySelector('#q-p1 .mine') !== null").await;
    chrome.until_within(SLOTS, "two slots, each once", &ticked("a")).await;
    chrome.keep("lesson-a").await;

    // Reloaded in the middle: nothing is lost, and the same run goes on.
    let run = "return document.querySelector('#stage .run-id').getAttribute('href')";
    let before = chrome.script(run).await;
    chrome.client.refresh().await.unwrap();
    chrome.until("the stage again", "return hydrated()").await;
    assert_eq!(chrome.script(run).await, before);
    chrome.until("and the tick", &ticked("a")).await;
    chrome
        .until("what is missing is named", "return document.querySelector('#t-b .hints')?.dataset.miss === 'alone'")
        .await;

    chrome.press("Add replica B").await;
    chrome.until("a second one", "return document.querySelectorAll('#stage article.card').length === 2").await;
    chrome.until_within(SLOTS, "a slot that was settled twice", &ticked("b")).await;
    chrome
        .until("a wrong guess is ink", "return document.querySelector('#q-p1 .joint')?.ariaLabel === 'disagrees with'")
        .await;
    chrome.keep("lesson-b").await;
    chrome.press("Set guard unique-slot").await;
    chrome.until_within(SLOTS, "three slots kept by the guard", &ticked("c")).await;
    chrome.until("all three", "return document.querySelectorAll('#l-tasks li.done').length === 3").await;
    chrome.until("the step, too", "return document.querySelector('#l-steps .sn.done') !== null").await;

    // The proof is a link to the event.
    chrome.client.find(Locator::Css("#t-b .ev a")).await.unwrap().click().await.unwrap();
    chrome.until("the run", "return location.pathname.startsWith('/runs/') && hydrated()").await;
    chrome.client.back().await.unwrap();
    chrome.until("back at the step", "return document.querySelectorAll('#l-tasks li.done').length === 3").await;
    for (name, width, height) in [("phone", 390, 844), ("desk", 1440, 900)] {
        chrome.resize(width, height).await;
        for scheme in ["light", "dark"] {
            chrome.client.refresh().await.unwrap();
            chrome.until("the page", "return document.querySelector('.tl svg') !== null && hydrated()").await;
            chrome.theme(scheme).await;
            chrome.keep(&format!("lesson-{name}-{scheme}")).await;
            let wide = chrome.script("return document.documentElement.scrollWidth - innerWidth").await;
            assert_eq!(wide, 0, "the lesson at {width} is wider than the screen");
        }
    }
    chrome.close().await;
}

/// Everything that a page of the lesson loads, as it came over the wire, in bytes.
const OVER_THE_WIRE: &str = "const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
    return all.filter(entry => !entry.name.includes('/events')).map(entry => entry.transferSize).reduce((a, b) => a + b, 0)";
/// No page of the lesson is heavier, in all.
const WEIGHT: u64 = 350_000;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn be_the_scheduler_with_a_wrong_order_first() {
    let lab = Served::start();
    let chrome = Chrome::open(1440, 900).await;
    chrome.client.goto(&format!("{}/lesson/3", lab.url)).await.unwrap();
    chrome.press("Open the stage, gate by gate").await;
    chrome
        .until("two replicas", "return document.querySelectorAll('#stage article.card').length === 2 && hydrated()")
        .await;
    chrome.steps("A", "a").await;

    // Too late first: A does both of its commands before B looks.
    chrome.move_by("Reset, fire to both").await;
    chrome.move_by("Step A").await;
    chrome.move_by("Step A").await;
    chrome.move_by("Step B").await;
    chrome
        .until(
            "the hint says what went wrong",
            "return document.querySelector('#t-b .hints')?.dataset.miss === 'too-late'",
        )
        .await;
    chrome.move_by("Reset, fire to both").await;
    for replica in ["A", "B", "A", "B", "A", "B"] {
        chrome.move_by(&format!("Step {replica}")).await;
    }
    chrome.until("both are inside", &ticked("b")).await;
    chrome.keep("lesson-3b").await;

    chrome.press("Open with SET NX").await;
    chrome
        .until(
            "the other lock",
            "return document.querySelector('#stage select')?.value === 'redis-set-nx' && hydrated()",
        )
        .await;
    chrome.move_by("Reset, fire to both").await;
    chrome.move_by("Step A").await;
    chrome.move_by("Step B").await;
    chrome.steps("A", "c").await;

    // With a stage and a run on it, for a browser that was never here; the text of another step, without.
    for (step, whole) in [(3, "return hydrated()"), (8, "return document.querySelectorAll('.ask').length > 10")] {
        chrome.forget().await;
        chrome.to_step(&lab, step).await;
        chrome.until("all of the page", whole).await;
        let bytes = chrome.script(OVER_THE_WIRE).await.as_u64().unwrap();
        assert!((1000..WEIGHT).contains(&bytes), "step {step}: {bytes} bytes over the wire");
    }
    chrome.close().await;
}
