//! The moves of a scheduler, and the scenario that they amount to. A move is one step of the scenario; that the slot
//! is fired is given.

use crate::homework::Mistake;
use crate::scenario::Scenario;
use crate::scenario::read::node::{Node, Table, Value};
use crate::scenario::read::problems::Problems;

/// The parts that are played, with the lock of each and the fewest moves that are known.
pub const PARTS: [Part; 2] = [
    Part { name: "part1", strategy: "redis-set-nx", elapse: true, shortest: 4 },
    Part { name: "part2", strategy: "redlock", elapse: false, shortest: 5 },
];

/// More lead nowhere.
const MOST: usize = 20;

/// Long enough for people to think, and for a slow machine.
const LEASE_MS: u64 = 600_000;

/// Why no stale effect gets past a guard that asks for the current epoch.
const REASONS: [(&str, bool, &str); 5] = [
    ("lock-row", true, "the bank asks the lock's row, and B's grant changed it"),
    ("renewal", false, "A waits at the gate and renews nothing"),
    ("told", false, "nobody tells A anything: it sends its effect"),
    ("written", false, "that would be max-seen, which a stale writer passes who comes first"),
    ("once", false, "a later holder, whose epoch is current, can settle the slot again (C04)"),
];

/// One part.
#[derive(Debug)]
pub struct Part {
    /// Its name in the file.
    pub name: &'static str,
    /// Its lock.
    pub strategy: &'static str,
    /// Leases can be let end.
    pub elapse: bool,
    /// The fewest moves that are known.
    pub shortest: usize,
}

