//! The lab as a learner meets it: a real browser, a real lab, real stores.

mod chrome;
mod lab;

use chrome::Chrome;
use lab::Lab;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn the_start_page_leads_to_the_lab() {
    let lab = Lab::start();
    let chrome = Chrome::open(1440, 900).await;
    chrome.client.goto(&lab.url).await.unwrap();
    chrome.until("the start page", "return document.querySelector('main h1') !== null").await;
    chrome.close().await;
}
