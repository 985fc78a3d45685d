//! Moves as they are read: every form, and what is said of what is none.

use super::EXERCISE;
use super::moves::{Answer, PARTS};

#[test]
fn the_model_has_as_many_moves_as_are_known() {
    let answer = Answer::read(EXERCISE.model).unwrap();
    for ((scenario, moves), part) in answer.parts.iter().zip(&PARTS) {
        assert_eq!(*moves, part.shortest);
        assert_eq!(scenario.steps.len(), moves + 1, "one step a move, and the slot");
        assert_eq!(scenario.setup.strategy.to_string(), part.strategy);
    }
    assert!(answer.because.0);
    assert!(!Answer::read(EXERCISE.starter).unwrap().because.0);
}

#[test]
fn what_is_no_move_is_told_at_its_place() {
    for (from, to, line, says) in [
        ("\"B done\"", "\"C done\"", 5, "`C done` is no move"),
        ("\"B done\"", "\"resume B\"", 5, "cannot be done here"),
        ("\"jump 3\"", "\"elapse\"", 13, "`hold A 1 2`, `jump 3`"),
        ("\"jump 3\"", "\"jump 6\"", 13, "no move"),
        ("\"hold A 1 2\"", "\"hold A\"", 11, "no move"),
        ("\"lock-row\"", "\"luck\"", 19, "`\"lock-row\"`"),
        ("[part3]", "[part4]", 1, "needs `part3`"),
        ("\"elapse\"", "3", 4, "a move is text"),
    ] {
        let mistake = Answer::read(&EXERCISE.model.replacen(from, to, 1)).unwrap_err();
        assert!(mistake.message.contains(says), "{from} -> {to}: {}", mistake.message);
        assert!(mistake.line == Some(line) || line == 1, "{from} -> {to}: {mistake:?}");
    }
}

#[test]
fn a_longer_way_is_a_way() {
    let longer = EXERCISE.model.replacen("\"B done\"", "\"pause A\", \"B done\", \"resume A\"", 1);
    assert_eq!(Answer::read(&longer).unwrap().parts[0].1, 6);
    let jumps = "[part1]\nmoves = [\"A done\"]\n[part2]\nmoves = [\"A until effect\", \"jump 1\", \"jump 2\", \"jump 3\", \
                 \"B done\", \"A done\"]\n[part3]\nbecause = \"once\"\n";
    assert_eq!(Answer::read(jumps).unwrap().parts[1].1, 6);
}
