//! The lab: the reader's live run.

use leptos::prelude::*;
use leptos_meta::Title;

use crate::data;
use crate::page::run::Shown;

/// `/lab`
#[component]
pub(crate) fn LabPage() -> impl IntoView {
    let page = Resource::new_blocking(
        || (),
        |()| async {
            let loader = data::loader()?;
            loader.lab().await
        },
    );
    view! {
        <Title text="Lab" />
        <Shown page heading="Lab" />
    }
    .into_any()
}
