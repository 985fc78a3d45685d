//! The strategy's machine, the guards' ladder and stepping, as somebody uses them.

use fantoccini::Locator;

use crate::chrome::Chrome;
use crate::common::served::Served;

/// The state that is lit, where the picture is seen.
const LIT: &str = "const lit = () => [...document.querySelectorAll('.mach-svg .sm-s.lit > text')]
      .filter(text => text.getClientRects().length > 0).map(text => text.textContent);";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn the_machine_is_lit_by_the_log_and_stepped_by_hand() {
    let lab = Served::start();
    let chrome = Chrome::open(1440, 900).await;
    chrome.client.goto(&format!("{}/lab", lab.url)).await.unwrap();
    chrome.until("the stage", "return hydrated()").await;
    chrome.choose("Strategy", "pg-lease").await;

    // A command's row leads to where in the machine it came from, at that very moment.
    chrome.until("a command of an attempt", "return document.querySelector('.wire [data-rep]') !== null").await;
    chrome.script("window.sent = document.querySelector('.wire [data-rep]').textContent").await;
    chrome.script("document.querySelector('.wire [data-rep]').click()").await;
    chrome.until("its state is lit", &format!("{LIT} return lit().length === 1 && lit()[0] === window.sent")).await;
    chrome.until("the way that led there", "return document.querySelectorAll('.mach-a .sm-e.took').length > 0").await;
    chrome.keep("machine").await;

    // Another strategy has another machine; its end is another `idle`.
    chrome.client.find(Locator::XPath("//button[contains(., 'Live is')]")).await.unwrap().click().await.unwrap();
    chrome.choose("Strategy", "pg-row-lock").await;
    chrome.until("its machine", "return document.querySelector('.mach-svg')?.ariaLabel.includes('pg-row-lock')").await;
    for (name, width, height) in [("phone", 390, 844), ("desk", 1440, 900)] {
        chrome.resize(width, height).await;
        for scheme in ["light", "dark"] {
            chrome.script(&format!("document.documentElement.dataset.theme = '{scheme}'")).await;
            chrome.script("document.querySelector('.mach').scrollIntoView()").await;
            chrome.keep(&format!("machine-{name}-{scheme}")).await;
        }
    }

    // Step by step: nobody moves without a key.
    chrome.press("Step by step").await;
    chrome.until("the lines", "return document.querySelectorAll('.step [data-step]').length === 3").await;
    chrome
        .until("a fresh lab", "return hydrated() && document.querySelector('.steps').textContent.includes('Fire one')")
        .await;
    chrome.keys("f").await;
    let at = |name: &str, gate: &str| {
        format!("return document.querySelector('[data-m=\"g:{name}\"]').textContent === 'at gate {gate}'")
    };
    chrome.until("A is about to ask", &at("A", "send:acquire")).await;
    chrome.until("B, too", &at("B", "send:acquire")).await;
    let next = chrome.script("return document.querySelector('[data-m=\"n:A\"]').textContent").await;
    assert!(next.as_str().unwrap().contains("for update"), "the next command, verbatim: {next}");
    chrome.keep("steps").await;
    chrome.keys("1").await;
    chrome.until("A is about to enter", &at("A", "enter")).await;
    chrome.until("B has not moved", &at("B", "send:acquire")).await;
    chrome.keys("1").await;
    chrome.until("A is about to write", &at("A", "effect")).await;
    let next = chrome.script("return document.querySelector('[data-m=\"n:A\"]').textContent").await;
    assert!(next.as_str().unwrap().starts_with("POST /settlements"), "the effect, verbatim: {next}");
    chrome.resize(390, 844).await;
    chrome.keep("steps-phone").await;
    chrome.press("Step").await;
    chrome.until("A is about to leave", &at("A", "leave")).await;
    chrome.close().await;
}
