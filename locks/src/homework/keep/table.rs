//! The learner's table: which state a holder goes to on which news, and with which times. Read from TOML, whole
//! and possible, or refused with line and column.

use crate::homework::Mistake;
use crate::scenario::read::node::{Node, Table as Entries, Value};
use crate::scenario::read::problems::Problems;

/// Where a holder goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// It stays as it is; a timer that is answered so is not set.
    Ignore,
    /// It works, and waits for the next renewal.
    Holding,
    /// The same, and its deadline is counted anew from the base.
    Anew,
    /// It works, and asks for more time.
    Renewing,
    /// It has left.
    Stopped,
}

impl Target {
    const ALL: [(&'static str, Target); 5] = [
        ("Holding", Target::Holding),
        ("Holding+", Target::Anew),
        ("Renewing", Target::Renewing),
        ("Stopped", Target::Stopped),
        ("-", Target::Ignore),
    ];
}

/// From when a lease is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// From when the call was sent.
    Sent,
    /// From when its answer was read.
    Answered,
}

/// The learner's table and times, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// The deadline stands so long before the lease's end.
    pub margin: u8,
    /// So long after the last call was sent, the next is due.
    pub renew_every: u8,
    /// A call's answer is waited for so long.
    pub timeout: u8,
    /// From when the lease is counted.
    pub base: Base,
    /// In `Holding`: the next renewal is due.
    pub renew_due: Target,
    /// In `Holding`: the deadline is there.
    pub holding_deadline: Target,
    /// In `Renewing`: the store extended the lease.
    pub ok: Target,
    /// In `Renewing`: the store says that the row is not yours.
    pub zero: Target,
    /// In `Renewing`: the store says that it failed.
    pub error: Target,
    /// In `Renewing`: no answer came in time.
    pub timed_out: Target,
    /// In `Renewing`: the deadline is there.
    pub renewing_deadline: Target,
}

impl Table {
    /// Read one. The first thing that is wrong with it is told.
    pub fn read(text: &str) -> Result<Table, Mistake> {
        let mut problems = Problems::default();
        let root = Node::of_toml(text, &mut problems);
        let table = if problems.is_empty() { table(&root, &mut problems) } else { None };
        match (table, problems.in_text(text).into_iter().next()) {
            (Some(table), None) => Ok(table),
            (_, Some(problem)) => Err(Mistake::of(problem)),
            // A reader that gives up says why; should one not, that is still no table.
            (None, None) => Err(Mistake { message: "no table".to_owned(), ..Mistake::default() }),
        }
    }
}

fn table(root: &Node, problems: &mut Problems) -> Option<Table> {
    let mut top = Entries::of(root, "the file", problems)?;
    let margin = ticks(&mut top, "margin", 0, problems);
    let renew_every = ticks(&mut top, "renew_every", 1, problems);
    let timeout = ticks(&mut top, "timeout", 1, problems);
    let base = base(&mut top, problems);
    let holding = top.need("Holding", problems).and_then(|node| Entries::of(node, "[Holding]", problems));
    let renewing = top.need("Renewing", problems).and_then(|node| Entries::of(node, "[Renewing]", problems));
    top.done(problems);
    let (mut holding, mut renewing) = (holding?, renewing?);
    let renew_due = target(&mut holding, "renew_due", problems);
    let holding_deadline = target(&mut holding, "deadline", problems);
    holding.done(problems);
    let ok = target(&mut renewing, "ok", problems);
    let zero = target(&mut renewing, "zero", problems);
    let error = target(&mut renewing, "error", problems);
    let timed_out = target(&mut renewing, "timeout", problems);
    let renewing_deadline = target(&mut renewing, "deadline", problems);
    renewing.done(problems);
    Some(Table {
        margin: margin?,
        renew_every: renew_every?,
        timeout: timeout?,
        base: base?,
        renew_due: renew_due?,
        holding_deadline: holding_deadline?,
        ok: ok?,
        zero: zero?,
        error: error?,
        timed_out: timed_out?,
        renewing_deadline: renewing_deadline?,
    })
}

/// More makes no sense with a lease of 6.
const MOST: u8 = 12;

fn ticks(table: &mut Entries, key: &'static str, least: u8, problems: &mut Problems) -> Option<u8> {
    let node = table.need(key, problems)?;
    let found = match node.value {
        Value::Int(n) => u8::try_from(n).ok().filter(|n| (least..=MOST).contains(n)),
        _ => None,
    };
    if found.is_none() {
        problems.add(&node.span, format!("`{key}` is a number of ticks"), format!("{least} to {MOST}"));
    }
    found
}

fn base(table: &mut Entries, problems: &mut Problems) -> Option<Base> {
    let node = table.need("base", problems)?;
    match &node.value {
        Value::Text(text) if text == "sent" => Some(Base::Sent),
        Value::Text(text) if text == "answered" => Some(Base::Answered),
        _ => {
            problems.add(&node.span, "`base` says from when a lease is counted", "`\"sent\"`, `\"answered\"`");
            None
        }
    }
}

fn target(table: &mut Entries, key: &'static str, problems: &mut Problems) -> Option<Target> {
    let node = table.need(key, problems)?;
    let found = match &node.value {
        Value::Text(text) => Target::ALL.iter().find(|(name, _)| name == text).map(|(_, target)| *target),
        _ => None,
    };
    if found.is_none() {
        let names: Vec<String> = Target::ALL.iter().map(|(name, _)| format!("`\"{name}\"`")).collect();
        problems.add(&node.span, format!("`{key}` names where to go"), names.join(", "));
    }
    found
}
