//! Markdown to HTML. A term is `[[word]]` or `[[word|as it stands here]]`; a claim about a cell of the failure
//! matrix is `[covered](matrix:strategy/fault)`, with `+guard` behind it where one stands. Raw markup is refused.

use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};

use super::content::Claim;
use crate::html::escaped;

/// What the text may refer to.
pub(crate) struct Markup<'a> {
    /// Words of the glossary.
    pub(crate) terms: &'a [String],
}

/// The identity of a term on the page of the glossary.
pub(super) fn term_id(word: &str) -> String {
    word.replace(' ', "-")
}

/// A paragraph's content, if it is one paragraph.
pub(crate) fn inline(html: &str) -> String {
    let html = html.trim();
    let inner = html.strip_prefix("<p>").and_then(|rest| rest.strip_suffix("</p>"));
    inner.filter(|inner| !inner.contains("<p>")).unwrap_or(html).to_owned()
}

impl Markup<'_> {
    pub(crate) fn html(&self, text: &str, problems: &mut Vec<String>, claims: &mut Vec<Claim>) -> String {
        let options = Options::ENABLE_WIKILINKS | Options::ENABLE_TABLES | Options::ENABLE_SMART_PUNCTUATION;
        let mut events: Vec<Event> = Parser::new_ext(text, options).collect();
        for at in 0..events.len() {
            // The word of a claim stands behind its beginning.
            let words = match events.get(at + 1) {
                Some(Event::Text(words)) => words.to_string(),
                _ => String::new(),
            };
            match &mut events[at] {
                Event::Start(Tag::Link { link_type: LinkType::WikiLink { .. }, dest_url, .. }) => {
                    if !self.terms.iter().any(|term| term == &**dest_url) {
                        problems.push(format!("the glossary has no {dest_url:?}"));
                    }
                    // Its end is that of any other link.
                    let open = format!("<a class=\"term\" href=\"/lesson/glossary#{}\">", escaped(&term_id(dest_url)));
                    events[at] = Event::InlineHtml(open.into());
                }
                Event::Start(Tag::Link { dest_url, .. }) if dest_url.starts_with("matrix:") => {
                    match claim(&dest_url["matrix:".len()..], &words) {
                        Some(claim) => {
                            *dest_url = CowStr::from(claim.href());
                            claims.push(claim);
                        }
                        None => problems.push(format!("{dest_url}: {words:?} is no claim about a cell")),
                    }
                }
                Event::Html(raw) | Event::InlineHtml(raw) => problems.push(format!("raw markup: {raw}")),
                Event::Start(Tag::Heading { level, .. }) if *level as u8 == 1 => {
                    problems.push("a second heading of the page".to_owned());
                }
                _ => {}
            }
        }
        let mut out = String::new();
        html::push_html(&mut out, marked(events).into_iter());
        out
    }
}

/// Code and tables may be wider than the column: they scroll, by keyboard too.
fn marked(events: Vec<Event>) -> Vec<Event> {
    let mut out = Vec::with_capacity(events.len());
    for event in events {
        match event {
            Event::Start(Tag::CodeBlock(_)) => {
                out.push(Event::Html("<pre class=\"code\" tabindex=\"0\" role=\"group\" aria-label=\"Code\">".into()));
            }
            Event::End(TagEnd::CodeBlock) => out.push(Event::Html("</pre>\n".into())),
            Event::Start(Tag::Table(of)) => {
                let open = "<div class=\"scroll-x\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">";
                out.push(Event::Html(open.into()));
                out.push(Event::Start(Tag::Table(of)));
            }
            Event::End(TagEnd::Table) => {
                out.push(Event::End(TagEnd::Table));
                out.push(Event::Html("</div>\n".into()));
            }
            event => out.push(event),
        }
    }
    out
}

fn claim(cell: &str, words: &str) -> Option<Claim> {
    let covered = match words {
        "covered" => true,
        "not covered" => false,
        _ => return None,
    };
    let (cell, guard) = match cell.split_once('+') {
        Some((cell, guard)) => (cell, Some(guard.to_owned())),
        None => (cell, None),
    };
    let (strategy, fault) = cell.split_once('/')?;
    Some(Claim { strategy: strategy.to_owned(), fault: fault.to_owned(), guard, covered })
}

impl Claim {
    /// The cell's address.
    fn href(&self) -> String {
        let Claim { strategy, fault, .. } = self;
        let guard = self.guard.as_ref().map_or(String::new(), |guard| format!("guard={guard}&"));
        format!("/matrix?{guard}cell={strategy}/{fault}")
    }
}
