//! A log of 50,000 events, which is as long as one becomes: how soon it opens, and how long the picture stands still
//! at most while somebody scrubs through it. The log is a session's own: nine replicas, as busy as they can be, until
//! the lab begins a new one.

use std::time::Duration;

use serde_json::Value;

use crate::Failure;
use crate::figures::{Many, milliseconds, seconds};
use crate::table::Figure;
use crate::visit::Visit;

const OPEN_LIMIT: Duration = Duration::from_secs(2);
const STALL_LIMIT: Duration = Duration::from_millis(100);
/// How long the session may take to become that long, and be stored.
const WRITTEN: Duration = Duration::from_secs(150);
/// How often it is opened.
const TIMES: usize = 3;

/// Notes when the event at which it opens is shown and its frame is done.
const NOTE: &str = "
    const opened = new MessageChannel();
    opened.port1.onmessage = () => { window.opened = performance.now(); };
    const look = () => {
      const words = document.querySelector('.tl-h')?.textContent;
      if (document.querySelector('.map .sto') && words?.includes('ahead')) opened.port2.postMessage(true);
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);";

/// Clicks here and there on the strip of the whole run, and steps between, as fast as they are answered; the
/// longest time from one to the end of the frame that shows it.
const SCRUB: &str = "const done = arguments[0], took = [];
    const strip = document.querySelector('.mini svg'), area = strip.getBoundingClientRect();
    const key = name => dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
    const deeds = [];
    for (let at = 1; at < 60; at += 1) {
      const clientX = area.left + area.width * ((at * 37) % 60) / 60;
      deeds.push(() => strip.dispatchEvent(new MouseEvent('click', { clientX, clientY: area.top + 5, bubbles: true })));
      deeds.push(() => key('ArrowLeft'), () => key('ArrowRight'), () => key('ArrowRight'));
    }
    const shown = new MessageChannel();
    let began = 0;
    const next = () => {
      const deed = deeds.shift();
      if (!deed) return done(took);
      requestAnimationFrame(() => {
        began = performance.now();
        deed();
        requestAnimationFrame(() => shown.port2.postMessage(true));
      });
    };
    shown.port1.onmessage = () => { took.push(performance.now() - began); next(); };
    next();";

pub async fn measure(visit: &Visit) -> Result<Vec<Figure>, Failure> {
    visit.act(r#"{"set":{"every_s":1}}"#).await?;
    let events = visit.until_stored(WRITTEN).await?;
    visit.chrome.before_each_page(NOTE).await;
    let mut opened = Many::default();
    for _ in 0..TIMES {
        visit.chrome.client.goto("about:blank").await?;
        visit.chrome.client.goto(&format!("{}/runs/{}", visit.serve.url, visit.run)).await?;
        visit.chrome.until("the run opens", "return window.opened > 0").await;
        let ms = visit.chrome.script("return window.opened").await;
        opened.push(Duration::from_secs_f64(ms.as_f64().ok_or("the page has no clock")? / 1000.0));
    }
    let took = visit.asynchronous(SCRUB).await?;
    let mut scrubbed = Many::default();
    for ms in took.as_array().into_iter().flatten().filter_map(Value::as_f64) {
        scrubbed.push(Duration::from_secs_f64(ms / 1000.0));
    }
    if scrubbed.count() == 0 {
        return Err(format!("the run cannot be scrubbed: {took}").into());
    }
    let (open, stall) = (opened.median(), scrubbed.longest());
    Ok(vec![
        Figure {
            what: "a log of 50,000 events opens".to_owned(),
            measured: seconds(open),
            limit: Some("2 s"),
            over: open >= OPEN_LIMIT,
            how: format!(
                "`/runs/ID` of a session with {events} events, from the beginning of the visit to the end of the frame \
                 that shows the event at which it opens, the whole log loaded; median of {TIMES}, longest {}",
                seconds(opened.longest())
            ),
        },
        Figure {
            what: "the longest stall while it is scrubbed".to_owned(),
            measured: milliseconds(stall),
            limit: Some("100 ms"),
            over: stall >= STALL_LIMIT,
            how: format!(
                "{} jumps and steps, each from the click or key to the end of the frame behind the one that shows it; \
                 median {}, 95th percentile {}",
                scrubbed.count(),
                milliseconds(scrubbed.median()),
                milliseconds(scrubbed.percentile(95))
            ),
        },
    ])
}
