//! Exercise 5: the statement by which a sink accepts only the newest holder's write. The oracle knows each lock's
//! epoch as it is committed: a write is accepted if it carries that one, and a takeover waits for a write that
//! is not committed yet.

use std::collections::BTreeMap;

use locks::homework::fence::EXERCISE;
use locks::ids::Endpoint;

use super::evidence::About;
use super::play_sql::{Answer, Change, Oracle, RowMap, Seen, Tables, plain_text};
use super::schedule::{Arg, Dice, Replica, Schedule, Session, Step, of, own};
use super::sql::{Task, kind, schedule};
use super::stop::{Reason, Violation};

/// How many series of a seed.
const SEEDS: u64 = 40;
/// How many grants and writes each has.
const SERIES: usize = 40;

/// See the module.
pub const TASK: Task = Task {
    exercise: &EXERCISE,
    about: About { strategy: "pg-lease", replicas: &["A", "B", "C"], endpoint: Endpoint::Postgres, lock: "settle" },
    tables: Tables {
        schema: include_str!("../../homework/fence/schema.sql"),
        clear: "truncate lock, ledger, audit.change restart identity",
        read: "select to_jsonb(lock)::text from lock",
        elapse: "update lock set expires_at = expires_at - $1 * interval '1 ms'",
        keys: &[("lock", "name"), ("ledger", "id")],
    },
    schedules,
    oracle: || Box::<Model>::default(),
    reason,
};

fn granted(lock: &str, epoch: i64, holder: &str) -> Step {
    Step::Sql(format!(
        "insert into lock (name, epoch, token, holder, expires_at) \
         values ('{lock}', {epoch}, '{holder}-{epoch}', '{holder}', clock_timestamp() + interval '1 min') \
         on conflict (name) do update set epoch = excluded.epoch, token = excluded.token, holder = excluded.holder, \
         expires_at = excluded.expires_at"
    ))
}

fn takeover(by: Replica) -> Step {
    Step::Own(
        by,
        format!(
            "update lock set epoch = epoch + 1, holder = '{by}', token = '{by}-' || (epoch + 1), \
             expires_at = clock_timestamp() + interval '1 min' where name = 'settle'"
        ),
    )
}

fn args(lock: &str, slot: &str, epoch: i64, replica: &str) -> Vec<Arg> {
    let cents = 1200 + slot.len() as i64;
    vec![Arg::text(lock), Arg::text(slot), Arg::Int(epoch), Arg::Int(cents), Arg::text(replica)]
}

fn write(by: Replica, slot: &str, epoch: i64) -> Step {
    Step::Submit(by, args("settle", slot, epoch, by))
}

fn schedules() -> Vec<Schedule> {
    const MANY: &str = "a lock's epoch is compared with that lock's";
    let mut all = vec![
        schedule("1", "the current holder writes", vec![granted("settle", 1, "A"), write("A", "s1", 1)]),
        schedule(
            "2",
            "the current holder writes twice",
            vec![granted("settle", 1, "A"), write("A", "s1", 1), write("A", "s2", 1)],
        ),
        schedule(
            "3",
            "B, newer, has written; then A's late write comes",
            vec![granted("settle", 1, "A"), granted("settle", 2, "B"), write("B", "s1", 2), write("A", "s2", 1)],
        ),
        schedule(
            "4",
            "B has taken over and not written yet; A's late write comes first",
            vec![granted("settle", 1, "A"), granted("settle", 2, "B"), write("A", "s1", 1), write("B", "s2", 2)],
        ),
        schedule(
            "5",
            "A's lease is over, nobody is newer",
            vec![granted("settle", 1, "A"), Step::Elapse(120_000), write("A", "s1", 1)],
        ),
        schedule(
            "6",
            "A's older grant writes after A's newer one was granted",
            vec![granted("settle", 1, "A"), granted("settle", 3, "A"), write("A", "s1", 1), write("A", "s2", 3)],
        ),
        schedule(
            "7",
            MANY,
            vec![
                granted("settle", 5, "A"),
                granted("dispatch", 2, "B"),
                write("A", "s1", 2),
                write("A", "s2", 5),
                Step::Submit("B", args("dispatch", "s3", 2, "B")),
            ],
        ),
        schedule("8", "an epoch that was never granted", vec![granted("settle", 2, "A"), write("A", "s1", 7)]),
        schedule("9", "a lock that nobody ever took", vec![write("A", "s1", 1)]),
        schedule(
            "10",
            "A's write is not committed, and B takes over: B must wait",
            vec![
                granted("settle", 1, "A"),
                Step::Begin(of("A")),
                write("A", "s1", 1),
                takeover("B"),
                Step::Settle(own("B")),
                Step::Commit(of("A")),
                Step::Answer(own("B")),
                write("A", "s2", 1),
                write("B", "s3", 2),
            ],
        ),
    ];
    let open_takeover = |name: &str, title: &str, end: Step| {
        let steps = vec![
            granted("settle", 1, "A"),
            Step::Begin(own("B")),
            takeover("B"),
            Step::Answer(own("B")),
            Step::Send("A", args("settle", "s1", 1, "A"), None),
            Step::Settle(of("A")),
            end,
            Step::Answer(of("A")),
        ];
        schedule(name, title, steps)
    };
    all.extend([
        open_takeover("11-1", "B's takeover is not committed when A writes; then it is", Step::Commit(own("B"))),
        open_takeover(
            "11-2",
            "B's takeover is not committed when A writes; then it is undone",
            Step::Rollback(own("B")),
        ),
        schedule(
            "12",
            "two writers of one holder",
            vec![
                granted("settle", 1, "A"),
                Step::Begin(of("A")),
                write("A", "s1", 1),
                Step::Send("C", args("settle", "s2", 1, "A"), None),
                Step::Settle(of("C")),
                Step::Commit(of("A")),
                Step::Answer(of("C")),
            ],
        ),
    ]);
    all.extend((1..=SEEDS).map(seeded));
    all
}

