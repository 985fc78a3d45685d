//! The browser's side: the stream of events, commands, the log, and the one loop that moves the picture.
//! Nothing here is called while a page is rendered on the server.

use leptos::prelude::*;
use locks::event::Event;
use locks::packed::unpack_text;
use serde_json::Value;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::part::play::{Notice, Play};

mod drive;
mod stream;

pub(crate) use drive::drive;

/// Events in a page of the log.
const PAGE: u64 = 5000;

/// The page's clock, in milliseconds.
pub(crate) fn performance_ms() -> f64 {
    window().performance().map_or(0.0, |performance| performance.now())
}

/// Does the reader want less motion?
pub(crate) fn less_motion() -> bool {
    let query = window().match_media("(prefers-reduced-motion: reduce)");
    query.ok().flatten().is_some_and(|query| query.matches())
}

/// The event that the page's address names: `?at=88`.
pub(crate) fn asked_event() -> Option<u64> {
    let search = window().location().search().ok()?;
    web_sys::UrlSearchParams::new_with_str(&search).ok()?.get("at")?.parse().ok()
}

/// What the clicked element, or one around it, says under this attribute.
pub(crate) fn clicked(event: &web_sys::MouseEvent, attribute: &str) -> Option<String> {
    let target = event.target()?.dyn_into::<web_sys::Element>().ok()?;
    target.closest(&format!("[{attribute}]")).ok()??.get_attribute(attribute)
}

/// Keep a signal at an element's width.
pub(crate) fn measure(element: &web_sys::HtmlElement, width: RwSignal<f64>) {
    let of = element.clone();
    let read = move || {
        let now = f64::from(of.client_width());
        if now > 0.0 && now != width.get_untracked() {
            width.set(now);
        }
    };
    read();
    let handle = window_event_listener(leptos::ev::resize, move |_| read());
    on_cleanup(move || handle.remove());
}

/// Put text on the clipboard.
pub(crate) fn copy(text: &str) {
    // Refused only where the page is not allowed to; the text can be selected by hand then.
    _ = window().navigator().clipboard().write_text(text);
}

struct Answer {
    status: u16,
    text: String,
}

/// One request. An error is the network's: the server was not reached.
async fn ask(method: &str, path: &str, body: Option<&str>) -> Result<Answer, Notice> {
    let lost = |_: JsValue| Notice {
        title: "The lab did not answer".to_owned(),
        detail: "Is it still running? Start it again, then reload this page.".to_owned(),
    };
    let init = web_sys::RequestInit::new();
    init.set_method(method);
    if let Some(body) = body {
        init.set_body(&JsValue::from_str(body));
    }
    let request = web_sys::Request::new_with_str_and_init(path, &init).map_err(lost)?;
    if body.is_some() {
        request.headers().set("content-type", "application/json").map_err(lost)?;
    }
    let response = JsFuture::from(window().fetch_with_request(&request)).await.map_err(lost)?;
    let response: web_sys::Response = response.dyn_into().map_err(lost)?;
    let text = JsFuture::from(response.text().map_err(lost)?).await.map_err(lost)?;
    Ok(Answer { status: response.status(), text: text.as_string().unwrap_or_default() })
}

/// A refusal in words: problem details if the server gave them.
fn refusal(answer: &Answer) -> Notice {
    let problem = js_sys::JSON::parse(&answer.text).ok();
    let field = |name: &str| js_sys::Reflect::get(problem.as_ref()?, &JsValue::from_str(name)).ok()?.as_string();
    Notice {
        title: field("title").unwrap_or_else(|| format!("The lab answered with status {}", answer.status)),
        detail: field("detail").unwrap_or_default(),
    }
}

/// Ask the run for something; what is refused becomes a notice.
pub(crate) fn act(play: Play, action: Value) {
    let path = format!("/api/runs/{}/actions", play.id.get_value());
    leptos::task::spawn_local(async move {
        let notice = match ask("POST", &path, Some(&action.to_string())).await {
            Ok(answer) if answer.status < 300 => {
                play.done(&action);
                None
            }
            Ok(answer) => Some(refusal(&answer)),
            Err(notice) => Some(notice),
        };
        if notice.is_some() {
            play.refused.update(|n| *n += 1);
        }
        play.notice.set(notice);
    });
}

/// Fetch text. Boxed, so that there is one such function in the program.
pub(crate) fn fetch_text(path: String, then: Box<dyn FnOnce(Result<String, Notice>)>) {
    leptos::task::spawn_local(async move {
        then(match ask("GET", &path, None).await {
            Ok(answer) if answer.status < 300 => Ok(answer.text),
            Ok(answer) => Err(refusal(&answer)),
            Err(notice) => Err(notice),
        });
    });
}

/// Fetch the log page by page until it meets what the stream delivered, then go on.
pub(crate) fn fetch_log(play: Play, then: impl FnOnce() + 'static) {
    leptos::task::spawn_local(async move {
        let id = play.id.get_value();
        let mut after = 0;
        loop {
            let path = format!("/api/runs/{id}/log?after={after}&limit={PAGE}&packed=true");
            let page = match ask("GET", &path, None).await {
                Ok(answer) if answer.status < 300 => unpack_text::<Vec<Event>>(&answer.text).map_err(|_| Notice {
                    title: "The log cannot be read".to_owned(),
                    detail: "Page and server may be of different versions. Reload the page.".to_owned(),
                }),
                Ok(answer) => Err(refusal(&answer)),
                Err(notice) => Err(notice),
            };
            match page {
                Ok(events) => {
                    let empty = events.is_empty();
                    let have = play.take_page(events);
                    if empty || have >= play.last_seq() || have <= after {
                        break;
                    }
                    after = have;
                }
                Err(notice) => return play.log_failed(notice),
            }
        }
        play.close_log();
        if play.complete.get_untracked() {
            then();
        }
    });
}
