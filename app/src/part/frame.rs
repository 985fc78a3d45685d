//! What stands around every page: the top bar, the marks that pictures refer to, help, a way past the bar.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use leptos_router::hooks::use_location;

use super::help::Help;
use super::icons::{Icon, MARKS, SHIELD};
use super::keys;

/// The frame.
#[component]
pub(crate) fn Frame(children: Children) -> impl IntoView {
    let path = use_location().pathname;
    let here = move |prefix: &'static str| path.read().starts_with(prefix).then_some("page");
    let help = RwSignal::new(false);
    Effect::new(move |_| {
        let on_key = move |event: KeyboardEvent| {
            if keys::is_for_page(&event) {
                match event.key().as_str() {
                    "?" => help.set(true),
                    "t" => switch_theme(),
                    _ => {}
                }
            }
        };
        let handle = window_event_listener(leptos::ev::keydown, on_key);
        on_cleanup(move || handle.remove());
    });
    view! {
        <svg class="defs" aria-hidden="true" inner_html=MARKS></svg>
        <a class="skip" href="#main" rel="external">
            "Skip to the page"
        </a>
        <header class="topbar">
            <a class="brand" href="/" rel="external" aria-label="Aegis, to the start">
                <svg viewBox="0 0 18 20" aria-hidden="true" inner_html=SHIELD></svg>
                "Aegis"
            </a>
            <nav class="nav" aria-label="Pages">
                <a href="/lab" rel="external" aria-current=move || here("/lab")>
                    "Lab"
                </a>
                <a href="/runs" rel="external" aria-current=move || here("/runs")>
                    "Runs"
                </a>
            </nav>
            <span class="grow"></span>
            <button
                class="btn btn-quiet btn-ic"
                aria-label="Switch between light and dark (t)"
                on:click=move |_| switch_theme()
            >
                <Icon name="sun" />
            </button>
            <button class="btn btn-quiet btn-ic" aria-label="Help: all keys (?)" on:click=move |_| help.set(true)>
                <Icon name="help" />
            </button>
        </header>
        {children()}
        <Help open=help />
    }
    .into_any()
}

/// The other theme, kept for the next visit.
fn switch_theme() {
    let Some(root) = document().document_element() else { return };
    let dark = root.get_attribute("data-theme").as_deref() == Some("dark");
    let theme = if dark { "light" } else { "dark" };
    // An attribute always takes a plain name; a closed storage only forgets the choice.
    _ = root.set_attribute("data-theme", theme);
    if let Ok(Some(storage)) = window().local_storage() {
        _ = storage.set_item("theme", theme);
    }
}