/// A series of grants and writes on three locks, each write with an epoch that was granted at some time, or not.
fn seeded(seed: u64) -> Schedule {
    const LOCKS: [&str; 3] = ["settle", "dispatch", "digest"];
    const REPLICAS: [Replica; 3] = ["A", "B", "C"];
    let mut dice = Dice::new(seed);
    let mut epochs = BTreeMap::new();
    let steps = (0..SERIES).map(|number| {
        let (lock, replica) = (dice.one(&LOCKS), dice.one(&REPLICAS));
        let epoch = epochs.entry(lock).or_insert(0);
        if dice.percent(30) {
            *epoch += dice.between(1, 3);
            return granted(lock, *epoch, replica);
        }
        let tried = if dice.percent(60) { *epoch } else { (*epoch + dice.between(-3, 2)).max(0) };
        Step::Submit(replica, args(lock, &format!("slot-{number}"), tried, replica))
    });
    schedule(format!("seed-{seed}"), "a series of its own", steps.collect())
}

/// A row that the ledger must have.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    id: String,
    lock: String,
    slot: String,
    epoch: String,
    cents: String,
    replica: String,
}

/// What the lock and the ledger must hold.
#[derive(Default)]
struct Model {
    /// The newest epoch of each lock, as committed.
    epochs: BTreeMap<String, i64>,
    /// What was sent and is not answered.
    sent: BTreeMap<Session, Vec<Arg>>,
    /// What was accepted in a transaction that is open.
    open: BTreeMap<Session, Vec<Entry>>,
    /// What must be committed by now.
    due: Vec<Entry>,
    /// What is committed.
    seen: Vec<Change>,
}

impl Oracle for Model {
    fn judge(&mut self, step: &Step, seen: &Seen) -> Result<(), Violation> {
        if let Some(state) = &seen.state {
            self.epochs =
                state.iter().filter_map(|row| Some((text(row, "name"), row.get("epoch")?.as_i64()?))).collect();
        }
        self.seen.extend(seen.changes.iter().cloned());
        match step {
            Step::Begin(by) => _ = self.open.insert(*by, Vec::new()),
            Step::Commit(by) => self.due.extend(self.open.remove(by).unwrap_or_default()),
            Step::Rollback(by) => _ = self.open.remove(by),
            Step::Send(by, args, _) => _ = self.sent.insert(of(by), args.clone()),
            Step::Submit(by, args) => self.answered(of(by), args, seen.answer.as_ref())?,
            Step::Answer(by) if !by.own => {
                let args = self.sent.remove(by).unwrap_or_default();
                self.answered(*by, &args, seen.answer.as_ref())?;
            }
            Step::Settle(by) if by.own && !seen.blocked && self.open.values().any(|entries| !entries.is_empty()) => {
                return Err(Violation::new(
                    "slipped",
                    "B's takeover waits until A's write is committed or undone",
                    "B's takeover was done at once, while A's write, checked before, was still to be committed",
                ));
            }
            _ => {}
        }
        if self.sent.is_empty() { self.compare() } else { Ok(()) }
    }
}

