//! The menu of a replica, a link or a store: a popover where it was opened, a bottom sheet on a phone. It
//! shows the entries of [`crate::stage::menu`] as they were when it was opened, so that nothing moves under
//! the pointer. It always acts on the live run, and says so when the stage shows another moment.

use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::map::focus;
use super::play::{Head, Play, play};
use crate::client;
use crate::html::{Html, Size};
use crate::stage::menu::{Deed, Entry, Target, entries};
use crate::stage::view::words;

/// Width of the popover, with its distance from the window's edge.
const ROOM: f64 = 320.0;

/// A menu that is open.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Opened {
    /// What it is about.
    pub target: Target,
    /// What gets the focus back.
    pub back: String,
    /// Where it was opened, in the window.
    pub place: (f64, f64),
}

/// What the run's end offers for a target.
pub(crate) fn offered(play: Play, target: &Target) -> Vec<Entry> {
    untrack(|| play.with_live(|stage| entries(stage, target)))
}

/// The menu that is open, if one is.
#[component]
pub(crate) fn Menu() -> impl IntoView {
    let play = play();
    // Lists that were opened from one another, each with its name.
    let lists = RwSignal::new(Vec::<(String, Vec<Entry>)>::new());
    let pop = NodeRef::<html::Div>::new();
    Effect::new(move |_| {
        let first = play.menu.read().as_ref().map(|opened| (opened.target.words(), offered(play, &opened.target)));
        lists.set(first.into_iter().collect());
    });
    let content = Memo::new(move |_| {
        let lists = lists.read();
        let opened = play.menu.read();
        let (Some((title, list)), Some(opened)) = (lists.last(), opened.as_ref()) else { return String::new() };
        let ahead = (play.head.get() != Head::End).then(|| play.last_us().saturating_sub(play.now.get()));
        list_html(opened, title, list, lists.len() > 1, ahead)
    });
    // When another list is shown: put it where it has room, and the focus on its first entry.
    Effect::new(move |_| {
        content.track();
        if let (Some(pop), Some(opened)) = (pop.get(), play.menu.get()) {
            move_to(&pop, opened.place);
            focus(".pop [role=menuitem]");
        }
    });
    let close = move || {
        if let Some(opened) = play.menu.try_update(Option::take).flatten() {
            focus(&opened.back);
        }
    };
    let back = move || {
        if lists.read_untracked().len() > 1 {
            lists.update(|lists| drop(lists.pop()));
        } else {
            close();
        }
    };
    let choose = move |at: usize| {
        let deed = lists.read_untracked().last().and_then(|(_, list)| list.get(at)).cloned();
        match deed {
            Some(Entry { deed: Deed::Act(action), .. }) => {
                play.act(action);
                close();
            }
            Some(Entry { name, deed: Deed::Open(list), .. }) => lists.update(|lists| lists.push((name, list))),
            _ => {}
        }
    };
    let on_click = move |event: MouseEvent| match client::clicked(&event, "data-at").as_deref() {
        Some("back") => back(),
        Some(at) => at.parse().into_iter().for_each(choose),
        None => {}
    };
    let on_key = move |event: KeyboardEvent| {
        match event.key().as_str() {
            "ArrowDown" => step(1),
            "ArrowUp" => step(-1),
            "Home" => focus(".pop [role=menuitem]"),
            "ArrowRight" => press_focused(),
            "ArrowLeft" | "Backspace" => back(),
            "Escape" if lists.read_untracked().len() > 1 => back(),
            "Escape" | "Tab" => close(),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    view! {
        <Show when=move || play.menu.read().is_some()>
            <div class="veil" on:click=move |_| close()></div>
            <div
                class="pop"
                role="menu"
                aria-label=move || play.menu.read().as_ref().map(|opened| format!("What to do to {}", opened.target.words()))
                node_ref=pop
                on:keydown=on_key
                on:click=on_click
                inner_html=move || content.get()
            ></div>
        </Show>
    }
    .into_any()
}

fn list_html(opened: &Opened, title: &str, list: &[Entry], is_inner: bool, ahead: Option<u64>) -> String {
    let mut html = Html::new();
    html.class("p", "pop-h");
    if let Target::Replica(name) | Target::Link(name, _) = &opened.target
        && !name.contains('-')
    {
        html.badge(Some(name), Size::Small);
    }
    html.element("span", "b ink", &opened.target.words()).element("span", "grow", "");
    if let Some(ahead) = ahead {
        html.text(&format!("acts on the live run, +{}", words::short(ahead)));
    }
    html.close();
    if is_inner {
        html.open("button").attr("role", "menuitem").attr("tabindex", "-1").attr("data-at", "back");
        html.icon("prev", false).element("span", "b", title).close().open("hr").close();
    }
    for (at, entry) in list.iter().enumerate() {
        html.open("button").attr("role", "menuitem").attr("tabindex", "-1").attr("data-at", &at.to_string());
        match entry.deed {
            Deed::Open(_) => _ = html.attr("aria-haspopup", "menu"),
            Deed::NotHere => _ = html.attr("aria-disabled", "true"),
            Deed::Act(_) => {}
        }
        html.icon(entry.icon, false).element("span", "", &entry.name).element("span", "what", &entry.by);
        match entry.deed {
            Deed::Open(_) => _ = html.icon("right", false),
            _ if entry.key.is_empty() => {}
            _ => _ = html.element("kbd", "", entry.key),
        }
        html.close();
    }
    html.finish()
}

/// Put the popover near a place, within the window.
fn move_to(pop: &HtmlElement, (x, y): (f64, f64)) {
    let size = |side: Result<wasm_bindgen::JsValue, _>| side.ok().and_then(|side| side.as_f64()).unwrap_or_default();
    let (wide, high) = (size(window().inner_width()), size(window().inner_height()));
    let left = x.min(wide - ROOM).max(8.0);
    let tall = f64::from(pop.offset_height());
    let top = if y + 8.0 + tall > high { (y - tall - 8.0).max(8.0) } else { y + 8.0 };
    _ = pop.style().set_property("left", &format!("{}px", left as i32));
    _ = pop.style().set_property("top", &format!("{}px", top as i32));
}

fn items() -> Vec<HtmlElement> {
    let Ok(found) = document().query_selector_all(".pop [role=menuitem]") else { return Vec::new() };
    (0..found.length()).filter_map(|at| found.item(at)?.dyn_into().ok()).collect()
}

fn step(by: i32) {
    let items = items();
    let active = document().active_element();
    let at = items.iter().position(|item| Some(item.as_ref()) == active.as_ref()).map_or(-1, |at| at as i32);
    if !items.is_empty() {
        _ = items[(at + by).rem_euclid(items.len() as i32) as usize].focus();
    }
}

/// Open the list behind the focused entry, if there is one.
fn press_focused() {
    if let Some(item) = document().active_element().filter(|item| item.has_attribute("aria-haspopup")) {
        item.unchecked_ref::<HtmlElement>().click();
    }
}
