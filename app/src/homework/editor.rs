//! Where an answer is written: a plain text area in a plain form. `homework.js` lays it over the same text in colours.

use super::page::{ExercisePage, language};
use crate::html::Html;
use crate::stage::view::words;

/// The least height, in lines.
const LINES: usize = 12;

/// The panel.
pub(super) fn panel(html: &mut Html, page: &ExercisePage) {
    let (file, most) = (page.file(), page.exercise.language.longest());
    html.class("section", "panel").attr("aria-labelledby", "h-file");
    html.open("form").attr("method", "post").attr("action", &format!("{}#h-result", page.path())).attr("id", "h-form");
    html.class("header", "panel-h").open("h2").attr("id", "h-file").open("label").attr("for", "h-text");
    html.element("code", "", &file).close().close().element("span", "grow", "");
    html.class("a", "btn btn-quiet btn-s").attr("href", &format!("{}?text=starter", page.path()));
    html.attr("id", "h-starter").attr("data-text", page.exercise.starter).text("Starter").close().close();
    html.class("div", "editor").attr("data-code", language(page)).attr("data-most", &most.to_string());
    if let Some(line) = page.mistaken_line() {
        html.attr("data-line", &line.to_string());
    }
    html.class("textarea", "mono").attr("id", "h-text").attr("name", "text");
    let rows = (page.text.lines().count() + 1).max(LINES);
    html.attr("rows", &rows.to_string()).attr("spellcheck", "false").attr("autocomplete", "off");
    html.attr("autocapitalize", "off").attr("wrap", "off").attr("aria-describedby", "h-keys");
    // The first line break of a text area is not its own.
    html.text("\n").text(&page.text).close().close();
    html.class("p", "sr").attr("id", "h-keys");
    html.text("Tab indents. To leave with Tab, press Escape first. Control and Enter grade it.").close();
    html.class("p", "sr").attr("id", "h-said").attr("role", "status").close();
    html.class("footer", "ed-f");
    kept(html, page);
    html.class("span", "num hide-s").attr("id", "h-size").text(&size(&page.text, most)).close();
    let command = format!("aegis grade {} {file}", page.exercise.number);
    html.class("span", "hide-s").element("code", "", &command).close().element("span", "grow", "");
    html.class("button", "btn no-js").attr("name", "do").attr("value", "keep").text("Keep the draft").close();
    html.class("button", "btn btn-main").attr("name", "do").attr("value", "grade").attr("id", "h-grade");
    html.text("Grade").element("kbd", "hide-s", "Ctrl \u{21b5}").close().close().close().close();
}

/// Whether what stands there is kept. Its words are changed by the script, too.
pub(super) fn kept(html: &mut Html, page: &ExercisePage) {
    html.class("span", if page.said.is_some() { "bad" } else { "num" }).attr("id", "h-kept");
    if let Some(said) = &page.said {
        html.text(said);
    } else if let Some(at) = page.kept_ms {
        // To the second.
        html.text(&format!("Draft kept {}", words::clock(at - at.rem_euclid(1000))));
    }
    html.close();
}

fn size(text: &str, most: usize) -> String {
    let grouped = |n: usize| words::grouped(n as u64);
    format!("{} lines, {} of {} bytes", text.lines().count(), grouped(text.len()), grouped(most))
}
