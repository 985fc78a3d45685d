//! One run on the stage: a stored one to replay, or a live one to watch.

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use crate::data::{self, PageProblem, RunPage as Data};
use crate::part::problem::ProblemPage;
use crate::part::theatre::Theatre;

/// `/runs/:id`
#[component]
pub(crate) fn RunPage() -> impl IntoView {
    let params = use_params_map();
    let id = move || params.read().get("id").unwrap_or_default();
    let page = Resource::new_blocking(id, |id| async move {
        let loader = data::loader()?;
        loader.run(id).await
    });
    view! {
        <Title text="Run" />
        <Shown page heading="Run" />
    }
    .into_any()
}

/// What was loaded, on the stage; or why not.
#[component]
pub(super) fn Shown(page: Resource<Result<Data, PageProblem>>, heading: &'static str) -> impl IntoView {
    view! {
        <Suspense>
            {move || Suspend::new(async move {
                match page.await {
                    Ok(page) => view! { <Theatre page heading /> }.into_any(),
                    Err(problem) => view! { <ProblemPage problem /> }.into_any(),
                }
            })}
        </Suspense>
    }
    .into_any()
}
