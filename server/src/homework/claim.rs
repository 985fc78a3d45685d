//! Exercise 4: the statement that claims one due slot. The oracle knows every slot, and which are held by
//! transactions that are open: a claim takes the earliest of the others, exactly one, and never waits.

use std::collections::BTreeMap;

use chrono::DateTime;
use locks::homework::claim::EXERCISE;
use locks::ids::Endpoint;

use super::evidence::About;
use super::play_sql::{Answer, Change, Oracle, RowMap, Seen, Tables, now_us, plain_text};
use super::schedule::{Arg, Dice, Replica, Schedule, Session, Step, of};
use super::sql::{Task, kind, schedule};
use super::stop::{Reason, Violation};

/// How many series of a seed.
const SEEDS: u64 = 30;
/// How many acts each has.
const SERIES: usize = 25;

/// Plans that Postgres is talked out of, one set after the other.
const PLANS: [&[&str]; 7] = [
    &["hashjoin"],
    &["mergejoin", "hashjoin"],
    &["nestloop"],
    &["material", "memoize"],
    &["seqscan"],
    &["indexscan", "bitmapscan", "indexonlyscan"],
    &["hashagg", "sort"],
];

/// See the module.
pub const TASK: Task = Task {
    exercise: &EXERCISE,
    about: About { strategy: "pg-claim", replicas: &["A", "B", "C"], endpoint: Endpoint::Postgres, lock: "slot" },
    tables: Tables {
        schema: include_str!("../../homework/claim/schema.sql"),
        clear: "truncate slot, audit.change, gate.closed restart identity; analyze slot",
        read: "select to_jsonb(slot)::text from slot",
        elapse: "update slot set fire_at = fire_at - $1 * interval '1 ms'",
        keys: &[("slot", "id")],
    },
    schedules,
    oracle: || Box::<Model>::default(),
    reason,
};

fn claim(by: Replica, number: usize) -> Vec<Arg> {
    vec![Arg::text(by), Arg::Text(format!("{by}-{number}"))]
}

fn submit(by: Replica, number: usize) -> Step {
    Step::Submit(by, claim(by, number))
}

/// Slots by id, seconds until they fire (mostly past), and state; in the order in which they are stored.
fn slots(rows: &[(i64, i64, &str)]) -> Step {
    let rows = rows.iter().map(|(id, in_s, state)| {
        let by = if *state == "due" { "null, null" } else { "'Z', 'Z-1'" };
        format!("({id}, 'settle', clock_timestamp() + {in_s} * interval '1 s', '{state}', {by})")
    });
    Step::Sql(format!("insert into slot values {}", rows.collect::<Vec<_>>().join(", ")))
}

/// So many due slots, ids against the order in which they fire.
fn many(from: i64, count: i64) -> Step {
    Step::Sql(format!(
        "insert into slot select {from} + {count} - n, 'settle', clock_timestamp() - interval '1 day' + n * interval '1 s', \
         'due', null, null from generate_series(1, {count}) n"
    ))
}

fn analyze() -> Step {
    Step::Sql("analyze slot".to_owned())
}

