//! Raw events, newest first, filtered by what one types.

use leptos::prelude::*;

use crate::part::play::{Part, play_of};
use crate::part::rows::Rows;
use crate::stage::view::rows::{self, LogLine};

/// Most lines that are shown at once.
const MOST: usize = 200;

/// The tab.
#[component]
pub(super) fn Log() -> impl IntoView {
    let play = play_of(Part::Inspector);
    let filter = RwSignal::new(String::new());
    // The log is fetched when somebody looks at it.
    Effect::new(move |_| {
        if !play.complete.get_untracked() {
            play.fetch_log(|| {});
        }
    });
    let rows = Memo::new(move |_| {
        let wanted = filter.read().to_ascii_lowercase();
        let (seq, origin) = play.with(|stage| (stage.seq, stage.origin_us));
        play.with_log(|events| {
            let upto = events.get(..(seq as usize).min(events.len())).unwrap_or_default();
            let lines = upto.iter().rev().map(|event| rows::log_line(event, origin));
            let found = lines.filter(|line| matches(line, &wanted)).take(MOST);
            found.map(|line| rows::log_row(&line, line.seq == seq)).collect::<Vec<_>>()
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
                    match (play.complete.get(), rows.read().len()) {
                        (false, _) => "fetching the log".to_owned(),
                        (true, 0) => "No event says that. Try a kind, as “effect”, a replica, or clear the filter.".to_owned(),
                        (true, n) => format!("newest {n} shown"),
                    }
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
                <Rows play rows />
            </table>
        </div>
    }
    .into_any()
}

fn matches(line: &LogLine, wanted: &str) -> bool {
    wanted.is_empty()
        || [&line.source, &line.kind, &line.text].iter().any(|text| text.to_ascii_lowercase().contains(wanted))
}
