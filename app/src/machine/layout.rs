//! Places and ways. Everything is computed in a plane of two directions, *along* the spine and *across* it,
//! and turned only when it is drawn, so that the machine runs from left to right on a desk and from top to
//! bottom on a phone by the same rules:
//!
//! - The next state of the spine is reached straight on.
//! - All other ways between states of the spine run on lanes outside of it, one lane for all that lead to the
//!   same state; shorter lanes lie nearer.
//! - Ways from and to states beside the spine run on lanes between the two rows.
//! - A way leaves and enters a box at a port of its own, so that no two lie upon one another.

use super::graph::{Graph, Spot};

/// Between two lanes.
const LANE: f64 = 9.0;
/// Between a box and the nearest lane.
const NEAR: f64 = 12.0;
/// Between two columns.
const GAP: f64 = 20.0;
/// Ways that share a lane keep at least this far apart.
const APART: f64 = 10.0;
/// Room at the edges of the picture.
const MARGIN: f64 = 3.0;
/// Half the distance of two ways between two boxes that face one another.
const PAIR: f64 = 4.0;

/// Where the spine leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Orientation {
    /// From left to right.
    Across,
    /// From top to bottom.
    Down,
}

/// A state's box: where it begins and how large it is, along and across.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Box_ {
    pub along: f64,
    pub across: f64,
    pub length: f64,
    pub breadth: f64,
}

impl Box_ {
    fn middle(self) -> f64 {
        self.along + self.length / 2.0
    }
}

/// The machine, placed.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub boxes: Vec<Box_>,
    /// For each transition the corners of its way, along and across.
    pub ways: Vec<Vec<(f64, f64)>>,
    /// Size of the picture, along and across.
    pub size: (f64, f64),
}

/// On which side of its boxes a way runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Band {
    /// Straight on along the spine.
    Straight,
    /// Between a state of the spine and the one beside it in the same column.
    Facing,
    /// Outside of the spine.
    Outer,
    /// Between the two rows.
    Inner,
}

fn band(from: Spot, to: Spot) -> Band {
    match (from.spine && to.spine, from.column, to.column) {
        (true, from, to) if to == from + 1 => Band::Straight,
        (true, ..) => Band::Outer,
        (false, a, b) if a == b => Band::Facing,
        _ => Band::Inner,
    }
}

/// One lane: the ways on it lead to the same state.
struct Lane {
    band: Band,
    to: usize,
    from: f64,
    until: f64,
    level: usize,
}

/// A way's end at a box, on one of its two sides.
struct Port {
    state: usize,
    /// At the side of the outer lanes.
    outer: bool,
    /// Which lane it leads to, and whether the way ends here.
    lane: usize,
    enters: bool,
    /// Where the lane leads from here, along: ports are sorted by it.
    towards: f64,
}

impl Layout {
    /// Place a graph. `length` and `breadth` of the boxes are those of the names as they will be drawn.
    pub fn new(graph: &Graph, length: impl Fn(usize) -> f64, breadth: f64) -> Layout {
        let boxes = boxes(graph, length, breadth);
        let bands: Vec<Band> = graph.edges.iter().map(|e| band(graph.spots[e.from], graph.spots[e.to])).collect();
        let lanes = lanes(graph, &boxes, &bands);
        let depth = |band: Band| {
            let levels = lanes.iter().filter(|lane| lane.band == band).map(|lane| lane.level + 1).max().unwrap_or(0);
            if levels == 0 { 0.0 } else { NEAR + (levels - 1) as f64 * LANE }
        };
        let spine = MARGIN + depth(Band::Outer);
        let is_two = graph.spots.iter().any(|spot| !spot.spine);
        let beside = spine + breadth + depth(Band::Inner) + NEAR;
        let place = |(state, one): (usize, &Box_)| Box_ {
            across: if graph.spots[state].spine { spine } else { beside },
            ..*one
        };
        let boxes: Vec<Box_> = boxes.iter().enumerate().map(place).collect();
        let ports = ports(graph, &boxes, &bands, &lanes);
        let lane_at = |lane: &Lane| match lane.band {
            Band::Outer => spine - NEAR - lane.level as f64 * LANE,
            _ => spine + breadth + NEAR + lane.level as f64 * LANE,
        };
        let port = |state: usize, lane: usize, enters: bool| {
            let own = |port: &&(Port, f64)| (port.0.state, port.0.lane, port.0.enters) == (state, lane, enters);
            ports.iter().find(own).map_or(boxes[state].middle(), |(_, along)| *along)
        };
        // Where a way touches a box on the side of its lane.
        let side = |state: usize, band: Band| {
            let one = boxes[state];
            let far = graph.spots[state].spine && band != Band::Outer;
            if far { one.across + one.breadth } else { one.across }
        };
        let ways = graph.edges.iter().zip(&bands).map(|(edge, band)| {
            let (from, to) = (boxes[edge.from], boxes[edge.to]);
            match band {
                Band::Straight => {
                    let across = from.across + breadth / 2.0;
                    vec![(from.along + from.length, across), (to.along, across)]
                }
                Band::Facing => {
                    let along = from.middle() + if graph.spots[edge.from].spine { -PAIR } else { PAIR };
                    vec![(along, side(edge.from, Band::Inner)), (along, side(edge.to, Band::Inner))]
                }
                _ => {
                    let is_its = |lane: &Lane| lane.band == *band && lane.to == edge.to;
                    let at = lanes.iter().position(is_its).unwrap_or(0);
                    let level = lanes.get(at).map_or(0.0, lane_at);
                    let (a, b) = (port(edge.from, at, false), port(edge.to, at, true));
                    vec![(a, side(edge.from, *band)), (a, level), (b, level), (b, side(edge.to, *band))]
                }
            }
        });
        let ways = ways.collect();
        let end = boxes.iter().map(|one| one.along + one.length).fold(0.0, f64::max);
        let far = if is_two { beside + breadth } else { spine + breadth };
        Layout { boxes, ways, size: (end + MARGIN, far + MARGIN) }
    }
}

