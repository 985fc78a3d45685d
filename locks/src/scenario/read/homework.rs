//! `[homework]`: which schedule of which exercise, and the answer that it is played against. Steps of a lab and steps of
//! homework never stand in one file.

use super::node::{Node, Table};
use super::problems::Problems;
use super::values::text;
use crate::action::{Action, Wait};
use crate::homework::{EXERCISES, exercise};
use crate::scenario::Homework;
use crate::scenario::problem::list;

pub(super) fn homework(node: &Node, problems: &mut Problems) -> Option<Homework> {
    let mut table = Table::of(node, "[homework]", problems)?;
    let name = table.need("exercise", problems).and_then(|node| {
        let name = text(node, "exercise", problems)?;
        if !exercise(&name).is_some_and(|exercise| exercise.language.is_run_by_a_store()) {
            let names = EXERCISES.iter().filter(|one| one.language.is_run_by_a_store()).map(|one| one.slug);
            problems.add(&node.span, format!("`exercise` is {name:?}"), list(names));
            return None;
        }
        Some(name)
    });
    let schedule = table.need("schedule", problems).and_then(|node| text(node, "schedule", problems));
    let answer = table.need("answer", problems).and_then(|node| text(node, "answer", problems));
    table.done(problems);
    Some(Homework { exercise: name?, schedule: schedule?, answer: answer? })
}

/// Note a step that has no place in such a file.
pub(super) fn belongs(action: &Action, is_homework: bool, node: &Node, problems: &mut Problems) {
    let key = || node.find(action.name()).unwrap_or_else(|| node.span.clone());
    let played = matches!(
        action,
        Action::Session(_)
            | Action::Wait(Wait::Ms(_) | Wait::Blocked { .. })
            | Action::Elapse { .. }
            | Action::Sql(_)
            | Action::Redis { .. }
    );
    if is_homework && !played {
        let allowed = "`session`, `wait` for `ms` or `blocked`, `elapse`, `sql`, `redis`";
        problems.add(&key(), format!("`{}` is no step of homework", action.name()), allowed);
    }
    if !is_homework && !action.is_for_a_lab() {
        let what = format!("`{}` is a step of homework, and this file has no `[homework]`", action.name());
        problems.add(&key(), what, "`[homework]` with `exercise`, `schedule` and `answer`");
    }
}
