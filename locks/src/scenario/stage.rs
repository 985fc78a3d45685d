//! Who is on stage and in which state, as a script says it: from it follows which action is impossible
//! (resuming what is not paused, healing what was never cut). It knows scripts, not runs: whether a
//! replica really waits at a gate is the runner's business.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::{hint, list};
use crate::action::{Action, Advance, Assert, Direction, Fire, Links, NodeAction, PostgresAction, Wait};
use crate::ids::{Endpoint, Gate};
use crate::setup::{Gated, Setup, SetupChange};

/// Why an action is impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible {
    /// The name in the action that it is about, if it is about one.
    pub about: Option<String>,
    /// What is wrong.
    pub what: String,
    /// What is allowed; empty where `what` says it all.
    pub allowed: String,
}

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Running,
    Paused,
    Killed,
}

/// A change of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Pause,
    Resume,
    Kill,
    Start,
}

impl Life {
    /// The life after a turn, or why there is no such turn.
    fn turned(self, turn: Turn) -> Result<Life, &'static str> {
        match (turn, self) {
            (Turn::Pause, Life::Running) => Ok(Life::Paused),
            (Turn::Pause, Life::Paused) => Err("is paused already"),
            (Turn::Resume, Life::Paused) => Ok(Life::Running),
            (Turn::Resume, Life::Running) => Err("is not paused"),
            (Turn::Kill, Life::Running | Life::Paused) => Ok(Life::Killed),
            (Turn::Start, Life::Killed) => Ok(Life::Running),
            (Turn::Start, Life::Running | Life::Paused) => Err("was not killed"),
            (Turn::Pause | Turn::Resume | Turn::Kill, Life::Killed) => Err("is killed"),
        }
    }
}

/// The stage of a script or of a live session.
#[derive(Clone, Debug)]
pub struct Stage {
    setup: Setup,
    most_replicas: usize,
    replicas: BTreeMap<String, Life>,
    removed: BTreeSet<String>,
    /// Replicas that were given a slot since they were started.
    given: BTreeSet<String>,
    fired: BTreeSet<String>,
    stores: BTreeMap<Endpoint, Life>,
    cut: BTreeSet<(String, Endpoint)>,
    held: BTreeSet<(String, Endpoint, Direction)>,
    found: Vec<Impossible>,
}

impl Stage {
    /// The stage before the first action.
    pub fn new(setup: &Setup, most_replicas: usize) -> Stage {
        Stage {
            setup: setup.clone(),
            most_replicas,
            replicas: setup.replicas.iter().map(|name| (name.clone(), Life::Running)).collect(),
            removed: BTreeSet::new(),
            given: BTreeSet::new(),
            fired: BTreeSet::new(),
            stores: BTreeMap::new(),
            cut: BTreeSet::new(),
            held: BTreeSet::new(),
            found: Vec::new(),
        }
    }

    /// Take an action; what is impossible about it. The stage then stands as if it had been possible.
    pub fn play(&mut self, action: &Action) -> Vec<Impossible> {
        match action {
            Action::Fire(fire) => self.fire(fire),
            Action::Advance(advance) => self.advance(advance),
            Action::Wait(Wait::Ms(_)) => {}
            Action::Wait(Wait::Lock { .. }) => self.lock_is_known(),
            Action::Wait(Wait::Blocked { replica, .. }) => self.was_on_stage(replica),
            Action::Wait(Wait::Event { event, .. }) => {
                if let Some(name) = &event.replica {
                    self.was_on_stage(name);
                }
            }
            Action::Assert(Assert::Lock(_)) => self.lock_is_known(),
            Action::Assert(Assert::Holder(name)) => {
                self.lock_is_known();
                self.was_on_stage(name);
            }
            Action::Assert(Assert::Sql { .. } | Assert::Redis { .. }) => {}
            Action::Pause(names) => self.turn(names, Turn::Pause),
            Action::Resume(names) => self.turn(names, Turn::Resume),
            Action::Kill(names) => self.turn(names, Turn::Kill),
            Action::Start(names) => self.turn(names, Turn::Start),
            Action::Cancel(names) | Action::TerminateBackend(names) => self.alive(names),
            Action::Clock { replica, .. } => self.alive(replica),
            Action::Add(names) => self.add(names),
            Action::Remove(names) => self.remove(names),
            Action::Set(change) => self.set(change),
            Action::Cut(links) => {
                self.on_stage(&links.replica);
                self.cut.extend(links.each());
            }
            Action::Heal { links, .. } => self.heal(links),
            Action::Delay { links, .. } => self.on_stage(&links.replica),
            Action::Hold { links, what } => {
                self.on_stage(&links.replica);
                self.held.extend(links.each().into_iter().map(|(name, endpoint)| (name, endpoint, *what)));
            }
            Action::LetGo { links, what } => self.let_go(links, *what),
            Action::Node(node) => self.node(node),
            Action::Failover(node) => self.failover(*node),
            Action::Postgres(PostgresAction::Restart) => self.store(Endpoint::Postgres, None),
            Action::Postgres(PostgresAction::Kill) => self.store(Endpoint::Postgres, Some(Turn::Kill)),
            Action::Postgres(PostgresAction::Start) => self.store(Endpoint::Postgres, Some(Turn::Start)),
            Action::Postgres(PostgresAction::Pause) => self.store(Endpoint::Postgres, Some(Turn::Pause)),
            Action::Postgres(PostgresAction::Resume) => self.store(Endpoint::Postgres, Some(Turn::Resume)),
            Action::Session(session) => {
                if let Some(name) = session.get("replica").and_then(|name| name.as_str()) {
                    self.alive(&[name.to_owned()]);
                }
            }
            Action::Reset => self.reset(),
            // A series of chaos undoes what it did.
            Action::Elapse { .. } | Action::Chaos { .. } | Action::Sql(_) | Action::Redis { .. } => {}
        }
        std::mem::take(&mut self.found)
    }

