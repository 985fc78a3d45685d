//! Exercise 2: the statement that takes a lease. The oracle knows each lock's row and judges only what is certain:
//! between the moments of asking and of hearing, a lease may have ended or not.

use std::collections::BTreeMap;

use chrono::DateTime;
use locks::homework::lease::EXERCISE;
use locks::ids::Endpoint;

use super::evidence::About;
use super::play_sql::{Answer, Change, Oracle, RowMap, Seen, Tables, plain_text};
use super::schedule::{Arg, Dice, Replica, Schedule, Session, Step, of};
use super::sql::{Task, kind, schedule};
use super::stop::{Reason, Violation};

/// How many series of a seed.
const SEEDS: u64 = 40;
/// How many takes each has.
const SERIES: usize = 25;
/// The lease of most schedules, in milliseconds.
const LEASE_MS: i64 = 30_000;

/// See the module.
pub const TASK: Task = Task {
    exercise: &EXERCISE,
    about: About { strategy: "pg-lease", replicas: &["A", "B", "C"], endpoint: Endpoint::Postgres, lock: "settle" },
    tables: Tables {
        schema: include_str!("../../homework/lease/schema.sql"),
        clear: "truncate lease, audit.change restart identity",
        read: "select to_jsonb(lease)::text from lease",
        elapse: "update lease set expires_at = expires_at - $1 * interval '1 ms'",
        keys: &[("lease", "name")],
    },
    schedules,
    oracle: || Box::<Model>::default(),
    reason,
};

fn args(lock: &str, holder: &str, number: usize, lease_ms: i64, clock_ms: i64) -> Vec<Arg> {
    let token = format!("{:08x}", (number as u64 + 1).wrapping_mul(2_654_435_761) as u32);
    vec![Arg::text(lock), Arg::text(holder), Arg::Text(token), Arg::Int(lease_ms), Arg::Clock(clock_ms)]
}

/// A replica asks for `settle`.
fn take(by: Replica, number: usize, lease_ms: i64) -> Step {
    Step::Submit(by, args("settle", by, number, lease_ms, 0))
}

fn send(by: Replica, number: usize) -> Step {
    Step::Send(by, args("settle", by, number, LEASE_MS, 0), None)
}

/// A row that stands there, which expires in so many milliseconds.
fn row(lock: &str, epoch: i64, in_ms: i64) -> Step {
    Step::Sql(format!(
        "insert into lease values ('{lock}', 'Z', 'before', {epoch}, clock_timestamp() + {in_ms} * interval '1 ms')"
    ))
}

