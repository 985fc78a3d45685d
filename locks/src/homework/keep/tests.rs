//! Every answer that is known, right and wrong: each wrong one fails for its own reason, in as few moves as can be.

use super::super::Graded;
use super::{EXERCISE, grade};

/// The model with some lines changed, each named by its table and key: `Renewing.zero`.
fn model(changes: &[(&str, &str)]) -> String {
    let mut section = "";
    let mut text = String::new();
    let mut changed = 0;
    for line in EXERCISE.model.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
        }
        let key = line.split(" = ").next().unwrap_or_default();
        let whole = if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
        match changes.iter().find(|(name, _)| *name == whole) {
            Some((_, value)) => {
                changed += 1;
                text.push_str(&format!("{key} = {value}\n"));
            }
            None => text.push_str(&format!("{line}\n")),
        }
    }
    assert_eq!(changed, changes.len(), "{changes:?}");
    text
}

/// Keys of the table with other values.
type Changes = &'static [(&'static str, &'static str)];

fn failed(text: &str) -> (String, usize) {
    match grade(text) {
        Graded::Failed(failure) => {
            assert!(failure.steps.lines().count() > 0 && !failure.expected.is_empty());
            (failure.reason.clone(), failure.steps.lines().count())
        }
        other => panic!("{text}\n{other:?}"),
    }
}

#[test]
fn the_model_and_answers_of_other_shapes_pass_every_time() {
    let right = [
        model(&[]),
        // Stops on any trouble.
        model(&[("Renewing.error", "\"Stopped\""), ("Renewing.timeout", "\"Stopped\"")]),
        // Asks again at once.
        model(&[("Renewing.error", "\"Renewing\""), ("Renewing.timeout", "\"Renewing\"")]),
        // A call is given up before the margin is used up.
        model(&[("timeout", "1"), ("Renewing.deadline", "\"-\"")]),
        model(&[("margin", "2"), ("renew_every", "1")]),
    ];
    for text in right {
        let first = grade(&text);
        assert!(first.is_passed(), "{text}\n{first:?}");
        for _ in 0..20 {
            assert_eq!(grade(&text), first);
        }
    }
}

#[test]
fn the_bound_and_what_was_explored_are_told() {
    let Graded::Passed { schedules, said: Some(said), .. } = grade(EXERCISE.model) else { panic!() };
    assert!(schedules > 1000, "{schedules}");
    assert!(said.contains(&schedules.to_string()) && said.contains("tick 14"), "{said}");
}

#[test]
fn wrong_answers_fail_for_their_own_reason_in_the_fewest_moves() {
    const WENT_ON: &str = "went on after \"not yours\"";
    const BOTH: &str = "both inside";
    assert_eq!(failed(EXERCISE.starter), (WENT_ON.to_owned(), 8), "starter");
    let wrong: &[(Changes, &str, usize)] = &[
        (&[("Renewing.zero", "\"-\"")], WENT_ON, 8),
        (&[("Renewing.zero", "\"Holding\"")], WENT_ON, 8),
        (&[("Renewing.deadline", "\"-\"")], BOTH, 10),
        (&[("Renewing.deadline", "\"-\""), ("timeout", "3")], BOTH, 10),
        (&[("Holding.deadline", "\"-\"")], BOTH, 12),
        (&[("base", "\"answered\"")], BOTH, 9),
        (&[("base", "\"answered\""), ("margin", "3")], BOTH, 9),
        (&[("margin", "0")], BOTH, 10),
        (&[("Renewing.timeout", "\"Holding+\"")], BOTH, 12),
        (&[("Renewing.error", "\"Holding+\"")], BOTH, 12),
        (&[("Renewing.deadline", "\"Renewing\"")], BOTH, 11),
        (&[("Renewing.deadline", "\"Renewing\""), ("Holding.deadline", "\"Renewing\"")], BOTH, 11),
    ];
    for (changes, reason, moves) in wrong {
        assert_eq!(failed(&model(changes)), ((*reason).to_owned(), *moves), "{changes:?}");
    }
}

#[test]
fn a_table_that_lets_go_without_need_is_told_so() {
    let wrong: &[&[(&str, &str)]] = &[
        &[("Renewing.ok", "\"Holding\"")],
        &[("renew_every", "4"), ("timeout", "1")],
        &[("renew_every", "5")],
        &[("renew_every", "6")],
        &[("margin", "6")],
        &[("Holding.renew_due", "\"Stopped\"")],
        &[("Holding.renew_due", "\"-\"")],
    ];
    for changes in wrong {
        assert_eq!(failed(&model(changes)).0, "let go without trouble", "{changes:?}");
    }
}

/// Tables that answer a timer with what they are doing already would spin within one tick, and look harmless.
#[test]
fn nothing_hides_behind_a_timer_that_goes_off_for_ever() {
    for key in ["Holding.deadline", "Renewing.deadline", "Holding.renew_due"] {
        for value in ["\"Holding\"", "\"Holding+\"", "\"Renewing\""] {
            if (key, value) != ("Holding.renew_due", "\"Renewing\"") {
                failed(&model(&[(key, value)]));
            }
        }
    }
}

#[test]
fn what_cannot_be_read_is_an_error_with_its_place() {
    let mistake = |text: &str| match grade(text) {
        Graded::YourError(mistake) => (mistake.line.unwrap(), mistake.column.unwrap(), mistake.message),
        other => panic!("{other:?}"),
    };
    let (line, column, message) = mistake(&model(&[("Renewing.zero", "\"Stoped\"")]));
    assert_eq!((line, column), (12, 8));
    assert!(message.contains("`\"Stopped\"`"), "{message}");
    let (line, _, message) = mistake(&model(&[("margin", "99")]));
    assert_eq!(line, 1);
    assert!(message.contains("0 to 12"), "{message}");
    let (line, _, message) = mistake(&EXERCISE.model.replace("renew_due", "renew_doe"));
    assert!(line == 6 || line == 7, "{line}");
    assert!(message.contains("renew_d"), "{message}");
    assert_eq!(mistake("margin = = 1").0, 1);
    assert!(mistake("margin = 1").2.contains("needs"), "");
}