    /// Was a replica of that name ever on stage?
    pub fn knows(&self, name: &str) -> bool {
        self.replicas.contains_key(name) || self.removed.contains(name)
    }

    /// Note that a name must be of a replica that is, or was, on stage.
    fn was_on_stage(&mut self, name: &str) {
        if !self.removed.contains(name) {
            self.life(name);
        }
    }

    fn found(&mut self, about: &str, what: String, allowed: impl Into<String>) {
        self.found.push(Impossible { about: Some(about.to_owned()), what, allowed: allowed.into() });
    }

    /// The life of a replica; a problem if there is none of that name.
    fn life(&mut self, name: &str) -> Option<Life> {
        let life = self.replicas.get(name).copied();
        if life.is_none() {
            let what = match self.removed.contains(name) {
                true => format!("`{name}` was removed"),
                false => format!("no replica is called `{name}`{}", hint(name, self.names())),
            };
            let allowed = list(self.names());
            self.found(name, what, allowed);
        }
        life
    }

    /// The replicas on stage.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.replicas.keys().map(String::as_str)
    }

    fn on_stage(&mut self, names: &[String]) {
        for name in names {
            self.life(name);
        }
    }

    fn alive(&mut self, names: &[String]) {
        for name in names {
            if self.life(name) == Some(Life::Killed) {
                self.found(name, format!("`{name}` is killed"), "`start` it first");
            }
        }
    }

    fn fire(&mut self, fire: &Fire) {
        if fire.again && !self.fired.contains(&fire.schedule) {
            let what = format!("`{}` has no slot to fire again", fire.schedule);
            self.found("again", what, "`fire` it once without `again` first");
        }
        let to = match &fire.to {
            Some(to) => {
                self.alive(to);
                to.clone()
            }
            None => {
                let up: Vec<String> = self
                    .replicas
                    .iter()
                    .filter(|(_, life)| **life != Life::Killed)
                    .map(|(name, _)| name.clone())
                    .collect();
                if up.is_empty() {
                    self.found(&fire.schedule, "no replica runs that could be given the slot".to_owned(), "");
                }
                up
            }
        };
        self.given.extend(to);
        self.fired.insert(fire.schedule.clone());
    }

    fn advance(&mut self, advance: &Advance) {
        if self.setup.gated == Gated::No {
            self.found.push(Impossible {
                about: None,
                what: "nothing waits at a gate in a run that is not gated".to_owned(),
                allowed: "`gated = true` in `[setup]`, or `wait`".to_owned(),
            });
            return;
        }
        if let Some(gate @ Gate::Send(Some(command))) = &advance.until
            && command != "release"
            && !self.setup.gated.closed_at(gate, false)
        {
            let what = format!("gate `{gate}` stands open in this set-up");
            self.found(&gate.to_string(), what, format!("`gated = [\"{command}\"]` in `[setup]`"));
        }
        for name in &advance.replica {
            match self.life(name) {
                Some(Life::Paused) => {
                    self.found(name, format!("`{name}` is paused and passes no gate"), "`resume` it first");
                }
                Some(Life::Killed) => self.found(name, format!("`{name}` is killed"), "`start` it first"),
                Some(Life::Running) if !self.given.contains(name) => {
                    self.found(name, format!("`{name}` was given no slot"), "`fire` first");
                }
                _ => {}
            }
        }
    }

    fn lock_is_known(&mut self) {
        if self.fired.is_empty() {
            let what = "`lock` means that of the latest `fire`, and nothing was fired yet".to_owned();
            self.found("lock", what, "`fire` first");
        }
    }

    fn turn(&mut self, names: &[String], turn: Turn) {
        for name in names {
            let Some(life) = self.life(name) else { continue };
            match life.turned(turn) {
                Ok(life) => {
                    self.replicas.insert(name.clone(), life);
                }
                Err(why) => {
                    let able: Vec<String> = self
                        .replicas
                        .iter()
                        .filter(|(_, life)| life.turned(turn).is_ok())
                        .map(|(name, _)| name.clone())
                        .collect();
                    self.found(name, format!("`{name}` {why}"), list(able.iter().map(String::as_str)));
                }
            }
            if turn == Turn::Kill {
                self.given.remove(name);
            }
        }
    }

    fn add(&mut self, names: &[String]) {
        for name in names {
            if self.replicas.contains_key(name) {
                self.found(name, format!("there is a replica `{name}` already"), "another name");
                continue;
            }
            if self.replicas.len() >= self.most_replicas {
                self.found(name, "one replica too many".to_owned(), format!("{} at most", self.most_replicas));
            }
            self.removed.remove(name);
            self.replicas.insert(name.clone(), Life::Running);
        }
    }

    fn remove(&mut self, names: &[String]) {
        for name in names {
            if self.life(name).is_none() {
                continue;
            }
            self.replicas.remove(name);
            self.given.remove(name);
            self.cut.retain(|(of, _)| of != name);
            self.held.retain(|(of, _, _)| of != name);
            self.removed.insert(name.clone());
        }
    }

    fn set(&mut self, change: &SetupChange) {
        self.setup.apply(change);
        if self.setup.cron && self.setup.gated != Gated::No {
            self.found("cron", "a gated run has no timers".to_owned(), "`gated = false` in `[setup]`");
        }
        if self.setup.margin_ms >= self.setup.lease_ms {
            let about = if change.margin_ms.is_some() { "margin_ms" } else { "lease_ms" };
            let (margin_ms, lease_ms) = (self.setup.margin_ms, self.setup.lease_ms);
            let what = format!("`margin_ms` {margin_ms} leaves nothing of `lease_ms` {lease_ms}");
            self.found(about, what, "a margin below the lease");
        }
    }

    fn heal(&mut self, links: &Links) {
        self.on_stage(&links.replica);
        for link in links.each() {
            if !self.cut.remove(&link) && self.is_of_somebody(&link) {
                let cut = self.cut.iter().map(|(name, endpoint)| format!("{name} to {endpoint}")).collect::<Vec<_>>();
                self.found(
                    &link.1.to_string(),
                    format!("the link of `{}` to {} is not cut", link.0, link.1),
                    cut.join(", "),
                );
            }
        }
    }

    /// Is that link of a replica on stage, or of a Redis pair?
    fn is_of_somebody(&self, (name, endpoint): &(String, Endpoint)) -> bool {
        self.replicas.contains_key(name) || matches!(endpoint, Endpoint::RedisReplica(_))
    }

    fn let_go(&mut self, links: &Links, what: Option<Direction>) {
        self.on_stage(&links.replica);
        for (name, endpoint) in links.each() {
            let mut released = false;
            for way in [Direction::Request, Direction::Reply] {
                released |= what.is_none_or(|what| what == way) && self.held.remove(&(name.clone(), endpoint, way));
            }
            if !released && self.is_of_somebody(&(name.clone(), endpoint)) {
                let what =
                    what.map_or("nothing", |way| if way == Direction::Request { "no request" } else { "no reply" });
                self.found(
                    &endpoint.to_string(),
                    format!("the link of `{name}` to {endpoint} holds {what}"),
                    "`hold` first",
                );
            }
        }
    }

    fn node(&mut self, node: &NodeAction) {
        match node {
            NodeAction::Kill(node) => self.store(*node, Some(Turn::Kill)),
            NodeAction::Start(node) => self.store(*node, Some(Turn::Start)),
            NodeAction::Pause(node) => self.store(*node, Some(Turn::Pause)),
            NodeAction::Resume(node) => self.store(*node, Some(Turn::Resume)),
            NodeAction::ScriptFlush(node) | NodeAction::ClockShift { clock_shift: node, .. } => self.store(*node, None),
        }
    }

    /// The node is another process from now on: one that runs, also where the old one was killed.
    fn failover(&mut self, node: Endpoint) {
        if self.stores.get(&node) == Some(&Life::Paused) {
            self.found(
                &node.to_string(),
                format!("{node} is paused"),
                "`node = { resume = ... }` it first, or kill it",
            );
        }
        self.stores.insert(node, Life::Running);
    }

    /// Everything runs again, and nothing was done yet.
    fn reset(&mut self) {
        self.replicas.values_mut().for_each(|life| *life = Life::Running);
        self.given.clear();
        self.fired.clear();
        self.stores.clear();
        self.cut.clear();
        self.held.clear();
    }

    /// A turn of a store, or an act for which it must run.
    fn store(&mut self, store: Endpoint, turn: Option<Turn>) {
        let life = self.stores.get(&store).copied().unwrap_or(Life::Running);
        let next = match turn {
            Some(turn) => life.turned(turn),
            None if life == Life::Running => Ok(Life::Running),
            None => Err("does not run"),
        };
        match next {
            Ok(life) => {
                self.stores.insert(store, life);
            }
            Err(why) => self.found(&store.to_string(), format!("{store} {why}"), ""),
        }
    }
}