fn schedules() -> Vec<Schedule> {
    let mut all = vec![
        schedule("1", "nobody ever took it", vec![take("A", 1, LEASE_MS)]),
        schedule(
            "2",
            "A takes it; then B asks, and A again",
            vec![take("A", 1, LEASE_MS), take("B", 2, LEASE_MS), take("A", 3, LEASE_MS)],
        ),
        schedule(
            "2b",
            "leases of 500, 1500, 90 000 and 1 ms",
            [500, 1500, 90_000, 1]
                .into_iter()
                .enumerate()
                .map(|(number, ms)| Step::Submit("A", args(&format!("lock-{number}"), "A", number, ms, 0)))
                .collect(),
        ),
        schedule("3", "an expired row of epoch 7", vec![row("settle", 7, -1000), take("A", 1, LEASE_MS)]),
        schedule(
            "4",
            "an expired row of epoch 2^53 + 1",
            vec![row("settle", (1 << 53) + 1, -1000), take("A", 1, LEASE_MS)],
        ),
        schedule(
            "5",
            "A holds, and B's clock is ahead by more than the lease",
            vec![take("A", 1, LEASE_MS), Step::Submit("B", args("settle", "B", 2, LEASE_MS, LEASE_MS + 1500))],
        ),
        schedule(
            "6",
            "A's clock is an hour behind",
            vec![Step::Submit("A", args("settle", "A", 1, LEASE_MS, -3_600_000)), take("B", 2, LEASE_MS)],
        ),
        schedule(
            "7",
            "A's transaction is older than the lease that it takes",
            vec![Step::Begin(of("A")), Step::Wait(150), take("A", 1, 100), Step::Commit(of("A"))],
        ),
        schedule(
            "8",
            "the row expires after A's transaction began",
            vec![
                row("settle", 7, 80),
                Step::Begin(of("A")),
                Step::Wait(130),
                take("A", 1, LEASE_MS),
                Step::Commit(of("A")),
            ],
        ),
        zones("9", "sessions in three time zones", ["America/New_York", "Asia/Tokyo", "UTC"]),
        zones(
            "10",
            "summer time ends in twenty minutes, or ended twenty minutes ago",
            ["summer time ends in 20 min", "summer time ends in -20 min", "UTC"],
        ),
    ];
    let open = |name: &str, title: &str, begin: Option<Step>, end: Step| {
        let steps = [
            Step::Begin(of("A")),
            take("A", 1, LEASE_MS),
            send("B", 2),
            Step::Settle(of("B")),
            end,
            Step::Answer(of("B")),
            take("C", 3, LEASE_MS),
        ];
        schedule(name, title, begin.into_iter().chain(steps).collect())
    };
    let (commit, rollback) = (Step::Commit(of("A")), Step::Rollback(of("A")));
    all.extend([
        open("11-1", "no row; A takes it and has not committed when B asks", None, commit.clone()),
        open("11-2", "no row; A takes it, B asks, A undoes it", None, rollback.clone()),
        open("12-1", "an expired row; A has not committed when B asks", Some(row("settle", 7, -1000)), commit),
        open("12-2", "an expired row; A takes it, B asks, A undoes it", Some(row("settle", 7, -1000)), rollback),
        schedule(
            "13",
            "A's lease is over before A commits, while B waits",
            vec![
                row("settle", 7, -1000),
                Step::Begin(of("A")),
                take("A", 1, 150),
                send("B", 2),
                Step::Settle(of("B")),
                Step::Wait(250),
                Step::Commit(of("A")),
                Step::Answer(of("B")),
                take("C", 3, LEASE_MS),
            ],
        ),
        schedule(
            "14",
            "two replicas of one name",
            vec![
                Step::Submit("A", args("settle", "node-1", 1, LEASE_MS, 0)),
                Step::Submit("B", args("settle", "node-1", 2, LEASE_MS, 0)),
            ],
        ),
        schedule(
            "15",
            "other locks, one live and one expired",
            vec![
                row("dispatch", 3, 60_000),
                row("digest", 5, -60_000),
                take("A", 1, LEASE_MS),
                Step::Submit("B", args("dispatch", "B", 2, LEASE_MS, 0)),
                Step::Submit("B", args("digest", "B", 3, LEASE_MS, 0)),
            ],
        ),
    ]);
    all.extend((1..=SEEDS).map(seeded));
    all
}

/// Each of three sessions in a zone of its own takes the lock; another asks for it, and takes it when it is over.
fn zones(name: &str, title: &str, zones: [&str; 3]) -> Schedule {
    const REPLICAS: [Replica; 3] = ["A", "B", "C"];
    let mut steps: Vec<Step> =
        REPLICAS.into_iter().zip(zones).map(|(by, zone)| Step::Set(of(by), "TimeZone", zone.to_owned())).collect();
    let mut number = 0;
    let mut ask = |steps: &mut Vec<Step>, by: Replica| {
        number += 1;
        steps.push(take(by, number, LEASE_MS));
    };
    for holder in 0..3 {
        for next in [1, 2] {
            let (first, second) = (REPLICAS[holder], REPLICAS[(holder + next) % 3]);
            ask(&mut steps, first);
            ask(&mut steps, second);
            steps.push(Step::Elapse(LEASE_MS + 1000));
            ask(&mut steps, second);
            steps.push(Step::Elapse(LEASE_MS + 1000));
        }
    }
    schedule(name, title, steps)
}

