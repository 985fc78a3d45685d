//! The lock's panel, and under it what each guard would do with an effect that comes too late.

use leptos::prelude::*;

use super::play::play;
use crate::stage::view::ladder::{self, ladder};
use crate::stage::view::lock_card::lock_card;
use crate::stage::view::machine::LOCK_BOX;

/// The panel.
#[component]
pub(crate) fn LockPanel() -> impl IntoView {
    let play = play();
    let lock = Memo::new(move |_| {
        let (schedule, now) = (play.schedule.get(), play.now.get());
        play.with(|stage| lock_card(stage, &schedule, now))
    });
    view! {
        <section class="panel" aria-label="Lock">
            <header class="panel-h">
                <h2>"Lock " <code>{move || lock.read().name.clone()}</code></h2>
                <span class="grow"></span>
                <span class="src">{move || lock.read().source.clone()}</span>
            </header>
            <div class="lock-b">
                <svg
                    class="ring"
                    viewBox="0 0 92 92"
                    role="img"
                    aria-label=move || lock.read().ring_words.clone()
                    inner_html=move || lock.read().ring.clone()
                ></svg>
                <dl class="kv" inner_html=move || lock.read().facts()></dl>
            </div>
            <div class="lock-m">
                <svg
                    viewBox=LOCK_BOX
                    role="img"
                    aria-label=move || lock.read().machine_words.clone()
                    inner_html=move || lock.read().machine.clone()
                ></svg>
            </div>
        </section>
    }
    .into_any()
}

/// What each guard would do.
#[component]
pub(crate) fn GuardPanel() -> impl IntoView {
    let play = play();
    let content = move || {
        let (schedule, now) = (play.schedule.get(), play.now.get());
        play.with(|stage| ladder::html(ladder(stage, &schedule, now).as_ref()))
    };
    view! { <section class="panel" aria-label="Guards" inner_html=content></section> }.into_any()
}
