//! A trace in words: what the page and the command line show of a violation.

use super::search::{Broken, HORIZON, QUIET_HORIZON, Trace};
use super::table::{Base, Table};
use super::world::{Answer, Call, Move, Phase, Row, Timer, World};
use crate::homework::Failure;

/// One move, as it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// In which tick.
    pub tick: u8,
    /// What happens.
    pub what: String,
    /// What A is doing then, and until when it means to.
    pub a: String,
    /// What the store's row says then.
    pub row: String,
    /// B is inside then.
    pub b_inside: bool,
}

/// The trace, move by move.
pub fn tell(trace: &Trace, table: &Table) -> Vec<Told> {
    let mut before = World::start();
    let mut told = Vec::with_capacity(trace.len());
    for (by, world) in trace {
        told.push(Told {
            tick: world.now,
            what: what(*by, &before, world),
            a: doing(world, table),
            row: row(world),
            b_inside: world.row == Row::OfB,
        });
        before = *world;
    }
    told
}

fn what(by: Move, before: &World, world: &World) -> String {
    let asking = before.a == Phase::Asking;
    match by {
        Move::Tick => format!("time goes on to tick {}", world.now),
        Move::Reaches(Answer::Ok) if asking => {
            format!("A's request reaches the store: granted, to tick {}", world.expires)
        }
        Move::Reaches(Answer::Ok) => format!("A's renewal reaches the store: extended to tick {}", world.expires),
        Move::Reaches(Answer::Zero) => "A's renewal reaches the store: the row is not A's".to_owned(),
        Move::Reaches(Answer::Error) => "A's renewal meets an error at the store, which changes nothing".to_owned(),
        Move::ReachesLate => "a renewal that A had given up reaches the store".to_owned(),
        Move::Reads(Answer::Ok) if asking => format!("A reads its grant and enters{}", now_doing(before, world)),
        Move::Reads(Answer::Ok) => format!("A reads `ok`{}", now_doing(before, world)),
        Move::Reads(Answer::Zero) => format!("A reads `zero`{}", now_doing(before, world)),
        Move::Reads(Answer::Error) => format!("A reads `error`{}", now_doing(before, world)),
        Move::ReadsTooLate => "A reads its grant when its deadline is past, and does not enter".to_owned(),
        Move::Due(Timer::Deadline) => format!("A's deadline is there{}", now_doing(before, world)),
        Move::Due(Timer::RenewDue) => format!("a renewal is due{}", now_doing(before, world)),
        Move::Due(Timer::Timeout) => format!("A's call times out{}", now_doing(before, world)),
        Move::Deletes => "an operator deletes the row".to_owned(),
        Move::TakesOver => "the lease is over for the store: B takes over and enters".to_owned(),
    }
}

fn now_doing(before: &World, world: &World) -> String {
    let asks = world.call == Call::Asked && world.a == Phase::Renewing;
    match world.a {
        Phase::Renewing if asks => ": it sends a renewal".to_owned(),
        Phase::Stopped => ": it stops".to_owned(),
        _ if before.a == Phase::Asking => String::new(),
        Phase::Holding if world.deadline != before.deadline => {
            format!(": it goes on in Holding, with the deadline at tick {}", world.deadline)
        }
        phase => format!(": it goes on in {phase:?}"),
    }
}

fn doing(world: &World, table: &Table) -> String {
    use super::table::Target::Ignore;
    let looks = match world.a {
        Phase::Asking => return "Asking".to_owned(),
        Phase::Stopped => return "Stopped".to_owned(),
        Phase::Holding => table.holding_deadline != Ignore,
        Phase::Renewing => table.renewing_deadline != Ignore,
    };
    match looks && !world.told {
        true => format!("{:?}, to tick {}", world.a, world.deadline),
        false => format!("{:?}, without a deadline", world.a),
    }
}

fn row(world: &World) -> String {
    match world.row {
        Row::Empty => "free".to_owned(),
        Row::OfA if world.now < world.expires => format!("A, to tick {}", world.expires),
        Row::OfA => "A, expired".to_owned(),
        Row::Deleted => format!("deleted; B waits to tick {}", world.expires),
        Row::OfB => "B".to_owned(),
    }
}

/// The violation as a result of grading.
pub(super) fn failure(broken: Broken, trace: &Trace, table: &Table) -> Failure {
    let told = tell(trace, table);
    let last = trace.last().map(|(_, world)| *world).unwrap_or_else(World::start);
    let (reason, why, expected, observed) = match broken {
        Broken::BothInside => {
            let expected = match last.a {
                Phase::Renewing => "A has left before the store lets B in, also while a renewal is out.",
                _ => "A has left before the store lets B in.",
            };
            let believed = match (table.base, last.deadline > last.expires) {
                (Base::Answered, true) => format!(
                    " A counted its lease from when it read the answer: it means to stay to tick {}.",
                    last.deadline
                ),
                _ => String::new(),
            };
            let observed = format!("At tick {} B is inside, and A is still in {:?}.{believed}", last.now, last.a);
            ("both inside", "A and B are in the critical section at once.", expected.to_owned(), observed)
        }
        Broken::WentOn => (
            "went on after \"not yours\"",
            "The store said that the row is not A's, and A went on.",
            "Whoever reads `zero` has lost the lock, and stops at once.".to_owned(),
            format!("A read `zero` at tick {} and is in {:?}.", last.now, last.a),
        ),
        Broken::LetGo => (
            "let go without trouble",
            "Every call was answered within a tick, and still A did not keep the lock.",
            format!("On a day without trouble A is inside at tick {QUIET_HORIZON}."),
            match trace.iter().any(|(_, world)| world.inside()) {
                true => format!("A stopped at tick {}.", last.now),
                false => format!("A never entered: at tick {} its deadline was past.", last.now),
            },
        ),
    };
    let steps: Vec<String> = told.iter().zip(1..).map(|(told, n)| told.line(n)).collect();
    Failure {
        schedule: format!("{} moves", trace.len()),
        title: format!("The shortest way there, of {} moves", trace.len()),
        reason: reason.to_owned(),
        why: why.to_owned(),
        expected,
        observed,
        steps: steps.join("\n") + "\n",
        evidence: Vec::new(),
        at: 0,
        run: None,
    }
}

impl Told {
    fn line(&self, n: usize) -> String {
        let b = if self.b_inside { "; B inside" } else { "" };
        format!("{n:>2}. tick {:>2}: {} | A: {}; row: {}{b}", self.tick, self.what, self.a, self.row)
    }
}

/// What is said of an answer that passed.
pub(super) fn said(worlds: u32) -> String {
    format!(
        "Explored exhaustively, {worlds} states: every order of events up to tick {HORIZON} and every day without \
         trouble up to tick {QUIET_HORIZON}, with a lease of 6 ticks and at most two calls on their way."
    )
}