/// A series of takes by three sessions, some in transactions that were open for a while, while leases end.
fn seeded(seed: u64) -> Schedule {
    const LOCKS: [&str; 3] = ["settle", "dispatch", "digest"];
    const REPLICAS: [Replica; 3] = ["A", "B", "C"];
    let mut dice = Dice::new(seed);
    let mut steps = vec![Step::Set(of("B"), "TimeZone", "America/New_York".to_owned())];
    for number in 0..SERIES {
        let (lock, by) = (dice.one(&LOCKS), dice.one(&REPLICAS));
        let args = args(lock, by, number, dice.between(1, 500), dice.between(-5000, 5000));
        let old = dice.percent(30);
        if old {
            steps.push(Step::Begin(of(by)));
        }
        if dice.percent(25) {
            steps.push(Step::Wait(dice.between(1, 4) as u64));
        }
        steps.push(Step::Submit(by, args));
        if old {
            steps.push(if dice.percent(80) { Step::Commit(of(by)) } else { Step::Rollback(of(by)) });
        }
        if dice.percent(40) {
            steps.push(Step::Elapse(dice.between(1, 400)));
        }
    }
    schedule(format!("seed-{seed}"), "a series of its own", steps)
}

/// What was granted.
#[derive(Clone, Debug)]
struct Grant {
    lock: String,
    holder: String,
    token: String,
    epoch: i64,
    /// When it ends, at the earliest and at the latest.
    ends_us: (i64, i64),
}

/// What the leases must be.
#[derive(Default)]
struct Model {
    /// When each row expires, as committed.
    rows: BTreeMap<String, i64>,
    /// The largest epoch of each lock.
    epochs: BTreeMap<String, i64>,
    /// What was sent and is not answered, and whether a transaction with a grant of that lock was open then.
    sent: BTreeMap<Session, (Vec<Arg>, bool)>,
    /// Grants of transactions that are open.
    open: BTreeMap<Session, Vec<Grant>>,
    /// What must be committed by now.
    due: Vec<Grant>,
    /// What is committed.
    seen: Vec<Change>,
}

impl Oracle for Model {
    fn judge(&mut self, step: &Step, seen: &Seen) -> Result<(), Violation> {
        if let Some(state) = &seen.state {
            self.rows.clear();
            for row in state {
                let Some((name, expires_us, epoch)) = read(row) else { continue };
                self.rows.insert(name.clone(), expires_us);
                let newest = self.epochs.entry(name).or_insert(epoch);
                *newest = epoch.max(*newest);
            }
        }
        self.seen.extend(seen.changes.iter().cloned());
        match step {
            Step::Begin(by) => _ = self.open.insert(*by, Vec::new()),
            Step::Rollback(by) => _ = self.open.remove(by),
            Step::Commit(by) => self.due.extend(self.open.remove(by).unwrap_or_default()),
            Step::Send(by, args, _) => {
                let overlaps = self.is_open_elsewhere(of(by), lock(args));
                self.sent.insert(of(by), (args.clone(), overlaps));
            }
            Step::Submit(by, args) => self.answered(of(by), args, false, seen.answer.as_ref())?,
            Step::Answer(by) => {
                // What A committed while B waited is known before B's answer is judged.
                self.compare(false)?;
                let (args, overlaps) = self.sent.remove(by).unwrap_or_default();
                self.answered(*by, &args, overlaps, seen.answer.as_ref())?;
            }
            _ => {}
        }
        self.compare(self.sent.is_empty())
    }
}

impl Model {
    fn is_open_elsewhere(&self, by: Session, lock: &str) -> bool {
        let others = self.open.iter().filter(|(session, _)| **session != by);
        others.flat_map(|(_, grants)| grants).any(|grant| grant.lock == lock)
    }