fn schedules() -> Vec<Schedule> {
    let three = || slots(&[(3, -30, "due"), (2, -20, "due"), (1, -10, "due")]);
    // B claims while A's claim is open, which then ends so; C claims behind it.
    let while_a_is_open = |end: Step| {
        vec![
            three(),
            Step::Begin(of("A")),
            submit("A", 1),
            Step::Send("B", claim("B", 1), None),
            Step::Settle(of("B")),
            Step::Answer(of("B")),
            end,
            submit("C", 1),
        ]
    };
    let mut all = vec![
        schedule("1", "one claim", vec![slots(&[(9, -90, "done"), (8, -30, "due"), (7, -20, "due")]), submit("A", 1)]),
        schedule(
            "2",
            "claim until nothing is due",
            vec![
                slots(&[(1, -10, "due"), (4, 3600, "due"), (2, -20, "due"), (3, -30, "due")]),
                submit("A", 1),
                submit("B", 1),
                submit("A", 2),
                submit("B", 2),
            ],
        ),
        schedule("3", "A's claim is not committed when B claims", while_a_is_open(Step::Commit(of("A")))),
        schedule("4", "A's claim is undone, and C gets A's slot", while_a_is_open(Step::Rollback(of("A")))),
        schedule(
            "5",
            "only slots of the future, and taken ones",
            vec![slots(&[(1, -50, "claimed"), (2, -40, "done"), (3, 3600, "due")]), submit("A", 1)],
        ),
        schedule(
            "6",
            "A holds two of three, B takes the third, nothing is left for C",
            vec![
                three(),
                Step::Begin(of("A")),
                submit("A", 1),
                submit("A", 2),
                Step::Begin(of("B")),
                Step::Send("B", claim("B", 1), None),
                Step::Settle(of("B")),
                Step::Answer(of("B")),
                Step::Send("C", claim("C", 1), None),
                Step::Settle(of("C")),
                Step::Answer(of("C")),
                Step::Commit(of("B")),
                Step::Commit(of("A")),
            ],
        ),
        schedule(
            "7",
            "Postgres thinks that the table has one row, and it has twenty",
            vec![slots(&[(100, -86_500, "due")]), analyze(), many(1, 19), submit("A", 1), submit("B", 1)],
        ),
    ];
    for (number, off) in PLANS.iter().enumerate() {
        let mut steps = vec![many(1, 20), analyze()];
        steps.extend(off.iter().map(|plan| {
            let name: &'static str = plan_setting(plan);
            Step::Set(of("A"), name, "off".to_owned())
        }));
        steps.extend([submit("A", 1), submit("A", 2)]);
        all.push(schedule(format!("8-{}", number + 1), format!("plans without {}", off.join(" and ")), steps));
    }
    all.extend([
        schedule("9-1", "two thousand slots", vec![many(1, 2000), submit("A", 1), submit("B", 1)]),
        schedule(
            "9-2",
            "two thousand slots, with statistics",
            vec![many(1, 2000), analyze(), submit("A", 1), submit("B", 1)],
        ),
        schedule(
            "10",
            "A and B have both picked, and neither has written yet",
            vec![
                three(),
                Step::Send("A", claim("A", 1), Some("write")),
                Step::Send("B", claim("B", 1), Some("write")),
                Step::Pass("A"),
                Step::Pass("B"),
                Step::Answer(of("A")),
                Step::Answer(of("B")),
            ],
        ),
    ]);
    all.extend((1..=SEEDS).map(seeded));
    all
}

fn plan_setting(plan: &str) -> &'static str {
    const NAMES: [&str; 10] = [
        "enable_hashjoin",
        "enable_mergejoin",
        "enable_nestloop",
        "enable_material",
        "enable_memoize",
        "enable_seqscan",
        "enable_indexscan",
        "enable_bitmapscan",
        "enable_indexonlyscan",
        "enable_hashagg",
    ];
    NAMES.into_iter().find(|name| name.ends_with(plan)).unwrap_or("enable_sort")
}

/// A series of claims in and out of transactions by three replicas, while slots are added.
fn seeded(seed: u64) -> Schedule {
    const REPLICAS: [Replica; 3] = ["A", "B", "C"];
    let mut dice = Dice::new(seed);
    let mut open: BTreeMap<Replica, bool> = BTreeMap::new();
    let mut next_id = 1000;
    let mut steps = vec![slots(&[(900, -900, "due"), (901, -890, "due"), (902, 3600, "due"), (903, -880, "done")])];
    for number in 0..SERIES {
        let by = dice.one(&REPLICAS);
        let is_open = open.entry(by).or_insert(false);
        match dice.between(1, 10) {
            1..=2 if !*is_open => {
                *is_open = true;
                steps.push(Step::Begin(of(by)));
            }
            1..=3 if *is_open => {
                *is_open = false;
                steps.push(if dice.percent(60) { Step::Commit(of(by)) } else { Step::Rollback(of(by)) });
            }
            4..=5 => {
                next_id -= 1;
                let state = if dice.percent(80) { "due" } else { "claimed" };
                let in_s = if dice.percent(80) { -dice.between(10, 800) } else { 3600 };
                // No two fire at the same time: which is the earliest must be certain.
                steps.push(slots(&[(next_id, in_s * 1000 - number as i64, state)]));
            }
            _ => steps.push(submit(by, number)),
        }
    }
    let left = open.into_iter().filter(|(_, is_open)| *is_open);
    steps.extend(left.map(|(by, _)| Step::Commit(of(by))));
    schedule(format!("seed-{seed}"), "a series of its own", steps)
}

