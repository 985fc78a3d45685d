//! What one can do to a replica: a menu at its card, a bottom sheet on a phone. It always acts on the
//! live run, and says so when the stage shows another moment.

use leptos::ev::KeyboardEvent;
use leptos::html;
use leptos::prelude::*;
use serde_json::json;
use wasm_bindgen::JsCast;

use super::icons::Icon;
use super::play::{Head, Play, play};
use crate::stage::replica::Process;
use crate::stage::view::{hue, words};

/// One line of the menu.
#[derive(Clone, Copy)]
pub(crate) struct Deed {
    /// The action's name in scenario files.
    pub action: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// By what.
    pub by: &'static str,
    /// Its key.
    pub key: &'static str,
    icon: &'static str,
}

/// What can be done to a replica whose process is in that state.
pub(crate) fn deeds(process: Process) -> &'static [Deed] {
    const PAUSE: Deed = Deed { action: "pause", name: "Pause", by: "SIGSTOP", key: "p", icon: "pause" };
    const RESUME: Deed = Deed { action: "resume", name: "Continue", by: "SIGCONT", key: "c", icon: "play" };
    const KILL: Deed = Deed { action: "kill", name: "Kill", by: "SIGKILL", key: "k", icon: "kill" };
    const START: Deed = Deed { action: "start", name: "Start", by: "a new process", key: "s", icon: "redo" };
    const CANCEL: Deed = Deed { action: "cancel", name: "Cancel its attempt", by: "gives back", key: "x", icon: "x" };
    const REMOVE: Deed = Deed { action: "remove", name: "Remove", by: "shut down", key: "r", icon: "minus" };
    match process {
        Process::Stopped => &[RESUME, KILL, REMOVE],
        Process::Dead => &[START, REMOVE],
        Process::Running | Process::Starting => &[PAUSE, KILL, CANCEL, REMOVE],
    }
}

/// Do it.
pub(crate) fn perform(play: Play, deed: Deed, name: &str) {
    play.act(json!({ deed.action: name }));
}

/// What became of a replica's process at the run's end.
pub(crate) fn process_of(play: Play, name: &str) -> Process {
    play.with_live(|stage| stage.replicas.get(name).map(|replica| replica.process).unwrap_or_default())
}

/// The menu of a replica.
#[component]
pub(crate) fn Menu(name: String) -> impl IntoView {
    let play = play();
    let list = NodeRef::<html::Div>::new();
    let of = StoredValue::new(name.clone());
    let process = Memo::new(move |_| of.with_value(|name| process_of(play, name)));
    let close = move || {
        play.menu.set(None);
        // Back to the button that opened it.
        let id = of.with_value(|name| format!("menu-{name}"));
        if let Some(button) = document().get_element_by_id(&id).and_then(|e| e.dyn_into::<web_sys::HtmlElement>().ok())
        {
            _ = button.focus();
        }
    };
    Effect::new(move |_| focus_item(list, 0));
    let on_key = move |event: KeyboardEvent| {
        let by = match event.key().as_str() {
            "ArrowDown" => 1,
            "ArrowUp" => -1,
            "Home" => 0,
            "Escape" | "Tab" => {
                event.prevent_default();
                event.stop_propagation();
                close();
                return;
            }
            _ => return,
        };
        event.prevent_default();
        event.stop_propagation();
        let at = if by == 0 { 0 } else { focused_item(list) + by };
        focus_item(list, at);
    };
    let acts_on = move || {
        (play.head.get() != Head::End).then(|| {
            let ahead = play.last_us().saturating_sub(play.now.get());
            format!("acts on the live run, +{}", words::short(ahead))
        })
    };
    view! {
        <div class="veil" on:click=move |_| close()></div>
        <div class="pop" role="menu" aria-label=format!("What to do to replica {name}") node_ref=list on:keydown=on_key>
            <p class="pop-h">
                <span class=format!("rep {} rep-s", hue(&name))>{name.clone()}</span> <span class="b ink">"Replica " {name.clone()}</span>
                <span class="grow"></span> {acts_on}
            </p>
            {move || {
                deeds(process.get())
                    .iter()
                    .map(|deed| {
                        let deed = *deed;
                        view! {
                            <button
                                role="menuitem"
                                tabindex="-1"
                                on:click=move |_| {
                                    of.with_value(|name| perform(play, deed, name));
                                    close();
                                }
                            >
                                <Icon name=deed.icon />
                                <span>{deed.name}</span>
                                <span class="what">{deed.by}</span>
                                <kbd>{deed.key}</kbd>
                            </button>
                        }
                    })
                    .collect_view()
            }}
        </div>
    }
    .into_any()
}

fn items(list: NodeRef<html::Div>) -> Vec<web_sys::HtmlElement> {
    let Some(list) = list.get_untracked() else { return Vec::new() };
    let Ok(found) = list.query_selector_all("[role=menuitem]") else { return Vec::new() };
    (0..found.length()).filter_map(|i| found.item(i)?.dyn_into().ok()).collect()
}

fn focused_item(list: NodeRef<html::Div>) -> i32 {
    let active = document().active_element();
    items(list).iter().position(|item| Some(item.as_ref()) == active.as_ref()).map_or(-1, |at| at as i32)
}

fn focus_item(list: NodeRef<html::Div>, at: i32) {
    let items = items(list);
    if !items.is_empty() {
        _ = items[at.rem_euclid(items.len() as i32) as usize].focus();
    }
}
