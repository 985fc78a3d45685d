//! Step 7: scenarios of one's own.

use super::super::{By, Look, Tried, step};

fn look(task: &str, tried: &[Tried]) -> Look {
    let By::Tried(look) = step(7).unwrap().task(task).unwrap().by else { panic!("{task} looks elsewhere") };
    look(tried)
}

fn tried(script: &str, strategy: &str, exit: u8) -> Tried {
    Tried {
        script: script.to_owned(),
        strategy: strategy.to_owned(),
        exit,
        replicas: 2,
        hit: true,
        chaos: false,
        figures: format!("{exit}"),
        imported: false,
        run: format!("{script}-{strategy}"),
        event: 9,
    }
}

#[test]
fn a_test_must_be_able_to_fail() {
    assert_eq!(look("a", &[]).misses, Some("nothing-run"));
    let mut runs = vec![tried("s", "pg-lease", 3)];
    assert_eq!(look("a", &runs).misses, Some("no-verdict"));
    runs.push(Tried { replicas: 1, ..tried("s", "pg-lease", 0) });
    assert_eq!(look("a", &runs).misses, Some("one-alone"));
    runs.push(Tried { hit: false, ..tried("s", "pg-lease", 0) });
    assert_eq!(look("a", &runs).misses, Some("no-fault"));
    runs.push(tried("s", "pg-lease", 0));
    assert_eq!(look("a", &runs).misses, Some("never-failed"));
    runs.push(tried("other", "none", 1));
    assert_eq!(look("a", &runs).misses, Some("never-held"), "another script is another test");
    runs.push(tried("s", "none", 1));
    let proved = look("a", &runs).proved;
    assert_eq!(
        proved.iter().map(|proof| (proof.mark, proof.run.as_deref().unwrap())).collect::<Vec<_>>(),
        [("held", "s-pg-lease"), ("failed", "s-none")]
    );
}

#[test]
fn what_was_brought_from_the_command_line_is_the_same_test() {
    let own = tried("s", "pg-lease", 0);
    let file = Tried { imported: true, ..own.clone() };
    assert_eq!(look("b", std::slice::from_ref(&own)).misses, Some("nothing-imported"));
    assert_eq!(look("b", std::slice::from_ref(&file)).misses, Some("other-script"));
    let other = Tried { figures: "other".to_owned(), ..file.clone() };
    assert_eq!(look("b", &[own.clone(), other]).misses, Some("other-figures"));
    assert_eq!(look("b", &[own, file]).proved.len(), 1);
}

#[test]
fn a_seed_says_the_same_twice() {
    let chaos = Tried { chaos: true, ..tried("s", "pg-lease", 1) };
    assert_eq!(look("c", &[tried("s", "pg-lease", 1)]).misses, Some("no-chaos"));
    assert_eq!(look("c", std::slice::from_ref(&chaos)).misses, Some("once"));
    let other = Tried { figures: "other".to_owned(), ..chaos.clone() };
    assert_eq!(look("c", &[chaos.clone(), other]).misses, Some("differs"));
    assert_eq!(look("c", &[chaos.clone(), chaos]).proved.len(), 1);
}
