//! How long after a store said something the learner sees it: from the event's own time on the machine's
//! monotonic clock, through observer, log, stream, fold and rendering, to the end of the frame in which
//! the page shows that event's number (and draws whatever else it changes).

use std::time::Duration;

use serde_json::Value;
use server::clock::now_us;

use crate::Failure;
use crate::figures::{Many, milliseconds};
use crate::table::Figure;
use crate::visit::Visit;

/// How long the page is watched.
const WATCHED: Duration = Duration::from_secs(25);
/// How often both clocks are compared.
const COMPARED: usize = 60;
const LIMIT: Duration = Duration::from_millis(100);

/// Notes, for each frame that shows a new number, that number and the time behind its rendering: a message
/// that is sent in the frame arrives when the frame is done. Asked for later than the page's own frames,
/// these come behind them.
const WATCH: &str = "
    const number = document.querySelector('#tab-log .n'), rendered = new MessageChannel();
    const shown = window.shown = [];
    let last = 0;
    rendered.port1.onmessage = ({ data }) => shown.push([data, performance.now()]);
    const look = () => {
      const now = Number(number.textContent.replace(/\\D/g, ''));
      if (now !== last) rendered.port2.postMessage(last = now);
      requestAnimationFrame(look);
    };
    look();";

pub async fn measure(visit: &Visit) -> Result<Figure, Failure> {
    let clock = PageClock::compare(visit).await?;
    visit.chrome.script(WATCH).await;
    // The measurement's length, not a wait for something: figures come from whatever happens meanwhile.
    tokio::time::sleep(WATCHED).await;
    let shown: Vec<(u64, f64)> = serde_json::from_value(visit.chrome.script("return window.shown").await)?;
    let ((first, _), (last, _)) = (shown.first().ok_or("nothing")?, shown.last().ok_or("nothing")?);
    let mut took = Many::default();
    for event in visit.events(*first, "event.source.startsWith('store ')").await? {
        if event.seq > *last {
            break;
        }
        if let Some((_, page_ms)) = shown.iter().find(|(number, _)| *number >= event.seq) {
            took.push(Duration::from_micros(clock.monotonic_us(*page_ms).saturating_sub(event.at_us)));
        }
    }
    if took.count() == 0 {
        return Err("no store said anything while the page was watched".into());
    }
    let slowest = took.percentile(99);
    Ok(Figure {
        what: "a store event on screen, 99th percentile".to_owned(),
        measured: milliseconds(slowest),
        limit: Some("100 ms"),
        over: slowest >= LIMIT,
        how: format!(
            "from the store event's own time to the end of the frame that shows it (its layout and paint \
             included, the compositor not), on `/lab` in headless Chromium; {} events in {} s of three replicas \
             under `pg-lease`, three schedules each second; median {}, longest {}, clocks known to ± {}",
            took.count(),
            WATCHED.as_secs(),
            milliseconds(took.median()),
            milliseconds(took.longest()),
            milliseconds(clock.within),
        ),
    })
}

/// The page's clock in terms of the machine's.
struct PageClock {
    /// Monotonic time at the page's zero, in microseconds.
    zero_us: f64,
    /// How far off that may be.
    within: Duration,
}

impl PageClock {
    /// The page's time lies somewhere within the question's; the quickest question says it best.
    async fn compare(visit: &Visit) -> Result<PageClock, Failure> {
        let mut best: Option<PageClock> = None;
        for _ in 0..COMPARED {
            let asked_us = now_us();
            let page_ms = visit.chrome.script("return performance.now()").await;
            let answered_us = now_us();
            let Some(page_ms) = Value::as_f64(&page_ms) else { return Err("the page has no clock".into()) };
            let within = Duration::from_micros((answered_us - asked_us) / 2);
            if best.as_ref().is_none_or(|best| within < best.within) {
                let zero_us = (asked_us + answered_us) as f64 / 2.0 - page_ms * 1000.0;
                best = Some(PageClock { zero_us, within });
            }
        }
        best.ok_or_else(|| "the clocks were never compared".into())
    }

    fn monotonic_us(&self, page_ms: f64) -> u64 {
        (self.zero_us + page_ms * 1000.0) as u64
    }
}
