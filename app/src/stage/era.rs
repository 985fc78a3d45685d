//! How replicas coordinated, and what the sink checked, from some moment of a run on: each strategy answers
//! only for what began under it.

use borsh::{BorshDeserialize, BorshSerialize};

use locks::event::{Event, Kind};
use locks::guard::Guard;
use locks::setup::{Setup, StrategyName};

use super::view::words;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Era {
    /// From when.
    pub from_us: u64,
    /// How replicas coordinated.
    pub strategy: StrategyName,
    /// What the sink checked.
    pub guard: Vec<Guard>,
}

impl Era {
    pub(super) fn new(from_us: u64, setup: &Setup) -> Era {
        Era { from_us, strategy: setup.strategy.clone(), guard: setup.guard.clone() }
    }

    pub(super) fn is_of(&self, setup: &Setup) -> bool {
        (&self.strategy, &self.guard) == (&setup.strategy, &setup.guard)
    }
}

/// The eras of a log, in order.
pub fn eras<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<Era> {
    let mut eras: Vec<Era> = Vec::new();
    for event in events {
        if let Kind::Began { setup, .. } | Kind::Set { setup, .. } = &event.kind
            && eras.last().is_none_or(|last| !last.is_of(setup))
        {
            eras.push(Era::new(event.at_us, setup));
        }
    }
    eras
}

/// Every strategy and guard in order: `none, then pg-lease, then guard max-seen`.
pub fn listed(eras: &[Era]) -> String {
    let mut said: Vec<String> = Vec::new();
    for (i, era) in eras.iter().enumerate() {
        let before = i.checked_sub(1).and_then(|i| eras.get(i));
        let strategy = before.is_none_or(|before| before.strategy != era.strategy).then(|| era.strategy.to_string());
        let had = before.map_or(&[][..], |before| &before.guard);
        let guard = (had != era.guard).then(|| format!("guard {}", words::guards(&era.guard)));
        said.push(strategy.into_iter().chain(guard).collect::<Vec<_>>().join(", "));
    }
    said.join(", then ")
}
