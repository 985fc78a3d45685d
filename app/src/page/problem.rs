//! A page that cannot be shown: what happened, whose fault it is, what to do.

use leptos::prelude::*;

use crate::data::PageProblem;
use crate::stage::view::words;

/// The problem as a page of its own.
pub(crate) fn page(problem: PageProblem) -> impl IntoView {
    view! {
        <main id="main" class="plain">
            <p class="muted">{words::whose(problem.whose)}</p>
            <h1>{problem.title}</h1>
            <p class="ink2">{problem.detail}</p>
            <p class="row">
                <a class="btn btn-main" href="" rel="external">
                    "Try again"
                </a>
                <a class="btn" href="/" rel="external">
                    "To the start"
                </a>
            </p>
        </main>
    }
}
