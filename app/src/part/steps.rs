//! Stepping by hand: what each replica is about to do, and a button that lets it.

use leptos::html::Div;
use leptos::prelude::*;
use serde_json::json;

use super::play::{Play, play};
use crate::client;
use crate::stage::view::steps;

/// The lines, in a run with gates.
#[component]
pub(crate) fn Steps() -> impl IntoView {
    let play = play();
    let root = NodeRef::<Div>::new();
    Effect::new(move |_| {
        let schedule = play.schedule.get();
        let drawn = play.with_live(|stage| steps::html(stage, &schedule));
        if let Some(root) = root.get() {
            client::put(&root, &drawn);
        }
    });
    let press = move |event: web_sys::MouseEvent| {
        if let Some(name) = client::clicked(&event, "data-step") {
            step(play, &name);
        } else if let Some(ms) = client::clicked(&event, "data-elapse").and_then(|ms| ms.parse::<u64>().ok()) {
            play.act(json!({ "elapse": { "ms": ms } }));
        }
    };
    view! { <div class="panel wide steps" role="group" aria-label="Step by step" node_ref=root on:click=press></div> }
        .into_any()
}

/// Let a replica take one step, if it waits for that.
pub(crate) fn step(play: Play, name: &str) {
    if untrack(|| play.with_live(|stage| steps::is_gated(stage) && steps::waits(stage, name))) {
        play.act(json!({ "advance": { "replica": name } }));
    }
}
