//! The map under the cards: replicas, links, stores and what travels between them. What it draws are layers
//! of text, each anew only when it changes; clicks and keys come to one listener, which opens a menu.

use leptos::ev::{KeyboardEvent, MouseEvent};
use leptos::prelude::*;
use leptos::{html, svg};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use super::menu::Opened;
use super::play::{Head, Part, Play, play_of};
use crate::client;
use crate::stage::menu::Target;
use crate::stage::view::topology::geometry::Geometry;
use crate::stage::view::topology::{Look, faces, links, packets, targets};

/// A desk's map, until it is measured.
const USUAL: i32 = 1040;

/// What travels is drawn anew so often at most, in microseconds: not in every frame, of which the timeline
/// needs its share.
const STEP_US: u64 = 40_000;

/// The map.
#[component]
pub(crate) fn Map() -> impl IntoView {
    let play = play_of(Part::Map);
    let width = RwSignal::new(0.0);
    let frame = NodeRef::<html::Div>::new();
    let layer = NodeRef::<svg::G>::new();
    Effect::new(move |_| {
        if let Some(frame) = frame.get() {
            client::measure(&frame, width);
        }
    });
    let geometry = Memo::new(move |_| {
        let width = width.get() as i32;
        play.with(|stage| Geometry::new(stage, if width > 0 { width } else { USUAL }))
    });
    let draw = move |what: fn(&Look<'_>) -> String| {
        if width.get() < 1.0 {
            return String::new();
        }
        let (schedule, now_us) = (play.schedule.get(), play.now.get());
        let still = is_still(play);
        let geometry = geometry.read();
        play.with(|stage| what(&Look { stage, geometry: &geometry, schedule: &schedule, now_us, still }))
    };
    let lines = Memo::new(move |_| draw(links::lines));
    let faces = Memo::new(move |_| draw(faces::svg));
    let labels = Memo::new(move |_| draw(links::labels));
    let names = Memo::new(move |_| draw(targets::svg));
    let step = Memo::new(move |_| play.slide.get() / STEP_US);
    let travelling = Memo::new(move |_| {
        let now_us = step.get() * STEP_US;
        if width.get() < 1.0 {
            return String::new();
        }
        let (geometry, schedule) = (geometry.read(), play.schedule.read());
        let still = is_still(play);
        play.with(|stage| packets::svg(&Look { stage, geometry: &geometry, schedule: &schedule, now_us, still }))
    });
    Effect::new(move |_| {
        let names = names.get();
        if let Some(layer) = layer.get() {
            replace(&layer, &names);
        }
    });
    view! {
        <div class="wires" node_ref=frame>
            <svg class=move || map_class(&geometry.read()) width="100%" height=move || geometry.read().height role="group" aria-label="Links and stores">
                <g aria-hidden="true" inner_html=move || lines.get()></g>
                <g aria-hidden="true" inner_html=move || faces.get()></g>
                <g aria-hidden="true" inner_html=move || labels.get()></g>
                <g node_ref=layer></g>
            </svg>
            <svg
                class=move || format!("{} travel", map_class(&geometry.read()))
                width="100%"
                height=move || geometry.read().height
                aria-hidden="true"
                inner_html=move || travelling.get()
            ></svg>
        </div>
    }
    .into_any()
}

fn map_class(geometry: &Geometry) -> &'static str {
    match (geometry.small, geometry.replicas.len()) {
        (true, _) => "map small",
        (_, 0..=3) => "map",
        _ => "map dense",
    }
}

/// Nothing moves: the reader wants it so, or the playhead stands.
fn is_still(play: Play) -> bool {
    matches!(play.head.get(), Head::At(_)) && !play.playing.get() || client::less_motion()
}

/// Put other targets in place of those that are there; what was focused stays focused.
fn replace(layer: &Element, names: &str) {
    let focused = document().active_element().filter(|active| layer.contains(Some(active)));
    let focused = focused.and_then(|active| active.get_attribute("data-to"));
    layer.set_inner_html(names);
    if let Some(to) = focused {
        focus(&format!(".map [data-to='{to}']"));
    }
}

/// Put the focus on an element, if it is there.
pub(crate) fn focus(selector: &str) {
    if let Some(element) = document().query_selector(selector).ok().flatten() {
        // Elements of pictures have the same method.
        _ = element.unchecked_ref::<HtmlElement>().focus();
    }
}

fn target_of(event: &web_sys::Event) -> Option<Element> {
    event.target()?.dyn_into::<Element>().ok()?.closest("[data-to]").ok()?
}

/// Open the menu of what was clicked.
pub(crate) fn on_click(play: Play, event: &MouseEvent) {
    if let Some(element) = target_of(event) {
        // A click by key comes without a place.
        let place = (event.detail() > 0).then(|| (f64::from(event.client_x()), f64::from(event.client_y())));
        open(play, &element, place);
    }
}

fn open(play: Play, element: &Element, place: Option<(f64, f64)>) {
    let Some(to) = element.get_attribute("data-to") else { return };
    let Some(target) = Target::of(&to).filter(|_| play.owner) else { return };
    if let Target::Replica(name) = &target {
        play.selected.set(Some(name.clone()));
    }
    let on_map = element.closest(".map").ok().flatten().is_some();
    let area = element.get_bounding_client_rect();
    let middle = (area.left() + area.width() / 2.0, area.top() + area.height().min(40.0));
    let back = format!("{} [data-to='{to}']", if on_map { ".map" } else { ".cards" });
    play.menu.set(Some(Opened { target, back, place: place.unwrap_or(middle) }));
}

/// Keys on the map: Enter opens, arrows go from one to the next.
pub(crate) fn on_key(play: Play, event: &KeyboardEvent) {
    let Some(element) = target_of(event).filter(|element| element.closest(".map").ok().flatten().is_some()) else {
        return;
    };
    let by = match event.key().as_str() {
        "Enter" | " " => {
            event.prevent_default();
            return open(play, &element, None);
        }
        "ArrowRight" | "ArrowDown" => 1,
        "ArrowLeft" | "ArrowUp" => -1,
        _ => return,
    };
    event.prevent_default();
    let Ok(all) = document().query_selector_all(".map [data-to]") else { return };
    let count = all.length();
    let is_here = |at: &u32| all.item(*at).as_ref() == Some(element.as_ref());
    if let Some(here) = (0..count).find(is_here) {
        let next = (i64::from(here) + by).rem_euclid(i64::from(count)) as u32;
        if let Some(next) = all.item(next) {
            _ = next.unchecked_ref::<HtmlElement>().focus();
        }
    }
}
