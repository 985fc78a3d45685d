//! The strategy's machine, with who is where in it. The picture is the server's: it has the tables and the log,
//! and draws what the playhead shows. `live.js` fetches what `data-src` names and takes over what has changed.

use leptos::prelude::*;

use crate::client;
use crate::part::drawn::drawn;
use crate::part::play::{Part, play_of};
use crate::part::rows::seek;

/// The tab.
#[component]
pub(super) fn Machine() -> impl IntoView {
    let play = play_of(Part::Inspector);
    let source = move || {
        play.now.track();
        let (id, seq) = (play.id.get_value(), play.peek(|stage| stage.seq));
        let (schedule, replica) = (play.schedule.get(), play.selected.get().unwrap_or_default());
        format!("/api/runs/{id}/machine?at={seq}&schedule={schedule}&replica={replica}")
    };
    let choose = move |event: web_sys::MouseEvent| {
        if let Some(replica) = client::clicked(&event, "data-rep") {
            play.selected.set(Some(replica));
        }
        seek(play, &event);
    };
    drawn("mach scroll-x", "State machine", Box::new(source), Box::new(choose))
}
