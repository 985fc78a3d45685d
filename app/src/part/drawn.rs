//! What the server draws and what changes while one looks: `live.js` fetches what `data-src` names, again whenever it
//! names something else, and takes over what has changed. One element for all of it.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

/// An element of that class and name. `source` says where its content comes from, `click` what a click in it does.
pub(crate) fn drawn(
    class: &'static str,
    name: &'static str,
    source: Box<dyn Fn() -> String + Send + Sync>,
    click: Box<dyn Fn(MouseEvent)>,
) -> AnyView {
    view! { <div class=class role="group" aria-label=name data-src=source on:click=click></div> }.into_any()
}
