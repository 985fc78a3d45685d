//! What holds on every page: no page is wider than the screen, and axe-core finds nothing serious on any of them.

use crate::chrome::Chrome;
use crate::common::served::Served;
use crate::places::places;

/// Cells of tables that are not laid out as such.
const TORN: &str = "return [...document.querySelectorAll('td, th')]
    .filter(cell => !['table-cell', 'none'].includes(getComputedStyle(cell).display))
    .map(cell => cell.className || cell.textContent.slice(0, 20)).join(', ')";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page, a browser and axe-core: scripts/test runs it"]
async fn fits_every_width_and_has_no_barrier() {
    let lab = Served::start();
    let chrome = Chrome::open(1440, 900).await;
    let mut wrong = Vec::new();
    for place in places(&chrome, &lab).await {
        chrome.resize(1440, 900).await;
        chrome.visit(&lab, &place).await;
        // A class that two stylesheets know makes a grid of a cell, and nothing stands where it belongs.
        let torn = chrome.script(TORN).await;
        if torn != "" {
            wrong.push(format!("{}: cells that are none: {torn}", place.name));
        }
        for width in [1440, 1024, 768, 390] {
            chrome.resize(width, if width < 500 { 844 } else { 900 }).await;
            // Not compared with `innerWidth`: a phone shows a page that is too wide as a whole, and says that it fits.
            let wider = chrome.script(&format!("return document.documentElement.scrollWidth - {width}")).await;
            if wider != 0 {
                wrong.push(format!("{} at {width}: wider than the screen by {wider}", place.name));
            }
            if !matches!(width, 390 | 1440) {
                continue;
            }
            // Of all rules only that of contrast sees the theme.
            for (theme, only) in [("light", None), ("dark", Some("color-contrast"))] {
                chrome.theme(theme).await;
                let found = chrome.barriers(only).await;
                wrong.extend(found.into_iter().map(|what| format!("{} at {width}, {theme}: {what}", place.name)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    chrome.close().await;
}
