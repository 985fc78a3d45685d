//! Labels on lines: a small plate each, none over another. What comes first has its place; what finds none
//! shrinks to its mark, and then to a dot.

use std::fmt::Write;

use super::geometry::{Area, Curve};
use crate::html::escaped;
use crate::stage::view::hue;

/// Height of a plate.
const TALL: i32 = 20;

/// A label.
#[derive(Clone, Debug, Default)]
pub(super) struct Pill<'a> {
    /// The replica that it is of.
    pub badge: Option<&'a str>,
    /// An icon, by its name.
    pub icon: Option<&'static str>,
    /// In the typeface of code.
    pub code: &'a str,
    /// Bold.
    pub loud: &'a str,
    /// Plain.
    pub text: String,
    /// Further class names of the plate.
    pub class: &'static str,
}

impl Pill<'_> {
    fn head(&self) -> i32 {
        3 + 17 * i32::from(self.badge.is_some()) + 17 * i32::from(self.icon.is_some())
    }

    fn is_bare(&self) -> bool {
        self.code.is_empty() && self.loud.is_empty() && self.text.is_empty()
    }

    fn width(&self) -> i32 {
        let (code, loud, text) = (chars(self.code), chars(self.loud), chars(&self.text));
        let gaps = [code, loud, text].iter().filter(|n| **n > 0).count() as i32 * 5;
        self.head() + (code * 67 + loud * 64 + text * 59) / 10 + gaps + 2
    }

    fn draw(&self, area: Area, whole: bool, out: &mut String) {
        let Area { x, y, w, h } = area;
        _ = write!(
            out,
            r#"<g transform="translate({x} {y})"><rect x=".5" y=".5" width="{}" height="{}" rx="3" class="pill {}"/>"#,
            w - 1,
            h - 1,
            self.class
        );
        let mut at = 3;
        if let Some(icon) = self.icon {
            _ = write!(
                out,
                r##"<svg x="{}" y="4" width="12" height="12" viewBox="0 0 16 16" class="ic-in ic-2"><use href="#i-{icon}"/></svg>"##,
                at + 1
            );
            at += 17;
        }
        if let Some(name) = self.badge {
            badge(name, at, 3, out);
            at += 17;
        }
        if whole {
            at += 2;
            for (text, class, wide) in [(self.code, "pc", 67), (self.loud, "pl", 64), (self.text.as_str(), "pt", 59)] {
                if !text.is_empty() {
                    _ = write!(out, r#"<text x="{at}" y="14" class="{class}">{}</text>"#, escaped(text));
                    at += chars(text) * wide / 10 + 5;
                }
            }
        }
        out.push_str("</g>");
    }
}

fn chars(text: &str) -> i32 {
    text.chars().count() as i32
}

/// A replica's badge, 14 pixels.
pub(super) fn badge(name: &str, x: i32, y: i32, out: &mut String) {
    let hue = hue(name);
    let name = escaped(name);
    _ = write!(
        out,
        r#"<rect x="{x}" y="{y}" width="14" height="14" rx="2" class="f-{hue}"/><rect x="{x}" y="{y}" width="14" height="14" rx="2" fill="url(#h{hue})"/><text x="{}" y="{}" class="pb i-{hue} h-{hue}">{name}</text>"#,
        x + 7,
        y + 11
    );
}

/// What is taken already.
pub(super) struct Plates {
    pub taken: Vec<Area>,
    /// The stretch that plates must keep to.
    pub bounds: Area,
}

impl Plates {
    fn fits(&self, area: Area) -> bool {
        !self.taken.iter().any(|taken| taken.meets(area))
    }

    fn around(&self, (x, y): (i32, i32), w: i32, h: i32) -> Area {
        let bounds = self.bounds;
        let x = (x - w / 2).clamp(bounds.x, (bounds.x + bounds.w - w).max(bounds.x));
        Area { x, y: (y - h / 2).clamp(bounds.y, (bounds.y + bounds.h - h).max(bounds.y)), w, h }
    }

    /// A dot instead of a plate. It never lies on one: what is written there stays readable.
    fn dot(&self, pill: &Pill<'_>, (x, y): (i32, i32), out: &mut String) {
        if self.fits(Area { x: x - 4, y: y - 4, w: 8, h: 8 }) {
            let hue = pill.badge.map_or('n', hue);
            _ = write!(out, r#"<circle cx="{x}" cy="{y}" r="4" class="f-{hue} dot"/>"#);
        }
    }

    /// Put a label on a line, where it finds a place; near the first of those parts of the way if it can.
    pub fn put(&mut self, pill: &Pill<'_>, curve: Curve, parts: &[f64], out: &mut String) {
        if pill.head() == 3 && pill.is_bare() {
            return self.dot(pill, curve.at(parts.first().copied().unwrap_or(0.5)), out);
        }
        let whole = parts.iter().map(|part| (*part, pill.width(), true));
        let mark = parts.iter().map(|part| (*part, pill.head(), false)).filter(|(_, w, _)| *w > 3);
        for (part, w, is_whole) in whole.chain(mark) {
            let area = self.around(curve.at(part), w, TALL);
            if self.fits(area) {
                self.taken.push(area);
                return pill.draw(area, is_whole, out);
            }
        }
        self.dot(pill, curve.at(parts.first().copied().unwrap_or(0.5)), out);
    }
}
