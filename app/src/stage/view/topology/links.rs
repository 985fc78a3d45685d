//! The lines of the map and the labels of those that something disturbs.

use std::fmt::Write;

use locks::action::Direction;
use locks::ids::Endpoint;

use super::pills::{Pill, Plates};
use super::{Look, is_used, packets};
use crate::stage::topology::{Link, Packet};
use crate::stage::view::hue;
use crate::stage::view::topology::geometry::Area;
use crate::stage::view::words;

/// Where labels stand along a line, the best place first.
const PARTS: [f64; 7] = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];

/// Every link that is drawn: those that somebody needs, and those that something disturbs.
pub(super) fn drawn(look: &Look<'_>) -> Vec<(String, Endpoint)> {
    let stage = look.stage;
    let mut all = Vec::new();
    for (name, _) in &look.geometry.replicas {
        for (endpoint, _) in &look.geometry.stores {
            let own = matches!(endpoint, Endpoint::RedisReplica(_));
            if !own && (is_used(stage, *endpoint) || stage.topology.link(name, *endpoint).is_some()) {
                all.push((name.clone(), *endpoint));
            }
        }
    }
    for (endpoint, _) in &look.geometry.stores {
        if let Endpoint::RedisReplica(node) = endpoint {
            all.push((Endpoint::Redis(*node).to_string(), *endpoint));
        }
    }
    all
}

/// What disturbs a link, in words; empty: nothing.
pub fn link_words(link: Option<&Link>) -> String {
    let Some(link) = link else { return String::new() };
    let mut said = Vec::new();
    if link.cut_us.is_some() {
        said.push("cut".to_owned());
    }
    if let Some((ms, _)) = link.delay_ms {
        said.push(format!("delayed {} ms", words::grouped(ms)));
    }
    if link.requests_us.is_some() {
        said.push("requests held".to_owned());
    }
    if link.replies_us.is_some() {
        said.push("replies held".to_owned());
    }
    if link.reset_us.is_some() {
        said.push("reset".to_owned());
    }
    said.join(", ")
}

/// The lines. They change when something begins or ends, not from moment to moment.
pub fn lines(look: &Look<'_>) -> String {
    let mut plain = String::new();
    let mut above = String::new();
    for (replica, endpoint) in drawn(look) {
        let Some(curve) = look.geometry.curve(&replica, endpoint) else { continue };
        let link = look.stage.topology.link(&replica, endpoint);
        let mut busy =
            look.stage.topology.packets.iter().filter(|packet| packet.to == endpoint && packet.replica == replica);
        let in_use = busy.any(|packet| packets::placed(look, packet).is_some());
        let fault = match link {
            Some(link) if link.cut_us.is_some() => " cut",
            Some(link) if link.delay_ms.is_some() => " delay",
            Some(link) if link.reset_us.is_some() => " reset",
            _ => "",
        };
        let (out, class) = match in_use {
            true => (&mut above, format!("w on s-{}{fault}", hue(&replica))),
            false => (&mut plain, format!("w{fault}")),
        };
        _ = write!(out, r#"<path d="{}" class="{class}"/>"#, curve.path());
    }
    plain + &above
}

/// Messages that a link keeps, oldest first.
fn kept<'a>(look: &Look<'a>, link: &Link) -> Vec<&'a Packet> {
    let of = |packet: &&Packet| packet.to == link.endpoint && packet.replica == link.replica;
    let waits = |packet: &&Packet| {
        packets::placed(look, packet)
            .is_some_and(|place| place.part == 0.5 && place.direction == Direction::Request && place.waits_us.is_some())
    };
    look.stage.topology.packets.iter().filter(of).filter(waits).collect()
}

/// The label of a link that something disturbs.
fn label<'a>(look: &Look<'a>, link: &Link) -> Option<Pill<'a>> {
    let for_ = |since: u64| words::short(look.now_us.saturating_sub(since) / 10_000 * 10_000);
    let small = look.geometry.small;
    let kept = if link.keeps(Direction::Request) { kept(look, link) } else { Vec::new() };
    let (icon, what, since) = match link {
        Link { cut_us: Some(since), .. } => ("cut", "cut", *since),
        Link { requests_us: Some(since), .. } => ("hand", "held", *since),
        Link { replies_us: Some(since), .. } => ("hand", "replies held", *since),
        Link { delay_ms: Some((ms, _)), .. } => {
            return Some(Pill { icon: Some("clock"), text: format!("{} ms", words::grouped(*ms)), ..Pill::default() });
        }
        Link { reset_us: Some(_), .. } => {
            return Some(Pill { icon: Some("x"), text: "reset".to_owned(), ..Pill::default() });
        }
        _ => return None,
    };
    Some(match (kept.first(), kept.len()) {
        (None, _) => Pill {
            icon: Some(icon),
            text: match what {
                "held" => format!("requests held {}", for_(since)),
                _ if small => for_(since),
                what => format!("{what} {}", for_(since)),
            },
            ..Pill::default()
        },
        (Some(first), count) => Pill {
            badge: Some(&first.replica),
            icon: Some(icon),
            code: if small { "" } else { &first.verb },
            text: match count {
                1 => format!("{what} {}", for_(first.sent_us.max(since))),
                more => format!("{more} {what}"),
            },
            class: "held",
            ..Pill::default()
        },
    })
}

fn bounds(look: &Look<'_>) -> Area {
    let y = look.geometry.replicas.first().map_or(0, |(_, area)| area.h) + 2;
    Area { x: 0, y, w: look.geometry.width, h: look.geometry.height }
}

fn write_labels(look: &Look<'_>, out: &mut String) -> Plates {
    let mut taken: Vec<Area> = look.geometry.stores.iter().map(|(_, area)| *area).collect();
    taken.extend(look.geometry.replicas.iter().map(|(_, area)| *area));
    let mut plates = Plates { taken, bounds: bounds(look) };
    for link in &look.stage.topology.links {
        let curve = look.geometry.curve(&link.replica, link.endpoint);
        if let (Some(curve), Some(pill)) = (curve, label(look, link)) {
            plates.put(&pill, curve, &PARTS, out);
        }
    }
    plates
}

/// What the labels of links leave of the room.
pub(super) fn plates(look: &Look<'_>) -> Plates {
    write_labels(look, &mut String::new())
}

/// The labels of links that something disturbs.
pub fn labels(look: &Look<'_>) -> String {
    let mut out = String::new();
    write_labels(look, &mut out);
    out
}
