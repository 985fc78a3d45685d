//! The placed machine as SVG. Below lies the whole machine in grey, above it every transition once more, not
//! seen unless an attempt has taken it or somebody points at it, so that the way taken is never covered.

use std::fmt::Write;

use locks::strategy::Info;

use super::graph::Graph;
use super::layout::{Layout, Orientation};
use super::trace::{Trace, Way};
use crate::html::escaped;
use crate::stage::view::hue;

/// Width of a letter in a box, roughly, and what stands around a name.
const LETTER: f64 = 6.2;
const AROUND: f64 = 14.0;
/// Height of a box: its name, and under it whoever is there.
const HIGH: f64 = 36.0;
/// The least width of a box.
const LEAST: f64 = 46.0;
/// Radius of a corner.
const BEND: f64 = 5.0;

/// Where badges begin to lie upon one another, in pixels from the middle to either side.
const ROOM: f64 = 22.0;

/// What is shown in the machine.
pub(super) struct Shown<'a> {
    /// The strategy.
    pub info: &'a Info,
    /// Who is where.
    pub trace: &'a Trace,
    /// Whose way is lit.
    pub whose: &'a str,
}

impl Shown<'_> {
    /// The way that is lit.
    pub fn way(&self) -> Option<&Way> {
        self.trace.who.get(self.whose)?.way.as_ref()
    }

    /// The state in which all begin.
    pub fn first(&self) -> &'static str {
        self.info.transitions.first().map_or("", |row| row.0)
    }

    /// The key of the state that is lit.
    fn here(&self) -> &str {
        self.trace.who.get(self.whose).map_or("", |who| who.key(self.first()))
    }

    /// How a transition looks: taken, possible next, or neither.
    pub fn edge(&self, from: &str, to: &str) -> &'static str {
        match self.way().and_then(|way| way.took(from, to)) {
            Some(_) => "sm-e took",
            None if from == self.here() => "sm-e next",
            None => "sm-e",
        }
    }

    fn state(&self, key: &str) -> String {
        let passed = |way: &Way| way.moves.iter().any(|one| one.from == key || (one.to == key && key != self.first()));
        match (key == self.here(), self.way().is_some_and(passed)) {
            (true, _) => format!("sm-s lit s-{}", hue(self.whose)),
            (_, true) => "sm-s took".to_owned(),
            _ => "sm-s".to_owned(),
        }
    }

    /// The badges of all who are in a state, around its middle.
    fn badges(&self, key: &str) -> String {
        let here = |name: &&String| self.trace.strategy(name).strategy == self.info.name;
        let lives = |name: &&String| self.trace.who[*name].process != "dead";
        let at = |name: &&String| self.trace.who.get(*name).is_some_and(|who| who.key(self.first()) == key);
        let names: Vec<&String> = self.trace.who.keys().filter(here).filter(lives).filter(at).collect();
        let step = (2.0 * ROOM / names.len().max(1) as f64).min(14.0);
        let mut svg = String::new();
        for (nth, name) in names.iter().enumerate() {
            let x = (nth as f64 - (names.len() as f64 - 1.0) / 2.0) * step;
            let (hue, left) = (hue(name), x - 6.0);
            _ = write!(
                svg,
                r#"<rect x="{left:.1}" width="12" height="12" rx="2" class="f-{hue}"/><rect x="{left:.1}" width="12" height="12" rx="2" fill="url(#h{hue})"/><text x="{x:.1}" y="9.5" class="i-{hue} h-{hue}" text-anchor="middle">{}</text>"#,
                escaped(name)
            );
        }
        svg
    }
}

