//! Stores and, where their cards stand elsewhere, replicas, as boxes: what each is and what it holds.

use std::fmt::Write;

use locks::event::EffectAnswer;
use locks::ids::Endpoint;
use locks::machine::LockState;

use super::geometry::Area;
use super::pills::badge;
use super::{Look, is_used};
use crate::html::escaped;
use crate::stage::replica::Process;
use crate::stage::topology::Back;
use crate::stage::view::words;

/// A store that came back says so for so long.
const NEWS_US: u64 = 6_000_000;

/// What a store's box says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Face {
    /// Class names of the box.
    pub class: &'static str,
    /// An icon before the words.
    pub icon: Option<&'static str>,
    /// Whose lock it holds, or whose effect it took.
    pub of: Option<String>,
    /// In words.
    pub text: String,
}

/// What a store's box says at a moment.
pub fn face(look: &Look<'_>, endpoint: Endpoint) -> Face {
    let store = look.stage.topology.store(endpoint);
    let ago = |at: u64| words::short(look.now_us.saturating_sub(at) / 10_000 * 10_000);
    let short = look.geometry.small;
    let narrow = look.geometry.store(endpoint).is_none_or(|area| area.w < 100);
    let plain = |class, icon, text: String| Face { class, icon, of: None, text };
    if let Some(store) = store {
        let since = if narrow { String::new() } else { format!(" {}", ago(store.since_us)) };
        match store.process {
            Process::Stopped => return plain("stopped", Some("pause"), format!("paused{since}")),
            Process::Dead => return plain("dead", Some("kill"), format!("dead{since}")),
            _ => {}
        }
    }
    let held = held(look, endpoint);
    // Who holds something there goes first; that nobody does is no news.
    let back = news(look, endpoint).filter(|_| held.as_ref().is_none_or(|held| held.of.is_none()));
    if let Some(back) = back {
        let text = match (back, short, narrow) {
            (_, true, _) => "back",
            (Back::Empty, _, true) => "empty",
            (Back::Empty, ..) => "restarted empty",
            (Back::Kept, ..) => "restarted",
            (Back::Promoted, ..) => "took over",
        };
        return plain("", Some("redo"), text.to_owned());
    }
    if let Some(held) = held {
        return held;
    }
    if !is_used(look.stage, endpoint) {
        return plain("idle", None, if short { "unused" } else { "not used" }.to_owned());
    }
    let text = match endpoint {
        Endpoint::Postgres => match look.stage.tables.audit.len() {
            _ if short => String::new(),
            0 => "no row yet".to_owned(),
            1 => "audit 1 row".to_owned(),
            n @ 2..24 => format!("audit {n} rows"),
            _ => "audit: latest 24 rows".to_owned(),
        },
        Endpoint::Redis(_) => match store.map_or(0, |store| store.jumped_ms) {
            0 => "free".to_owned(),
            _ if narrow => "jumped".to_owned(),
            ms => format!("clock {}", words::signed(ms)),
        },
        Endpoint::RedisReplica(_) => "copies".to_owned(),
        Endpoint::Bank => "no effect".to_owned(),
    };
    plain("", None, text)
}

/// How a store came back, if it did so lately.
pub(super) fn news(look: &Look<'_>, endpoint: Endpoint) -> Option<Back> {
    let (back, at) = look.stage.topology.store(endpoint)?.back?;
    (look.now_us.saturating_sub(at) < NEWS_US).then_some(back)
}

/// What a store holds of the schedule at hand, if it holds anything.
fn held(look: &Look<'_>, endpoint: Endpoint) -> Option<Face> {
    match endpoint {
        Endpoint::Postgres => in_postgres(look),
        Endpoint::Redis(_) | Endpoint::RedisReplica(_) => in_redis(look, endpoint),
        Endpoint::Bank => at_bank(look),
    }
}

