//! How evenly the busiest stage is drawn: nine replicas, five Redis nodes, some 200 events a second, and the frames that
//! Chromium's own trace says it drew.

use std::collections::{BTreeMap, BTreeSet};
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
    let events = of_page(trace.iter().filter(watched).collect());
    let Frames { kept, drawn, missed } = frames(&events);
    if drawn == 0 {
        return Err("the trace has no frames".into());
    }
    let (slowest, per_second) = (kept.percentile(95), (after - before) as f64 / WATCHED.as_secs_f64());
    let own = own(&events);
    Ok(Figure {
        what: "from frame to frame, 95th percentile".to_owned(),
        measured: milliseconds(slowest),
        limit: Some("20 ms"),
        over: slowest >= LIMIT,
        how: format!(
            "from one kept frame to the next in headless Chromium's trace, on `/lab` with nine replicas under `redlock` \
             and {per_second:.0} events a second for {} s; a frame is kept if it was drawn, or nothing had changed; {} \
             frames, {drawn} drawn, {missed} missed, longest {}; the page's own part of a frame: median {}, 95th \
             percentile {}",
            WATCHED.as_secs(),
            kept.count() + missed,
            milliseconds(kept.longest()),
            milliseconds(own.median()),
            milliseconds(own.percentile(95)),
        ),
    })
}

/// What the page's process says. Of all that Chromium draws, the page is what it draws most.
fn of_page(events: Vec<&Value>) -> Vec<&Value> {
    let mut by_process: BTreeMap<u64, usize> = BTreeMap::new();
    for event in events.iter().filter(|event| event["name"] == "DrawFrame") {
        *by_process.entry(event["pid"].as_u64().unwrap_or_default()).or_default() += 1;
    }
    let page = by_process.into_iter().max_by_key(|(_, drawn)| *drawn).map(|(pid, _)| pid);
    events.into_iter().filter(|event| event["pid"].as_u64() == page).collect()
}

struct Frames {
    /// From one kept frame to the next.
    kept: Many,
    drawn: usize,
    missed: usize,
}

/// What became of each frame that began. Chromium begins one sixty times a second while the page asks for frames; one
/// that it did not draw is missed, unless whoever was asked had nothing to change.
fn frames(events: &[&Value]) -> Frames {
    let (mut begun, mut drawn, mut wanted) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    for event in events {
        let args = &event["args"];
        match event["name"].as_str() {
            Some("BeginFrame") => drop(begun.insert(args["frameSeqId"].as_u64(), event["ts"].as_f64())),
            Some("DrawFrame") => drop(drawn.insert(args["frameSeqId"].as_u64())),
            Some("PipelineReporter") if event["ph"] == "b" => {
                let reporter = &args["frame_reporter"];
                if reporter["state"] != "STATE_NO_UPDATE_DESIRED" {
                    wanted.insert(reporter["frame_sequence"].as_u64());
                }
            }
            _ => {}
        }
    }
    let is_kept = |frame: &Option<u64>| drawn.contains(frame) || !wanted.contains(frame);
    let moments: Vec<f64> = begun.iter().filter(|(frame, _)| is_kept(frame)).filter_map(|(_, ts)| *ts).collect();
    let mut kept = Many::default();
    moments.windows(2).for_each(|two| kept.push(Duration::from_secs_f64((two[1] - two[0]).max(0.0) / 1e6)));
    Frames { kept, drawn: drawn.len(), missed: begun.len() - moments.len() }
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