/// The picture.
pub(super) fn svg(graph: &Graph, way: Orientation, shown: &Shown<'_>) -> String {
    let wide = |state: usize| (graph.states[state].chars().count() as f64 * LETTER + AROUND).max(LEAST);
    let widest = (0..graph.states.len()).map(wide).fold(LEAST, f64::max);
    let layout = match way {
        Orientation::Across => Layout::new(graph, wide, HIGH),
        Orientation::Down => Layout::new(graph, |_| HIGH, widest),
    };
    let turn = |(along, across): (f64, f64)| if way == Orientation::Across { (along, across) } else { (across, along) };
    let (width, height) = turn(layout.size);
    let mut svg = format!(
        r#"<svg class="mach-svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}" role="img" aria-label="State machine of {}; its transitions are listed below">"#,
        shown.info.name
    );
    let ways: Vec<Vec<(f64, f64)>> =
        layout.ways.iter().map(|corners| corners.iter().map(|corner| turn(*corner)).collect()).collect();
    let all: String = ways.iter().map(|corners| path(corners)).collect();
    let heads: String = ways.iter().map(|corners| head(corners)).collect();
    _ = write!(svg, r#"<path d="{all}" class="sm-l"/><path d="{heads}" class="sm-h"/>"#);
    for (edge, corners) in graph.edges.iter().zip(&ways) {
        let (from, to) = (graph.states[edge.from], graph.states[edge.to]);
        _ = write!(
            svg,
            r##"<g class="{3}" data-m="e:{from}&gt;{to}"><path d="{0}" class="sm-p"/><path d="{0}" class="sm-l took"/><path d="{1}" class="sm-h"/><title>{from} → {to}: {2}</title></g>"##,
            path(corners),
            head(corners),
            escaped(edge.on),
            shown.edge(from, to)
        );
    }
    for (state, one) in layout.boxes.iter().enumerate() {
        let (x, y) = turn((one.along, one.across));
        let (w, h) = turn((one.length, one.breadth));
        let (name, key) = (graph.states[state], graph.key(state));
        _ = write!(
            svg,
            r#"<g class="{}" data-m="s:{key}" transform="translate({x:.1} {y:.1})"><rect width="{w:.1}" height="{h:.1}" rx="5"/><text x="{:.1}" y="13" text-anchor="middle">{name}</text><g class="mb leaf" data-m="w:{key}" transform="translate({:.1} 18)">{}</g></g>"#,
            shown.state(key),
            w / 2.0,
            w / 2.0,
            shown.badges(key)
        );
    }
    svg + "</svg>"
}

/// A way with its corners rounded.
fn path(corners: &[(f64, f64)]) -> String {
    let mut d = String::new();
    for (i, (x, y)) in corners.iter().enumerate() {
        match (i.checked_sub(1).and_then(|before| corners.get(before)), corners.get(i + 1)) {
            (None, _) => _ = write!(d, "M{x:.1} {y:.1}"),
            (_, None) => _ = write!(d, "L{x:.1} {y:.1}"),
            (Some(before), Some(after)) => {
                let here = (*x, *y);
                let (a, b) = (toward(here, *before), toward(here, *after));
                _ = write!(d, "L{:.1} {:.1}Q{x:.1} {y:.1} {:.1} {:.1}", a.0, a.1, b.0, b.1);
            }
        }
    }
    d
}

/// The point a bend's length from here, or half the way if that is less.
fn toward(here: (f64, f64), there: (f64, f64)) -> (f64, f64) {
    let (dx, dy) = (there.0 - here.0, there.1 - here.1);
    let length = dx.abs().max(dy.abs());
    let part = if length > 0.0 { BEND.min(length / 2.0) / length } else { 0.0 };
    (here.0 + dx * part, here.1 + dy * part)
}

/// The arrow's head at the end of a way.
fn head(corners: &[(f64, f64)]) -> String {
    let [.., before, (x, y)] = corners else { return String::new() };
    let (dx, dy) = ((x - before.0).signum() * f64::from((x - before.0).abs() > 0.05), (y - before.1).signum());
    let dy = if dx == 0.0 { dy } else { 0.0 };
    let (bx, by) = (x - dx * 5.5, y - dy * 5.5);
    format!("M{x:.1} {y:.1}L{:.1} {:.1}L{:.1} {:.1}z", bx - dy * 3.0, by - dx * 3.0, bx + dy * 3.0, by + dx * 3.0)
}
