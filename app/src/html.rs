//! Markup as text, escaped unless it says otherwise. What only shows something is written with this, by
//! pure functions that server and browser share: it costs a fraction of a component's code, and a test
//! reads it without a browser.

use crate::stage::view::hue;

/// Markup that is being written. Elements are closed in the order in which they were opened.
///
/// ```
/// # use app::html::Html;
/// let mut html = Html::new();
/// html.open("td").attr("class", "num").text("1 < 2").close();
/// assert_eq!(html.finish(), r#"<td class="num">1 &lt; 2</td>"#);
/// ```
#[derive(Debug, Default)]
pub struct Html {
    out: String,
    open: Vec<&'static str>,
    /// The last tag may still get attributes.
    in_tag: bool,
}

impl Html {
    /// Nothing yet.
    pub fn new() -> Html {
        Html::default()
    }

    fn end_tag(&mut self) {
        if self.in_tag {
            self.in_tag = false;
            self.out.push('>');
        }
    }

    /// Open an element.
    pub fn open(&mut self, tag: &'static str) -> &mut Html {
        self.end_tag();
        self.out.push('<');
        self.out.push_str(tag);
        self.open.push(tag);
        self.in_tag = true;
        self
    }

    /// Open an element of a class; an empty one is left out.
    pub fn class(&mut self, tag: &'static str, class: &str) -> &mut Html {
        self.open(tag);
        if class.is_empty() { self } else { self.attr("class", class) }
    }

    /// An attribute of the element that was just opened.
    pub fn attr(&mut self, name: &'static str, value: &str) -> &mut Html {
        debug_assert!(self.in_tag, "{name} belongs to no tag");
        self.out.push(' ');
        self.out.push_str(name);
        self.out.push_str("=\"");
        self.push(value);
        self.out.push('"');
        self
    }

    /// Text.
    pub fn text(&mut self, text: &str) -> &mut Html {
        self.end_tag();
        self.push(text);
        self
    }

    /// Markup that is known to be safe, such as a picture.
    pub fn raw(&mut self, markup: &str) -> &mut Html {
        self.end_tag();
        self.out.push_str(markup);
        self
    }

    /// Close the element that was opened last.
    pub fn close(&mut self) -> &mut Html {
        self.end_tag();
        if let Some(tag) = self.open.pop() {
            self.out.push_str("</");
            self.out.push_str(tag);
            self.out.push('>');
        }
        self
    }

    /// End the element that was just opened: it is of a kind that has no content, such as `input`.
    pub fn void(&mut self) -> &mut Html {
        self.end_tag();
        self.open.pop();
        self
    }

    /// A whole element: its class, its text.
    pub fn element(&mut self, tag: &'static str, class: &str, text: &str) -> &mut Html {
        self.class(tag, class).text(text).close()
    }

    /// An icon of the set, by its name without `i-`.
    pub fn icon(&mut self, name: &str, small: bool) -> &mut Html {
        self.class("svg", if small { "ic ic-s" } else { "ic" }).attr("aria-hidden", "true");
        self.open("use").attr("href", &format!("#i-{name}")).close().close()
    }

    /// A replica's badge: colour, letter and hatch; of nobody, an empty frame.
    pub fn badge(&mut self, name: Option<&str>, size: Size) -> &mut Html {
        let size = match size {
            Size::Small => " rep-s",
            Size::Normal => "",
            Size::Large => " rep-l",
        };
        match name {
            Some(name) => self.element("span", &format!("rep {}{size}", hue(name)), name),
            None => self.element("span", &format!("rep ghost{size}"), "–"),
        }
    }

    /// What was written, with what is still open closed.
    pub fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.out
    }

    fn push(&mut self, text: &str) {
        escape(text, &mut self.out);
    }
}

/// Text as it may stand in markup, in elements as well as in attributes.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(text, &mut out);
    out
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
}

/// How large a badge is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// In lines of text and tables.
    Small,
    /// On its own.
    Normal,
    /// On a card.
    Large,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped_and_raw_is_not() {
        let mut html = Html::new();
        html.open("b").attr("title", "\"><script>").text("<i>&").close().raw("<br>");
        assert_eq!(html.finish(), "<b title=\"&quot;&gt;&lt;script&gt;\">&lt;i&gt;&amp;</b><br>");
    }

    #[test]
    fn what_is_left_open_is_closed() {
        let mut html = Html::new();
        html.class("ul", "").class("li", "x").badge(Some("A"), Size::Small);
        assert_eq!(html.finish(), "<ul><li class=\"x\"><span class=\"rep a rep-s\">A</span></li></ul>");
    }
}
