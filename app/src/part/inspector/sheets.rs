//! Rows and keys: the real lock row, audit, settlements, and each node's keys.

use leptos::prelude::*;

use crate::part::play::{Part, play_of};
use crate::stage::view::rows;

/// The tab.
#[component]
pub(super) fn Sheets() -> impl IntoView {
    let play = play_of(Part::Inspector);
    let sheets = Memo::new(move |_| {
        let schedule = (!play.all.get()).then(|| play.schedule.get());
        play.with(|stage| rows::sheets_html(&rows::sheets(stage, schedule.as_deref())))
    });
    view! {
        <div class="rk" inner_html=move || sheets.get()></div>
        <p class="foot">
            "The newest rows of each table. One that the event under the playhead wrote is tinted. Nothing here is derived: every value was read from the store."
        </p>
    }
    .into_any()
}