    fn answered(
        &mut self,
        by: Session,
        args: &[Arg],
        overlapped: bool,
        answer: Option<&Answer>,
    ) -> Result<(), Violation> {
        let Some(answer) = answer else { return Ok(()) };
        let [Arg::Text(lock), Arg::Text(holder), Arg::Text(token), Arg::Int(lease_ms), _] = args else { return Ok(()) };
        let own = self.open.get(&by).and_then(|grants| grants.iter().rev().find(|grant| grant.lock == *lock));
        let ends = own.map(|grant| grant.ends_us).or_else(|| self.rows.get(lock).map(|us| (*us, *us)));
        let elsewhere = self.is_open_elsewhere(by, lock);
        let live = elsewhere || ends.is_some_and(|(earliest, _)| earliest > answer.to_us);
        let over = !elsewhere && !overlapped && ends.is_none_or(|(_, latest)| latest <= answer.from_us);
        let is = match ends {
            _ if elsewhere => "is being taken in an open transaction".to_owned(),
            None => "was never taken".to_owned(),
            Some(_) if live => "is live".to_owned(),
            Some(_) => "is over".to_owned(),
        };
        let granted = format!("one row: the token and an epoch; the lease of {lock} {is}");
        match answer.rows.as_slice() {
            [] if over => {
                let rule = if ends.is_none() { "no row" } else { "expired" };
                Err(Violation::new(rule, granted, "no row"))
            }
            [] => Ok(()),
            [row] => {
                let epoch = row.get(1).cloned().flatten().and_then(|text| text.parse::<i64>().ok());
                let (Some(Some(told)), Some(epoch)) = (row.first(), epoch) else {
                    return Err(Violation::new("answer", granted, format!("the row {row:?}")));
                };
                if live {
                    // A row that says so and changed nothing is another mistake.
                    let wrote = self.open.contains_key(&by) || !self.seen.is_empty();
                    let rule = if wrote { "taken" } else { "answer" };
                    let observed = format!("a row for {holder}: token {told}, epoch {epoch}");
                    return Err(Violation::new(rule, format!("no row: the lease of {lock} {is}"), observed));
                }
                let newest = self.epochs.get(lock).copied().unwrap_or(0);
                if told != token {
                    return Err(Violation::new("answer", granted, format!("the token {told}, not {token}")));
                }
                if epoch <= newest {
                    let expected = format!("an epoch above {newest}");
                    return Err(Violation::new("epoch", expected, format!("epoch {epoch}")));
                }
                let ends_us = (answer.from_us + lease_ms * 1000, answer.to_us + lease_ms * 1000);
                let (lock, holder, token) = (lock.clone(), holder.clone(), token.clone());
                let grant = Grant { lock, holder, token, epoch, ends_us };
                self.open.get_mut(&by).unwrap_or(&mut self.due).push(grant);
                Ok(())
            }
            rows => Err(Violation::new("answer", granted, format!("{} rows", rows.len()))),
        }
    }

