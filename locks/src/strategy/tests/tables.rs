//! Random walks against a driver that answers in every way a driver may, at any time: every move stands
//! in the table, every row of the table is taken, and what a driver relies on holds.

use super::*;
use crate::guard::Guard;
use crate::ids::SinkName;
use crate::setup::Handler;
use crate::strategy::none::NoLock;
use crate::strategy::pg_claim::PgClaim;
use crate::strategy::pg_lease::PgLease;
use crate::strategy::pg_row_lock::PgRowLock;
use crate::strategy::redis_set_nx::RedisSetNx;
use crate::strategy::redlock::Redlock;

/// A small seeded generator: the same walks every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())].clone()
    }
}

/// What the driver still owes an answer to.
#[derive(Clone, Debug)]
enum Owed {
    Command(CommandId, At, Session, Language),
    Enter(Option<At>),
    Work { told: bool },
    Effect(Option<At>),
    EffectAnswer,
    Leave,
}

/// One attempt, from due to finish.
fn one_attempt<S: Strategy>(w: &mut Walk<S>, dice: &mut Dice) {
    let mut owed: Vec<Owed> = Vec::new();
    let mut finished = 0;
    let mut out = w.due();
    for _ in 0..2000 {
        for output in &out {
            assert_eq!(finished, 0, "{output:?} behind the finish");
            match output {
                Output::Send { command, session, op, .. } => {
                    owed.push(Owed::Command(*command, w.now, *session, op.wire().language));
                }
                Output::Enter { not_after, .. } => owed.push(Owed::Enter(*not_after)),
                Output::Stop { .. } => {
                    let work = owed.iter_mut().find(|one| matches!(one, Owed::Work { .. }));
                    *work.expect("stopped a handler that does not work") = Owed::Work { told: true };
                }
                Output::Effect { not_after, .. } => owed.push(Owed::Effect(*not_after)),
                Output::Leave { .. } => owed.push(Owed::Leave),
                Output::Finish { .. } => finished += 1,
                Output::Discard { .. } | Output::Extended { .. } => {}
            }
        }
        let asked = owed.iter().filter_map(|one| if let Owed::Command(_, _, on, _) = one { Some(on) } else { None });
        let mut asked: Vec<_> = asked.collect();
        asked.sort();
        assert!(asked.windows(2).all(|two| two[0] != two[1]), "two commands on one session: {owed:?}");
        if finished > 0 {
            assert_eq!(w.strategy.state(), "idle");
            assert!(owed.is_empty(), "finished while the driver still owes {owed:?}");
            return;
        }
        // Only a lock that lives in its session is lost with it.
        out = match dice.roll(if S::info().lock_at == LockAt::RowLock { 11 } else { 10 }) {
            0 => w.cancel(),
            10 => w.feed(Input::SessionLost { session: Session("lock") }),
            1 | 2 => {
                w.now = w.now.plus(dice.pick(&[1, 10, 100, 1000, 4000]));
                Vec::new()
            }
            3 | 4 => match w.strategy.next_timer() {
                Some(at) => {
                    w.now = w.now.max(at);
                    w.tick()
                }
                None => w.tick(),
            },
            _ if owed.is_empty() => Vec::new(),
            _ => {
                let next = dice.roll(owed.len());
                answer(w, owed.swap_remove(next), &mut owed, dice)
            }
        };
    }
    panic!("no end in {:?}, owed {owed:?}", w.strategy);
}

/// What a look at a slot's row may show, in sets of four.
fn looks<O: Op>(sent: &[(CommandId, At, O)]) -> Vec<[Reply; 4]> {
    let token = sent.iter().rev().find_map(|(_, _, op)| {
        let wire = op.wire();
        (wire.name == "acquire").then(|| wire.params[1].clone())
    });
    let look = |state: &str, picked_by: Option<Param>, dead: bool| {
        let row =
            vec![Param::Text(state.to_owned()), Param::Int(1), picked_by.unwrap_or(Param::Null), Param::Bool(dead)];
        Reply::Rows { affected: 1, row }
    };
    vec![
        [look("due", None, false), look("due", None, false), look("done", None, false), rows(0)],
        [look("claimed", None, true), look("claimed", None, true), look("sending", None, true), Reply::Busy],
        [look("claimed", None, false), look("claimed", token.clone(), false), look("sending", token, false), rows(0)],
    ]
}

fn rescued(state: &str) -> Reply {
    Reply::Rows { affected: 1, row: vec![Param::Int(1), Param::Text(state.to_owned())] }
}

