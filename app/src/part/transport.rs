//! Moving the playhead: to the start, one event back, play, one event on, to the end; how fast.

use leptos::prelude::*;

use super::icons::Icon;
use super::play::{Head, Part, Play, Stream, play_of};
use crate::stage::view::words;

/// The buttons.
#[component]
pub(crate) fn Transport() -> impl IntoView {
    let play = play_of(Part::Timeline);
    let plays = move || match play.head.get() {
        Head::End => play.stream.get() != Stream::None,
        Head::At(_) => play.playing.get(),
    };
    let speeds = [(0.125, "⅛"), (0.25, "¼"), (0.5, "½"), (1.0, "1×"), (2.0, "2"), (4.0, "4"), (8.0, "8")];
    view! {
        <div class="transport" role="group" aria-label="Transport">
            <button
                class="btn btn-quiet btn-s btn-ic"
                aria-label="To the start (Home)"
                on:click=move |_| play.seek(1)
            >
                <Icon name="first" />
            </button>
            <button
                class="btn btn-quiet btn-s btn-ic"
                aria-label="One event back (left arrow)"
                on:click=move |_| play.step(-1)
            >
                <Icon name="prev" />
            </button>
            <button
                class="btn btn-s btn-ic"
                aria-label=move || if plays() { "Stop the picture (space)" } else { "Play (space)" }
                on:click=move |_| play.toggle()
            >
                <svg class="ic" aria-hidden="true">
                    <use href=move || if plays() { "#i-pause" } else { "#i-play" } />
                </svg>
            </button>
            <button
                class="btn btn-quiet btn-s btn-ic"
                aria-label="One event on (right arrow)"
                on:click=move |_| play.step(1)
            >
                <Icon name="next" />
            </button>
            <button
                class="btn btn-quiet btn-s btn-ic"
                aria-label="To the end (End)"
                on:click=move |_| play.follow()
            >
                <Icon name="last" />
            </button>
        </div>
        <span class="seg seg-s speeds" role="group" aria-label="Speed">
            {speeds
                .map(|(speed, name)| {
                    view! {
                        <button
                            aria-pressed=move || pressed(play.speed.get() == speed)
                            on:click=move |_| play.speed.set(speed)
                        >
                            {name}
                        </button>
                    }
                })
                .collect_view()}
        </span>
    }
    .into_any()
}

/// Where the playhead is against the run's end; a click follows the end again.
#[component]
pub(crate) fn Whereabouts() -> impl IntoView {
    let play = play_of(Part::Timeline);
    let words = move || whereabouts(play);
    view! {
        <button
            class="btn btn-s"
            aria-pressed=move || pressed(play.is_at_end())
            on:click=move |_| play.follow()
        >
            <span class="num">{words}</span>
            <Show when=move || !play.is_at_end()>
                <kbd class="hide-s">"End"</kbd>
            </Show>
        </button>
    }
    .into_any()
}

fn whereabouts(play: Play) -> String {
    let live = play.stream.get() != Stream::None;
    match (play.head.get(), live) {
        (Head::End, true) => "Live".to_owned(),
        (Head::End, false) => "At the end".to_owned(),
        (Head::At(_), live) => {
            let now = play.now.get();
            let ahead = words::short(play.with_live(|stage| stage.at_us).saturating_sub(now));
            if live { format!("Live is {ahead} ahead") } else { format!("The end is {ahead} ahead") }
        }
    }
}

/// A pressed state as its attribute wants it.
pub(crate) fn pressed(is: bool) -> &'static str {
    if is { "true" } else { "false" }
}
