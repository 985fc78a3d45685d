//! Icons and hatches: one set of definitions in the frame, which every picture refers to by name.

use leptos::prelude::*;

/// The definitions, as the content of an `svg` element.
pub const MARKS: &str = include_str!("marks.svg");

/// An icon of the set.
#[component]
pub fn Icon(
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
}