fn answer<S: Strategy>(w: &mut Walk<S>, what: Owed, owed: &mut Vec<Owed>, dice: &mut Dice) -> Vec<Output<S::Op>> {
    let attempt = attempt(w.attempts);
    let now = w.now;
    let in_time = |not_after: Option<At>| not_after.is_none_or(|limit| now < limit);
    match what {
        Owed::Command(command, sent, _, language) => {
            let refused = Reply::Refused { code: "57014".to_owned(), message: String::new() };
            let name = w.sent.iter().find(|(sent, ..)| *sent == command).map_or("", |(_, _, op)| op.wire().name);
            let of_store = match language {
                Language::Sql if name == "look" => dice.pick(&looks(&w.sent)),
                Language::Sql if name == "rescue" => {
                    [rescued("claimed"), rescued("claimed"), rescued("doubtful"), rows(0)]
                }
                Language::Sql => [granted(1), granted(2), rows(0), Reply::Busy],
                _ => [ok(), count(1), count(0), Reply::Redis(Param::Null)],
            };
            let reply = match dice.roll(7) {
                4 => Reply::NotSent,
                5 => Reply::Unknown,
                6 => refused,
                n => of_store[n].clone(),
            };
            w.feed(Input::Reply { command, sent, reply })
        }
        Owed::Enter(not_after) if in_time(not_after) && dice.roll(8) > 0 => {
            owed.push(Owed::Work { told: false });
            w.feed(Input::Entered { attempt })
        }
        Owed::Enter(_) => w.feed(Input::EnterRefused { attempt }),
        Owed::Work { told: false } => w.work_ended(dice.pick(&[WorkEnd::Done, WorkEnd::Done, WorkEnd::Failed])),
        Owed::Work { told: true } => w.work_ended(dice.pick(&[WorkEnd::Stopped, WorkEnd::Done, WorkEnd::Failed])),
        Owed::Effect(not_after) if in_time(not_after) && dice.roll(8) > 0 => {
            owed.push(Owed::EffectAnswer);
            w.feed(Input::EffectSent { attempt })
        }
        Owed::Effect(_) => w.feed(Input::EffectRefused { attempt }),
        Owed::EffectAnswer => {
            let answers = [
                EffectAnswer::Accepted,
                EffectAnswer::Rejected(Guard::MaxSeen),
                EffectAnswer::GuardUnreachable(Guard::CurrentEpoch),
                EffectAnswer::Unknown,
            ];
            w.answered(dice.pick(&answers))
        }
        Owed::Leave => w.left(),
    }
}

fn walk_everywhere<S: Strategy>() {
    let mut moves = Moves::new();
    let mut dice = Dice(1);
    let mutants: Vec<_> = S::info().mutants.iter().map(|mutant| Some(mutant.name)).chain([None]).collect();
    for round in 0..240 {
        for mutant in &mutants {
            let handler = if round % 3 == 0 { Handler::Stubborn } else { Handler::Cooperative };
            let acquire_timeout_ms = if round % 4 < 2 { 500 } else { 0 };
            let guard = if round % 5 < 3 { vec![Guard::CurrentEpoch] } else { Vec::new() };
            let sink = if round % 7 < 4 { SinkName::Bank } else { SinkName::Ledger };
            let setup = Setup { handler, renew: round % 2 == 0, acquire_timeout_ms, guard, sink, ..setup() };
            let mut w = Walk::<S>::new(&setup, *mutant);
            for _ in 0..10 {
                one_attempt(&mut w, &mut dice);
            }
            moves.append(&mut w.moves);
        }
    }
    let table: Moves = S::info().transitions.iter().map(|row| (row.0, row.2)).collect();
    assert_eq!(table.len(), S::info().transitions.len(), "two rows for one move");
    let untaken: Vec<_> = table.difference(&moves).collect();
    assert!(untaken.is_empty(), "rows that no walk took: {untaken:?}");
}

#[test]
fn none_moves_as_its_table_says() {
    walk_everywhere::<NoLock>();
}

#[test]
fn pg_claim_moves_as_its_table_says() {
    walk_everywhere::<PgClaim>();
}

#[test]
fn pg_row_lock_moves_as_its_table_says() {
    walk_everywhere::<PgRowLock>();
}

#[test]
fn pg_lease_moves_as_its_table_says() {
    walk_everywhere::<PgLease>();
}

#[test]
fn redis_set_nx_moves_as_its_table_says() {
    walk_everywhere::<RedisSetNx>();
}

#[test]
fn redlock_moves_as_its_table_says() {
    walk_everywhere::<Redlock>();
}

#[test]
fn names_find_strategies_and_mutants_and_say_what_there_is() {
    assert!(find(&"pg-lease/host-token".into()).is_ok());
    assert_eq!(
        find(&"pg-lock".into()).unwrap_err().to_string(),
        "no strategy is called \"pg-lock\"; there are none, pg-lease, pg-claim, pg-row-lock, redis-set-nx, redlock"
    );
    assert_eq!(
        find(&"pg-lease/plain".into()).unwrap_err().to_string(),
        "pg-lease has no mutant \"plain\"; it has replica-clock, zone-less, no-owner-check, host-token, \
         timeout-as-granted, leads-on"
    );
    for info in ALL {
        assert_eq!(info.transitions[0].0, "idle");
        assert!(info.mutants.iter().all(|mutant| info.mutant(mutant.name).is_some()));
    }
}

#[test]
fn an_unheard_of_outcome_is_never_open() {
    // Strategies finish; only the end of a run leaves an attempt open.
    let mut w = Walk::<NoLock>::new(&setup(), None);
    w.due();
    w.entered();
    w.work_ended(WorkEnd::Done);
    w.effect_sent();
    w.answered(EffectAnswer::Unknown);
    match &w.left()[..] {
        [Output::Finish { outcome, .. }] => assert_eq!(*outcome, Outcome::Failed),
        other => panic!("{other:?}"),
    }
}
