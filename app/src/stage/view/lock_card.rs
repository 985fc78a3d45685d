//! The lock's panel: who holds it, as the store says, and for how long.

use locks::event::Param;
use locks::ids::{Endpoint, Token};
use locks::machine::{LockState, TaskState};
use locks::strategy::LockAt;

use super::machine::LOCK_BOX;
use super::{machine, ring, words};
use crate::html::{Html, Size, escaped};
use crate::stage::Stage;
use crate::stage::lock::{Before, HoldEnd};

/// The panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockCard {
    /// The lock's name.
    pub name: String,
    /// Who says so.
    pub source: String,
    /// The ring, as a picture.
    pub ring: String,
    /// The ring in words.
    pub ring_words: String,
    /// The holder.
    pub holder: Option<String>,
    /// The epoch that stands.
    pub epoch: String,
    /// The token that stands.
    pub token: String,
    /// On which nodes the token stands, where there are several.
    pub nodes: Option<String>,
    /// What stood before.
    pub before: String,
    /// The machine, as a picture.
    pub machine: String,
    /// The machine in words.
    pub machine_words: String,
}

impl LockCard {
    /// The whole panel.
    pub fn html(&self) -> String {
        let name = escaped(&self.name);
        let LockCard { source, ring, ring_words, machine, machine_words, .. } = self;
        let facts = self.facts();
        format!(
            r#"<section class="panel" aria-label="Lock"><header class="panel-h"><h2>Lock <code>{name}</code></h2><span class="grow"></span><span class="src">{source}</span></header><div class="lock-b"><svg class="ring" viewBox="0 0 92 92" role="img" aria-label="{ring_words}">{ring}</svg><dl class="kv">{facts}</dl></div><div class="lock-m"><svg viewBox="{LOCK_BOX}" role="img" aria-label="{machine_words}">{machine}</svg></div></section>"#
        )
    }

    /// Who holds, under what, and what stood before, as the rows of a list.
    pub fn facts(&self) -> String {
        let mut html = Html::new();
        html.element("dt", "", "holder").class("dd", "b");
        match self.holder.as_deref() {
            None => html.text("–"),
            Some(holder) => {
                html.class("span", "row row-5").badge(Some(holder), Size::Small).text(" ").text(holder).close()
            }
        };
        html.close();
        for (name, class, value) in
            [("epoch", "num b", &self.epoch), ("token", "mono", &self.token), ("before", "", &self.before)]
        {
            html.element("dt", "", name).element("dd", class, value);
        }
        if let Some(nodes) = &self.nodes {
            html.element("dt", "", "nodes").element("dd", "num", nodes);
        }
        html.finish()
    }
}

/// The panel of a schedule's lock.
pub fn lock_card(stage: &Stage, schedule: &str, now_us: u64) -> LockCard {
    let name = stage.lock_of(schedule);
    let asked = stage.asks_a_store();
    let lock = stage.locks.get(&name).filter(|_| asked);
    let default = crate::stage::lock::Lock::default();
    let shown = lock.or_else(|| asked.then_some(&default));
    let (ring, ring_words) = ring::ring(shown, now_us);
    let dash = || "–".to_owned();
    let held = lock.is_some_and(|lock| lock.state == LockState::Held);
    let was_taken = lock.and_then(|lock| lock.before.as_ref()).is_some_and(|before| was_taken(stage, before));
    // Whoever's hold is over, and still stands there, is the holder that is named already.
    let over =
        |before: &&Before| !held && before.owner.is_some() && lock.is_some_and(|lock| lock.owner == before.owner);
    let earlier = lock.and_then(|lock| lock.before.as_ref()).filter(|before| !over(before));
    let before = earlier.map_or_else(dash, |before| {
        let owner = before.owner.as_ref().map_or("somebody", |owner| owner.replica.as_str());
        let epoch = before.epoch.map(|epoch| format!(", epoch {epoch}")).unwrap_or_default();
        let end = match before.end {
            HoldEnd::Expired => "expired",
            HoldEnd::Released if !was_taken => "released",
            // By whoever holds now; or by who freed what was not theirs, or a store that forgot.
            HoldEnd::Released if held => "overwritten",
            HoldEnd::Released => "taken away",
        };
        format!("{owner}{epoch}, {end}")
    });
    let nodes = nodes(stage, &name, lock.and_then(|lock| lock.token.as_ref()));
    LockCard {
        source: match (asked, lock.and_then(|lock| lock.endpoint)) {
            (false, _) => format!("{} asks no store", stage.setup.strategy),
            (true, None) => "not asked for yet".to_owned(),
            (true, Some(endpoint)) => match &nodes {
                Some((_, all, having)) if !having.is_empty() => format!("by {} of {all} nodes", having.len()),
                Some((_, all, _)) => format!("as {all} nodes report it"),
                None => format!("as {endpoint} reports it"),
            },
        },
        ring,
        ring_words,
        holder: lock.and_then(|lock| lock.owner.as_ref()).map(|owner| owner.replica.clone()),
        epoch: lock.and_then(|lock| lock.epoch).map_or_else(dash, |epoch| epoch.to_string()),
        token: lock.and_then(|lock| lock.token.as_ref()).map_or_else(dash, |token| words::token(&token.0)),
        before,
        nodes: nodes.map(|(quorum, all, having)| match (having.len(), usize::from(quorum)) {
            (0, _) => format!("none; {quorum} of {all} must grant"),
            (n, least) if n >= least => format!("{}: a quorum", having.join(" ")),
            _ => format!("{}: no quorum", having.join(" ")),
        }),
        machine: machine::lock(shown, was_taken),
        machine_words: machine::lock_words(shown),
        name,
    }
}

/// Did a hold end that its owner had not given back? Known as long as the owner's attempt is its latest one.
fn was_taken(stage: &Stage, before: &Before) -> bool {
    let Some(owner) = before.owner.as_ref().filter(|_| before.end == HoldEnd::Released) else { return false };
    let attempts = stage.replicas.get(&owner.replica).into_iter().flat_map(|replica| replica.attempts.values());
    attempts.filter(|attempt| attempt.id == *owner).any(|attempt| match attempt.left_us {
        Some(left_us) => left_us > before.at_us,
        None => attempt.outcome.is_none() && !attempt.path.contains(&TaskState::Releasing),
    })
}

/// Of a strategy with several Redis nodes: how many must have the token, of how many, and which have it.
fn nodes(stage: &Stage, lock: &str, token: Option<&Token>) -> Option<(u8, u8, Vec<String>)> {
    let LockAt::Keys { nodes: all @ 2.., quorum } = stage.strategy()?.lock_at else { return None };
    let Some(token) = token else { return Some((quorum, all, Vec::new())) };
    let key = format!("{}{lock}", Param::KEY);
    let has = |node: &u8| {
        let keys = stage.tables.keys.get(&Endpoint::Redis(*node));
        keys.is_some_and(|keys| keys.iter().any(|(name, read)| name.ends_with(&key) && read.value == token.0))
    };
    Some((quorum, all, (1..=all).filter(has).map(|node| node.to_string()).collect()))
}
