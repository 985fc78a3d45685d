//! The inspector: Wire, Machine, Rows & keys, Log, Scenario, as tabs.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::play::{Part, play_of};
use crate::stage::view::words;

mod log;
mod machine;
mod scenario;
mod sheets;
mod wire;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tab {
    Wire,
    Machine,
    Sheets,
    Log,
    Scenario,
}

impl Tab {
    const ALL: [Tab; 5] = [Tab::Wire, Tab::Machine, Tab::Sheets, Tab::Log, Tab::Scenario];

    fn name(self) -> &'static str {
        match self {
            Tab::Wire => "Wire",
            Tab::Machine => "Machine",
            Tab::Sheets => "Rows & keys",
            Tab::Log => "Log",
            Tab::Scenario => "Scenario",
        }
    }

    fn id(self) -> &'static str {
        match self {
            Tab::Wire => "tab-wire",
            Tab::Machine => "tab-machine",
            Tab::Sheets => "tab-rows",
            Tab::Log => "tab-log",
            Tab::Scenario => "tab-scenario",
        }
    }
}

/// The inspector.
#[component]
pub(crate) fn Inspector() -> impl IntoView {
    let play = play_of(Part::Inspector);
    let tab = RwSignal::new(Tab::Wire);
    let count = move |of: Tab| match of {
        Tab::Wire => Some(play.with(|stage| words::grouped(u64::from(stage.wire.total)))),
        Tab::Log => Some(play.with(|stage| words::grouped(stage.seq))),
        _ => None,
    };
    let unanswered = move || {
        let n = play.with(|stage| stage.wire.unanswered);
        let commands = if n == 1 { "command" } else { "commands" };
        (n > 0).then(|| format!("{n} {commands} unanswered"))
    };
    let on_key = move |event: KeyboardEvent| {
        let at = Tab::ALL.iter().position(|one| *one == tab.get_untracked()).unwrap_or(0);
        let to = match event.key().as_str() {
            "ArrowRight" => (at + 1) % Tab::ALL.len(),
            "ArrowLeft" => (at + Tab::ALL.len() - 1) % Tab::ALL.len(),
            "Home" => 0,
            "End" => Tab::ALL.len() - 1,
            _ => return,
        };
        event.prevent_default();
        event.stop_propagation();
        tab.set(Tab::ALL[to]);
        let button = document().get_element_by_id(Tab::ALL[to].id());
        if let Some(button) = button.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
            _ = button.focus();
        }
    };
    view! {
        <section class="panel wide insp" aria-label="Inspector">
            <div class="tabs" role="tablist" aria-label="Inspector" on:keydown=on_key>
                {Tab::ALL
                    .map(|one| {
                        view! {
                            <button
                                role="tab"
                                id=one.id()
                                aria-controls="tab-panel"
                                aria-selected=move || if tab.get() == one { "true" } else { "false" }
                                tabindex=move || if tab.get() == one { "0" } else { "-1" }
                                on:click=move |_| tab.set(one)
                            >
                                {one.name()}
                                {(one == Tab::Wire || one == Tab::Log)
                                    .then(|| view! { <span class="n num">{move || count(one)}</span> })}
                            </button>
                        }
                    })
                    .collect_view()}
                <span class="grow" role="presentation"></span>
                <span class="muted num nw hide-s tabs-n" role="presentation">{unanswered}</span>
            </div>
            <div class="tab-p" id="tab-panel" role="tabpanel" aria-labelledby=move || tab.get().id()>
                {move || match tab.get() {
                    Tab::Wire => view! { <wire::Wire tab /> }.into_any(),
                    Tab::Machine => view! { <machine::Machine /> }.into_any(),
                    Tab::Sheets => view! { <sheets::Sheets /> }.into_any(),
                    Tab::Log => view! { <log::Log /> }.into_any(),
                    Tab::Scenario => view! { <scenario::Scenario /> }.into_any(),
                }}
            </div>
        </section>
    }
    .into_any()
}