    /// What is committed must be what was granted; when nothing is under way, all of it.
    fn compare(&mut self, all: bool) -> Result<(), Violation> {
        let mut left = Vec::new();
        for change in std::mem::take(&mut self.seen) {
            let Some(row) = &change.new else {
                return Err(Violation::new("other", "rows are never deleted", "one was deleted"));
            };
            let Some((name, expires_us, epoch)) = read(row) else { continue };
            let of = |column: &str| row.get(column).map(plain_text).unwrap_or_default();
            let is = |grant: &Grant| grant.lock == name && grant.token == of("token");
            let Some(at) = self.due.iter().position(is) else {
                left.push(change);
                continue;
            };
            let grant = self.due.remove(at);
            let held = (of("holder"), epoch);
            if held != (grant.holder.clone(), grant.epoch) {
                let expected = format!("holder {}, epoch {}", grant.holder, grant.epoch);
                return Err(Violation::new("written", expected, format!("holder {}, epoch {}", held.0, held.1)));
            }
            let (earliest, latest) = grant.ends_us;
            if !(earliest..=latest).contains(&expires_us) {
                let off = if expires_us < earliest { expires_us - earliest } else { expires_us - latest };
                let expected = "expires_at between the call and its answer, each plus the lease";
                let observed = format!("{} ms off", off as f64 / 1000.0);
                return Err(Violation::new("length", expected, observed));
            }
            self.rows.insert(name.clone(), expires_us);
            let newest = self.epochs.entry(name).or_insert(epoch);
            *newest = epoch.max(*newest);
        }
        if !all {
            self.seen = left;
            return Ok(());
        }
        if let Some(row) = left.first().and_then(|change| change.new.as_ref()) {
            let name = row.get("name").map(plain_text).unwrap_or_default();
            let rule = if self.due.iter().any(|grant| grant.lock == name) { "written" } else { "other" };
            let observed = format!("the row of {name} was changed");
            return Err(Violation::new(rule, "only a row that was granted is changed", observed));
        }
        match self.due.first() {
            Some(grant) => {
                let expected = format!("the row of {} says holder {}, token {}", grant.lock, grant.holder, grant.token);
                Err(Violation::new("written", expected, "no such change"))
            }
            None => Ok(()),
        }
    }
}

fn lock(args: &[Arg]) -> &str {
    match args.first() {
        Some(Arg::Text(lock)) => lock,
        _ => "",
    }
}

fn read(row: &RowMap) -> Option<(String, i64, i64)> {
    let expires = DateTime::parse_from_rfc3339(row.get("expires_at")?.as_str()?).ok()?;
    Some((plain_text(row.get("name")?), expires.timestamp_micros(), row.get("epoch")?.as_i64()?))
}

fn reason(schedule: &str, rule: &str) -> Reason {
    match (kind(schedule), rule) {
        (_, "answer") => (
            "answer",
            "Granted is one row, the token and the epoch; busy is no row and nothing changed. Nothing else tells the \
             caller what it has.",
        ),
        (_, "written") => ("not written", "The row does not say what the statement answered."),
        (_, "other") => {
            ("another lock touched", "A row was changed that the call is not about, or that was not granted.")
        }
        ("13", "epoch") => (
            "same epoch twice after waiting",
            "B waited for A's transaction. Postgres reads the row again then, but not your sub-select: it still \
             counted from the epoch before A's.",
        ),
        (_, "epoch") => (
            "epoch not increased",
            "Each grant must have a larger epoch than every grant of that lock before: writers are told apart by it.",
        ),
        ("5" | "6", _) => (
            "application clock",
            "A replica's clock decided. It may be ahead or behind by any amount; the database's own clock is the one \
             that all replicas share.",
        ),
        ("7" | "8", _) => (
            "now() stands still in an old transaction",
            "now() is when the transaction began, which may be long ago. The clock itself is clock_timestamp().",
        ),
        ("9", _) => (
            "zone-less time (hours)",
            "A timestamp without zone is read in the zone of whoever reads it: sessions in other zones are hours off.",
        ),
        ("10", _) => (
            "zone-less time (one hour)",
            "When summer time ends, an hour of wall time happens twice. A timestamp without zone cannot tell which.",
        ),
        ("11" | "12", "taken") => (
            "both hold",
            "B's check saw nothing of A's grant, which was not committed; and after waiting B took it all the same.",
        ),
        (_, "taken") => ("taken while live", "Somebody held a live lease, and the statement gave it to another."),
        (_, "length") => (
            "lease length",
            "The lease does not last as long as was asked for, counted on the database's clock from the call.",
        ),
        (_, "no row") => ("no row yet", "Nobody ever took the lock, so there is no row to update: it must be made."),
        _ => ("expired never taken", "The lease was over, and the statement did not take it."),
    }
}
