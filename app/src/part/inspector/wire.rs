//! Commands and effects, verbatim, newest first.

use leptos::prelude::*;

use crate::part::badge::{Size, badge};
use crate::part::play::play;
use crate::stage::view::rows::{self, WireLine};
use crate::stage::view::sql::pieces;

/// The tab.
#[component]
pub(super) fn Wire() -> impl IntoView {
    let play = play();
    let lines = Memo::new(move |_| {
        let schedule = (!play.all.get()).then(|| play.schedule.get());
        let now = play.now.get();
        play.with(|stage| rows::wire(stage, schedule.as_deref(), now, 40))
    });
    view! {
        <div class="scroll-x tab-s" tabindex="0" role="group" aria-label="Commands, scrolls">
            <table class="wire">
                <thead>
                    <tr>
                        <th>"event"</th>
                        <th class="r">"at, s"</th>
                        <th>"who → where"</th>
                        <th>"result"</th>
                        <th class="r">"latency"</th>
                        <th>"task"</th>
                        <th class="w60">"command, verbatim"</th>
                    </tr>
                </thead>
                <tbody>
                    <For each=move || lines.get() key=WireLine::clone children=line />
                </tbody>
            </table>
            <Show when=move || lines.read().is_empty()>
                <p class="empty">"Nothing was sent yet. Fire a slot, or wait for the next one."</p>
            </Show>
        </div>
    }
    .into_any()
}

fn line(line: WireLine) -> AnyView {
    let play = play();
    let class = match (line.current, line.open) {
        (true, _) => "cur",
        (_, true) => "open",
        _ => "",
    };
    let seq = line.seq;
    let text = pieces(&line.text)
        .into_iter()
        .map(|(piece, text)| match piece.class() {
            "" => text.into_any(),
            class => view! { <span class=class>{text}</span> }.into_any(),
        })
        .collect_view();
    view! {
        <tr class=class>
            <td class="num">
                <button class="link num" title="Show the stage at this event" on:click=move |_| play.seek(seq)>
                    "#"
                    {seq}
                </button>
            </td>
            <td class="num r">{line.at}</td>
            <td>
                <span class="row row-5">
                    {badge(Some(&line.replica), Size::Small)} <span class="ink2">"→ " {line.to}</span>
                </span>
            </td>
            <td class=if line.open { "b" } else { "" }>{line.result}</td>
            <td class="num r">{line.latency}</td>
            <td class="ink2">{line.task}</td>
            <td class="cmd">
                {text}
                {(!line.params.is_empty())
                    .then(|| view! { <span class="p">" -- " {line.params}</span> })}
            </td>
        </tr>
    }
    .into_any()
}
