//! What a quorum is made of: on which nodes whose token stood, over the time of a run whose strategy asks several
//! nodes. Each node's own word, as it was read; nothing is concluded from the others.

use std::collections::BTreeMap;
use std::fmt::Write;

use locks::event::{Event, Kind, Param, Source};
use locks::ids::Endpoint;
use locks::strategy::LockAt;

use crate::html::escaped;
use crate::stage::Stage;
use crate::stage::track::Span;
use crate::stage::view::hue;
use crate::stage::view::timeline::Scale;

/// A token stood on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stood {
    /// On which node, from 1.
    pub node: u8,
    /// Whose it was, if a replica has sent it.
    pub replica: Option<String>,
    /// From, to.
    pub span: Span,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quorum {
    /// How many nodes there are; 0: the strategy asks one or none.
    pub nodes: u8,
    /// In order of their beginning.
    pub stood: Vec<Stood>,
}

impl Quorum {
    /// What these events say of the nodes.
    pub fn of<'a>(stage: &Stage, events: impl IntoIterator<Item = &'a Event>) -> Quorum {
        let Some(LockAt::Keys { nodes: nodes @ 2.., .. }) = stage.strategy().map(|info| info.lock_at) else {
            return Quorum::default();
        };
        let mut stood: Vec<Stood> = Vec::new();
        let mut open: BTreeMap<(u8, String), (usize, String)> = BTreeMap::new();
        let mut senders: BTreeMap<String, String> = BTreeMap::new();
        for event in events {
            match (&event.source, &event.kind) {
                (Source::Replica { name, .. }, Kind::Sent { command, .. }) if command.name == "acquire" => {
                    for param in &command.params {
                        if let Param::Text(text) = param {
                            senders.insert(text.clone(), name.clone());
                        }
                    }
                }
                (Source::Store(Endpoint::Redis(node)), Kind::Key { key, value, .. }) if key.contains(Param::KEY) => {
                    let place = (*node, key.clone());
                    let had = open.get(&place).map(|(_, value)| value);
                    if had == value.as_ref() {
                        continue;
                    }
                    if let Some((at, _)) = open.remove(&place) {
                        stood[at].span.1 = Some(event.at_us);
                    }
                    if let Some(value) = value {
                        open.insert(place, (stood.len(), value.clone()));
                        let replica = senders.get(value).cloned();
                        stood.push(Stood { node: *node, replica, span: (event.at_us, None) });
                    }
                }
                _ => {}
            }
        }
        Quorum { nodes, stood }
    }

    /// A thin line a node, from the top, in the colour of whose token stands there.
    pub(super) fn lines(&self, scale: &Scale, end_us: u64, top: f64, each: f64) -> String {
        let mut svg = String::new();
        for one in &self.stood {
            let (from, to) = (scale.x(one.span.0), scale.x(one.span.1.unwrap_or(end_us)));
            let y = top + f64::from(one.node.saturating_sub(1)) * each;
            let hue = one.replica.as_deref().map_or('n', hue);
            let whose = one.replica.as_deref().unwrap_or("somebody");
            _ = write!(
                svg,
                r#"<rect x="{from:.1}" y="{y:.1}" width="{:.1}" height="{:.1}" class="f-{hue}"><title>redis-{} has the token of {}</title></rect>"#,
                (to - from).max(1.0),
                each * 0.7,
                one.node,
                escaped(whose)
            );
        }
        svg
    }
}
