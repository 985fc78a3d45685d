//! Choices as they are read, and what is said of what is none.

use super::EXERCISE;
use super::choices::{STORIES, read};

#[test]
fn both_of_ours_can_be_read() {
    for text in [EXERCISE.starter, EXERCISE.model] {
        assert_eq!(read(text).unwrap().len(), STORIES);
    }
    assert_eq!(read(EXERCISE.model).unwrap()[3].words(), "pg-lease, guard none, a lease of 1500 ms, renewed");
}

#[test]
fn what_is_no_choice_is_told_at_its_place() {
    for (from, to, line, says) in [
        ("\"redis-set-nx\"", "\"redis\"", 2, "`\"redlock\"`"),
        ("\"redis-set-nx\"", "\"none\"", 2, "names a strategy"),
        ("\"none\"", "\"luck\"", 3, "`\"current-epoch\"`"),
        ("1500", "1501", 4, "500, 1500, 5000, 30000"),
        ("false", "0", 5, "`true`, `false`"),
        ("renew = false\n", "", 1, "needs `renew`"),
        ("[story6]", "[story7]", 1, "needs `story6`"),
    ] {
        let mistake = read(&EXERCISE.model.replacen(from, to, 1)).unwrap_err();
        assert!(mistake.message.contains(says), "{from} -> {to}: {}", mistake.message);
        assert_eq!(mistake.line, Some(line), "{from} -> {to}: {mistake:?}");
    }
}
