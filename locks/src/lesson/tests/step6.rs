//! Step 6: a row lock whose holder is cut off.

use super::*;

/// A is inside from 20 to then, is cut off at 100, and B is granted then.
fn cut_off(left: u64, granted: u64) -> Log {
    let mut log = Log::new("lesson/6/cut", Setup { strategy: "pg-row-lock".into(), ..Setup::default() });
    let cut = Fault::Cut { replica: "A".to_owned(), endpoint: Endpoint::Postgres };
    log.due(10, "A.1.1", 1).due(11, "B.1.1", 1).granted(19, "A.1.1", &[]).entered(20, "A.1.1");
    log.left(left, "A.1.1").fault(100, 1, cut, true).granted(granted, "B.1.1", &[]);
    log
}

#[test]
fn a_bound_shows_when_the_lock_is_taken_over_behind_the_cut() {
    assert_eq!(cut_off(9000, 2100).proves("6d"), ["bounded"]);
    assert_eq!(cut_off(9000, 4101).misses("6d"), "next", "too late");
    assert_eq!(cut_off(9000, 90).misses("6d"), "next", "it did not wait for the cut");
    assert_eq!(cut_off(80, 2100).misses("6d"), "not-cut", "A was out by then");
}
