//! The picture: lanes at the left, marks beside them, the playhead over all.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::View;
use crate::client;
use crate::part::play::{Head, Part, play_of};
use crate::stage::view::timeline::{self, Lanes, Mark};
use crate::stage::view::words;
use crate::stage::wire::Wire;

#[component]
pub(super) fn Picture(view: View) -> impl IntoView {
    let play = play_of(Part::Timeline);
    let lanes = Memo::new(move |_| {
        let look = play.look();
        play.with(|stage| Lanes::new(stage, &look))
    });
    let scale = Memo::new(move |_| {
        let (look, now) = (play.look(), play.now.get());
        let (zoom, width) = (play.zoom.get(), view.width.get());
        play.with(|stage| timeline::scale(stage, &look, now, zoom, width))
    });
    // What can be seen, and half a view more on each side: it moves in steps, so that sliding alone draws
    // nothing anew.
    let window = Memo::new(move |_| {
        let width = view.width.get();
        let step = (width / 2.0).max(100.0);
        let left = scale.read().x(play.now.get()) - view.head();
        let left = (left / step).floor() * step - step;
        (left, left + width + 3.0 * step)
    });
    let ground =
        Memo::new(move |_| play.with(|stage| timeline::ground(stage, &scale.read(), &lanes.read(), window.get())));
    let marks = Memo::new(move |_| {
        let (look, now) = (play.look(), play.now.get());
        play.with(|stage| timeline::marks(stage, &look, &scale.read(), &lanes.read(), window.get(), now))
    });
    let scheduled = Memo::new(move |_| {
        let (look, now) = (play.look(), play.now.get());
        let picked = match play.head.get() {
            Head::At(seq) => play.with_log(|events| Wire::message(events.get(seq.saturating_sub(1) as usize..)?)),
            Head::End => None,
        };
        play.with(|stage| timeline::scheduled(stage, &look, &scale.read(), &lanes.read(), now, picked.as_ref()))
    });
    let shift = move || {
        let at = scale.read().x(play.slide.get());
        format!("translate({:.1} 0)", view.head() - at)
    };
    let height = move || lanes.read().height;
    let flag = move || {
        let seq = play.with(|stage| stage.seq);
        let at = play.now.get().saturating_sub(play.with(|stage| stage.origin_us));
        match play.head.get() {
            Head::At(_) => format!("#{seq} · {} s", words::seconds(at)),
            Head::End => format!("{} s", words::seconds(at / 100_000 * 100_000).trim_end_matches("00")),
        }
    };
    let scroll = NodeRef::<html::Div>::new();
    Effect::new(move |_| {
        if let Some(scroll) = scroll.get() {
            client::measure(&scroll, view.width);
        }
    });
    let place = move |x: f64| {
        scale.read_untracked().at(x - untrack(|| view.head()) + scale.read_untracked().x(play.slide.get_untracked()))
    };
    let dragging = RwSignal::new(false);
    let point = move |event: &web_sys::PointerEvent| {
        if let Some(scroll) = scroll.get_untracked() {
            let x = f64::from(event.client_x()) - scroll.get_bounding_client_rect().left();
            play.playing.set(false);
            play.seek_us(place(x));
        }
    };
    let wheel = move |event: web_sys::WheelEvent| {
        let by = if event.shift_key() { event.delta_y() } else { event.delta_x() };
        if by != 0.0 {
            event.prevent_default();
            let most = scale.read_untracked().x(play.slide.get_untracked());
            view.pan.update(|pan| *pan = (*pan - by).clamp(0.0, most.max(0.0)));
        }
    };
    view! {
        <div class=move || if play.all.get() { "tl tl-all" } else { "tl" }>
            <LaneNames lanes />
            <div
                class="tl-scroll"
                tabindex="0"
                role="group"
                aria-label="Timeline. Arrow keys move the playhead by an event."
                node_ref=scroll
                on:pointerdown=move |event| {
                    dragging.set(true);
                    if let Some(target) = event.current_target().and_then(|t| t.dyn_into::<web_sys::Element>().ok()) {
                        _ = target.set_pointer_capture(event.pointer_id());
                    }
                    point(&event);
                }
                on:pointermove=move |event| if dragging.get_untracked() { point(&event) }
                on:pointerup=move |_| dragging.set(false)
                on:pointercancel=move |_| dragging.set(false)
                on:wheel=wheel
            >
                <svg
                    width=move || view.width.get()
                    height=height
                    viewBox=move || format!("0 0 {} {}", view.width.get(), height())
                    role="img"
                    aria-label="Timeline, also available as a table"
                >
                    <defs>
                        <clipPath id="past">
                            <rect x="0" y="0" width=move || view.head().max(0.0) height=height></rect>
                        </clipPath>
                    </defs>
                    <rect
                        x=move || view.head()
                        y="18"
                        width=move || (view.width.get() - view.head()).max(0.0)
                        height=move || height() - 18.0
                        class="later"
                    ></rect>
                    {move || {
                        let not_asked = play.with(|stage| {
                            (!stage.asks_a_store()).then(|| format!("not asked: {} asks no store", stage.setup.strategy))
                        });
                        not_asked
                            .map(|text| {
                                let y = lanes.read().store + lanes.read().store_height / 2.0 + 4.0;
                                view! {
                                    <text x="8" y=y class="t t-s">
                                        {text}
                                    </text>
                                }
                            })
                    }}
                    <g clip-path="url(#past)">
                        <g transform=shift>
                            <g inner_html=move || ground.get()></g>
                            <For
                                each=move || marks.get()
                                key=Mark::clone
                                children=|mark| view! { <g inner_html=mark.svg></g> }
                            />
                        </g>
                    </g>
                    <g transform=shift inner_html=move || scheduled.get()></g>
                    <g transform=move || format!("translate({:.1} 0)", view.head())>
                        <path d=move || format!("M0 15V{}", height()) class="head"></path>
                        // A tick that slides under the flag fades before it would be cut.
                        <path d="M-92 0h40v14h-40z" fill="url(#fade)"></path>
                        <path d="M52 0h40v14H52z" fill="url(#fade2)"></path>
                        <rect x="-52" y="0" width="104" height="16" rx="2" class="headf"></rect>
                        <text x="0" y="11.5" class="headt" text-anchor="middle">
                            {flag}
                        </text>
                    </g>
                </svg>
            </div>
        </div>
    }
    .into_any()
}

#[component]
fn LaneNames(lanes: Memo<Lanes>) -> impl IntoView {
    let play = play_of(Part::Timeline);
    let names = Memo::new(move |_| {
        let sink = play.with(|stage| stage.setup.sink.to_string());
        timeline::lane_names(&lanes.read(), &sink)
    });
    view! { <div class="tl-lanes" aria-hidden="true" inner_html=move || names.get()></div> }
}
