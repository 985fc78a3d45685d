//! The series that a seed makes: moves, faults and their ends, each possible where it stands. Pure, so that
//! the same seed makes the same series whatever the machine does.

use std::time::Duration;

use locks::action::{Action, Direction, Links, NodeAction, PostgresAction};
use locks::ids::Endpoint;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

/// What a series is drawn for.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    /// The replicas, all running.
    pub(super) replicas: Vec<String>,
    /// Stores have processes of their own, which can be disturbed.
    pub(super) has_processes: bool,
}

/// One part of a series.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Move {
    /// Let a replica pass a gate.
    Pass(String),
    /// Let time go by.
    Wait(Duration),
    /// A fault begins; what ends it, if it does not end by itself.
    Begin { fault: Action, undo: Option<Action> },
    /// A fault ends.
    Undo(Action),
}

/// Most faults that are in force at the same time.
const MOST_OPEN: usize = 2;
/// Most moves between two faults.
const MOST_MOVES: u64 = 4;
/// Longest wait between two moves, in milliseconds.
const LONGEST_WAIT_MS: u64 = 40;

/// So many faults, with moves between them; all that began has ended at the end.
pub(super) fn of(seed: u64, faults: u64, stage: &Stage) -> Vec<Move> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut series = Vec::new();
    // What each open fault disturbs, and what ends it.
    let mut open: Vec<(Target, Action)> = Vec::new();
    let mut begun = 0;
    while begun < faults {
        moves(&mut random, stage, &mut series);
        if open.len() == MOST_OPEN || (!open.is_empty() && random.random_bool(0.4)) {
            let (_, undo) = open.remove(random.random_range(0..open.len()));
            series.push(Move::Undo(undo));
            continue;
        }
        let Some((target, fault, undo)) = draw(&mut random, stage) else { return series };
        // A target has one fault at a time; the draw counts for nothing then.
        if open.iter().any(|(other, _)| *other == target) {
            continue;
        }
        begun += 1;
        open.extend(undo.clone().map(|undo| (target, undo)));
        series.push(Move::Begin { fault, undo });
    }
    moves(&mut random, stage, &mut series);
    series.extend(open.into_iter().map(|(_, undo)| Move::Undo(undo)));
    series
}

fn moves(random: &mut StdRng, stage: &Stage, series: &mut Vec<Move>) {
    for _ in 0..random.random_range(1..=MOST_MOVES) {
        if let Some(name) = stage.replicas.choose(random) {
            series.push(Move::Pass(name.clone()));
        }
        series.push(Move::Wait(Duration::from_millis(random.random_range(0..=LONGEST_WAIT_MS))));
    }
}

/// What a fault disturbs.
#[derive(Clone, Debug, PartialEq)]
enum Target {
    Replica(String),
    Store(Endpoint),
}

fn draw(random: &mut StdRng, stage: &Stage) -> Option<(Target, Action, Option<Action>)> {
    let name = stage.replicas.choose(random)?.clone();
    let endpoint = *[Endpoint::Postgres, Endpoint::Redis(1), Endpoint::Bank].choose(random)?;
    let links = Links { replica: vec![name.clone()], endpoint: vec![endpoint] };
    let node = Endpoint::Redis(random.random_range(1..=Endpoint::REDIS_NODES));
    let ms = random.random_range(1..=60);
    let names = vec![name.clone()];
    let of_replica = Target::Replica(name);
    let kinds = if stage.has_processes { 9 } else { 6 };
    Some(match random.random_range(0..kinds) {
        0 => (of_replica, Action::Pause(names.clone()), Some(Action::Resume(names))),
        1 => (of_replica, Action::Kill(names.clone()), Some(Action::Start(names))),
        2 => (of_replica, Action::Cut(links.clone()), Some(Action::Heal { links, drop: random.random_bool(0.5) })),
        3 => {
            let end = Action::Delay { links: links.clone(), ms: 0, jitter_ms: 0 };
            (of_replica, Action::Delay { links, ms, jitter_ms: ms }, Some(end))
        }
        4 => {
            let what = if random.random_bool(0.5) { Direction::Request } else { Direction::Reply };
            let hold = Action::Hold { links: links.clone(), what };
            (of_replica, hold, Some(Action::LetGo { links, what: Some(what) }))
        }
        5 => {
            let shift = |shift_ms| Action::Clock { replica: names.clone(), shift_ms };
            (of_replica, shift(random.random_range(-5_000..=5_000)), Some(shift(0)))
        }
        6 => {
            let end = Action::Node(NodeAction::Start(node));
            (Target::Store(node), Action::Node(NodeAction::Kill(node)), Some(end))
        }
        7 => {
            let end = Action::Node(NodeAction::Resume(node));
            (Target::Store(node), Action::Node(NodeAction::Pause(node)), Some(end))
        }
        _ => (Target::Store(Endpoint::Postgres), Action::Postgres(PostgresAction::Restart), None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage() -> Stage {
        Stage { replicas: vec!["A".to_owned(), "B".to_owned()], has_processes: true }
    }

    fn faults(series: &[Move]) -> usize {
        series.iter().filter(|one| matches!(one, Move::Begin { .. })).count()
    }

    #[test]
    fn the_same_seed_makes_the_same_series() {
        assert_eq!(of(7, 20, &stage()), of(7, 20, &stage()));
        assert_ne!(of(7, 20, &stage()), of(8, 20, &stage()));
    }

    #[test]
    fn there_are_as_many_faults_as_asked_for_and_each_ends_once() {
        for seed in 0..50 {
            let series = of(seed, 12, &stage());
            assert_eq!(faults(&series), 12);
            let mut open: Vec<Action> = Vec::new();
            for one in series {
                match one {
                    Move::Begin { undo, .. } => open.extend(undo),
                    Move::Undo(undo) => {
                        let at = open.iter().position(|other| *other == undo).expect("it had begun");
                        open.remove(at);
                    }
                    Move::Pass(_) | Move::Wait(_) => assert!(open.len() <= MOST_OPEN),
                }
            }
            assert_eq!(open, [], "seed {seed}");
        }
    }

    #[test]
    fn what_is_somebody_elses_is_let_be() {
        let stage = Stage { has_processes: false, ..stage() };
        let store = |one: &Move| matches!(one, Move::Begin { fault: Action::Node(_) | Action::Postgres(_), .. });
        assert!(!of(3, 200, &stage).iter().any(store));
    }
}
