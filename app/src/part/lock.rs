//! The lock, and under it what each guard would do with an effect that comes too late. Both only show something, so
//! both are text.

use leptos::prelude::*;

use super::play::play;
use crate::stage::view::ladder::{self, ladder};
use crate::stage::view::lock_card::lock_card;

/// The column of both.
#[component]
pub(crate) fn LockColumn() -> impl IntoView {
    let play = play();
    let panels = move || {
        let (schedule, now) = (play.schedule.get(), play.now.get());
        play.with(|stage| {
            lock_card(stage, &schedule, now).html() + &ladder::html(ladder(stage, &schedule, now).as_ref())
        })
    };
    view! { <div class="col side" inner_html=panels></div> }.into_any()
}
