//! The run so far as a scenario file: what one did, to copy, keep and run again.

use leptos::prelude::*;

use crate::client;
use crate::part::icons::Icon;
use crate::part::play::{Part, play_of};

/// The tab.
#[component]
pub(super) fn Scenario() -> impl IntoView {
    let play = play_of(Part::Inspector);
    let text = RwSignal::new(String::new());
    let copied = RwSignal::new(false);
    let steps = Memo::new(move |_| play.with_live(|stage| stage.steps));
    let path = format!("/api/runs/{}/scenario", play.id.get_value());
    let (ask, file) = (path.clone(), path);
    // Fetched again after each thing that was done.
    Effect::new(move |_| {
        steps.track();
        let then = move |fetched| match fetched {
            Ok(toml) => text.set(toml),
            Err(notice) => play.notice.set(Some(notice)),
        };
        client::fetch_text(ask.clone(), Box::new(then));
    });
    let export = format!("/api/runs/{}/export", play.id.get_value());
    let race = move || {
        steps.track();
        let guard = play.with_live(|stage| stage.setup.guard.first().map(ToString::to_string));
        format!("/matrix?guard={}&race={}#race", guard.as_deref().unwrap_or("none"), play.id.get_value())
    };
    view! {
        <div class="tab-bar">
            <button
                class="btn btn-s"
                on:click=move |_| {
                    client::copy(&text.read_untracked());
                    copied.set(true);
                }
            >
                <Icon name="copy" />
                {move || if copied.get() { "Copied" } else { "Copy" }}
            </button>
            <a class="btn btn-s" href=file rel="external" download="live.toml">
                <Icon name="file" />
                "Save as a file"
            </a>
            <a class="btn btn-s" href=export rel="external" download="run.json">
                "Export the run"
            </a>
            <a class="btn btn-s" href=race rel="external">
                "Run under every strategy"
            </a>
            <span class="muted hide-s">
                "Run it again with "
                <code>"aegis run live.toml"</code>
            </span>
        </div>
        <pre class="code toml" tabindex="0">
            {text}
        </pre>
    }
    .into_any()
}
