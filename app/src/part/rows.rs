//! The body of a table that grows while one looks at it. Rows that did not change stay the elements that
//! they are, so that focus and selection stay too.

use leptos::prelude::*;

use super::play::Play;
use crate::client;
use crate::stage::view::rows::Row;

/// The rows; a click on an event's number moves the playhead there.
#[component]
pub(crate) fn Rows(play: Play, rows: Memo<Vec<Row>>) -> impl IntoView {
    view! {
        <tbody on:click=move |event| seek(play, &event)>
            <For
                each=move || rows.get()
                key=Row::clone
                children=|row| view! { <tr class=row.class inner_html=row.cells></tr> }
            />
        </tbody>
    }
    .into_any()
}

/// Show the stage at the event whose number was clicked, if one was.
pub(crate) fn seek(play: Play, event: &web_sys::MouseEvent) {
    if let Some(seq) = client::clicked(event, "data-seq").and_then(|seq| seq.parse().ok()) {
        play.show(seq);
    }
}
