//! A page that does not exist.

use leptos::prelude::*;

/// Any other path. Answers with status 404 on the server.
pub(crate) fn page() -> impl IntoView {
    view! {
        <main id="main" class="plain">
            <h1>"There is no such page"</h1>
            <p class="ink2">"The address may be mistyped, or the run that it names was deleted."</p>
            <p class="row">
                <a class="btn btn-main" href="/lab" rel="external">
                    "Open the lab"
                </a>
                <a class="btn" href="/runs" rel="external">
                    "See stored runs"
                </a>
            </p>
        </main>
    }
}
