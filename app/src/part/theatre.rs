//! The stage with everything around it: one run, live or stored.

use leptos::prelude::*;

use super::announce::Announce;
use super::caption::CaptionBar;
use super::card::Cards;
use super::inspector::Inspector;
use super::keys;
use super::lock::LockColumn;
use super::menu::Menu;
use super::notice::Notices;
use super::play::Play;
use super::rows::seek;
use super::run_bar::RunBar;
use super::steps::Steps;
use super::timeline::TimelinePanel;
use crate::client;
use crate::data::RunPage;

/// The element that the browser brings to life.
const ROOT: &str = "stage";

/// A run on the stage, with what it was rendered from.
#[cfg(feature = "ssr")]
pub(crate) fn render(page: RunPage) -> String {
    let data = crate::data::embed(&page);
    let class = if page.told { "root told" } else { "root" };
    let stage = theatre(page).to_html();
    format!("<div id=\"{ROOT}\" class=\"{class}\">{stage}</div>{data}")
}

/// Bring the stage of this page to life, if it has one.
#[cfg(feature = "hydrate")]
pub fn hydrate() {
    use wasm_bindgen::JsCast;
    let Some(root) = document().get_element_by_id(ROOT).and_then(|root| root.dyn_into().ok()) else { return };
    match crate::data::embedded() {
        Some(page) => leptos::mount::hydrate_from(root, move || theatre(page)).forget(),
        None => leptos::logging::error!("page and program are of different builds: reload the page"),
    }
}

/// A run on the stage.
fn theatre(page: RunPage) -> impl IntoView {
    let (at, about) = (page.at, page.heading.clone());
    let steps = page.owner && page.live && page.stage.is_gated();
    let play = Play::new(page);
    provide_context(play);
    Effect::new(move |_| {
        client::drive(play);
        keys::listen(play);
        // The event that the address names goes first.
        if let Some(seq) = client::asked_event().or(at) {
            play.seek(seq);
        }
    });
    view! {
        <RunBar />
        <div class="stage">
            <Notices />
            {(!about.is_empty())
                .then(|| {
                    view! {
                        <section
                            class="panel run-h wide"
                            aria-label="This run"
                            on:click=move |event| seek(play, &event)
                            inner_html=about
                        ></section>
                    }
                })}
            <CaptionBar />
            {steps.then(|| view! { <Steps /> })}
            <div class="col">
                <Cards />
            </div>
            <LockColumn />
            <TimelinePanel />
            <Inspector />
        </div>
        <Menu />
        <Announce />
    }
}