/// A slot as it is committed.
#[derive(Clone, Debug)]
struct Slot {
    fire_us: i64,
    due: bool,
}

/// A claim: slot, replica, token.
type Claim = (i64, String, String);

/// What the slots must be.
#[derive(Default)]
struct Model {
    slots: BTreeMap<i64, Slot>,
    /// What was sent and is not answered, with the slot that it must get.
    sent: BTreeMap<Session, (Vec<Arg>, Option<i64>)>,
    /// Claims of transactions that are open.
    open: BTreeMap<Session, Vec<Claim>>,
    /// What must be committed by now.
    made: Vec<Claim>,
    /// What is committed.
    seen: Vec<Change>,
}

impl Oracle for Model {
    fn judge(&mut self, step: &Step, seen: &Seen) -> Result<(), Violation> {
        if let Some(state) = &seen.state {
            self.slots = state.iter().filter_map(slot).collect();
        }
        self.seen.extend(seen.changes.iter().cloned());
        match step {
            Step::Begin(by) => _ = self.open.insert(*by, Vec::new()),
            Step::Rollback(by) => _ = self.open.remove(by),
            Step::Commit(by) => {
                for claim in self.open.remove(by).unwrap_or_default() {
                    self.make(claim);
                }
            }
            Step::Send(by, args, _) => {
                let slot = self.earliest();
                self.sent.insert(of(by), (args.clone(), slot));
            }
            Step::Submit(by, args) => {
                let slot = self.earliest();
                self.answered(of(by), args, slot, seen.answer.as_ref())?;
            }
            Step::Answer(by) => {
                let (args, slot) = self.sent.remove(by).unwrap_or_default();
                self.answered(*by, &args, slot, seen.answer.as_ref())?;
            }
            Step::Settle(by) if seen.blocked => {
                return Err(Violation::new(
                    "waited",
                    format!("{} is answered at once", by.replica),
                    format!("{} waits for a row that somebody else is claiming", by.replica),
                ));
            }
            _ => {}
        }
        if self.sent.is_empty() { self.compare() } else { Ok(()) }
    }
}

impl Model {
    fn is_held(&self, id: i64) -> bool {
        let mut claims = self.open.values().flatten();
        claims.any(|(held, ..)| *held == id) || self.sent.values().any(|(_, held)| *held == Some(id))
    }

    /// The earliest slot that is due and that nobody has.
    fn earliest(&self) -> Option<i64> {
        let now = now_us();
        let free = self.slots.iter().filter(|(id, slot)| slot.due && slot.fire_us <= now && !self.is_held(**id));
        free.min_by_key(|(_, slot)| slot.fire_us).map(|(id, _)| *id)
    }

    fn make(&mut self, claim: Claim) {
        if let Some(slot) = self.slots.get_mut(&claim.0) {
            slot.due = false;
        }
        self.made.push(claim);
    }

