//! What a learner decided in a run that is stepped through, in order: what is taken back by making the others once
//! more, and what an address repeats. A list of decisions, not of states. It does nothing by itself.

use std::collections::BTreeMap;
use std::time::Duration;

use locks::action::{Action, Advance};
use locks::ids::Gate;
use locks::machine::{LockState, Outcome};
use locks::scenario::{Expect, LIMIT_MS, Scenario, Step};
use locks::setup::{Gated, Setup};

use super::standing::Standing;

/// Most decisions of an address.
const MOST: usize = 200;

/// Decisions since the run began, or since it was reset.
#[derive(Clone, Debug)]
pub struct Decisions {
    /// The set-up with which they begin.
    pub from: Setup,
    /// In order.
    pub made: Vec<Decision>,
}

/// One decision.
#[derive(Clone, Debug)]
pub struct Decision {
    /// What was decided.
    pub action: Action,
    /// How everything stood before it.
    pub before: Place,
    /// How long it took until it was decided.
    pub thought: Duration,
    /// How long it took.
    pub took: Duration,
}

/// Where a run stands, as far as a decision hangs on it: who waits at which gate, and whether a lock had expired.
/// Who is on the way somewhere is at no place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    replicas: BTreeMap<String, Vec<Waits>>,
    expired: bool,
}

/// Where an attempt that is not over waits, and how it ended if it is final.
type Waits = (Vec<Gate>, Option<Outcome>);

impl Place {
    /// How a run stands.
    pub fn of(standing: &Standing) -> Place {
        let at_rest = standing.replicas.iter().filter(|(_, replica)| replica.ready && replica.is_at_rest());
        let replicas = at_rest.map(|(name, replica)| {
            let waits = replica.attempts.values().map(|one| {
                let gates = one.at.iter().map(|(gate, _)| gate.clone()).collect();
                (gates, one.outcome)
            });
            (name.clone(), waits.collect())
        });
        let lock = standing.latest_lock.as_ref().and_then(|lock| standing.locks.get(lock));
        Place { replicas: replicas.collect(), expired: lock.is_some_and(|lock| lock.state == LockState::Expired) }
    }

    /// Is a run that stands there as far as this?
    pub fn is_reached(&self, at: &Place) -> bool {
        self.behind(at).next().is_none() && (at.expired || !self.expired)
    }

    /// Replicas that are not where they were.
    pub fn behind<'a>(&'a self, at: &'a Place) -> impl Iterator<Item = &'a str> {
        let behind = self.replicas.iter().filter(|(name, waits)| at.replicas.get(*name) != Some(waits));
        behind.map(|(name, _)| name.as_str())
    }
}

impl Decisions {
    /// None yet.
    pub fn new(from: Setup) -> Decisions {
        Decisions { from, made: Vec::new() }
    }

    /// The address that repeats them, relative to the lab's.
    pub fn address(&self) -> String {
        let setup = scenario(self.from.clone(), Vec::new()).to_toml();
        let setup = setup.split_once("[setup]\n").map_or("", |(_, setup)| setup).trim_end();
        let moves: Vec<String> = self.made.iter().map(|decision| word(&decision.action)).collect();
        format!("/lab/moves?setup={}&do={}", encoded(setup), encoded(&moves.join("; ")))
    }
}

/// What an address names: a set-up and what is decided under it. It is checked as a scenario is.
pub fn read(setup: &str, moves: &str) -> Result<(Setup, Vec<Action>), String> {
    let mut text = format!("name = \"moves\"\ntitle = \"Moves\"\n\n[setup]\n{setup}\n");
    let words: Vec<&str> = moves.split(';').map(str::trim).filter(|word| !word.is_empty()).collect();
    if words.is_empty() || words.len() > MOST {
        return Err(format!("An address names 1 to {MOST} moves; this one {}.", words.len()));
    }
    for word in words {
        let is_name = word.chars().all(|letter| letter.is_alphanumeric());
        let line = if is_name { format!("advance = {{ replica = \"{word}\" }}") } else { word.to_owned() };
        text.push_str(&format!("\n[[step]]\n{line}\n"));
    }
    let scenario = Scenario::parse(&text).map_err(|problems| {
        let said = problems.iter().map(|problem| format!("{} (allowed: {})", problem.what, problem.allowed));
        said.collect::<Vec<_>>().join("; ")
    })?;
    if scenario.setup.gated == Gated::No || scenario.setup.cron {
        return Err("Only a run with gates repeats its moves: set `gated = true`.".to_owned());
    }
    if scenario.setup.replicas.len() > Setup::MAX_LIVE_REPLICAS {
        return Err(format!("A lab has {} replicas at most.", Setup::MAX_LIVE_REPLICAS));
    }
    Ok((scenario.setup, scenario.steps.into_iter().map(|step| step.action).collect()))
}

