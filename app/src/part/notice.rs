//! What needs the reader's attention: a refused action, trouble in the run, a lost stream, a run's end.
//! Each says what happened, whose fault it is, and what to do. They lie over the page, so that nothing moves.

use leptos::prelude::*;
use locks::event::EndReason;

use super::icons::Icon;
use super::play::{Notice, Stream, play};
use crate::stage::view::words;

/// The notices, over the lower end of the page.
#[component]
pub(crate) fn Notices() -> impl IntoView {
    let play = play();
    let hidden = RwSignal::new(0_u64);
    let trouble = Memo::new(move |_| play.with_live(|stage| stage.trouble.clone()));
    let ended = Memo::new(move |_| play.with_live(|stage| stage.ended));
    view! {
        <div class="notices">
            {move || {
                play.notice
                    .get()
                    .map(|Notice { title, detail }| message("oct", title, detail, Some(Box::new(move || play.notice.set(None)))))
            }}
            {move || {
                play.did
                    .get()
                    .map(|did| message("clock", did, "End shows it.".to_owned(), Some(Box::new(move || play.did.set(None)))))
            }}
            {move || {
                trouble
                    .get()
                    .filter(|(seq, _)| *seq > hidden.get())
                    .map(|(seq, problem)| {
                        let title = words::whose(problem.whose).to_owned();
                        message("oct", title, problem.text, Some(Box::new(move || hidden.set(seq))))
                    })
            }}
            {move || {
                (play.stream.get() == Stream::Lost)
                    .then(|| {
                        let title = "The stream to the lab was lost".to_owned();
                        message("oct", title, "Trying again. If the lab still runs, what happens meanwhile is fetched then; nothing is missed.".to_owned(), None)
                    })
            }}
            {move || {
                ended
                    .get()
                    .filter(|why| matches!(why, EndReason::Segment | EndReason::Closed | EndReason::Interrupted))
                    .filter(|_| play.owner)
                    .map(|why| {
                        let title = match why {
                            EndReason::Segment => "This run is full and goes on in a new one",
                            _ => "This run was closed",
                        };
                        view! {
                            <div class="msg-b">
                                <Icon name="clock" />
                                <p class="b">{title}</p>
                                <p>"What happened here stays stored under Runs."</p>
                                <a class="btn" href="/lab" rel="external">
                                    "Go on"
                                </a>
                            </div>
                        }
                    })
            }}
        </div>
    }
    .into_any()
}

fn message(icon: &'static str, title: String, detail: String, close: Option<Box<dyn Fn() + Send + Sync>>) -> AnyView {
    view! {
        <div class="msg-b" role="alert">
            <Icon name=icon />
            <p class="b">{title}</p>
            <p>{detail}</p>
            {close
                .map(|close| {
                    view! {
                        <button class="btn btn-s" on:click=move |_| close()>
                            "Close"
                        </button>
                    }
                })}
        </div>
    }
    .into_any()
}
