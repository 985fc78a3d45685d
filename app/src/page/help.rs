//! All keys, and what the marks mean.

use leptos::prelude::*;
use locks::guard::Guard;
use locks::setup::Handler;

use crate::part::icons::Icon;
use crate::stage::view::{caption, words};

const KEYS: [(&str, &str); 20] = [
    ("f", "fire a slot of the schedule at hand, to all replicas"),
    ("1 … 9", "select a replica; in a run that is stepped through, let it take a step"),
    ("z", "in a run that is stepped through: one step back"),
    ("p", "pause it (SIGSTOP)"),
    ("c", "continue it (SIGCONT)"),
    ("k", "kill it (SIGKILL)"),
    ("s", "start it again"),
    ("x", "cancel its attempt"),
    ("r", "remove it"),
    ("← →", "one event back, one on"),
    ("Home", "to the run's beginning"),
    ("End", "to the run's end, and follow it"),
    ("Space", "stop the picture, play on"),
    ("+ −", "zoom the timeline"),
    ("← ↑ → ↓", "on the matrix: from cell to cell"),
    ("c n", "on the matrix: predict “covered”, “not covered”"),
    ("Ctrl ↵", "in homework: grade what is written"),
    ("Esc Tab", "in homework: leave the editor; Tab alone indents"),
    ("t", "light or dark"),
    ("?", "this help; Escape closes it"),
];

/// Swatches, drawn with the same classes as the timeline.
const MARKS: [(&str, &str); 7] = [
    (
        r#"<rect y="1" width="26" height="10" rx="2.5" class="f-a"/><rect y="1" width="26" height="10" rx="2.5" fill="url(#ha)"/>"#,
        "inside, and the store agrees",
    ),
    (
        r#"<rect x=".75" y="1.75" width="24.5" height="8.5" rx="2" class="hollow s-a"/><rect x=".75" y="1.75" width="24.5" height="8.5" rx="2" fill="url(#oa)"/>"#,
        "inside, but the store denies it",
    ),
    (
        r#"<rect y="2" width="26" height="8" class="frost"/><rect y="2" width="26" height="8" fill="url(#fr)"/>"#,
        "the process is stopped",
    ),
    (
        r#"<path d="M1 6H25" class="wait s-b"/><circle cx="8" cy="6" r="3" class="busy s-b"/><circle cx="20" cy="6" r="3" class="busy s-b"/>"#,
        "waits; each ring is one “busy”",
    ),
    (
        r#"<rect x="1" y="1" width="24" height="10" class="lk s-b"/><path d="M1 10.5H25" class="lk-base s-b"/>"#,
        "the store says that it holds",
    ),
    (
        r#"<path d="M8 1l5 5-5 5-5-5z" class="f-b s-b"/><path d="M20 1l5 5-5 5-5-5z" class="hollow s-a"/><path d="M17.500 8.500l5-5" class="open s-a"/>"#,
        "the sink accepted, or rejected",
    ),
    (
        r#"<rect y="1" width="26" height="10" class="viol-f"/><rect y="1" width="26" height="10" fill="url(#vi)"/>"#,
        "two are inside: a violation",
    ),
];

/// Words of the set-up and of the verdict.
fn terms() -> impl Iterator<Item = (String, &'static str)> {
    let handlers = [Handler::Cooperative, Handler::Stubborn, Handler::Blocking];
    let handlers =
        handlers.map(|handler| (format!("handler {}", words::handler(handler)), words::handler_text(handler)));
    let guards = Guard::LADDER.map(|guard| (format!("guard {guard}"), words::guard_text(guard)));
    let figures = [("renew", words::RENEW), ("takeover", caption::TAKEOVER), ("missed", caption::MISSED)];
    let figures = figures.map(|(term, text)| (term.to_owned(), text));
    handlers.into_iter().chain(guards).chain(figures)
}

/// The dialog; `frame.js` opens and closes it.
pub(crate) fn dialog() -> impl IntoView {
    view! {
        <dialog class="help" id="help" aria-labelledby="help-h">
            <header class="panel-h">
                <h2 id="help-h">"Keys and marks"</h2>
                <span class="grow"></span>
                <button class="btn btn-quiet btn-s btn-ic" id="help-x" aria-label="Close">
                    <Icon name="x" />
                </button>
            </header>
            <div class="help-b">
                <dl class="keys">
                    {KEYS
                        .map(|(key, what)| {
                            view! {
                                <dt>
                                    <kbd>{key}</kbd>
                                </dt>
                                <dd>{what}</dd>
                            }
                        })
                        .collect_view()}
                </dl>
                <div class="help-m">
                    <p class="ink2">
                        "Shape says who speaks: a bar is what a replica believes, a block what the store says, a diamond what the sink took. The circle between two of them says whether they agree."
                    </p>
                    <ul class="swatches">
                        {MARKS
                            .map(|(svg, what)| {
                                view! {
                                    <li>
                                        <svg viewBox="0 0 26 12" aria-hidden="true" inner_html=svg></svg>
                                        {what}
                                    </li>
                                }
                            })
                            .collect_view()}
                    </ul>
                    <dl class="terms">{terms().map(|(term, text)| view! { <dt>{term}</dt><dd>{text}</dd> }).collect_view()}</dl>
                </div>
            </div>
        </dialog>
    }
}
