//! The stage with everything around it: one run, live or stored.

use leptos::prelude::*;

use crate::data::RunPage;

/// A run on the stage.
#[component]
pub fn Theatre(page: RunPage, heading: &'static str) -> impl IntoView {
    view! {
        <main id="main" class="stage">
            <h1 class="sr">{heading}</h1>
            <p>{page.stage.replicas.len()} " replicas, event " {page.stage.seq}</p>
        </main>
    }
}
