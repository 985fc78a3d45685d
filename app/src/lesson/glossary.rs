//! The glossary: every term of the lesson, each with an address of its own.

use super::content::Lesson;
use super::markup::term_id;
use crate::html::Html;

/// What stands between top bar and help.
pub(crate) fn main() -> String {
    let mut html = Html::new();
    html.class("main", "plain gloss").attr("id", "main").element("h1", "", "Glossary");
    html.class("p", "").open("a").attr("href", "/lesson").text("To the lesson").close().close();
    html.open("dl");
    for term in Lesson::get().map_or(&[][..], |lesson| &lesson.terms) {
        html.open("dt").attr("id", &term_id(&term.word)).text(&term.word).close();
        html.open("dd").raw(&term.html).close();
    }
    html.finish()
}
