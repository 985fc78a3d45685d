//! The language: its values, and what is said of what cannot be read.

use super::{Type, Value, Wanted, read};

const WANTED: &[Wanted] = &[
    Wanted { name: "x", of: Type::Number, uses: &[("n", Type::Number)] },
    Wanted { name: "ok", of: Type::Truth, uses: &[("n", Type::Number), ("x", Type::Number)] },
];

fn x(expression: &str) -> i64 {
    let read = read(&format!("x = {expression}\nok = true\n"), WANTED).unwrap_or_else(|why| panic!("{why:?}"));
    read[0].value(&|name| (name == "n").then_some(Value::Number(7))).unwrap().number()
}

fn ok(expression: &str) -> bool {
    let read =
        read(&format!("ok = {expression}\n\n# a comment\nx = 1"), WANTED).unwrap_or_else(|why| panic!("{why:?}"));
    read[1].value(&|name| (name == "n").then_some(Value::Number(7))).unwrap().truth()
}

#[test]
fn operators_have_their_usual_ranks_and_division_rounds_down() {
    for (expression, value) in [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 3 - 2", 5),
        ("n / 2", 3),
        ("-7 / 2", -4),
        ("7 / -2", -4),
        ("-7 / -2", 3),
        ("--3", 3),
        ("min(n, 3) + max(n, 30)", 33),
        ("1_000 * 2 # and so on", 2000),
    ] {
        assert_eq!(x(expression), value, "{expression}");
    }
    for (expression, value) in [
        ("n > 3 and n < 9 or false", true),
        ("false and false or true", true),
        ("not n == 7", false),
        ("n != 7 or n >= 7", true),
        ("n ≤ 6", false),
        // The right side is not looked at.
        ("n < 0 and 1 / 0 == 1", false),
    ] {
        assert_eq!(ok(expression), value, "{expression}");
    }
}

#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    for (text, line, column, says) in [
        ("x = n +\nok = true", 1, 8, "missing"),
        ("x = 1\nok = n", 2, 6, "must be true or false"),
        ("x = 1\nok = n > m", 2, 10, "`m` is not known here (allowed: `n`, `x`)"),
        ("x = 1\nok = 1 < n < 3", 2, 8, "two comparisons"),
        ("x = 1\nok = n = 3", 2, 8, "ends before `=`"),
        ("x = (1\nok = true", 1, 7, "`)` expected"),
        ("x = 1 2\nok = true", 1, 7, "ends before `2`"),
        ("x = 12ab", 1, 5, "no whole number"),
        ("x = 99999999999999999999", 1, 5, "no whole number"),
        ("x = ü", 1, 5, "means nothing"),
        ("# ü\ny = 1", 2, 1, "nothing to be defined (allowed: `x`, `ok`)"),
        ("x = 1\nx = 2", 2, 1, "twice"),
        ("x = 1\n", 1, 1, "`ok` is not defined"),
        ("x = true + 1", 1, 5, "takes a number"),
        ("x = min(1)", 1, 10, "`,` expected"),
        ("x", 1, 2, "`=` expected"),
    ] {
        let why = read(text, WANTED).unwrap_err();
        assert!(why.message.contains(says), "{text}: {}", why.message);
        assert_eq!((why.line, why.column), (Some(line), Some(column)), "{text}: {}", why.message);
    }
}

#[test]
fn what_cannot_be_computed_is_told_with_its_place() {
    for (expression, column, says) in [("n / (n - 7)", 7, "zero"), ("n * 9000000000000000000", 7, "too large")] {
        let read = read(&format!("x = {expression}\nok = true"), WANTED).unwrap();
        let why = read[0].value(&|_| Some(Value::Number(7))).unwrap_err();
        assert!(why.message.contains(says), "{why:?}");
        assert_eq!((why.line, why.column), (Some(1), Some(column)));
    }
}

#[test]
fn depth_is_limited() {
    for deep in ["(".repeat(900) + "1", "-".repeat(900) + "1", "not ".repeat(900)] {
        let why = read(&format!("x = 1\nok = {deep}"), WANTED).unwrap_err();
        assert!(why.message.contains("within each other"), "{}", why.message);
    }
    // Long, but not deep; and too long.
    assert_eq!(x(&("1".to_owned() + &" + 1".repeat(400))), 401);
    let why = read(&format!("x = 1{}\nok = true", " + 1".repeat(3000)), WANTED).unwrap_err();
    assert!(why.message.contains("more than 1000 words"), "{}", why.message);
}
