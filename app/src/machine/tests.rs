//! What a picture owes to its table, for every strategy there is.

use locks::strategy::ALL;

use super::draw::{Shown, svg};
use super::graph::Graph;
use super::layout::{Box_, Layout, Orientation};
use super::{Trace, picture};

fn laid_out(graph: &Graph) -> [Layout; 2] {
    [
        Layout::new(graph, |state| graph.states[state].len() as f64 * 6.2 + 14.0, 36.0),
        Layout::new(graph, |_| 36.0, 95.0),
    ]
}

fn inside(point: (f64, f64), one: &Box_) -> bool {
    let (along, across) = (point.0 - one.along, point.1 - one.across);
    along > 0.5 && along < one.length - 0.5 && across > 0.5 && across < one.breadth - 0.5
}

/// Points all along a way.
fn points(corners: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
    corners.windows(2).flat_map(|two| {
        let (a, b) = (two[0], two[1]);
        (0..=200).map(move |i| (a.0 + (b.0 - a.0) * f64::from(i) / 200.0, a.1 + (b.1 - a.1) * f64::from(i) / 200.0))
    })
}

#[test]
fn the_spine_is_the_whole_story_of_an_attempt() {
    for info in ALL {
        let graph = Graph::new(info.transitions);
        let mut spine: Vec<usize> = (0..graph.states.len()).filter(|state| graph.spots[*state].spine).collect();
        spine.sort_by_key(|state| graph.spots[*state].column);
        let names: Vec<&str> = spine.iter().map(|state| graph.states[*state]).collect();
        assert_eq!((names.first(), names.last()), (Some(&"idle"), Some(&"idle")), "{}", info.name);
        let story: Vec<usize> = ["entering", "working", "effecting", "effect sent", "leaving"]
            .iter()
            .map(|state| {
                names.iter().position(|name| name == state).unwrap_or_else(|| panic!("{}: {state}", info.name))
            })
            .collect();
        assert!(story.is_sorted(), "{}: {names:?}", info.name);
        for two in spine.windows(2) {
            assert!(graph.edges.iter().any(|e| (e.from, e.to) == (two[0], two[1])), "{}: {names:?}", info.name);
        }
    }
}

#[test]
fn boxes_never_overlap_and_no_way_runs_through_one() {
    for info in ALL {
        let graph = Graph::new(info.transitions);
        for layout in laid_out(&graph) {
            for (i, a) in layout.boxes.iter().enumerate() {
                for b in &layout.boxes[..i] {
                    let apart = a.along + a.length <= b.along
                        || b.along + b.length <= a.along
                        || a.across + a.breadth <= b.across
                        || b.across + b.breadth <= a.across;
                    assert!(apart, "{}: {a:?} {b:?}", info.name);
                }
                assert!(a.along >= 0.0 && a.across >= 0.0, "{}", info.name);
                assert!(a.along + a.length <= layout.size.0 && a.across + a.breadth <= layout.size.1, "{}", info.name);
            }
            for (edge, way) in graph.edges.iter().zip(&layout.ways) {
                let what = format!("{}: {} → {}", info.name, graph.states[edge.from], graph.states[edge.to]);
                for point in points(way) {
                    assert!(!layout.boxes.iter().any(|one| inside(point, one)), "{what} runs through a box");
                    assert!(point.0 >= 0.0 && point.1 >= 0.0 && point.1 <= layout.size.1, "{what} leaves the picture");
                }
            }
        }
    }
}

/// Two ways may cross, and those to one state share a lane; otherwise nothing lies upon anything.
#[test]
fn ways_to_different_states_share_no_stretch() {
    for info in ALL {
        let graph = Graph::new(info.transitions);
        for layout in laid_out(&graph) {
            let stretches = |i: usize| layout.ways[i].windows(2).map(|two| (two[0], two[1])).collect::<Vec<_>>();
            for i in 0..graph.edges.len() {
                for j in 0..i {
                    let (a, b) = (graph.edges[i], graph.edges[j]);
                    if a.to == b.to {
                        continue;
                    }
                    for (p, q) in stretches(i) {
                        for (r, s) in stretches(j) {
                            let shared = |at: fn((f64, f64)) -> f64, by: fn((f64, f64)) -> f64| {
                                let on_one_line = (at(p) - at(q)).abs() < 0.1
                                    && (at(r) - at(s)).abs() < 0.1
                                    && (at(p) - at(r)).abs() < 1.0;
                                let from = by(p).min(by(q)).max(by(r).min(by(s)));
                                let until = by(p).max(by(q)).min(by(r).max(by(s)));
                                on_one_line && until - from > 1.0
                            };
                            assert!(
                                !shared(|p| p.0, |p| p.1) && !shared(|p| p.1, |p| p.0),
                                "{}: {} → {} lies upon {} → {}",
                                info.name,
                                graph.states[a.from],
                                graph.states[a.to],
                                graph.states[b.from],
                                graph.states[b.to]
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn every_row_of_every_table_can_be_found() {
    for info in ALL {
        let drawn = picture(info, &Trace::default(), "A");
        for (from, on, to) in info.transitions {
            assert_eq!(drawn.matches(&format!("data-m=\"e:{from}&gt;{to}\"")).count(), 2, "{}: {from} {to}", info.name);
            assert_eq!(drawn.matches(&format!("data-m=\"l:{from}&gt;{to}\"")).count(), 1, "{}: {from} {to}", info.name);
            assert!(drawn.contains(on), "{}: {on}", info.name);
        }
        assert_eq!(drawn.matches("data-m=\"s:.\"").count(), 2, "the end of {}", info.name);
    }
}

#[test]
fn across_fits_a_desk_and_down_fits_a_phone() {
    for info in ALL {
        let graph = Graph::new(info.transitions);
        let trace = Trace::default();
        let shown = Shown { info, trace: &trace, whose: "A" };
        let size = |way: Orientation| {
            let drawn = svg(&graph, way, &shown);
            let of = |name: &str| {
                let from = drawn.find(&format!("{name}=\"")).unwrap() + name.len() + 2;
                drawn[from..].split('"').next().unwrap().parse::<f64>().unwrap()
            };
            (of(" width"), of(" height"))
        };
        let (across, down) = (size(Orientation::Across), size(Orientation::Down));
        assert!(across.0 <= 1384.0 && across.1 <= 260.0, "{}: {across:?}", info.name);
        assert!(down.0 <= 364.0, "{}: {down:?}", info.name);
    }
}
