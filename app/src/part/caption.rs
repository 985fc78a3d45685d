//! The caption: what is true now, in one sentence, and the judge's six figures.

use leptos::prelude::*;

use super::play::play;
use super::rows::seek;
use crate::stage::view::caption;

/// The caption.
#[component]
pub(crate) fn CaptionBar() -> impl IntoView {
    let play = play();
    let said = Memo::new(move |_| {
        let (schedule, now) = (play.schedule.get(), play.now.get());
        play.with(|stage| caption::caption(stage, &schedule, now))
    });
    let how = Memo::new(move |_| play.with(caption::strategy_html));
    let figures = Memo::new(move |_| play.with(caption::figures_html));
    view! {
        <section
            class=move || if said.read().chip.is_some() { "caption harm wide" } else { "caption wide" }
            aria-label="What is true now"
        >
            <div class="said" inner_html=move || said.read().html() + &how.read()></div>
            <div class="figures" on:click=move |event| seek(play, &event) inner_html=move || figures.get()></div>
        </section>
    }
    .into_any()
}
