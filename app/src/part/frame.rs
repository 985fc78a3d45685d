//! What stands around every page: the top bar, the marks that pictures refer to, a way past the bar.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use super::icons::{Icon, MARKS};

/// The frame.
#[component]
pub fn Frame(children: Children) -> impl IntoView {
    let path = use_location().pathname;
    let here = move |prefix: &'static str| path.read().starts_with(prefix).then_some("page");
    view! {
        <svg class="defs" aria-hidden="true" inner_html=MARKS></svg>
        <a class="skip" href="#main">
            "Skip to the page"
        </a>
        <header class="topbar">
            <a class="brand" href="/" rel="external">
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
                aria-label="Switch between light and dark"
                on:click=move |_| switch_theme()
            >
                <Icon name="sun" />
            </button>
        </header>
        {children()}
    }
}

const SHIELD: &str = r#"<path d="M9 1 16.5 3.6v5.9c0 4.5-3 7.7-7.5 9.4-4.5-1.7-7.5-4.9-7.5-9.4V3.6Z" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linejoin="round"/><path d="M5.2 8.6h7.6M5.2 11.4h7.6M11 5.8 7 14.2" stroke="currentColor" stroke-width="1.5" stroke-linecap="round"/>"#;

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
