//! What screen readers are told: the caption's sentence, at most every three seconds.

use leptos::prelude::*;

use super::play::play;
use crate::client::performance_ms;
use crate::stage::view::caption;

const LEAST_MS: f64 = 3000.0;

/// The live region.
#[component]
pub(crate) fn Announce() -> impl IntoView {
    let play = play();
    let said = RwSignal::new(String::new());
    let last = StoredValue::new(f64::NEG_INFINITY);
    Effect::new(move |_| {
        let (schedule, now) = (play.schedule.get(), play.now.get());
        if performance_ms() - last.get_value() < LEAST_MS {
            return;
        }
        let caption = play.with(|stage| caption::caption(stage, &schedule, now));
        if said.read_untracked() != caption.what {
            last.set_value(performance_ms());
            said.set(caption.what);
        }
    });
    view! {
        <p class="sr" role="status" aria-live="polite">
            {said}
        </p>
    }
    .into_any()
}