/// A learner's answer, read.
#[derive(Clone, Debug)]
pub struct Answer {
    /// For each part: the scenario, and how many moves it has.
    pub parts: Vec<(Scenario, usize)>,
    /// Why part 3 cannot be done: right, and what is to be said of it.
    pub because: (bool, &'static str, String),
}

/// A move as it was written, and where.
struct Written {
    text: String,
    at: std::ops::Range<usize>,
}

impl Answer {
    /// Read one. The first thing that is wrong with it is told.
    pub fn read(text: &str) -> Result<Answer, Mistake> {
        let mut problems = Problems::default();
        let root = Node::of_toml(text, &mut problems);
        let read = if problems.is_empty() { answer(&root, &mut problems) } else { None };
        match (read, problems.in_text(text).into_iter().next()) {
            (Some(read), None) => Ok(read),
            (_, Some(problem)) => Err(Mistake::of(problem)),
            // A reader that gives up says why; should one not, that is still no answer.
            (None, None) => Err(Mistake { message: "no moves".to_owned(), ..Mistake::default() }),
        }
    }
}

fn answer(root: &Node, problems: &mut Problems) -> Option<Answer> {
    let mut top = Table::of(root, "the file", problems)?;
    let mut parts = Vec::new();
    for part in &PARTS {
        let table =
            top.need(part.name, problems).and_then(|node| Table::of(node, format!("[{}]", part.name), problems));
        let Some(mut table) = table else { continue };
        let written = table.need("moves", problems).map(|node| moves(node, problems)).unwrap_or_default();
        table.done(problems);
        parts.extend(scenario(part, &written, problems).map(|scenario| (scenario, written.len())));
    }
    let third = top.need("part3", problems).and_then(|node| Table::of(node, "[part3]", problems));
    let because = third.and_then(|mut table| {
        let because = table.need("because", problems).and_then(|node| because(node, problems));
        table.done(problems);
        because
    });
    top.done(problems);
    (parts.len() == PARTS.len()).then_some(Answer { parts, because: because? })
}

fn because(node: &Node, problems: &mut Problems) -> Option<(bool, &'static str, String)> {
    let found = match &node.value {
        Value::Text(text) => REASONS.iter().find(|(name, ..)| name == text),
        _ => None,
    };
    if found.is_none() {
        let names: Vec<String> = REASONS.iter().map(|(name, ..)| format!("`\"{name}\"`")).collect();
        problems.add(&node.span, "`because` names a reason", names.join(", "));
    }
    found.map(|(name, right, says)| (*right, *says, (*name).to_owned()))
}

fn moves(node: &Node, problems: &mut Problems) -> Vec<Written> {
    let Value::List(items) = &node.value else {
        problems.add(&node.span, "`moves` is a list of moves", "`[\"A until effect\", \"elapse\"]`");
        return Vec::new();
    };
    if items.is_empty() || items.len() > MOST {
        problems.add(&node.span, format!("these are {} moves", items.len()), format!("1 to {MOST}"));
    }
    let mut written = Vec::new();
    for item in items.iter().take(MOST) {
        match &item.value {
            Value::Text(text) => written.push(Written { text: text.clone(), at: item.span.clone() }),
            _ => problems.add(&item.span, "a move is text", "`\"A done\"`"),
        }
    }
    written
}

/// The scenario of the moves. A move that is impossible where it stands is told at its own place.
fn scenario(part: &Part, written: &[Written], problems: &mut Problems) -> Option<Scenario> {
    let mut text = format!(
        "name = \"homework-break-{}\"\ntitle = \"Break it: {}\"\n[setup]\nstrategy = \"{}\"\nreplicas = [\"A\", \"B\"]\n\
         lease_ms = {LEASE_MS}\nstore_timeout_ms = 2000\nnode_timeout_ms = 500\n\
         [expect]\neffects_per_slot = {{ min = 2 }}\nstale_effects = {{ min = 1 }}\n\
         [[step]]\nfire = {{ schedule = \"settle-invoices\" }}\n",
        part.name, part.strategy, part.strategy
    );
    let mut whole = None;
    for one in written {
        match step(part, &one.text) {
            Some(step) => text.push_str(&format!("[[step]]\n{step}\n")),
            None => {
                problems.add(&one.at, format!("`{}` is no move", one.text), allowed(part));
                return None;
            }
        }
        match Scenario::parse(&text) {
            Ok(scenario) => whole = Some(scenario),
            Err(found) => {
                let what = found.into_iter().next().map_or_else(String::new, |problem| problem.what);
                problems.add(&one.at, format!("`{}` cannot be done here: {what}", one.text), "");
                return None;
            }
        }
    }
    whole
}

fn allowed(part: &Part) -> String {
    let mut forms = vec!["`A until effect`", "`A done`", "`pause A`", "`resume A`"];
    forms.extend(if part.elapse { &["`elapse`"][..] } else { &["`hold A 1 2`", "`jump 3`"][..] });
    forms.join(", ") + "; A or B, and the gates enter, effect, leave"
}

/// One move as a step of a scenario.
fn step(part: &Part, text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let replica = |name: &&str| matches!(*name, "A" | "B");
    let node = |number: &str| number.parse::<u8>().ok().filter(|n| (1..=5).contains(n));
    match words.as_slice() {
        [name, "done"] if replica(name) => {
            Some(format!("advance = {{ replica = \"{name}\", until = \"done\", limit_ms = 15000 }}"))
        }
        [name, "until", gate @ ("enter" | "effect" | "leave")] if replica(name) => {
            Some(format!("advance = {{ replica = \"{name}\", until = \"{gate}\", limit_ms = 15000 }}"))
        }
        ["pause", name] if replica(name) => Some(format!("pause = \"{name}\"")),
        ["resume", name] if replica(name) => Some(format!("resume = \"{name}\"")),
        ["elapse"] if part.elapse => Some(format!("elapse = {{ ms = {} }}", LEASE_MS + 1000)),
        ["jump", number] if !part.elapse => {
            let node = node(number)?;
            Some(format!("node = {{ clock_shift = \"redis-{node}\", ms = {} }}", LEASE_MS + 1000))
        }
        ["hold", name, numbers @ ..] if replica(name) && !part.elapse && !numbers.is_empty() => {
            let nodes: Option<Vec<String>> =
                numbers.iter().map(|number| Some(format!("\"redis-{}\"", node(number)?))).collect();
            Some(format!("hold = {{ replica = \"{name}\", endpoint = [{}], what = \"request\" }}", nodes?.join(", ")))
        }
        _ => None,
    }
}
