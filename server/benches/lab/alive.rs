//! How soon a page can be used by somebody whose browser was never here: from the beginning of the visit until the
//! page has come to life and the frame that shows it is done. Noted by the page itself, before its own scripts.

use std::time::Duration;

use crate::Failure;
use crate::figures::{Many, seconds};
use crate::table::Figure;
use crate::visit::Visit;

/// How often it is opened.
const TIMES: usize = 7;
const LIMIT: Duration = Duration::from_secs(1);

/// Notes when the map is there, which only the living page draws, and its frame is done.
const NOTE: &str = "
    const alive = new MessageChannel();
    alive.port1.onmessage = () => { window.alive = performance.now(); };
    const look = () => {
      if (document.querySelector('.map .sto')) alive.port2.postMessage(true); else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);";

/// With a lab of the learner's that goes on already: opening one is the arena's figure.
pub async fn measure(visit: &Visit) -> Result<Figure, Failure> {
    let (chrome, lab) = (&visit.chrome, format!("{}/lab", visit.serve.url));
    chrome.before_each_page(NOTE).await;
    let mut took = Many::default();
    for time in 0..=TIMES {
        chrome.client.goto("about:blank").await?;
        chrome.forget().await;
        chrome.client.goto(&lab).await?;
        chrome.until("the page comes to life", "return window.alive > 0").await;
        let ms = chrome.script("return window.alive").await.as_f64().ok_or("the page has no clock")?;
        if time > 0 {
            took.push(Duration::from_secs_f64(ms / 1000.0));
        }
    }
    let median = took.median();
    Ok(Figure {
        what: "page interactive, cold cache".to_owned(),
        measured: seconds(median),
        limit: Some("1 s"),
        over: median >= LIMIT,
        how: format!(
            "`/lab` of a session that goes on, with the browser's cache emptied before: from the beginning of the visit \
             to the end of the first frame of the page that came to life; median of {TIMES}, longest {}",
            seconds(took.longest())
        ),
    })
}
