//! How evenly the busiest stage is drawn: nine replicas, five Redis nodes, some 200 events a second, and the frames that
//! Chromium's own trace says it drew.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use server::clock::now_us;

use crate::Failure;
use crate::figures::{Many, milliseconds};
use crate::table::Figure;
use crate::visit::Visit;

/// What of the trace is needed, and nothing else: what chromedriver keeps is bounded. Its stamps are the machine's monotonic clock.
pub const CATEGORIES: &str = "-*,disabled-by-default-devtools.timeline.frame";
/// How long it is watched.
const WATCHED: Duration = Duration::from_secs(15);
const LIMIT: Duration = Duration::from_millis(20);

pub async fn measure(visit: &Visit) -> Result<Figure, Failure> {
    let (from_us, before) = (now_us(), visit.last_seq().await?);
    // The measurement's length, not a wait for something.
    tokio::time::sleep(WATCHED).await;
    let (to_us, after) = (now_us(), visit.last_seq().await?);
    let trace = visit.chrome.trace().await;
    let watched = |event: &&Value| event["ts"].as_f64().is_some_and(|ts| ts >= from_us as f64 && ts <= to_us as f64);
    let events: Vec<&Value> = trace.iter().filter(watched).collect();
    let drawn = drawn(&events);
    if drawn.count() == 0 {
        return Err("the trace has no frames".into());
    }
    let (slowest, per_second) = (drawn.percentile(95), (after - before) as f64 / WATCHED.as_secs_f64());
    Ok(Figure {
        what: "from frame to frame, 95th percentile".to_owned(),
        measured: milliseconds(slowest),
        limit: Some("20 ms"),
        over: slowest >= LIMIT,
        how: format!(
            "from one drawn frame to the next in headless Chromium's trace, on `/lab` with nine replicas under `redlock` \
             and {per_second:.0} events a second for {} s; {} frames, median {}, longest {}; the page's own part of a \
             frame: median {}, 95th percentile {}",
            WATCHED.as_secs(),
            drawn.count(),
            milliseconds(drawn.median()),
            milliseconds(drawn.longest()),
            milliseconds(own(&events).median()),
            milliseconds(own(&events).percentile(95)),
        ),
    })
}

/// From one drawn frame to the next. Of all that Chromium draws, the page is what it draws most.
fn drawn(events: &[&Value]) -> Many {
    let mut by_process: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["name"] == "DrawFrame") {
        if let (Some(pid), Some(ts)) = (event["pid"].as_u64(), event["ts"].as_f64()) {
            by_process.entry(pid).or_default().push(ts);
        }
    }
    let mut page = by_process.into_values().max_by_key(Vec::len).unwrap_or_default();
    page.sort_by(f64::total_cmp);
    let mut drawn = Many::default();
    page.windows(2).for_each(|two| drawn.push(Duration::from_secs_f64((two[1] - two[0]) / 1e6)));
    drawn
}

/// What the page's own thread took of each frame: script, style, layout, paint, up to the commit.
fn own(events: &[&Value]) -> Many {
    let (mut begun, mut own) = (BTreeMap::new(), Many::default());
    for event in events.iter().filter(|event| event["name"] == "SendBeginMainFrameToCommit") {
        let key = (event["pid"].as_u64(), event["id2"]["local"].as_str());
        let Some(ts) = event["ts"].as_f64() else { continue };
        if event["ph"] == "b" {
            begun.insert(key, ts);
        } else if let Some(from) = begun.remove(&key) {
            own.push(Duration::from_secs_f64((ts - from).max(0.0) / 1e6));
        }
    }
    own
}
