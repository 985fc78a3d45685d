//! Icons, by name: their definitions stand in the frame of every page.

use leptos::prelude::*;

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