fn in_postgres(look: &Look<'_>) -> Option<Face> {
    let lock = look.stage.locks.get(&look.stage.lock_of(look.schedule))?;
    let here = lock.endpoint == Some(Endpoint::Postgres) && lock.state == LockState::Held;
    let short = look.geometry.small;
    let left = lock.expires_us.map(|at| words::short(at.saturating_sub(look.now_us) / 10_000 * 10_000));
    let text = match (here, lock.epoch, left) {
        (true, Some(epoch), Some(left)) if !short => format!("epoch {epoch}, {left}"),
        (true, _, Some(_)) => tenths(lock.expires_us.unwrap_or(0).saturating_sub(look.now_us)),
        (true, Some(epoch), None) => format!("epoch {epoch}"),
        (true, None, None) => "locked".to_owned(),
        (false, Some(epoch), _) => format!("epoch {epoch}"),
        (false, None, _) => return None,
    };
    let of = lock.owner.as_ref().filter(|_| here).map(|owner| owner.replica.clone());
    Some(Face { of, text, ..Face::default() })
}

fn in_redis(look: &Look<'_>, endpoint: Endpoint) -> Option<Face> {
    let keys = look.stage.tables.keys.get(&endpoint)?;
    let lock = look.stage.lock_of(look.schedule);
    let there =
        |key: &crate::stage::tables::Key| key.pttl_ms < 0 || key.at_us + key.pttl_ms as u64 * 1000 > look.now_us;
    let (_, key) = keys
        .iter()
        .find(|(name, key)| name.strip_suffix(&lock).is_some_and(|rest| rest.ends_with(':')) && there(key))?;
    let left = (key.at_us + key.pttl_ms.max(0) as u64 * 1000).saturating_sub(look.now_us) / 10_000 * 10_000;
    let text = match (key.pttl_ms < 0, look.geometry.small) {
        (true, true) => String::new(),
        (true, false) => "no expiry".to_owned(),
        (false, true) => tenths(left),
        (false, false) => words::short(left),
    };
    Some(Face { of: owner(look, &key.value), text, ..Face::default() })
}

/// Whose token stands there, as the log knows it.
fn owner(look: &Look<'_>, token: &str) -> Option<String> {
    let stage = look.stage;
    let by_lock = stage.locks.values().filter(|lock| lock.token.as_ref().is_some_and(|known| known.0 == token));
    let by_grant = stage.replicas.iter().filter(|(_, replica)| {
        let mut grants = replica.attempts.values().filter_map(|attempt| attempt.grant.as_ref());
        grants.any(|grant| grant.token.0 == token)
    });
    let is_token = |param: &locks::event::Param| matches!(param, locks::event::Param::Text(text) if text == token);
    let by_wire = stage.wire.rows.iter().rev().filter(|row| row.params.iter().any(is_token));
    by_lock
        .filter_map(|lock| lock.owner.as_ref().map(|owner| owner.replica.clone()))
        .chain(by_grant.map(|(name, _)| name.clone()))
        .chain(by_wire.map(|row| row.replica.clone()))
        .next()
}

fn at_bank(look: &Look<'_>) -> Option<Face> {
    let slot = look.stage.slots.get(look.schedule)?;
    if !is_used(look.stage, Endpoint::Bank) {
        return None;
    }
    let accepted = look.stage.track.effects.iter().rev().filter(|effect| effect.answer == EffectAnswer::Accepted);
    let mut of_slot = accepted.filter(|effect| effect.slot == *slot);
    // Which slot is said where there is room for it.
    let wide = look.geometry.stores.iter().any(|(of, area)| *of == Endpoint::Bank && area.w >= ROOM_FOR_SLOT);
    let at = if wide { format!("slot {}: ", words::clock(slot.fire_ms)) } else { String::new() };
    let Some(last) = of_slot.next() else {
        let text = format!("{at}none yet");
        return Some(Face { text, ..Face::default() });
    };
    let count = of_slot.count() + 1;
    let class = if count > 1 { "harm" } else { "" };
    let icon = (count > 1).then_some("oct");
    // A phone's box has room for one of the two.
    let of = (count == 1 || !look.geometry.small).then(|| last.attempt.replica.clone());
    let text = match (look.geometry.small, count) {
        (true, _) => format!("{count} ×"),
        (false, 1) => format!("{at}1 effect"),
        (false, _) => format!("{at}{count} effects"),
    };
    Some(Face { class, icon, of, text })
}

/// Seconds where there is little room: `1.1s`.
fn tenths(us: u64) -> String {
    format!("{}.{}s", us / 1_000_000, us / 100_000 % 10)
}

/// A box of this width has room for a slot's time beside what came of it.
const ROOM_FOR_SLOT: i32 = 200;

