//! The timeline's panel: lanes at the left, the picture beside them, the whole run below. In live mode
//! the picture slides by one transform a frame; marks are drawn only when they change, and only those
//! that can be seen.

use leptos::prelude::*;

use mini::Mini;
use picture::Picture;
use table::Table;

use super::icons::Icon;
use super::play::{Part, play_of};
use super::transport::{Transport, Whereabouts, pressed};

mod mini;
mod picture;
mod table;

/// Width of the picture before it was measured.
const WIDTH: f64 = 1314.0;
/// Room right of the playhead.
const AHEAD: f64 = 134.0;
/// The same on a phone.
const AHEAD_SMALL: f64 = 56.0;

/// What the parts of the timeline share.
#[derive(Clone, Copy)]
struct View {
    width: RwSignal<f64>,
    pan: RwSignal<f64>,
    table: RwSignal<bool>,
}

impl View {
    /// Where the playhead is in the picture.
    fn head(self) -> f64 {
        let width = self.width.get();
        let ahead = if width < 600.0 { AHEAD_SMALL } else { AHEAD };
        width - ahead + self.pan.get()
    }
}

/// The panel.
#[component]
pub(crate) fn TimelinePanel() -> impl IntoView {
    let play = play_of(Part::Timeline);
    let view = View { width: RwSignal::new(WIDTH), pan: play.pan, table: RwSignal::new(false) };
    view! {
        <section class="panel wide tl-p" aria-label="Timeline">
            <header class="tl-h">
                <h2>"Timeline"</h2>
                <Transport />
                <span class="seg seg-s" role="group" aria-label="Zoom">
                    <button aria-label="Zoom out (−)" on:click=move |_| play.zoom_by(1.0 / 1.5)>
                        <Icon name="minus" small=true />
                    </button>
                    <button aria-label="fit: the usual zoom" on:click=move |_| play.zoom_by(0.0)>
                        "fit"
                    </button>
                    <button aria-label="Zoom in (+)" on:click=move |_| play.zoom_by(1.5)>
                        <Icon name="plus" small=true />
                    </button>
                </span>
                <Schedules />
                <span class="grow"></span>
                <button
                    class="btn btn-quiet btn-s hide-s"
                    aria-pressed=move || pressed(view.table.get())
                    on:click=move |_| view.table.update(|table| *table = !*table)
                >
                    "As a table"
                </button>
                <Whereabouts />
            </header>
            <Show when=move || view.table.get() fallback=move || view! { <Picture view /> }>
                <Table />
            </Show>
            <Mini />
        </section>
    }
    .into_any()
}

/// Which schedule the stage looks at.
#[component]
fn Schedules() -> impl IntoView {
    let play = play_of(Part::Timeline);
    let names = Memo::new(move |_| {
        play.with_live(|stage| stage.catalog.iter().map(|schedule| schedule.name.clone()).collect::<Vec<_>>())
    });
    view! {
        <Show when=move || { names.read().len() > 1 }>
            <span class="seg seg-s scheds" role="group" aria-label="Schedule">
                {move || {
                    names
                        .get()
                        .into_iter()
                        .map(|name| {
                            let (is, to) = (name.clone(), name.clone());
                            view! {
                                <button
                                    aria-pressed=move || pressed(!play.all.get() && *play.schedule.read() == is)
                                    on:click=move |_| {
                                        play.all.set(false);
                                        play.schedule.set(to.clone());
                                    }
                                >
                                    {name}
                                </button>
                            }
                        })
                        .collect_view()
                }}
                <button aria-pressed=move || pressed(play.all.get()) on:click=move |_| play.all.set(true)>
                    "all"
                </button>
            </span>
        </Show>
    }
    .into_any()
}
