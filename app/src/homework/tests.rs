//! The texts as they must be, and pages on which the four results cannot be taken for one another.

use locks::homework::{EXERCISES, Failure, Graded, Mistake, exercise};

use super::content::{self, Text};
use super::page::{self, ExercisePage};
use super::state::{Attempt, Passed, Stand, Standing};

fn shown(slug: &str, text: &str, graded: Option<Graded>) -> ExercisePage {
    let exercise = exercise(slug).unwrap();
    let passed = graded.as_ref().is_some_and(Graded::is_passed);
    let shown = graded.map(|graded| Attempt { number: 4, counted: Some(3), at_ms: 0, graded, text: text.to_owned() });
    let stand = Stand { attempts: 3, passed: passed.then(Passed::default) };
    ExercisePage {
        exercise,
        standing: Standing { exercises: [(slug.to_owned(), stand)].into() },
        text: text.to_owned(),
        kept_ms: None,
        attempts: shown.clone().into_iter().collect(),
        shown,
        said: None,
    }
}

fn failure() -> Failure {
    Failure {
        schedule: "3".to_owned(),
        title: "A's key has expired, B holds".to_owned(),
        reason: "freed another's".to_owned(),
        why: "B's key is gone".to_owned(),
        expected: "0".to_owned(),
        observed: "1 <b>".to_owned(),
        steps: "[[step]]\n".to_owned(),
        evidence: Vec::new(),
        at: 57,
        run: Some("d90a".to_owned()),
    }
}

#[test]
fn every_exercise_has_its_whole_text() {
    let texts = Text::all().unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
    for exercise in EXERCISES {
        assert!(texts.contains_key(exercise.slug), "{}", exercise.slug);
    }
}

#[test]
fn what_is_unknown_in_a_text_is_a_problem() {
    for (text, says) in [
        ("# Wrong", "does not begin with"),
        ("# Break it\n\n> Q?\n\n:::hint\n:::", "no embed"),
        ("# Break it\n\n> Q?\n\n:::contract\na\n:::", "is not `name | words`"),
        ("# Break it\n\n> Q?\n\na <b>", "raw markup"),
        ("# Break it\n\n> Q?\n\na", "no discussion"),
    ] {
        let found = content::read("break", text).1.join("; ");
        assert!(found.contains(says), "{text}: {found}");
    }
}

/// Nothing is called safe or correct as such: a text says against what.
#[test]
fn nothing_is_safe_as_such() {
    for (slug, source) in content::sources() {
        let lower = source.to_lowercase();
        for word in ["safe", "safely", "correct", "correctly", "secure", "guaranteed", "guarantees", "bulletproof"] {
            assert!(!lower.split(|c: char| !c.is_alphanumeric()).any(|other| other == word), "{slug}: {word:?}");
        }
    }
}

#[test]
fn the_four_results_are_never_confused() {
    let page = |graded| page::main(&shown("release", "return 1", Some(graded)));
    let passed = page(Graded::passed(212));
    assert!(passed.contains("No violation in 212 schedules.") && passed.contains("An answer of ours"), "{passed}");
    let failed = page(Graded::Failed(Box::new(failure())));
    assert!(failed.contains("href=\"/runs/d90a?at=57\"") && failed.contains("1 &lt;b&gt;"), "{failed}");
    assert!(failed.contains("class=\"fail\"") && failed.contains("not run"), "{failed}");
    let mistake = Mistake { message: "')' expected".to_owned(), line: Some(4), ..Mistake::default() };
    let error = page(Graded::YourError(mistake));
    assert!(error.contains("Line 4.") && error.contains("data-line=\"4\""), "{error}");
    let lab = page(Graded::LabFailed { why: "redis-server did not start".to_owned() });
    assert!(lab.contains("Not your fault. Nothing is counted"), "{lab}");
    // Each word stands once more, where it is said what a result can be.
    for (html, word) in
        [(&passed, "Passed"), (&failed, "Failed"), (&error, "Error in your code"), (&lab, "The lab failed")]
    {
        for other in ["Passed", "Failed", "Error in your code", "The lab failed"] {
            let times = html.matches(&format!(">{other}<")).count();
            assert_eq!(times, if other == word { 2 } else { 1 }, "{other} on the page of {word}");
        }
    }
    for html in [&failed, &error, &lab] {
        assert!(!html.contains("An answer of ours"), "the answer is told before it was passed");
    }
}

#[test]
fn a_violation_that_was_searched_for_is_drawn_and_told() {
    let starter = exercise("keep").unwrap().starter;
    let graded = locks::homework::keep::grade(starter);
    let html = page::main(&shown("keep", starter, Some(graded)));
    assert!(html.contains("<svg width=\"472\"") && html.contains("8 moves"), "{html}");
    assert_eq!(html.matches("<td class=\"num\">").count(), 16, "eight moves, with number and tick");
    assert!(html.contains("A reads <code>zero</code>: it goes on in Holding"), "{html}");
}

#[test]
fn the_list_says_how_somebody_stands() {
    let mut standing = Standing::default();
    let html = super::list::main(&standing);
    assert!(html.contains("href=\"/homework/release\">Begin") && html.contains("0 of 8 passed"), "{html}");
    standing.exercises.insert("release".to_owned(), Stand { attempts: 2, passed: Some(Passed::default()) });
    let passed = Some(Passed { score: Some(9), ..Passed::default() });
    standing.exercises.insert("break".to_owned(), Stand { attempts: 1, passed });
    let html = super::list::main(&standing);
    assert!(html.contains("href=\"/homework/lease\">Go on with exercise 2"), "{html}");
    assert!(html.contains("passed, 2 attempts") && html.contains("passed, best 9, 1 attempt"), "{html}");
}
