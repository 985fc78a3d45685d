//! A list of moves that somebody made in a run that is stepped through, to be read and played.

use crate::data::MovesPage;
use crate::html::Html;

/// `/lab/moves`
pub(crate) fn main(page: &MovesPage) -> String {
    let MovesPage { setup, moves, lines } = page;
    let mut html = Html::new();
    html.class("main", "plain moves").attr("id", "main").element("h1", "", "A list of moves");
    html.element(
        "p",
        "ink2",
        "Somebody made these in a lab that is stepped through. Played, they are made on real stores once more, in this \
         order; then it is your turn.",
    );
    html.open("form").attr("method", "post").attr("action", "/lab/moves").class("p", "row");
    for (name, value) in [("setup", setup), ("do", moves)] {
        html.open("input").attr("type", "hidden").attr("name", name).attr("value", value).void();
    }
    html.class("button", "btn btn-main").text("Play them in the lab").close();
    html.element("span", "muted", "Begins a new run; the one that goes on in your lab is stored under Runs.");
    html.close().close();
    html.element("h2", "", "Set-up");
    let set = if setup.trim().is_empty() { "# the usual one" } else { setup.trim() };
    html.class("pre", "code")
        .attr("tabindex", "0")
        .attr("role", "group")
        .attr("aria-label", "Set-up")
        .text(set)
        .close();
    html.element("h2", "", "Moves").class("ol", "prose");
    for line in lines {
        let is_step = line.chars().all(char::is_alphanumeric);
        html.open("li").element("code", "", &if is_step { format!("step {line}") } else { line.clone() }).close();
    }
    html.finish()
}
