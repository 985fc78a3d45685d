//! Strategies against a fake driver: scripted walks for each rule, random walks for the tables.

mod lease_rules;
mod mutants;
mod pg_claim;
mod pg_row_lock;
mod redis_set_nx;
mod redlock;
mod tables;

use std::collections::BTreeSet;

use super::*;
use crate::ids::{At, AttemptId, CommandId, Slot, Token};
use crate::machine::Outcome;
use crate::setup::Setup;

type Moves = BTreeSet<(&'static str, &'static str)>;

/// A driver without gates: it is told what happens, and keeps what the strategy wants.
struct Walk<S: Strategy> {
    strategy: S,
    now: At,
    moves: Moves,
    sent: Vec<(CommandId, At, S::Op)>,
    attempts: u32,
}

fn attempt(n: u32) -> AttemptId {
    AttemptId { replica: "A".to_owned(), incarnation: 1, n }
}

/// Lease 3000, margin 50, from 1000 on.
fn setup() -> Setup {
    Setup { strategy: "pg-lease".into(), ..Setup::default() }
}

fn granted(epoch: i64) -> Reply {
    Reply::Rows { affected: 1, row: vec![Param::Int(epoch)] }
}

fn ok() -> Reply {
    Reply::Redis(Param::Text("OK".to_owned()))
}

fn count(n: i64) -> Reply {
    Reply::Redis(Param::Int(n))
}

fn rows(affected: u64) -> Reply {
    Reply::Rows { affected, row: Vec::new() }
}

impl<S: Strategy> Walk<S> {
    fn new(setup: &Setup, mutant: Option<&'static str>) -> Self {
        let strategy = S::new(setup, mutant, "host-a");
        Walk { strategy, now: At(1000), moves: Moves::new(), sent: Vec::new(), attempts: 0 }
    }

    /// Every input goes through here, so every move is checked against the table.
    fn feed(&mut self, input: Input) -> Vec<Output<S::Op>> {
        let from = self.strategy.state();
        let out = self.strategy.on(self.now, input.clone());
        let to = self.strategy.state();
        if from != to {
            assert!(S::info().on(from, to).is_some(), "{from} -> {to} on {input:?} is not in the table");
            self.moves.insert((from, to));
        }
        for output in &out {
            if let Output::Send { command, op, .. } = output {
                self.sent.push((*command, self.now, op.clone()));
            }
        }
        out
    }

    fn due(&mut self) -> Vec<Output<S::Op>> {
        self.attempts += 1;
        let slot = Slot { schedule: "s".to_owned(), fire_ms: i64::from(self.attempts) };
        let token = Token(format!("token-{}", self.attempts));
        self.feed(Input::Due { attempt: attempt(self.attempts), slot, lock: "s".to_owned(), token, jitter: 7 })
    }

    /// Answer the latest command.
    fn reply(&mut self, reply: Reply) -> Vec<Output<S::Op>> {
        let (command, sent, _) = self.sent.last().expect("a command was sent").clone();
        self.feed(Input::Reply { command, sent, reply })
    }

    fn at(&mut self, now: u64) -> &mut Self {
        self.now = At(now);
        self
    }

    fn tick(&mut self) -> Vec<Output<S::Op>> {
        self.feed(Input::Tick)
    }

    fn entered(&mut self) -> Vec<Output<S::Op>> {
        self.feed(Input::Entered { attempt: attempt(self.attempts) })
    }

    fn work_ended(&mut self, how: WorkEnd) -> Vec<Output<S::Op>> {
        self.feed(Input::WorkEnded { attempt: attempt(self.attempts), how })
    }

    fn effect_sent(&mut self) -> Vec<Output<S::Op>> {
        self.feed(Input::EffectSent { attempt: attempt(self.attempts) })
    }

    fn answered(&mut self, answer: EffectAnswer) -> Vec<Output<S::Op>> {
        self.feed(Input::EffectAnswered { attempt: attempt(self.attempts), answer })
    }

    fn left(&mut self) -> Vec<Output<S::Op>> {
        self.feed(Input::Left { attempt: attempt(self.attempts) })
    }

    fn cancel(&mut self) -> Vec<Output<S::Op>> {
        self.feed(Input::Cancel { attempt: attempt(self.attempts) })
    }

    /// Due, granted at once, entered.
    fn inside(&mut self) -> &mut Self {
        self.due();
        self.reply(granted(1));
        self.entered();
        assert_eq!(self.strategy.state(), "working");
        self
    }

    fn last_text(&self) -> Wire {
        self.sent.last().expect("a command was sent").2.wire()
    }
}

/// The outputs in short, for comparing: names, and what matters of each.
fn short<O: Op>(outputs: &[Output<O>]) -> Vec<String> {
    let one = |output: &Output<O>| match output {
        Output::Send { op, retry, .. } => format!("send {}{}", op.wire().name, if *retry { " again" } else { "" }),
        Output::Discard { .. } => "discard".to_owned(),
        Output::Enter { not_after, .. } => format!("enter until {}", until(*not_after)),
        Output::Extended { not_after, .. } => format!("extended until {}", not_after.0),
        Output::Stop { .. } => "stop".to_owned(),
        Output::Effect { not_after, .. } => format!("effect until {}", until(*not_after)),
        Output::Leave { forced: true, why, .. } => format!("leave at once: {why}"),
        Output::Leave { not_after, why, .. } => format!("leave until {}: {why}", until(*not_after)),
        Output::Finish { outcome, why, .. } => format!("{}: {why}", outcome.name()),
    };
    outputs.iter().map(one).collect()
}

fn until(at: Option<At>) -> String {
    at.map_or_else(|| "ever".to_owned(), |at| at.0.to_string())
}
