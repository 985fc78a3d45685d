//! A replica's badge: colour, letter and hatch, always all three.

use leptos::prelude::*;

use crate::stage::view::hue;

/// How large.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// In lines of text and tables.
    Small,
    /// On its own.
    Normal,
    /// On a card.
    Large,
}

/// The badge; of nobody, an empty frame.
pub(crate) fn badge(name: Option<&str>, size: Size) -> AnyView {
    let size = match size {
        Size::Small => " rep-s",
        Size::Normal => "",
        Size::Large => " rep-l",
    };
    match name {
        Some(name) => {
            let class = format!("rep {}{size}", hue(name));
            view! { <span class=class>{name.to_owned()}</span> }.into_any()
        }
        None => view! { <span class=format!("rep ghost{size}")>"–"</span> }.into_any(),
    }
}
