//! The document around every page, and the routes. Scripts come from files, but for the one that Leptos
//! writes for hydration, which carries the request's nonce: a strict content security policy holds.

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::{Route, Router, Routes};
use leptos_router::{SsrMode, path};

use crate::page::lab::LabPage;
use crate::page::missing::MissingPage;
use crate::page::run::RunPage;
use crate::page::runs::RunsPage;
use crate::page::start::StartPage;
use crate::part::frame::Frame;

/// The document. Server only: the browser hydrates its body.
#[cfg(feature = "ssr")]
pub fn shell(options: LeptosOptions) -> impl IntoView {
    use leptos_meta::{HashedStylesheet, MetaTags};
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <meta
                    name="description"
                    content="Real replicas, real stores, real faults: which failure does your lock cover?"
                />
                <link rel="icon" type="image/svg+xml" href="/favicon.svg" />
                <script src="/theme.js"></script>
                <HashedStylesheet options=options.clone() id="style" />
                <HydrationScripts options />
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
}

/// The pages.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    view! {
        <Title formatter=|text: String| if text.is_empty() { "Aegis".to_owned() } else { format!("{text} · Aegis") } />
        <Router>
            <Frame>
                <Routes fallback=|| view! { <MissingPage /> }>
                    <Route path=path!("/") view=StartPage />
                    <Route path=path!("/lab") view=LabPage ssr=SsrMode::Async />
                    <Route path=path!("/runs") view=RunsPage ssr=SsrMode::Async />
                    <Route path=path!("/runs/:id") view=RunPage ssr=SsrMode::Async />
                </Routes>
            </Frame>
        </Router>
    }
}
