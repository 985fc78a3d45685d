//! The lesson by keyboard alone: a step after the other, its prediction, its stage and a task, nothing clicked.

use fantoccini::Locator;
use fantoccini::actions::{InputSource, KeyAction, KeyActions};

use crate::chrome::Chrome;
use crate::common::served::Served;
use crate::learner::{SCRIPT, marked, ticked};

const TAB: char = '\u{e004}';
const ENTER: char = '\u{e007}';
const SPACE: char = ' ';
const SHIFT: char = '\u{e008}';

/// More presses of a key than any page needs.
const PATIENCE: usize = 250;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn every_step_by_keyboard_alone() {
    let lab = Served::start();
    let chrome = Chrome::open(1440, 900).await;
    chrome.client.goto(&lab.url).await.unwrap();
    chrome.until("the start page", "return document.querySelector('main h1') !== null").await;
    chrome.to("Begin the lesson").await;
    chrome.key(ENTER).await;
    chrome.until("step 1", "return document.querySelector('main.lesson')?.dataset.step === '1'").await;

    // A radio by space, its form by Enter on its button.
    chrome.chosen("one").await;
    chrome.to("Start one replica").await;
    chrome.key(ENTER).await;
    chrome.until("the stage", "return hydrated()").await;
    chrome.to("Add replica B").await;
    chrome.key(ENTER).await;
    chrome.until_within(SCRIPT, "a slot that was settled twice", &ticked("b")).await;
    // Hints unfold.
    chrome.to_css("#t-c .hints summary").await;
    chrome.key(ENTER).await;
    chrome.until("a nudge", "return document.querySelector('#t-c details[open]') !== null").await;

    chrome.next_step(2, "handler", "open-m1@pg-claim").await;
    chrome.until_within(SCRIPT, "a cell of nine", &marked("a", 1)).await;

    chrome.next_step(3, "1", "open-look-then-take").await;
    for (button, times) in [("Reset, fire to both", 1), ("Step A", 1), ("Step B", 1)] {
        for _ in 0..times {
            chrome.to(button).await;
            chrome.key(ENTER).await;
            chrome.until(button, "return document.querySelector('[aria-busy]') === null").await;
        }
    }
    // From here by the stage's own keys: both take, and both go in. One step is taken back and made again.
    for (key, gate) in [('1', "send:acquire"), ('2', "send:acquire")] {
        let name = if key == '1' { "A" } else { "B" };
        chrome.until("it is about to take", &at(name, gate)).await;
        chrome.key(key).await;
        chrome.until("it may enter", &at(name, "enter")).await;
    }
    chrome.key('z').await;
    chrome.until("B is about to take once more", &at("B", "send:acquire")).await;
    chrome.until("and A is where it was", &at("A", "enter")).await;
    for (key, name, gate) in [('2', "B", "enter"), ('1', "A", "effect"), ('2', "B", "effect")] {
        chrome.key(key).await;
        chrome.until("a step by its key", &at(name, gate)).await;
    }
    chrome.until("both are inside", &ticked("b")).await;

    chrome.next_step(4, "nobody", "open-clean-slot").await;
    chrome.until_within(SCRIPT, "one clean slot", &ticked("a")).await;
    chrome.next_step(5, "1", "open-by-hand").await;
    chrome.key('1').await;
    chrome.until_within(SCRIPT, "the lock was seen held", &marked("a", 1)).await;
    chrome.next_step(6, "never", "open-quorum-of-three").await;
    chrome.until_within(SCRIPT, "one of two quorums", &marked("b", 1)).await;

    chrome.pager(7).await;
    chrome.chosen("fast").await;
    chrome.to("Run it").await;
    chrome.key(ENTER).await;
    let failed = "return document.getElementById('l-own').textContent.includes('an expectation failed')";
    chrome.until_within(SCRIPT, "a test of one's own", failed).await;
    chrome.next_step(8, "both", "open-stale-first@pg-lease").await;
    chrome.until_within(SCRIPT, "one of four guards", &marked("b", 1)).await;
    chrome.close().await;
}

fn at(name: &str, gate: &str) -> String {
    format!("return document.querySelector('[data-m=\"g:{name}\"]')?.textContent === 'at gate {gate}'")
}

impl Chrome {
    /// Press a key, whatever has the focus.
    pub async fn key(&self, key: char) {
        let keys = KeyActions::new("keyboard".to_owned());
        let keys = keys.then(KeyAction::Down { value: key }).then(KeyAction::Up { value: key });
        self.client.perform_actions(keys).await.unwrap();
    }

    /// Go to the link or button that says this by the tabulator.
    async fn to(&self, text: &str) {
        self.tab_to(text, &format!("document.activeElement.textContent.includes('{text}')"), true).await;
    }

    /// Go to an element by the tabulator.
    async fn to_css(&self, css: &str) {
        self.tab_to(css, &format!("document.activeElement.matches(\"{css}\")"), true).await;
    }

    /// On from where the focus is, or back.
    async fn tab_to(&self, what: &str, there: &str, on: bool) {
        for _ in 0..PATIENCE {
            let here = format!("const here = document.activeElement; return here !== document.body && {there}");
            if self.script(&here).await == true {
                let seen = "return document.activeElement.matches(':focus-visible')";
                assert_eq!(self.script(seen).await, true, "nobody sees that {what} has the focus");
                return;
            }
            match on {
                true => self.key(TAB).await,
                false => {
                    let keys = KeyActions::new("keyboard".to_owned());
                    let keys = keys.then(KeyAction::Down { value: SHIFT }).then(KeyAction::Down { value: TAB });
                    let keys = keys.then(KeyAction::Up { value: TAB }).then(KeyAction::Up { value: SHIFT });
                    self.client.perform_actions(keys).await.unwrap();
                }
            }
        }
        panic!("the keyboard does not come to {what}");
    }

    /// Answer the page's first question. The arrows go from answer to answer, and choose.
    async fn chosen(&self, value: &str) {
        self.to_css("#q-p1 input").await;
        self.key(SPACE).await;
        for _ in 0..8 {
            let here = format!("return document.activeElement.value === '{value}' && document.activeElement.checked");
            if self.script(&here).await == true {
                break;
            }
            // Checkboxes have no arrows: each is a stop of its own.
            let several = self.script("return document.activeElement.type === 'checkbox'").await == true;
            if several {
                self.key(SPACE).await;
                self.key(TAB).await;
                self.key(SPACE).await;
            } else {
                self.key('\u{e015}').await;
            }
        }
        self.to_css("#q-p1 button").await;
        self.key(ENTER).await;
        let kept = format!("return document.querySelector('#q-p1 .mine input')?.value === '{value}'");
        self.until("the answer is kept", &kept).await;
    }

    /// To a step by the page's own link, its prediction, and one of its stages.
    async fn next_step(&self, step: u8, answer: &str, stage: &str) {
        self.pager(step).await;
        self.chosen(answer).await;
        self.to_css(&format!("[id='{stage}']")).await;
        self.key(ENTER).await;
        self.until("the stage", "return document.querySelector('.lst-h code') !== null && hydrated()").await;
    }

    async fn pager(&self, step: u8) {
        let link = format!("document.activeElement.matches(\"#l-steps a[href='/lesson/{step}']\")");
        self.tab_to("the steps of the lesson", &link, false).await;
        self.key(ENTER).await;
        let there = format!("return document.querySelector('main.lesson')?.dataset.step === '{step}'");
        self.until("the step", &there).await;
        self.client.wait().for_element(Locator::Css("#q-p1 input")).await.unwrap();
    }
}
