//! Raw events, newest first, filtered by what one types.

use leptos::prelude::*;

use crate::part::badge::{Size, badge};
use crate::part::play::play;
use crate::stage::view::rows::{self, LogLine};

/// Most lines that are shown at once.
const MOST: usize = 200;

/// The tab.
#[component]
pub(super) fn Log() -> impl IntoView {
    let play = play();
    let filter = RwSignal::new(String::new());
    // The log is fetched when somebody looks at it.
    Effect::new(move |_| {
        if !play.complete.get_untracked() {
            play.fetch_log(|| {});
        }
    });
    let lines = Memo::new(move |_| {
        let wanted = filter.read().to_lowercase();
        let (seq, origin) = play.with(|stage| (stage.seq, stage.origin_us));
        play.with_log(|events| {
            let upto = events.get(..(seq as usize).min(events.len())).unwrap_or_default();
            let lines = upto.iter().rev().map(|event| rows::log_line(event, origin));
            lines.filter(|line| matches(line, &wanted)).take(MOST).collect::<Vec<_>>()
        })
    });
    view! {
        <div class="tab-bar">
            <label class="field">
                <span>"Filter"</span>
                <input
                    class="pick"
                    type="search"
                    placeholder="a kind, a source, a word"
                    on:input=move |event| filter.set(event_target_value(&event))
                />
            </label>
            <span class="muted num">
                {move || {
                    if play.complete.get() { format!("newest {} shown", lines.read().len()) } else { "fetching the log".to_owned() }
                }}
            </span>
        </div>
        <div class="scroll-x tab-s" tabindex="0" role="group" aria-label="Events, scrolls">
            <table class="rows log">
                <thead>
                    <tr>
                        <th>"event"</th>
                        <th class="r">"at, s"</th>
                        <th>"source"</th>
                        <th>"kind"</th>
                        <th class="w60">"what"</th>
                    </tr>
                </thead>
                <tbody>
                    <For each=move || lines.get() key=|line| line.seq children=line />
                </tbody>
            </table>
        </div>
    }
    .into_any()
}

fn matches(line: &LogLine, wanted: &str) -> bool {
    wanted.is_empty() || [&line.source, &line.kind, &line.text].iter().any(|text| text.to_lowercase().contains(wanted))
}

fn line(line: LogLine) -> AnyView {
    let play = play();
    let seq = line.seq;
    view! {
        <tr class=move || if play.with(|stage| stage.seq) == seq { "chg" } else { "" }>
            <td class="num">
                <button class="link num" title="Show the stage at this event" on:click=move |_| play.seek(seq)>
                    "#"
                    {seq}
                </button>
            </td>
            <td class="r num">{line.at}</td>
            <td>
                {match line.replica {
                    Some(name) => badge(Some(&name), Size::Small),
                    None => line.source.into_any(),
                }}
            </td>
            <td>{line.kind}</td>
            <td class="w60">{line.text}</td>
        </tr>
    }
    .into_any()
}
