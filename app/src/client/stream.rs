//! The stream of a live run's events. It is closed while the tab is hidden, so that nobody pays for what
//! nobody sees, and opened again behind the last event that was folded in.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::prelude::*;
use locks::event::Event;
use locks::packed::unpack_text;
use wasm_bindgen::prelude::*;

use crate::part::play::{Play, Stream};

/// How long to wait before a stream that the server refused is asked for again.
const AGAIN_MS: u64 = 2000;

/// An open stream with what listens to it.
struct Open {
    source: web_sys::EventSource,
    _on_events: Closure<dyn FnMut(web_sys::MessageEvent)>,
    _on_open: Closure<dyn FnMut(web_sys::Event)>,
    _on_error: Closure<dyn FnMut(web_sys::Event)>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.source.close();
    }
}

/// The stream of a run, and what it delivered since it was last asked.
#[derive(Clone)]
pub(super) struct Listener {
    play: Play,
    open: Rc<RefCell<Option<Open>>>,
    inbox: Rc<RefCell<Vec<Event>>>,
}

impl Listener {
    pub(super) fn new(play: Play) -> Listener {
        let listener = Listener { play, open: Rc::default(), inbox: Rc::default() };
        listener.open();
        listener
    }

    /// What was delivered since the last time.
    pub(super) fn take(&self) -> Vec<Event> {
        std::mem::take(&mut *self.inbox.borrow_mut())
    }

    /// Closed while the tab is hidden, open otherwise.
    pub(super) fn mind_the_tab(&self) {
        if document().hidden() {
            self.close();
        } else if self.open.borrow().is_none() && self.play.stream.get_untracked() != Stream::None {
            self.open();
        }
    }

    pub(super) fn close(&self) {
        self.open.borrow_mut().take();
    }

    fn open(&self) {
        let (id, after) = (self.play.id.get_value(), self.play.last_seq());
        let Ok(source) = web_sys::EventSource::new(&format!("/api/runs/{id}/events?after={after}&packed=true")) else {
            return;
        };
        let (play, inbox) = (self.play, self.inbox.clone());
        let on_events = Closure::<dyn FnMut(_)>::new(move |message: web_sys::MessageEvent| {
            let text = message.data().as_string().unwrap_or_default();
            match unpack_text::<Vec<Event>>(&text) {
                Ok(events) => inbox.borrow_mut().extend(events),
                Err(error) => leptos::logging::error!("an event cannot be read: {error}"),
            }
        });
        let on_open = Closure::<dyn FnMut(_)>::new(move |_: web_sys::Event| {
            if play.stream.get_untracked() == Stream::Lost {
                play.stream.set(Stream::Open);
            }
        });
        let again = self.clone();
        let on_error = Closure::<dyn FnMut(_)>::new(move |_: web_sys::Event| {
            if play.stream.get_untracked() == Stream::None {
                return;
            }
            play.stream.set(Stream::Lost);
            // The browser tries again by itself, unless the server answered with an error.
            let closed = again.open.borrow().as_ref().is_some_and(|open| open.source.ready_state() == 2);
            if closed {
                let again = again.clone();
                set_timeout(
                    move || {
                        again.close();
                        again.mind_the_tab();
                    },
                    std::time::Duration::from_millis(AGAIN_MS),
                );
            }
        });
        // Listening to a new source cannot fail.
        _ = source.add_event_listener_with_callback("events", on_events.as_ref().unchecked_ref());
        source.set_onopen(Some(on_open.as_ref().unchecked_ref()));
        source.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        *self.open.borrow_mut() = Some(Open { source, _on_events: on_events, _on_open: on_open, _on_error: on_error });
    }
}
