//! Stepping by hand: what each replica is about to do, and a button that lets it. The lines are the server's;
//! `live.js` fetches what `data-src` names.

use leptos::prelude::*;
use serde_json::json;

use super::drawn::drawn;
use super::play::{Play, play};
use crate::client;

/// The lines, in a run with gates.
#[component]
pub(crate) fn Steps() -> impl IntoView {
    let play = play();
    let source = move || {
        let (id, seq) = (play.id.get_value(), play.with_live(|stage| stage.seq));
        format!("/api/runs/{id}/steps?at={seq}&schedule={}", play.schedule.get())
    };
    let press = move |event: web_sys::MouseEvent| {
        if let Some(name) = client::clicked(&event, "data-step") {
            step(play, &name);
        } else if let Some(ms) = client::clicked(&event, "data-elapse").and_then(|ms| ms.parse::<u64>().ok()) {
            play.act(json!({ "elapse": { "ms": ms } }));
        }
    };
    drawn("panel wide steps", "Step by step", Box::new(source), Box::new(press))
}

/// Let a replica take one step, if it waits for that.
pub(crate) fn step(play: Play, name: &str) {
    let waits = untrack(|| {
        play.with_live(|stage| {
            stage.replicas.get(name).is_some_and(|replica| replica.attempts.values().any(|one| one.gate.is_some()))
        })
    });
    if waits {
        play.act(json!({ "advance": { "replica": name } }));
    }
}
