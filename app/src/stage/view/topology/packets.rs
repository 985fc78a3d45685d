//! Where messages are at a moment: a pure function of the log's stamps. A message travels half its line to
//! the link's place in the middle, waits there while the link keeps it, travels on, waits at the store for
//! its answer, and the answer comes back. A leg takes 300 ms at least, so that it is seen; longer if the link
//! is slow, up to 1.2 s, and then the message waits in the middle.

use locks::action::Direction;
use locks::event::EffectAnswer;
use locks::sorted::by_numbers;

use super::pills::{Pill, Plates};
use super::{Look, links};
use crate::stage::replica::Process;
use crate::stage::topology::{Link, Packet};
use crate::stage::view::rows::result;
use crate::stage::view::words;
use crate::stage::wire::Result_;

/// Half a leg at least and at most.
const HALF_US: (u64, u64) = (150_000, 600_000);
/// Whoever waits longer says so.
const LONG_US: u64 = 150_000;

/// Where a message is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Which way it goes.
    pub direction: Direction,
    /// How far from the replica, as a part of the way.
    pub part: f64,
    /// It does not move, and since when.
    pub waits_us: Option<u64>,
}

/// Where a message is, if it is under way. `still`: everything stands where the log says that it is, however
/// short it was there.
pub fn place(packet: &Packet, link: Option<&Link>, stopped: bool, now_us: u64, still: bool) -> Option<Place> {
    let then = |stamp: Option<u64>| stamp.filter(|at| *at <= now_us);
    let (passed, replied, answered) = (then(packet.passed_us), then(packet.replied_us), then(packet.answered_us));
    let at = |direction, part, waits_us| Some(Place { direction, part, waits_us });
    let since = now_us.checked_sub(packet.sent_us)?;
    let keeps = |direction| link.is_some_and(|link| link.keeps(direction));
    let slow = packet.delay_ms > 0;
    let half = if still { 0 } else { (packet.delay_ms * 500).clamp(HALF_US.0, HALF_US.1) };

    let Some(passed) = passed else {
        // Given up by its sender, it is only there while the link keeps its bytes.
        if answered.is_some() && !keeps(Direction::Request) && !slow {
            return None;
        }
        let waits = since >= half;
        let part = if waits { 0.5 } else { 0.5 * part_of(since, half) };
        let part = if still && !keeps(Direction::Request) && !slow { 0.25 } else { part };
        return at(Direction::Request, part, waits.then_some(packet.sent_us + half));
    };
    let arrives = if passed - packet.sent_us <= half { packet.sent_us + 2 * half } else { passed + half };
    if now_us < arrives {
        let part = 1.0 - 0.5 * part_of(arrives - now_us, half);
        return at(Direction::Request, part, None);
    }
    let Some(replied) = replied else {
        return if answered.is_some() { None } else { at(Direction::Request, 0.86, Some(arrives.max(passed))) };
    };
    let leaves = replied.max(arrives);
    let back = if still { 0 } else { 2 * HALF_US.0 };
    if now_us < leaves + back {
        return at(Direction::Reply, 1.0 - part_of(now_us - leaves, back), None);
    }
    match answered {
        None if stopped => at(Direction::Reply, 0.14, Some(leaves + back)),
        None if still => at(Direction::Reply, 0.4, None),
        Some(answered) if still && answered == now_us => at(Direction::Reply, 0.14, None),
        _ => None,
    }
}

fn part_of(some: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { some as f64 / whole as f64 }
}

/// A message's place on this look.
pub(super) fn placed(look: &Look<'_>, packet: &Packet) -> Option<Place> {
    let stage = look.stage;
    let link = stage.topology.link(&packet.replica, packet.to);
    let stopped = stage.replicas.get(&packet.replica).is_some_and(|replica| replica.process == Process::Stopped);
    place(packet, link, stopped, look.now_us, look.still)
}

/// Does an effect come too late? Its lock has a higher epoch by now.
fn is_stale(look: &Look<'_>, packet: &Packet) -> bool {
    let Some(id) = packet.attempt.as_ref().filter(|_| packet.command.is_none()) else { return false };
    let attempts = look.stage.replicas.get(&packet.replica).map(|replica| &replica.attempts);
    let mine = attempts.and_then(|attempts| attempts.values().find(|attempt| attempt.id == *id));
    let lock = mine.and_then(|attempt| look.stage.locks.get(&attempt.lock));
    lock.is_some_and(|lock| lock.epoch > packet.epoch && packet.epoch.is_some())
}

/// All messages that move or wait away from a disturbed link's own label.
pub fn svg(look: &Look<'_>) -> String {
    let mut out = String::new();
    let mut plates = links::plates(look);
    let mut under_way: Vec<(&Packet, Place)> =
        look.stage.topology.packets.iter().filter_map(|packet| Some((packet, placed(look, packet)?))).collect();
    // Who waits has the first choice, then the newest.
    by_numbers(&mut under_way, |(packet, place)| (place.waits_us.is_none().into(), u64::MAX - packet.sent_us));
    for (packet, place) in under_way {
        draw(look, packet, place, &mut plates, &mut out);
    }
    out
}

fn joined(one: String, other: String) -> String {
    if one.is_empty() { other } else { one + ", " + &other }
}

fn draw(look: &Look<'_>, packet: &Packet, place: Place, plates: &mut Plates, out: &mut String) {
    let Some(curve) = look.geometry.curve(&packet.replica, packet.to) else { return };
    let link = look.stage.topology.link(&packet.replica, packet.to);
    let is_request = place.direction == Direction::Request;
    if place.part == 0.5 && place.waits_us.is_some() && link.is_some_and(|link| link.keeps(Direction::Request)) {
        // The link's own label tells of it.
        return;
    }
    let answer = packet.answer.as_ref().map(result).filter(|answer| answer.chars().count() <= 14);
    let mut text = String::new();
    let waits = place.waits_us.map(|since| look.now_us.saturating_sub(since)).filter(|long| *long >= LONG_US);
    if let (true, Some(epoch)) = (is_request, packet.epoch) {
        text = format!("epoch {epoch}");
    }
    let stale = is_request && is_stale(look, packet);
    if is_request && packet.passed_us.is_none_or(|passed| passed > look.now_us) && packet.delay_ms > 0 {
        let left = (packet.sent_us + packet.delay_ms * 1000).saturating_sub(look.now_us);
        text = joined(text, format!("{} to go", words::short(left)));
    } else if let (true, Some(_)) = (is_request, waits) {
        let since = look.now_us.saturating_sub(packet.sent_us);
        text = joined(text, words::short(since / 10_000 * 10_000));
    } else if !is_request && place.waits_us.is_some() {
        "unread".clone_into(&mut text);
    }
    let small = look.geometry.small;
    let pill = Pill {
        badge: is_request.then_some(packet.replica.as_str()),
        icon: (!is_request && place.waits_us.is_some()).then_some("pause"),
        code: match (&answer, is_request) {
            _ if small => "",
            (_, true) => &packet.verb,
            (Some(answer), false) => answer,
            (None, false) => "reply",
        },
        loud: if stale && packet.answer != Some(Result_::Sink(EffectAnswer::Accepted)) { "stale" } else { "" },
        text: if small && place.waits_us.is_none() { String::new() } else { text },
        class: if stale { "stale" } else { "" },
    };
    let near = [place.part, place.part - 0.1, place.part - 0.2, place.part - 0.3];
    let parts = if place.waits_us.is_some() { &near[..] } else { &near[..1] };
    plates.put(&pill, curve, parts, out);
}
