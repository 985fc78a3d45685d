//! The whole run in one strip; a click moves the playhead there.

use leptos::prelude::*;

use crate::part::play::{Part, play_of};
use crate::stage::view::timeline;
use crate::stage::view::words;

#[component]
pub(super) fn Mini() -> impl IntoView {
    let play = play_of(Part::Timeline);
    // What goes on while nothing happens goes on in the strip, too, once a second.
    let second = Memo::new(move |_| play.now.get() / 1_000_000);
    let mini = Memo::new(move |_| {
        let look = play.look();
        let end = play.with_live(|stage| stage.at_us).max(second.get() * 1_000_000);
        play.with_live(|stage| timeline::mini(stage, &look, end))
    });
    let span = move || {
        let (_, from, to) = mini.get();
        let origin = play.with_live(|stage| stage.origin_us);
        let to = words::short(to.saturating_sub(origin));
        if from <= origin { format!("0–{to}") } else { format!("…–{to}") }
    };
    let head = move || {
        let (_, from, to) = mini.get();
        let part = play.now.get().saturating_sub(from) as f64 / to.saturating_sub(from).max(1) as f64;
        format!("M{:.1} 0V21", part.min(1.0) * 1000.0)
    };
    let strip = NodeRef::<leptos::svg::Svg>::new();
    let seek = move |event: web_sys::MouseEvent| {
        let Some(strip) = strip.get_untracked() else { return };
        let bounds = strip.get_bounding_client_rect();
        let part = ((f64::from(event.client_x()) - bounds.left()) / bounds.width().max(1.0)).clamp(0.0, 1.0);
        let (_, from, to) = mini.get_untracked();
        play.playing.set(false);
        play.seek_us(from + (part * (to - from) as f64) as u64);
    };
    view! {
        <div class="mini">
            <span class="num">{span}</span>
            <svg viewBox="0 0 1000 21" preserveAspectRatio="none" aria-hidden="true" node_ref=strip on:click=seek>
                <g inner_html=move || mini.get().0></g>
                <path d=head class="head" vector-effect="non-scaling-stroke"></path>
            </svg>
        </div>
    }
    .into_any()
}
