//! The search: breadth first, so that the first violation found is one of the shortest. What holds: never both
//! inside; never inside after hearing "not yours"; and, on a quiet day, never let go without need.

use std::collections::{HashMap, VecDeque};

use super::table::Table;
use super::world::{Answer, Call, Move, Phase, Row, Timer, World};

/// Explored up to this tick.
pub const HORIZON: u8 = 14;

/// A day without trouble is explored up to this tick.
pub const QUIET_HORIZON: u8 = 40;

/// What is violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A and B are inside at once.
    BothInside,
    /// A is inside although the store told it that the row is not its own.
    WentOn,
    /// A let go, or never entered, though every answer came within a tick.
    LetGo,
}

/// A way from the start: every move with the world after it.
pub type Trace = Vec<(Move, World)>;

/// What a search found.
#[derive(Clone, Debug)]
pub enum Found {
    /// Nothing, in so many worlds.
    Nothing(u32),
    /// A violation, and a shortest way to it.
    Violation(Broken, Trace),
}

/// Explore everything, then a quiet day.
pub fn search(table: &Table) -> Found {
    let end = |world: &World| match world.row {
        _ if !world.inside() => None,
        Row::OfB => Some(Broken::BothInside),
        _ => world.heard_zero.then_some(Broken::WentOn),
    };
    // Once A has left, nothing can be violated any more; B never leaves.
    let next = |world: &World| match world.a {
        Phase::Stopped => Vec::new(),
        _ => world.moves(table).into_iter().filter(|(_, world)| world.now <= HORIZON).collect(),
    };
    let all = match breadth_first(World::start(), next, end) {
        Found::Nothing(worlds) => worlds,
        violation => return violation,
    };
    let end = |quiet: &Quiet| (quiet.world.a == Phase::Stopped).then_some(Broken::LetGo);
    let start = Quiet { world: World::start(), answered: false };
    let next = |quiet: &Quiet| match quiet.world.now < QUIET_HORIZON {
        true => quiet.moves(table),
        false => Vec::new(),
    };
    match breadth_first(start, next, end) {
        Found::Nothing(worlds) => Found::Nothing(all + worlds),
        violation => violation,
    }
}

/// Something that is searched.
trait State: Copy + Eq + std::hash::Hash {
    fn world(&self) -> World;
}

impl State for World {
    fn world(&self) -> World {
        *self
    }
}

impl State for Quiet {
    fn world(&self) -> World {
        self.world
    }
}

fn breadth_first<S: State>(
    start: S,
    next: impl Fn(&S) -> Vec<(Move, S)>,
    broken: impl Fn(&S) -> Option<Broken>,
) -> Found {
    // Where each was reached from; looked up only, so that its order is of no matter.
    let mut from: HashMap<S, Option<(S, Move)>> = HashMap::from([(start, None)]);
    let mut open = VecDeque::from([start]);
    while let Some(state) = open.pop_front() {
        for (by, after) in next(&state) {
            if from.contains_key(&after) {
                continue;
            }
            from.insert(after, Some((state, by)));
            if let Some(broken) = broken(&after) {
                return Found::Violation(broken, way(&from, after));
            }
            open.push_back(after);
        }
    }
    Found::Nothing(u32::try_from(from.len()).unwrap_or(u32::MAX))
}

fn way<S: State>(from: &HashMap<S, Option<(S, Move)>>, to: S) -> Trace {
    let (mut trace, mut at) = (Trace::new(), to);
    while let Some((before, by)) = from.get(&at).copied().flatten() {
        trace.push((by, at.world()));
        at = before;
    }
    trace.reverse();
    trace
}

/// A world without trouble: every call is answered at once or within a tick, nobody deletes, B stays out. An answer
/// that has arrived is read before a call is given up, and A's deadline is looked at before anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Quiet {
    world: World,
    /// The call that is out reached the store in an earlier tick.
    answered: bool,
}

impl Quiet {
    fn moves(&self, table: &Table) -> Vec<(Move, Quiet)> {
        let world = self.world;
        let now = |world| Quiet { world, answered: false };
        let due = world.due(table);
        if due.contains(&Timer::Deadline) {
            return vec![(Move::Due(Timer::Deadline), now(world.after_timer(Timer::Deadline, table)))];
        }
        // What was answered in an earlier tick is read now.
        if self.answered {
            return world.read(table).into_iter().map(|(by, world)| (by, now(world))).collect();
        }
        match world.call {
            Call::Asked => vec![(Move::Reaches(Answer::Ok), now(world.reached(Answer::Ok)))],
            Call::Answered(_) => {
                let tick = World { now: world.now + 1, ..world };
                let mut moves: Vec<(Move, Quiet)> =
                    world.read(table).into_iter().map(|(by, world)| (by, now(world))).collect();
                moves.push((Move::Tick, Quiet { world: tick, answered: true }));
                moves
            }
            Call::None => match due.first() {
                Some(timer) => vec![(Move::Due(*timer), now(world.after_timer(*timer, table)))],
                None => vec![(Move::Tick, now(World { now: world.now + 1, ..world }))],
            },
        }
    }
}
