//! The strategy's machine, with who is where in it. Picture and trace are the server's: it has the tables and the
//! log, and draws what the playhead shows. Here only what has changed is taken over, so that focus and scroll
//! stay where they are.

use leptos::html::Div;
use leptos::prelude::*;

use crate::client;
use crate::part::play::{Notice, Play, play};
use crate::part::rows::seek;

/// The tab.
#[component]
pub(super) fn Machine() -> impl IntoView {
    let play = play();
    let wanted = Memo::new(move |_| {
        play.now.track();
        let (id, seq) = (play.id.get_value(), play.peek(|stage| stage.seq));
        let (schedule, replica) = (play.schedule.get(), play.selected.get().unwrap_or_default());
        format!("/api/runs/{id}/machine?at={seq}&schedule={schedule}&replica={replica}")
    });
    let (root, busy) = (NodeRef::<Div>::new(), StoredValue::new(false));
    Effect::new(move |_| {
        wanted.track();
        root.track();
        load(play, wanted, root, busy);
    });
    let choose = move |event: web_sys::MouseEvent| {
        if let Some(replica) = client::clicked(&event, "data-rep") {
            play.selected.set(Some(replica));
        }
        seek(play, &event);
    };
    view! { <div class="mach scroll-x" node_ref=root on:click=choose></div> }.into_any()
}

/// Fetch what is wanted, and again if something else is wanted by then; one at a time.
fn load(play: Play, wanted: Memo<String>, root: NodeRef<Div>, busy: StoredValue<bool>) {
    if busy.get_value() {
        return;
    }
    busy.set_value(true);
    let asked = wanted.get_untracked();
    let then = {
        let asked = asked.clone();
        move |fetched: Result<String, Notice>| {
            // Gone with its tab, if there is nothing wanted any more.
            let Some(now) = wanted.try_get_untracked() else { return };
            busy.set_value(false);
            match (fetched, root.get_untracked()) {
                (Ok(drawn), Some(root)) => client::put(&root, &drawn),
                (Err(notice), _) => return play.notice.set(Some(notice)),
                _ => {}
            }
            if now != asked {
                load(play, wanted, root, busy);
            }
        }
    };
    client::fetch_text(asked, Box::new(then));
}
