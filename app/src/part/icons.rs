//! Icons and hatches: one set of definitions in the frame, which every picture refers to by name.

use leptos::prelude::*;

/// The definitions, as the content of an `svg` element.
pub(crate) const MARKS: &str = include_str!("marks.svg");

/// An icon of the set.
#[component]
pub(crate) fn Icon(
    /// Its name, without `i-`.
    name: &'static str,
    /// The small size.
    #[prop(optional)]
    small: bool,
) -> impl IntoView {
    let class = if small { "ic ic-s" } else { "ic" };
    view! {
        <svg class=class aria-hidden="true">
            <use href=format!("#i-{name}") />
        </svg>
    }
    .into_any()
}

/// The shield with the joint "≠" in it.
pub(crate) const SHIELD: &str = concat!(
    r#"<path d="M9 1 16.5 3.6v5.9c0 4.5-3 7.7-7.5 9.4-4.5-1.7-7.5-4.9-7.5-9.4V3.6Z" fill="none" stroke="currentColor" "#,
    r#"stroke-width="1.6" stroke-linejoin="round"/><path d="M5.2 8.6h7.6M5.2 11.4h7.6M11 5.8 7 14.2" "#,
    r#"stroke="currentColor" stroke-width="1.5" stroke-linecap="round"/>"#
);
