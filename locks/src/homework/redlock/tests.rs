//! Every answer that is known, right and wrong: each wrong one fails for its own reason.

use super::super::Graded;
use super::{EXERCISE, grade};

fn with(changes: &[(&str, &str)]) -> String {
    let line = |line: &str| {
        let name = line.split(" = ").next().unwrap_or_default();
        let changed = changes.iter().find(|(changed, _)| *changed == name);
        changed.map_or_else(|| line.to_owned(), |(name, value)| format!("{name} = {value}"))
    };
    EXERCISE.model.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn failed(text: &str) -> (String, String) {
    match grade(text) {
        Graded::Failed(failure) => (failure.reason, failure.steps),
        other => panic!("{text}\n{other:?}"),
    }
}

#[test]
fn the_model_and_answers_of_other_shapes_pass_every_time() {
    for changes in [
        &[][..],
        &[("quorum", "(n + 2) / 2")],
        &[("acquired", "granted * 2 > n and validity > 0")],
        &[("validity", "lease * 99 / 100 - elapsed - 2")],
        &[("acquired", "validity >= 1 and granted >= quorum")],
        &[("validity", "max(0, lease - elapsed - lease / 100 - 2)")],
        &[("node_timeout_ms", "50"), ("retry_jitter_ms", "1")],
        &[("node_timeout_ms", "300"), ("retry_jitter_ms", "200")],
    ] {
        let text = with(changes);
        let first = grade(&text);
        assert!(first.is_passed(), "{text}\n{first:?}");
        for _ in 0..2 {
            assert_eq!(grade(&text), first);
        }
    }
}

#[test]
fn wrong_answers_fail_for_their_own_reason() {
    const DISJOINT: &str = "two disjoint quorums";
    const REFUSED: &str = "majority refused";
    const LONG: &str = "trusted too long";
    const TIMID: &str = "too timid";
    const EMPTY: &str = "grant without validity";
    let (reason, steps) = failed(EXERCISE.starter);
    assert_eq!(reason, DISJOINT);
    assert!(steps.contains("n = 3") && steps.contains("A is granted by 1 of the nodes, B by 1"), "{steps}");
    let wrong: &[(&str, &str, &str, &str)] = &[
        ("quorum", "n / 2", DISJOINT, "n = 3"),
        ("quorum", "(n + 1) / 2", DISJOINT, "n = 4"),
        ("quorum", "3", DISJOINT, "n = 6"),
        ("acquired", "granted >= quorum or validity > 0", DISJOINT, "n = 3"),
        ("quorum", "n - 1", REFUSED, "n = 5"),
        ("quorum", "n", REFUSED, "n = 3"),
        ("validity", "lease - lease / 100 - 2", LONG, "elapsed = "),
        ("validity", "lease - elapsed", LONG, "lease = 10,"),
        ("validity", "lease - elapsed - 2", LONG, "lease = 1"),
        ("validity", "lease - elapsed - lease / 100", LONG, "lease = 1"),
        ("validity", "lease - elapsed - elapsed / 100 - 2", LONG, "lease = 1"),
        ("validity", "(lease - elapsed) * 99 / 100 - 2", LONG, "elapsed = "),
        ("validity", "lease - elapsed + lease / 100 + 2", LONG, "lease = 1"),
        ("validity", "max(1, lease - elapsed - lease / 100 - 2)", LONG, "elapsed = "),
        ("validity", "lease / 2 - elapsed", TIMID, "lease = "),
        ("acquired", "granted >= quorum and validity >= 0", EMPTY, "validity = 0"),
        ("acquired", "granted >= quorum", EMPTY, "validity = "),
        ("acquired", "validity > 0 and granted > quorum", REFUSED, "n = 3"),
        ("acquired", "granted >= quorum and validity > 200", "counted wrongly", "is dead"),
        ("acquired", "granted >= quorum and validity > lease / 2", "counted wrongly", "is dead"),
        ("node_timeout_ms", "1500", "nothing left", "node_timeout_ms"),
        ("node_timeout_ms", "20", "live nodes given up", "node_timeout_ms = 20"),
        ("retry_jitter_ms", "0", "retries in step", "retry_jitter_ms = 0"),
        ("retry_jitter_ms", "5000", "waits too long", "retry_jitter_ms = 5000"),
    ];
    for (name, value, reason, says) in wrong {
        let (found, steps) = failed(&with(&[(name, value)]));
        assert_eq!(found, *reason, "{name} = {value}: {steps}");
        assert!(steps.contains(says) || *says == "node_timeout_ms", "{name} = {value}: {steps}");
    }
}

#[test]
fn an_answer_that_never_acquires_is_no_answer() {
    assert_eq!(failed(&with(&[("validity", "0")])).0, "majority refused");
    assert_eq!(failed(&with(&[("acquired", "false")])).0, "majority refused");
    assert_eq!(failed(&with(&[("acquired", "true")])).0, "two disjoint quorums");
}

#[test]
fn numbers_that_break_an_expression_are_told() {
    let Graded::YourError(mistake) = grade(&with(&[("quorum", "n / (n - 3)")])) else { panic!() };
    assert_eq!((mistake.line, mistake.column), (Some(1), Some(12)));
    assert!(mistake.message.contains("division by zero, with n = 3"), "{}", mistake.message);
    let Graded::YourError(mistake) = grade(&with(&[("quorum", "granted")])) else { panic!() };
    assert!(mistake.message.contains("`granted` is not known here (allowed: `n`)"), "{}", mistake.message);
}