/// All boxes.
pub fn svg(look: &Look<'_>) -> String {
    let mut out = String::new();
    for (endpoint, area) in &look.geometry.stores {
        let face = face(look, *endpoint);
        let mut name = endpoint.to_string();
        if let Endpoint::RedisReplica(_) = endpoint {
            "replica".clone_into(&mut name);
        }
        store(look, *area, &name, &face, &mut out);
    }
    if look.geometry.ports {
        for (name, area) in &look.geometry.replicas {
            port(look, name, *area, &mut out);
        }
    }
    out
}

/// A box of its own, so that what is too long for it is cut off at its edge.
fn store(look: &Look<'_>, area: Area, name: &str, face: &Face, out: &mut String) {
    let Area { x, y, w, h } = area;
    let pad = if look.geometry.small { 3 } else { 8 };
    _ = write!(
        out,
        r#"<svg x="{x}" y="{y}" width="{w}" height="{h}" class="sto {}"><rect x=".5" y="1.5" width="{}" height="{}" class="sto-b"/><rect width="{w}" height="3" class="sto-t"/>"#,
        face.class,
        w - 1,
        h - 2
    );
    if face.class == "stopped" {
        _ = write!(out, r#"<rect x="1" y="3" width="{}" height="{}" fill="url(#fr)" opacity=".3"/>"#, w - 2, h - 4);
    }
    _ = write!(out, r#"<text x="{pad}" y="19" class="sto-n">{name}</text>"#);
    let mut at = pad;
    let base = h - 11;
    // A phone's box has room for the word alone.
    let icon = face.icon.filter(|_| !look.geometry.small || face.class == "harm");
    if let Some(icon) = icon {
        _ = write!(
            out,
            r##"<svg x="{at}" y="{}" width="12" height="12" viewBox="0 0 16 16" class="ic-in ic-2"><use href="#i-{icon}"/></svg>"##,
            base - 10
        );
        at += 16;
    }
    if let Some(of) = &face.of {
        badge(of, at, base - 11, out);
        at += 18;
    }
    _ = write!(out, r#"<text x="{at}" y="{base}" class="sto-d">{}</text></svg>"#, escaped(&face.text));
}

/// A replica, where its card stands elsewhere.
fn port(look: &Look<'_>, name: &str, area: Area, out: &mut String) {
    let Area { x, y, w, h } = area;
    let replica = look.stage.replicas.get(name);
    let process = replica.map(|replica| replica.process).unwrap_or_default();
    let (class, icon) = match process {
        Process::Stopped => ("stopped", Some("pause")),
        Process::Dead => ("dead", Some("kill")),
        _ => ("", None),
    };
    let state = replica.and_then(|replica| replica.attempts.get(look.schedule)).map(|attempt| attempt.state.name());
    let word = match process {
        Process::Stopped => "stopped",
        Process::Dead => "dead",
        Process::Starting => "Starting",
        Process::Running => state.unwrap_or("Scheduled"),
    };
    let top = (h - 14) / 2;
    _ = write!(
        out,
        r#"<svg x="{x}" y="{y}" width="{w}" height="{h}" class="sto port {class}"><rect x=".5" y=".5" width="{}" height="{}" rx="5" class="sto-b"/>"#,
        w - 1,
        h - 1
    );
    if class == "stopped" {
        _ = write!(
            out,
            r#"<rect x="1" y="1" width="{}" height="{}" rx="4" fill="url(#fr)" opacity=".3"/>"#,
            w - 2,
            h - 2
        );
    }
    let bare = w < 78;
    let at = match (bare, icon) {
        (true, Some(_)) => (w - 30) / 2,
        (true, None) => (w - 14) / 2,
        (false, _) => 6,
    };
    badge(name, at, top, out);
    if let Some(icon) = icon {
        _ = write!(
            out,
            r##"<svg x="{}" y="{}" width="12" height="12" viewBox="0 0 16 16" class="ic-in"><use href="#i-{icon}"/></svg>"##,
            at + 18,
            top + 1
        );
    }
    if !bare {
        let shift = if icon.is_some() { 36 } else { 20 };
        _ = write!(out, r#"<text x="{}" y="{}" class="sto-d">{word}</text>"#, at + shift, top + 11);
    }
    out.push_str("</svg>");
}
