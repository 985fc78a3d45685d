//! The timeline as a table: the same marks in words.

use leptos::prelude::*;

use crate::part::badge::{Size, badge};
use crate::part::icons::Icon;
use crate::part::play::play;
use crate::stage::view::timeline;

#[component]
pub(super) fn Table() -> impl IntoView {
    let play = play();
    let rows = Memo::new(move |_| {
        let (look, now) = (play.look(), play.now.get());
        play.with(|stage| timeline::table(stage, &look, now, 60))
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
                <tbody>
                    {move || {
                        rows.get()
                            .into_iter()
                            .map(|row| {
                                view! {
                                    <tr>
                                        <td>
                                            {row.replica.map(|name| badge(Some(&name), Size::Small))} " "
                                            {row.lane}
                                        </td>
                                        <td class="r num">{row.from}</td>
                                        <td class="r num">{row.to}</td>
                                        <td class="r num">{row.for_}</td>
                                        <td class=if row.harm { "bad b" } else { "" }>
                                            {row
                                                .harm
                                                .then(|| view! { <Icon name="oct" small=true /> })}
                                            {row.what}
                                        </td>
                                    </tr>
                                }
                                    .into_any()
                            })
                            .collect_view()
                    }}
                </tbody>
            </table>
        </div>
    }
    .into_any()
}
