//! The stage with everything around it: one run, live or stored.

use leptos::prelude::*;

use super::announce::Announce;
use super::caption::CaptionBar;
use super::card::Cards;
use super::inspector::Inspector;
use super::keys;
use super::lock::LockPanel;
use super::notice::Notices;
use super::play::Play;
use super::run_bar::RunBar;
use super::timeline::TimelinePanel;
use crate::client;
use crate::data::RunPage;

/// A run on the stage.
#[component]
pub(crate) fn Theatre(page: RunPage, heading: &'static str) -> impl IntoView {
    let play = Play::new(page);
    provide_context(play);
    Effect::new(move |_| {
        client::drive(play);
        keys::listen(play);
    });
    view! {
        <RunBar />
        <main id="main" class="stage">
            <h1 class="sr">{heading}</h1>
            <Notices />
            <CaptionBar />
            <div class="col">
                <Cards />
            </div>
            <div class="col side">
                <LockPanel />
            </div>
            <TimelinePanel />
            <Inspector />
        </main>
        <Announce />
    }
    .into_any()
}
