//! Keys of a stage. They act on the selected replica, on the schedule at hand and on the playhead.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use serde_json::json;
use wasm_bindgen::JsCast;

use super::menu::offered;
use super::play::Play;
use super::steps::step;
use crate::stage::menu::{Deed, Target};

/// Is a key meant for the page? Not while somebody types, and not with a modifier.
pub(crate) fn is_for_page(event: &KeyboardEvent) -> bool {
    if event.ctrl_key() || event.meta_key() || event.alt_key() || event.default_prevented() {
        return false;
    }
    let types = |element: web_sys::Element| matches!(element.tag_name().as_str(), "INPUT" | "SELECT" | "TEXTAREA");
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    let dialog = document().query_selector("dialog[open]").ok().flatten();
    !target.is_some_and(types) && dialog.is_none()
}

/// Listen for the keys of a stage as long as it is shown.
pub(crate) fn listen(play: Play) {
    let handle = window_event_listener(leptos::ev::keydown, move |event| {
        if is_for_page(&event) && press(play, &event) {
            event.prevent_default();
        }
    });
    on_cleanup(move || handle.remove());
}

/// Do what a key says. False: it says nothing here.
fn press(play: Play, event: &KeyboardEvent) -> bool {
    let key = event.key();
    // Space and Enter on a button press that button.
    let on_button = event
        .target()
        .and_then(|target| target.dyn_into::<web_sys::Element>().ok())
        .is_some_and(|element| matches!(element.tag_name().as_str(), "BUTTON" | "A"));
    match key.as_str() {
        " " if on_button => return false,
        " " => play.toggle(),
        "ArrowLeft" => play.step(-1),
        "ArrowRight" => play.step(1),
        "Home" => play.seek(1),
        "End" => play.follow(),
        "+" | "=" => play.zoom_by(1.5),
        "-" => play.zoom_by(1.0 / 1.5),
        "f" => fire(play),
        "Escape" => play.menu.set(None),
        digit @ ("1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9") => {
            let at = digit.as_bytes()[0] - b'1';
            let name = play.peek(|stage| stage.replicas.keys().nth(usize::from(at)).cloned());
            if let Some(name) = &name {
                step(play, name);
            }
            play.selected.set(name);
        }
        key => {
            let Some(name) = play.selected.get_untracked() else { return false };
            let entries = offered(play, &Target::Replica(name));
            match entries.into_iter().find(|entry| entry.key == key).map(|entry| entry.deed) {
                Some(Deed::Act(action)) => play.act(action),
                _ => return false,
            }
        }
    }
    true
}

/// Fire a slot of the schedule at hand.
pub(crate) fn fire(play: Play) {
    play.act(json!({ "fire": { "schedule": play.schedule.get_untracked() } }));
}
