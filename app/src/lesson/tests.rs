//! The text as it must be: whole, in step with the tasks, exact about what it promises, and not too long.

use std::collections::BTreeSet;

use super::content::{self, Lesson, Part};

/// Words of a step, all its texts together.
const WORDS: std::ops::RangeInclusive<usize> = 600..=1500;
/// Words before the first thing that can be pressed.
const BEFORE_FIRST_PRESS: usize = 120;

fn lesson() -> &'static Lesson {
    Lesson::get().unwrap_or_else(|problems| panic!("{}", problems.join("\n")))
}

/// The words of a source, without what stands for something else: directives, actions, addresses.
fn words(text: &str) -> usize {
    let lines = text.lines().filter(|line| !line.starts_with(":::") && !line.starts_with("? "));
    let lines = lines.map(|line| line.split("<-").next().unwrap_or_default());
    lines.flat_map(str::split_whitespace).filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

#[test]
fn every_step_can_be_read() {
    for (number, text) in &lesson().steps {
        assert_eq!(text.number, *number);
        assert!(text.stages().next().is_some() || *number == 8, "step {number} opens no stage");
    }
}

#[test]
fn a_step_has_one_name() {
    for (number, text) in &lesson().steps {
        let (name, _) = content::AGENDA[usize::from(*number - 1)];
        assert_eq!(text.title, name, "step {number} is called otherwise in the bar");
    }
}

#[test]
fn steps_are_neither_thin_nor_long_and_begin_with_doing() {
    for (number, source) in content::sources() {
        let count = words(source);
        assert!(WORDS.contains(&count), "step {number} has {count} words");
        let before = source.split(":::prediction").next().unwrap();
        let asked = source.split(":::prediction").nth(1).unwrap().split(":::").next().unwrap();
        let asked: Vec<&str> = asked.lines().filter(|line| !line.starts_with("= ")).collect();
        let count = words(before) + words(&asked.join("\n"));
        assert!(count <= BEFORE_FIRST_PRESS, "step {number} has {count} words before the first press");
    }
}

#[test]
fn text_and_tasks_are_in_step() {
    for (number, text) in &lesson().steps {
        let step = locks::lesson::step(*number).unwrap_or_else(|| panic!("step {number} has no tasks"));
        let told: Vec<&str> = text.tasks().map(|task| task.id.as_str()).collect();
        let there: Vec<&str> = step.tasks.iter().map(|task| task.id).collect();
        assert_eq!(told, there, "step {number}");
        for task in text.tasks() {
            let of = step.task(&task.id).unwrap();
            let hints: BTreeSet<&str> = task.hints.keys().map(String::as_str).collect();
            assert_eq!(hints, of.misses.iter().copied().collect(), "hints of {number}{}", task.id);
            let marks: BTreeSet<&str> = task.marks.keys().map(String::as_str).collect();
            let wanted = if of.marks.len() > 1 { of.marks.iter().copied().collect() } else { BTreeSet::new() };
            assert_eq!(marks, wanted, "marks of {number}{}", task.id);
        }
        for question in text.questions() {
            if let Some(by) = &question.shown_by {
                assert!(step.task(by).is_some(), "{number}: no task {by} shows {}", question.id);
            }
            let right = question.choices.iter().filter(|choice| choice.right).count();
            assert!(question.choices.is_empty() || right == 1 || (question.several && right > 0), "{}", question.id);
        }
    }
}

/// "Safe", "correct" and the like are said of something only with what it is safe against in the same sentence.
#[test]
fn nothing_is_safe_as_such() {
    for (number, source) in content::sources() {
        let text = source.replace('\n', " ");
        for sentence in text.split(['.', '?', '!', ':']) {
            let lower = sentence.to_lowercase();
            let said = |word: &str| lower.split(|c: char| !c.is_alphanumeric()).any(|other| other == word);
            for word in ["safe", "safely", "correct", "correctly", "secure", "guaranteed", "guarantees", "bulletproof"]
            {
                assert!(!said(word) || said("against"), "step {number}: {word:?} without against what:{sentence}.");
            }
        }
    }
}

/// A word of the glossary that a step introduces is a link where it stands first.
#[test]
fn terms_are_linked_where_they_stand_first() {
    const NEW: &[(u8, &[&str])] = &[
        (1, &["schedule", "slot", "replica", "effect", "sink", "guard"]),
        (2, &["strategy", "scope", "handler", "section"]),
        (3, &["attempt", "grant", "token", "gate"]),
        (4, &["epoch", "lease", "fault"]),
        (5, &["pause", "stubborn", "stale"]),
        (6, &["quorum", "cut", "takeover"]),
        (7, &["verdict", "seed"]),
        (8, &["max-seen"]),
    ];
    for (number, source) in content::sources() {
        let (_, terms) = NEW.iter().find(|(step, _)| *step == number).unwrap();
        // What a reader reads: no directives, no code, no addresses.
        let prose: String = source
            .lines()
            .filter(|line| !line.starts_with(":::") && !line.starts_with(['!', '+', '%']))
            .collect::<Vec<_>>()
            .join("\n");
        for term in *terms {
            let first = prose.match_indices(term).find(|(at, _)| {
                let before = prose[..*at].chars().next_back().unwrap_or(' ');
                let after = prose[at + term.len()..].chars().next().unwrap_or(' ');
                !before.is_alphanumeric()
                    && !"-`_/".contains(before)
                    && !after.is_alphanumeric()
                    && !"-`_/".contains(after)
            });
            let (at, _) = first.unwrap_or_else(|| panic!("step {number} never says {term:?}"));
            assert!(prose[..at].ends_with("[["), "step {number}: {term:?} is no link where it stands first");
        }
    }
}

#[test]
fn every_step_says_how_others_do_it_and_explains() {
    for (number, text) in &lesson().steps {
        assert!(text.parts.iter().any(|part| matches!(part, Part::Real(..))), "step {number}");
        assert!(text.parts.iter().any(|part| matches!(part, Part::Explain(..))), "step {number}");
        assert!(text.parts.iter().any(|part| matches!(part, Part::Prediction(_))), "step {number}");
    }
}

#[test]
fn what_is_unknown_is_a_problem() {
    let terms = ["slot".to_owned()];
    let problems = |body: &str| super::read::step(1, &format!("# T\n\n> Q?\n\n{body}"), &terms).1;
    assert_eq!(problems("A [[slot]]."), Vec::<String>::new());
    for (body, says) in [
        ("A [[slut]].", "glossary"),
        (":::picture x\n:::", "no embed"),
        ("[covered](matrix:pg-lease)", "no claim"),
        ("[maybe](matrix:pg-lease/pause)", "no claim"),
        ("a <b>b</b>", "raw markup"),
        (":::task a | T\nText.\n! Go <- [{\"fly\":1}]\n:::", "moves"),
        (":::task a | T\nText.\n? x :: one :: two\n:::", "not three"),
        (":::prediction p\nWhat?\n- a | b\n:::", "lacks"),
    ] {
        let found = problems(body).join("; ");
        assert!(found.contains(says), "{body}: {found:?}");
    }
}
