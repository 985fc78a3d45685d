//! The machine in words: one line of who is where, and all transitions with those that were taken.

use super::draw::Shown;
use super::graph::END;
use crate::html::{Html, Size};
use crate::stage::view::words;

/// Who is where. A click on somebody shows that one's way.
pub(super) fn line(shown: &Shown<'_>) -> String {
    let mut html = Html::new();
    html.class("div", "tab-bar");
    for (name, who) in &shown.trace.who {
        let pressed = if name == shown.whose { "true" } else { "false" };
        html.class("button", "btn btn-s who-b").attr("data-m", &format!("p:{name}"));
        html.attr("data-rep", name).attr("aria-pressed", pressed);
        html.badge(Some(name), Size::Small);
        let state = match who.key(shown.first()) {
            END => "idle again",
            key => key,
        };
        let mut says = if who.process == "dead" { who.process } else { state }.to_owned();
        if who.process == "stopped" {
            says += ", stopped";
        }
        let own = shown.trace.strategy(name);
        if own.strategy != shown.info.name {
            says += &format!(" under {own}");
        }
        html.class("span", "leaf").attr("data-m", &format!("b:{name}")).text(&says).close().close();
    }
    html.class("span", "muted leaf").attr("data-m", "way");
    match shown.way() {
        Some(way) => html.text(&format!("The way of {} for slot {}.", shown.whose, words::clock(way.slot.fire_ms))),
        None => html.text("No slot has come yet."),
    };
    let name = shown.trace.strategy(shown.whose);
    if let Some(mutant) = name.mutant.and_then(|mutant| shown.info.mutant(&mutant)) {
        html.text(" ").element("b", "", mutant.name).text(": ").text(mutant.text);
    }
    html.finish()
}

/// All transitions, in the table's order.
pub(super) fn transitions(shown: &Shown<'_>) -> String {
    let mut html = Html::new();
    html.class("ol", "mach-t");
    for (from, on, to) in shown.info.transitions {
        html.class("li", shown.edge(from, to)).attr("data-m", &format!("l:{from}>{to}"));
        html.class("span", "n num leaf").attr("data-m", &format!("n:{from}>{to}"));
        if let Some(one) = shown.way().and_then(|way| way.took(from, to)) {
            let seq = one.seq.to_string();
            html.class("button", "link num").attr("data-seq", &seq).attr("title", "Show the stage at this event");
            html.text("#").text(&seq).close();
            if one.times > 1 {
                html.text(&format!(" {}×", one.times));
            }
        }
        html.close().open("span").element("b", "", &format!("{from} → {to}")).text(" ").text(on).close().close();
    }
    html.finish()
}