    fn answered(
        &mut self,
        by: Session,
        args: &[Arg],
        expected: Option<i64>,
        answer: Option<&Answer>,
    ) -> Result<(), Violation> {
        let Some(answer) = answer else { return Ok(()) };
        let [Arg::Text(replica), Arg::Text(token)] = args else { return Ok(()) };
        let wanted = expected.map_or("no row: nothing is free".to_owned(), |id| format!("one row: slot {id}"));
        // What one statement claimed carries its token.
        let of_it = |change: &&Change| {
            change.new.as_ref().is_some_and(|row| row.get("token").map(plain_text).as_ref() == Some(token))
        };
        let most = answer.rows.len().max(self.seen.iter().filter(of_it).count());
        if most > 1 {
            return Err(Violation::new("several", wanted, format!("{most} slots were claimed at once")));
        }
        let Some(row) = answer.rows.first() else {
            return match expected {
                Some(_) => Err(Violation::new("unclaimed", wanted, "no row")),
                None => Ok(()),
            };
        };
        let id = row.first().cloned().flatten().and_then(|text| text.parse::<i64>().ok());
        let Some(id) = id else { return Err(Violation::new("answer", wanted, format!("the row {row:?}"))) };
        if Some(id) != expected {
            let rule = match self.slots.get(&id) {
                _ if self.is_held(id) => "twice",
                None => "answer",
                Some(slot) if slot.fire_us > now_us() => "not due",
                Some(_) => "order",
            };
            return Err(Violation::new(rule, wanted, format!("slot {id}")));
        }
        let claim = (id, replica.clone(), token.clone());
        match self.open.get_mut(&by) {
            Some(open) => open.push(claim),
            None => self.make(claim),
        }
        Ok(())
    }

    /// What is committed must be what was claimed.
    fn compare(&mut self) -> Result<(), Violation> {
        for change in std::mem::take(&mut self.seen) {
            let row = change.new.unwrap_or_default();
            let of = |column: &str| row.get(column).map(plain_text).unwrap_or_default();
            let found = (of("id"), of("state"), of("claimed_by"), of("token"));
            let is = |(id, by, token): &Claim| {
                (id.to_string(), "claimed", by.as_str(), token.as_str())
                    == (found.0.clone(), found.1.as_str(), found.2.as_str(), found.3.as_str())
            };
            match self.made.iter().position(is) {
                Some(at) => drop(self.made.remove(at)),
                None => {
                    let (id, state, by, token) = found;
                    let observed = format!("slot {id}: state {state}, claimed_by {by}, token {token}");
                    let expected = self.made.first().map_or("no slot is changed".to_owned(), shown);
                    return Err(Violation::new("written", expected, observed));
                }
            }
        }
        match self.made.first() {
            Some(claim) => Err(Violation::new("written", shown(claim), "nothing was changed")),
            None => Ok(()),
        }
    }
}

fn shown((id, by, token): &Claim) -> String {
    format!("slot {id}: state claimed, claimed_by {by}, token {token}")
}

fn slot(row: &RowMap) -> Option<(i64, Slot)> {
    let fire = DateTime::parse_from_rfc3339(row.get("fire_at")?.as_str()?).ok()?;
    let due = row.get("state")?.as_str()? == "due";
    Some((row.get("id")?.as_i64()?, Slot { fire_us: fire.timestamp_micros(), due }))
}

fn reason(schedule: &str, rule: &str) -> Reason {
    match (kind(schedule), rule) {
        ("7" | "8" | "9", "several") => (
            "claimed several",
            "One statement claimed more than one slot: the plan runs the sub-select once for each row. What picks must \
             be run once, whatever the plan.",
        ),
        (_, "several") => ("claimed several", "One statement claimed more than one slot."),
        (_, "waited") => (
            "waited",
            "A's claim is not committed yet, and B waits for it instead of taking the next one. All replicas stand in \
             a queue behind the slowest.",
        ),
        (_, "twice") => ("claimed twice", "Two replicas were given the same slot."),
        (_, "not due") => ("not due", "The slot's time has not come."),
        (_, "order") => (
            "not the earliest",
            "Another slot was due earlier and free, or this one was not free: the earliest free slot goes first.",
        ),
        (_, "unclaimed") => ("free slot not claimed", "A slot was due and free, and the statement did not take it."),
        (_, "written") => (
            "claim not written",
            "The row of the slot does not say who claimed it: state, claimed_by and token must be set, of that slot and \
             no other.",
        ),
        _ => ("answer", "A claim is one row: the slot's id. Without a free slot there is no row."),
    }
}
