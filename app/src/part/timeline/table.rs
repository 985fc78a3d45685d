//! The timeline as a table: the same marks in words.

use leptos::prelude::*;

use crate::part::play::{Part, play_of};
use crate::stage::view::timeline;

#[component]
pub(super) fn Table() -> impl IntoView {
    let play = play_of(Part::Timeline);
    let rows = Memo::new(move |_| {
        let (look, now) = (play.look(), play.now.get());
        play.with(|stage| timeline::table_html(&timeline::table(stage, &look, now, 60)))
    });
    view! {
        <div class="scroll-x tl-table" tabindex="0" role="group" aria-label="Timeline as a table, newest first">
            <table class="rows">
                <thead>
                    <tr>
                        <th>"lane"</th>
                        <th class="r">"from, s"</th>
                        <th class="r">"to, s"</th>
                        <th class="r">"for"</th>
                        <th>"what"</th>
                    </tr>
                </thead>
                <tbody inner_html=move || rows.get()></tbody>
            </table>
        </div>
    }
    .into_any()
}