fn boxes(graph: &Graph, length: impl Fn(usize) -> f64, breadth: f64) -> Vec<Box_> {
    let mut widest = vec![0.0_f64; graph.columns()];
    for (state, spot) in graph.spots.iter().enumerate() {
        widest[spot.column] = widest[spot.column].max(length(state));
    }
    let mut starts = Vec::with_capacity(widest.len());
    let mut along = MARGIN;
    for width in &widest {
        starts.push(along);
        along += width + GAP;
    }
    let place = |(state, spot): (usize, &Spot)| {
        let length = length(state);
        Box_ { along: starts[spot.column] + (widest[spot.column] - length) / 2.0, across: 0.0, length, breadth }
    };
    graph.spots.iter().enumerate().map(place).collect()
}

/// Lanes, the shortest first at the nearest level where there is room for it.
fn lanes(graph: &Graph, boxes: &[Box_], bands: &[Band]) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    for (edge, band) in graph.edges.iter().zip(bands) {
        if !matches!(band, Band::Outer | Band::Inner) {
            continue;
        }
        let (a, b) = (boxes[edge.from].middle(), boxes[edge.to].middle());
        match lanes.iter_mut().find(|lane| lane.band == *band && lane.to == edge.to) {
            Some(lane) => (lane.from, lane.until) = (lane.from.min(a).min(b), lane.until.max(a).max(b)),
            None => lanes.push(Lane { band: *band, to: edge.to, from: a.min(b), until: a.max(b), level: 0 }),
        }
    }
    lanes.sort_by(|a, b| (a.until - a.from).total_cmp(&(b.until - b.from)));
    for at in 0..lanes.len() {
        let (before, rest) = lanes.split_at_mut(at);
        let lane = &mut rest[0];
        // Ports lie around the middle of their boxes.
        let meets = |other: &&Lane| {
            let reach = APART + boxes[other.to].length / 2.0;
            other.band == lane.band && other.from - reach < lane.until && lane.from < other.until + reach
        };
        let taken: Vec<usize> = before.iter().filter(meets).map(|other| other.level).collect();
        lane.level = (0..=taken.len()).find(|level| !taken.contains(level)).unwrap_or(taken.len());
    }
    lanes
}

/// Ports with where they are along. At one side of a box those that lead back come first, then those that lead
/// on; of each, whoever takes the farther lane turns behind whoever takes the nearer one, so that they do not cross.
fn ports(graph: &Graph, boxes: &[Box_], bands: &[Band], lanes: &[Lane]) -> Vec<(Port, f64)> {
    let mut ports: Vec<Port> = Vec::new();
    for (edge, band) in graph.edges.iter().zip(bands) {
        let Some(lane) = lanes.iter().position(|lane| lane.band == *band && lane.to == edge.to) else { continue };
        let mut add = |state: usize, other: usize, enters: bool| {
            if ports.iter().any(|port| (port.state, port.lane, port.enters) == (state, lane, enters)) {
                return;
            }
            let level = lanes[lane].level as f64 + 1.0;
            // Whoever goes far turns early: nearer to the middle of the box than the others on its half.
            let leads_on = boxes[other].middle() > boxes[state].middle();
            let towards = if leads_on { 1.0 / level } else { -1.0 / level };
            let outer = *band == Band::Outer;
            ports.push(Port { state, outer, lane, enters, towards });
        };
        add(edge.from, edge.to, false);
        add(edge.to, edge.from, true);
    }
    let is_facing = |state: usize| {
        let of = |(edge, band): (&super::graph::Edge, &Band)| {
            *band == Band::Facing && (edge.from == state || edge.to == state)
        };
        graph.edges.iter().zip(bands).any(of)
    };
    let mut placed = Vec::with_capacity(ports.len());
    for (state, one) in boxes.iter().enumerate() {
        for outer in [true, false] {
            let here = |port: &Port| port.state == state && port.outer == outer;
            let (mut own, rest): (Vec<Port>, Vec<Port>) = ports.into_iter().partition(here);
            ports = rest;
            own.sort_by(|a, b| a.towards.total_cmp(&b.towards));
            let back = own.iter().filter(|port| port.towards < 0.0).count();
            let free = if !outer && is_facing(state) { PAIR + 3.0 } else { 0.0 };
            let half = one.length / 2.0 - 3.0;
            let count = own.len();
            for (nth, port) in own.into_iter().enumerate() {
                let along = if free > 0.0 {
                    // The middle belongs to those that face one another.
                    let (nth, count) = if nth < back { (nth, back) } else { (nth - back, count - back) };
                    let part = (nth as f64 + 0.5) / count as f64 * (half - free);
                    if port.towards < 0.0 { one.middle() - half + part } else { one.middle() + free + part }
                } else {
                    one.middle() - half + (nth as f64 + 0.5) / count as f64 * 2.0 * half
                };
                placed.push((port, along));
            }
        }
    }
    placed
}
