//! A table of transitions as a graph. Its first state is where every attempt begins and ends; it is drawn
//! twice, as beginning and as end, so that giving up anywhere leads forward instead of all the way back.
//!
//! The spine is the longest way from beginning to end that passes no state twice: the whole story of an
//! attempt. It makes the columns. Every other state stands beside it, in the column from which its
//! neighbours are least far.

use super::Row;

/// What the end is called in keys; no state has this name.
pub(super) const END: &str = ".";
/// Most steps of the search for the spine, far more than any table needs.
const PATIENCE: u32 = 2_000_000;

/// A transition, by the numbers of its states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub from: usize,
    pub to: usize,
    pub on: &'static str,
}

/// Where a state stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub column: usize,
    /// It is on the spine.
    pub spine: bool,
}

/// The graph, with every state's spot.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    /// Names, in order of their first mention; the end, which goes by the first one's name, is the last.
    pub states: Vec<&'static str>,
    pub edges: Vec<Edge>,
    pub spots: Vec<Spot>,
}

impl Graph {
    /// The graph of a table. An empty table has an empty graph.
    pub fn new(rows: &[Row]) -> Graph {
        let mut states: Vec<&'static str> = Vec::new();
        for name in rows.iter().flat_map(|(from, _, to)| [*from, *to]) {
            if !states.contains(&name) {
                states.push(name);
            }
        }
        let end = states.len();
        let number = |name: &str| states.iter().position(|state| *state == name).unwrap_or(end);
        let edge = |(from, on, to): &Row| {
            let to = number(to);
            Edge { from: number(from), to: if to == 0 { end } else { to }, on }
        };
        let edges: Vec<Edge> = rows.iter().map(edge).collect();
        if let Some(first) = states.first().copied() {
            states.push(first);
        }
        let spots = spots(&edges, states.len());
        Graph { states, edges, spots }
    }

    /// The number of the end.
    pub fn end(&self) -> usize {
        self.states.len().saturating_sub(1)
    }

    /// A state's name in keys.
    pub fn key(&self, state: usize) -> &'static str {
        if state == self.end() { END } else { self.states[state] }
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.spots.iter().map(|spot| spot.column + 1).max().unwrap_or(0)
    }
}

fn spots(edges: &[Edge], states: usize) -> Vec<Spot> {
    let Some(end) = states.checked_sub(1) else { return Vec::new() };
    let spine = Search::new(edges, end).longest();
    let mut columns: Vec<Option<usize>> = vec![None; states];
    for (column, state) in spine.iter().enumerate() {
        columns[*state] = Some(column);
    }
    let mut taken: Vec<usize> = Vec::new();
    for state in (0..states).filter(|state| !spine.contains(state)) {
        // The end is far from everything, and there is a way to it from everywhere: it draws nobody.
        let neighbours = edges.iter().filter_map(|edge| match (edge.from == state, edge.to == state) {
            (true, false) => Some(edge.to),
            (false, true) => Some(edge.from),
            _ => None,
        });
        let mut near: Vec<usize> = neighbours.filter(|other| *other != end).filter_map(|n| columns[n]).collect();
        near.sort_unstable();
        let middle = near.get(near.len() / 2).copied().unwrap_or(1);
        // The nearest column in which nobody stands beside the spine.
        let free = (0..states).flat_map(|by| [middle + by, middle.saturating_sub(by)]).find(|c| !taken.contains(c));
        let column = free.unwrap_or(middle);
        taken.push(column);
        columns[state] = Some(column);
    }
    let spot =
        |(state, column): (usize, Option<usize>)| Spot { column: column.unwrap_or(0), spine: spine.contains(&state) };
    columns.into_iter().enumerate().map(spot).collect()
}

/// The search for the longest way; of two equally long ones, that with fewer transitions back along it, then the
/// first in the table's order.
struct Search<'a> {
    edges: &'a [Edge],
    end: usize,
    way: Vec<usize>,
    best: Vec<usize>,
    left: u32,
}

impl Search<'_> {
    fn new(edges: &[Edge], end: usize) -> Search<'_> {
        Search { edges, end, way: vec![0], best: Vec::new(), left: PATIENCE }
    }

    fn longest(mut self) -> Vec<usize> {
        self.go_on();
        self.best
    }

    /// Transitions that lead back along a way.
    fn back(&self, way: &[usize]) -> usize {
        let at = |state: usize| way.iter().position(|other| *other == state);
        self.edges.iter().filter(|edge| at(edge.from).zip(at(edge.to)).is_some_and(|(from, to)| from > to)).count()
    }

    fn go_on(&mut self) {
        let Some(at) = self.way.last().copied() else { return };
        self.left = self.left.saturating_sub(1);
        if at == self.end {
            let better = (self.way.len(), std::cmp::Reverse(self.back(&self.way)));
            if better > (self.best.len(), std::cmp::Reverse(self.back(&self.best))) {
                self.best.clone_from(&self.way);
            }
            return;
        }
        for edge in self.edges.iter().filter(|edge| edge.from == at) {
            if self.left > 0 && !self.way.contains(&edge.to) {
                self.way.push(edge.to);
                self.go_on();
                self.way.pop();
            }
        }
    }
}
