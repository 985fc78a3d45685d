//! Step 8: cells of the matrix, the ladder, the quiz.

use super::super::Cell;
use super::*;

fn look(task: &str, cells: &[Cell]) -> Look {
    let By::Cells(look) = step(8).unwrap().task(task).unwrap().by else { panic!("{task} looks elsewhere") };
    look(cells)
}

fn cell(script: &str, guard: &str, covered: Option<bool>, predicted_first: bool) -> Cell {
    let (script, strategy, guard) = (script.to_owned(), "pg-lease".to_owned(), guard.to_owned());
    Cell { script, strategy, guard, covered, predicted_first }
}

#[test]
fn twelve_cells_must_be_said_before_they_are_run() {
    assert_eq!(look("a", &[]).misses, Some("nothing-said"));
    let of = |n: usize, covered, first| vec![cell("x", "none", covered, first); n];
    assert_eq!(look("a", &of(12, Some(true), false)).misses, Some("nothing-said"));
    assert_eq!(look("a", &of(12, None, true)).misses, Some("nothing-run"));
    assert_eq!(look("a", &of(11, Some(false), true)).misses, Some("too-few"));
    assert_eq!(look("a", &of(12, Some(false), true)).proved.len(), 1);
}

#[test]
fn a_pair_is_signed_when_it_came_through_all_four() {
    let all = ["crash-while-holding", "pause-past-lease", "work-longer-than-lease", "cut-off"];
    let mut cells: Vec<Cell> = all.iter().map(|script| cell(script, "none", Some(true), false)).collect();
    assert_eq!(look("c", &cells).misses, Some("no-guard"));
    cells.iter_mut().for_each(|cell| cell.guard = "current-epoch".to_owned());
    assert_eq!(look("c", &cells).proved.len(), 1);
    assert_eq!(look("c", &cells[..3]).misses, Some("incomplete"));
    cells[1].covered = Some(false);
    assert_eq!(look("c", &cells).misses, Some("not-covered"));
}

#[test]
fn a_quiz_is_passed_with_eight() {
    let By::Answers(quiz) = step(8).unwrap().task("d").unwrap().by else { panic!("no quiz") };
    assert_eq!((quiz(0).misses, quiz(7).misses, quiz(8).proved.len()), (Some("unanswered"), Some("too-few"), 1));
}

#[test]
fn a_guard_set_behind_the_end_ticks_nothing() {
    let mut log = Log::new("lesson/8/ladder", Setup::default());
    log.due(10, "A.1.1", 1).due(11, "B.1.1", 1).says(20, LockState::Held, Some("A.1.1"));
    let pause = Fault::Pause { process: ProcessName::Replica("A".to_owned()) };
    log.fault(30, 1, pause.clone(), true).granted(40, "B.1.1", &[]).fault(50, 1, pause, false);
    log.settled(60, "A.1.1", 1, EffectAnswer::Accepted).settled(70, "B.1.1", 1, EffectAnswer::Accepted);
    log.finished(80, "A.1.1", 1, Outcome::Executed).finished(81, "B.1.1", 1, Outcome::Executed);
    assert_eq!(log.proves("8b"), ["none"]);
    log.set(90, SetupChange { guard: Some(vec![Guard::MaxSeen]), ..SetupChange::default() });
    assert_eq!(log.proves("8b"), ["none"]);
}
