//! Commands and effects, verbatim, newest first.

use leptos::prelude::*;

use super::Tab;
use crate::client;
use crate::part::play::{Part, play_of};
use crate::part::rows::Rows;
use crate::stage::view::rows;

/// The tab. Where in the machine a command came from is shown by the machine's own tab.
#[component]
pub(super) fn Wire(tab: RwSignal<Tab>) -> impl IntoView {
    let play = play_of(Part::Inspector);
    let trace = move |event: web_sys::MouseEvent| {
        if let Some(replica) = client::clicked(&event, "data-rep") {
            play.selected.set(Some(replica));
            tab.set(Tab::Machine);
        }
    };
    let rows = Memo::new(move |_| {
        let schedule = (!play.all.get()).then(|| play.schedule.get());
        let now = play.now.get();
        play.with(|stage| {
            rows::wire(stage, schedule.as_deref(), now, 40).iter().map(rows::wire_row).collect::<Vec<_>>()
        })
    });
    view! {
        <div class="scroll-x tab-s" tabindex="0" role="group" aria-label="Commands, scrolls" on:click=trace>
            <table class="wire">
                <thead>
                    <tr>
                        <th>"event"</th>
                        <th class="r">"at, s"</th>
                        <th>"who → where"</th>
                        <th>"result"</th>
                        <th class="r">"latency"</th>
                        <th>"machine at"</th>
                        <th>"task"</th>
                        <th class="w60">"command, verbatim"</th>
                    </tr>
                </thead>
                <Rows play rows />
            </table>
            <Show when=move || rows.read().is_empty()>
                <p class="empty">"Nothing was sent yet. Fire a slot, or wait for the next one."</p>
            </Show>
        </div>
    }
    .into_any()
}