impl Model {
    fn answered(&mut self, by: Session, args: &[Arg], answer: Option<&Answer>) -> Result<(), Violation> {
        let Some(answer) = answer else { return Ok(()) };
        let [Arg::Text(lock), Arg::Text(slot), Arg::Int(epoch), Arg::Int(cents), Arg::Text(replica)] = args else {
            return Ok(());
        };
        let newest = self.epochs.get(lock);
        let right = newest == Some(epoch);
        let is = newest.map_or("that nobody ever took".to_owned(), |newest| format!("whose newest epoch is {newest}"));
        let what = format!("{replica}'s write with epoch {epoch} to {lock}, {is}");
        match (right, answer.rows.as_slice()) {
            (false, []) => Ok(()),
            (true, [row]) => {
                let id = row.first().cloned().flatten().unwrap_or_default();
                let entry = Entry {
                    id,
                    lock: lock.clone(),
                    slot: slot.clone(),
                    epoch: epoch.to_string(),
                    cents: cents.to_string(),
                    replica: replica.clone(),
                };
                self.open.get_mut(&by).unwrap_or(&mut self.due).push(entry);
                Ok(())
            }
            (true, []) => Err(Violation::new("rejected", format!("accepted: {what}"), "no row")),
            (false, rows) => Err(Violation::new(
                "accepted",
                format!("no row: {what}"),
                format!("accepted, with {} rows", rows.len()),
            )),
            (true, rows) => Err(Violation::new("answer", "one row: its id", format!("{} rows", rows.len()))),
        }
    }

    /// What is committed must be what was accepted.
    fn compare(&mut self) -> Result<(), Violation> {
        for change in std::mem::take(&mut self.seen) {
            let entry = match (&change.old, &change.new) {
                (None, Some(row)) => entry(row),
                _ => return Err(Violation::new("changed", "entries are only added", "one was changed or deleted")),
            };
            match self.due.iter().position(|due| *due == entry) {
                Some(at) => drop(self.due.remove(at)),
                None => {
                    let rule = if self.due.is_empty() { "accepted" } else { "written" };
                    let observed = format!("written: {entry:?}");
                    return Err(Violation::new(rule, "nothing is written but what must be accepted", observed));
                }
            }
        }
        match self.due.first() {
            Some(due) => Err(Violation::new("written", format!("written: {due:?}"), "no such entry")),
            None => Ok(()),
        }
    }
}

fn text(row: &RowMap, column: &str) -> String {
    row.get(column).map(plain_text).unwrap_or_default()
}

fn entry(row: &RowMap) -> Entry {
    let of = |column| text(row, column);
    let (id, lock, slot, epoch) = (of("id"), of("lock"), of("slot"), of("epoch"));
    Entry { id, lock, slot, epoch, cents: of("cents"), replica: of("replica") }
}

fn reason(schedule: &str, rule: &str) -> Reason {
    match (kind(schedule), rule) {
        ("4", "accepted") => (
            "stale accepted before the newer wrote",
            "B had taken over, but had written nothing yet. Whoever looks only at what was written cannot know of B.",
        ),
        ("6", "accepted") => (
            "accepted the same replica's older grant",
            "Both grants are A's, and the write carries the older one's epoch. Who holds is not the question; which \
             grant it was is.",
        ),
        ("7", _) => (
            "mixed up two locks",
            "Epochs of one lock say nothing about another: compare with the row of the lock that was named.",
        ),
        ("8", "accepted") => (
            "accepted an epoch that was never granted",
            "The newest epoch is smaller. Nobody was ever granted the one that the write carries.",
        ),
        ("9", "accepted") => (
            "accepted for a lock nobody took",
            "There is no row for that lock, so nobody was granted anything, and nothing may be written.",
        ),
        ("2", "rejected") => (
            "own second write rejected",
            "The same holder may write more than once under its grant: equal is not too old.",
        ),
        ("11", "rejected") => (
            "rejected for an undone takeover",
            "B's takeover was undone, so A was the newest holder all the time. Whether there is a newer one is \
             known when that transaction is over, not before.",
        ),
        (_, "accepted") => (
            "stale accepted",
            "The write carries an epoch that is not the lock's newest. Somebody newer holds, or held.",
        ),
        (_, "rejected") => (
            "current write rejected",
            "The write carries the lock's newest epoch. That the lease is over means that somebody may take over, not \
             that somebody did.",
        ),
        (_, "slipped") => (
            "takeover slipped between check and commit",
            "What you read was true when you read it and no longer when A committed: a takeover came between. Hold what \
             you read until the transaction ends.",
        ),
        (_, "written") => ("not written", "What the ledger holds is not what the statement said that it wrote."),
        _ => ("answer", "An accepted write is one row with its id; a rejected one is no row."),
    }
}