/// A decision in a word, as addresses have it: a step of a replica is its name.
pub fn word(action: &Action) -> String {
    match action {
        Action::Advance(Advance { replica, until: None, .. }) if replica.len() == 1 => replica[0].clone(),
        // How long one was patient is no part of what was decided.
        Action::Advance(advance) => Action::Advance(Advance { limit_ms: LIMIT_MS, ..advance.clone() }).to_toml_inline(),
        action => action.to_toml_inline(),
    }
}

fn scenario(setup: Setup, steps: Vec<Step>) -> Scenario {
    let (name, title) = ("moves".to_owned(), "Moves".to_owned());
    Scenario { name, title, timed: false, setup, steps, expect: Expect::default(), homework: None }
}

/// Text in a query.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
        b' ' => "+".to_owned(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use locks::action::Fire;

    use super::*;

    fn step(name: &str) -> Action {
        Action::Advance(Advance { replica: vec![name.to_owned()], until: None, limit_ms: 2500 })
    }

    fn made(actions: &[Action]) -> Vec<Decision> {
        let (before, thought, took) = (Place::default(), Duration::ZERO, Duration::ZERO);
        let of = |action: &Action| Decision { action: action.clone(), before: before.clone(), thought, took };
        actions.iter().map(of).collect()
    }

    #[test]
    fn an_address_reads_back_as_what_was_decided() {
        let mut from = Setup { strategy: "redis-set-nx/look-then-take".into(), ..Setup::default() };
        from.gated = Gated::Yes(vec!["look".parse().unwrap()]);
        from.replicas = vec!["A".to_owned(), "B".to_owned()];
        from.lease_ms = 600_000;
        let fire = Action::Fire(Fire { schedule: "settle-invoices".to_owned(), to: None, again: false });
        let actions = [fire, step("A"), step("B"), Action::Pause(vec!["A".to_owned()]), Action::Elapse { ms: 600_000 }];
        let address = Decisions { from: from.clone(), made: made(&actions) }.address();
        let text = address.replace('+', " ");
        let mut bytes = Vec::new();
        let mut rest = text.as_bytes();
        while let Some((first, after)) = rest.split_first() {
            rest = match first {
                b'%' => {
                    bytes.push(u8::from_str_radix(std::str::from_utf8(&after[..2]).unwrap(), 16).unwrap());
                    &after[2..]
                }
                _ => {
                    bytes.push(*first);
                    after
                }
            };
        }
        let text = String::from_utf8(bytes).unwrap();
        let (setup, moves) = text.strip_prefix("/lab/moves?setup=").unwrap().split_once("&do=").unwrap();
        assert!(moves.contains("; A; B; pause = \"A\"; "), "{moves}");
        let (read_setup, read_actions) = read(setup, moves).unwrap();
        assert_eq!(read_setup, from);
        let words = |actions: &[Action]| actions.iter().map(word).collect::<Vec<_>>();
        assert_eq!(words(&read_actions), words(&actions));
    }

    #[test]
    fn what_cannot_be_is_refused_in_words() {
        for (setup, moves, says) in [
            ("", "", "1 to"),
            ("replicas = [\"A\"]", "fire = { schedule = \"settle-invoices\" }; Z", "Z"),
            ("gated = false", "fire = { schedule = \"settle-invoices\" }", "gated"),
            ("", "dance = \"A\"", "dance"),
        ] {
            let said = read(setup, moves).unwrap_err();
            assert!(said.contains(says), "{setup} {moves}: {said}");
        }
    }
}
