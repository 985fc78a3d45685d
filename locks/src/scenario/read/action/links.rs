//! Actions on links: `cut`, `heal`, `delay`, `hold`, `let_go`, each with `{ replica, endpoint }`.

use crate::action::{Action, Direction, Links};
use crate::scenario::read::node::{Node, Table};
use crate::scenario::read::problems::Problems;
use crate::scenario::read::values::{links, word};

const DIRECTIONS: &[(&str, Direction)] = &[("request", Direction::Request), ("reply", Direction::Reply)];

pub(super) fn cut(node: &Node, problems: &mut Problems) -> Option<Action> {
    with_links(node, "`cut`", problems, |_, links, _| Some(Action::Cut(links?)))
}

pub(super) fn heal(node: &Node, problems: &mut Problems) -> Option<Action> {
    with_links(node, "`heal`", problems, |table, links, problems| {
        let drop = table.flag("drop", problems).unwrap_or(false);
        Some(Action::Heal { links: links?, drop })
    })
}

pub(super) fn delay(node: &Node, problems: &mut Problems) -> Option<Action> {
    with_links(node, "`delay`", problems, |table, links, problems| {
        table.need("ms", problems);
        let ms = table.ms("ms", 0, problems);
        let jitter_ms = table.ms("jitter_ms", 0, problems).unwrap_or(0);
        Some(Action::Delay { links: links?, ms: ms?, jitter_ms })
    })
}

pub(super) fn hold(node: &Node, problems: &mut Problems) -> Option<Action> {
    with_links(node, "`hold`", problems, |table, links, problems| {
        let what = table.need("what", problems).and_then(|node| word(node, "what", DIRECTIONS, problems));
        Some(Action::Hold { links: links?, what: what? })
    })
}

pub(super) fn let_go(node: &Node, problems: &mut Problems) -> Option<Action> {
    with_links(node, "`let_go`", problems, |table, links, problems| {
        let what = table.get("what").map(|node| word(node, "what", DIRECTIONS, problems));
        Some(Action::LetGo { links: links?, what: what.map_or(Some(None), |what| what.map(Some))? })
    })
}

/// The links and whatever else the action names, all read before anything is given up.
fn with_links(
    node: &Node,
    name: &str,
    problems: &mut Problems,
    rest: impl FnOnce(&mut Table<'_>, Option<Links>, &mut Problems) -> Option<Action>,
) -> Option<Action> {
    let mut table = Table::of(node, name, problems)?;
    let links = links(&mut table, problems);
    let action = rest(&mut table, links, problems);
    table.done(problems);
    action
}
