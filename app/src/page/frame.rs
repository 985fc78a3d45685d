//! The top bar of every page, a way past it, and the marks that pictures refer to.

use leptos::prelude::*;

use crate::part::icons::Icon;

/// Icons and hatches, as the content of an `svg` element: every picture refers to them by name.
const MARKS: &str = include_str!("marks.svg");

/// The bar, on the page that it has under this path; `frame.js` listens to its buttons.
pub(crate) fn bar(here: &'static str) -> impl IntoView {
    let current = |path: &str| (path == here).then_some("page");
    view! {
        <svg class="defs" aria-hidden="true" inner_html=MARKS></svg>
        <a class="skip" href="#main">
            "Skip to the page"
        </a>
        <header class="topbar">
            <a class="brand" href="/" aria-label="Aegis, to the start">
                <svg viewBox="0 0 18 20" aria-hidden="true" inner_html=SHIELD></svg>
                "Aegis"
            </a>
            <nav class="nav" aria-label="Pages">
                <a href="/lesson" aria-current=current("/lesson")>
                    "Lesson"
                </a>
                <a href="/lab" aria-current=current("/lab")>
                    "Lab"
                </a>
                <a href="/matrix" aria-current=current("/matrix")>
                    "Matrix"
                </a>
                <a href="/homework" aria-current=current("/homework")>
                    "Homework"
                </a>
                <a href="/runs" aria-current=current("/runs")>
                    "Runs"
                </a>
            </nav>
            <span class="grow"></span>
            <button class="btn btn-quiet btn-ic" id="theme-b" aria-label="Switch between light and dark (t)">
                <Icon name="sun" />
            </button>
            <button class="btn btn-quiet btn-ic" id="help-b" aria-label="Help: all keys (?)">
                <Icon name="help" />
            </button>
        </header>
    }
}

/// The shield with the joint "≠" in it.
const SHIELD: &str = concat!(
    r#"<path d="M9 1 16.5 3.6v5.9c0 4.5-3 7.7-7.5 9.4-4.5-1.7-7.5-4.9-7.5-9.4V3.6Z" fill="none" stroke="currentColor" "#,
    r#"stroke-width="1.6" stroke-linejoin="round"/><path d="M5.2 8.6h7.6M5.2 11.4h7.6M11 5.8 7 14.2" "#,
    r#"stroke="currentColor" stroke-width="1.5" stroke-linecap="round"/>"#
);
