//! Plays a schedule in Postgres: sessions of replicas, the learner's statement in them, and what the grader's own
//! log says was changed. It decides nothing about right or wrong but what a statement of any exercise may not do:
//! not end, not answer, begin or end a transaction.

use std::collections::BTreeMap;
use std::time::Duration;

use locks::event::{Param, Reply};
use locks::homework::Mistake;
use serde_json::{Map, Value};
use sqlx::{AssertSqlSafe, Row};
use tokio::time::{Instant, timeout};

use super::evidence::{Evidence, GRADER, short};
use super::sandbox::postgres::Sandbox;
use super::sandbox::wire::{Came, Refusal, Wire};
use super::schedule::{Arg, Session, Step, of, own, zone};
use super::starved::{Had, kept_waiting, late};
use super::stop::{Stop, Violation};

/// How long a statement may take that the server itself does not end.
const DEADLINE: Duration = Duration::from_secs(3);
/// How soon it is asked again whether somebody waits: nothing tells of it.
const AGAIN: Duration = Duration::from_millis(2);
/// What `Sent` says of a statement's time, in milliseconds: the limit of its session.
const LIMIT_MS: u64 = 2000;

/// Codes of what was out of time, or was ended because it was.
const TIMED_OUT: [&str; 4] = ["57014", "55P03", "57P01", "25P03"];

/// What differs from exercise to exercise.
pub struct Tables {
    /// Creates them, with the learner's rights.
    pub schema: &'static str,
    /// Empties all of them.
    pub clear: &'static str,
    /// Reads the state that the exercise is about: one `jsonb` a row.
    pub read: &'static str,
    /// Brings every expiry nearer by `$1` milliseconds.
    pub elapse: &'static str,
    /// The columns that name a row, by table: first the table that is read.
    pub keys: &'static [(&'static str, &'static str)],
}

/// A row as JSON.
pub type RowMap = Map<String, Value>;

/// A row that was changed, as the audit log has it.
#[derive(Clone, Debug)]
pub struct Change {
    /// The table.
    pub table: String,
    /// The row before.
    pub old: Option<RowMap>,
    /// The row after.
    pub new: Option<RowMap>,
}

/// An answer to a statement.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The rows, as text.
    pub rows: Vec<Vec<Option<String>>>,
    /// When it was sent, in microseconds since the Unix epoch.
    pub from_us: i64,
    /// When it was answered.
    pub to_us: i64,
}

/// What was seen of a step.
#[derive(Debug, Default)]
pub struct Seen {
    /// The answer, if one was read.
    pub answer: Option<Answer>,
    /// What is committed by now and was not before.
    pub changes: Vec<Change>,
    /// Whoever was to settle waits for a lock.
    pub blocked: bool,
    /// The whole state, read anew after somebody else than the learner changed it.
    pub state: Option<Vec<RowMap>>,
}

/// Judges what was seen, step by step, against a model of its own.
pub trait Oracle: Send {
    /// Take in a step; a rule that it broke.
    fn judge(&mut self, step: &Step, seen: &Seen) -> Result<(), Violation>;
}

struct Open {
    wire: Wire,
    /// A transaction that the schedule began is open.
    begun: bool,
    /// When the statement was sent that is not answered.
    sent_us: Option<i64>,
    /// What its process had run by then, and how long the schedule had waited.
    had: Option<Had>,
    waited: Duration,
    gated: bool,
}

/// See the module.
pub struct Play<'a> {
    sandbox: &'a mut Sandbox,
    tables: &'a Tables,
    submission: &'a str,
    evidence: &'a mut Evidence,
    sessions: BTreeMap<Session, Open>,
    /// Rows as the evidence has them, by table and key.
    told: BTreeMap<(String, String), RowMap>,
    /// How long the schedule itself has waited.
    waited: Duration,
}

/// Play a schedule from its beginning to its end, or to where it stops.
pub async fn play(
    sandbox: &mut Sandbox,
    tables: &Tables,
    submission: &str,
    steps: &[Step],
    oracle: &mut dyn Oracle,
    evidence: &mut Evidence,
) -> Result<(), Stop> {
    let (sessions, told) = (BTreeMap::new(), BTreeMap::new());
    let mut play = Play { sandbox, tables, submission, evidence, sessions, told, waited: Duration::ZERO };
    play.admin(tables.clear).await?;
    let state = play.state().await?;
    oracle.judge(&Step::Wait(0), &Seen { state: Some(state), ..Seen::default() })?;
    for step in steps {
        play.evidence.step(step.action());
        let seen = play.step(step).await;
        play.evidence.stepped();
        oracle.judge(step, &seen?)?;
        play.check_sessions()?;
    }
    Ok(())
}

impl Play<'_> {
    async fn step(&mut self, step: &Step) -> Result<Seen, Stop> {
        let mut seen = Seen::default();
        // The state is read anew where somebody else than the learner may have changed it.
        let mut by_others = matches!(step, Step::Elapse(_) | Step::Sql(_));
        match step {
            Step::Begin(by) => {
                self.plain(*by, "begin").await?;
                self.open(*by).await?.begun = true;
            }
            Step::Commit(by) | Step::Rollback(by) => {
                let word = if matches!(step, Step::Commit(_)) { "commit" } else { "rollback" };
                self.open(*by).await?.begun = false;
                self.plain(*by, word).await?;
                by_others = by.own;
            }
            Step::Set(by, name, value) => {
                let value = zone(value).replace('\'', "''");
                self.plain(*by, &format!("set {name} = '{value}'")).await?;
            }
            Step::Submit(by, args) => {
                self.send(of(by), args, None).await?;
                seen.answer = Some(self.answer(of(by)).await?);
            }
            Step::Send(by, args, gate) => self.send(of(by), args, *gate).await?,
            Step::Own(by, sql) => {
                self.evidence_sent(own(by), sql, &[]).await?;
                let open = self.open(own(by)).await?;
                open.wire.send_plain(sql).await;
                open.sent_us = Some(now_us());
            }
            Step::Settle(by) => seen.blocked = self.settle(*by).await?,
            Step::Answer(by) => {
                seen.answer = Some(self.answer(*by).await?);
                by_others = by.own;
            }
            Step::Pass(by) => self.pass(of(by)).await?,
            Step::Wait(ms) => {
                tokio::time::sleep(Duration::from_millis(*ms)).await;
                self.waited += Duration::from_millis(*ms);
            }
            Step::Elapse(ms) => {
                self.admin(&self.tables.elapse.replace("$1", &ms.to_string())).await?;
            }
            Step::Sql(sql) => {
                self.admin(sql).await?;
                self.evidence.outsider(sql, "done");
            }
            Step::Redis(_) => return Err(Stop::Lab("this exercise has no Redis".to_owned())),
        }
        if !matches!(step, Step::Begin(_) | Step::Set(..) | Step::Wait(_) | Step::Elapse(_) | Step::Sql(_)) {
            seen.changes = self.changes().await?;
        }
        if by_others {
            let state = self.state().await?;
            self.tell_rows(&state);
            seen.state = Some(state);
        }
        Ok(seen)
    }

    /// The session, opened if it is not yet.
    async fn open(&mut self, session: Session) -> Result<&mut Open, Stop> {
        if !self.sessions.contains_key(&session) {
            let opened = if session.own { self.sandbox.other().await } else { self.sandbox.learner().await };
            let wire = opened.map_err(|why| self.lost(why))?;
            self.evidence.session(session.replica, name(session), wire.pid());
            self.sessions.insert(
                session,
                Open { wire, begun: false, sent_us: None, had: None, waited: Duration::ZERO, gated: false },
            );
        }
        self.sessions.get_mut(&session).ok_or_else(|| Stop::Lab("a session is missing".to_owned()))
    }

    /// The grader cannot reach the store any more.
    fn lost(&self, why: String) -> Stop {
        match self.evidence.newest() {
            // Nothing of the learner's has run yet.
            0..=3 => Stop::Lab(why),
            _ => Stop::Died,
        }
    }

    /// A statement of the schedule's own in a session.
    async fn plain(&mut self, session: Session, sql: &str) -> Result<(), Stop> {
        self.evidence_sent(session, sql, &[]).await?;
        self.open(session).await?.wire.send_plain(sql).await;
        let came = self.came(session).await?;
        self.evidence.answered(session.replica, name(session), reply(&came));
        match came {
            Came::Rows { .. } => Ok(()),
            // What a transaction or a setting refuses, it refuses for what the learner's statement did in it.
            Came::Refused(refusal) => Err(self.mistake(refusal, session)),
            _ => Err(Stop::Died),
        }
    }

    async fn evidence_sent(&mut self, session: Session, text: &str, args: &[Param]) -> Result<(), Stop> {
        self.open(session).await?;
        self.evidence.sent(session.replica, name(session), text, args.to_vec(), LIMIT_MS);
        Ok(())
    }

    async fn send(&mut self, session: Session, args: &[Arg], gate: Option<&'static str>) -> Result<(), Stop> {
        self.open(session).await?;
        if gate.is_some() {
            let open = self.open(session).await?;
            open.gated = true;
            let pid = open.wire.pid();
            self.admin(&format!("insert into gate.closed values ({pid}); select pg_advisory_lock({pid})")).await?;
        }
        let submission = self.submission;
        let now = now_us();
        let bound: Vec<_> = args.iter().map(|arg| arg.bound(now)).collect();
        let params = bound.iter().map(|bound| Param::Text(bound.text.clone())).collect::<Vec<_>>();
        self.evidence_sent(session, submission, &params).await?;
        let waited = self.waited;
        let open = self.open(session).await?;
        open.sent_us = Some(now);
        (open.had, open.waited) = (Had::of(open.wire.pid()), waited);
        open.wire.send(submission, &bound).await;
        if gate.is_some() {
            // Whoever does not come to the gate was answered before it.
            self.settle(session).await?;
        }
        Ok(())
    }

    async fn pass(&mut self, session: Session) -> Result<(), Stop> {
        let open = self.open(session).await?;
        if !std::mem::take(&mut open.gated) {
            return Ok(());
        }
        let pid = open.wire.pid();
        self.admin(&format!("delete from gate.closed where pid = {pid}; select pg_advisory_unlock({pid})")).await
    }

    /// Wait until a session waits for a lock or is answered; does it wait?
    async fn settle(&mut self, session: Session) -> Result<bool, Stop> {
        let until = Instant::now() + DEADLINE;
        loop {
            let open = self.open(session).await?;
            let pid = open.wire.pid();
            if timeout(AGAIN, open.wire.ready()).await.is_ok() {
                return Ok(false);
            }
            let waits = sqlx::query_scalar::<_, bool>(
                "select exists (select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock')",
            );
            let waits = waits.bind(pid as i32).fetch_one(self.sandbox.admin()).await;
            if waits.map_err(|error| self.lost(error.to_string()))? {
                return Ok(true);
            }
            if Instant::now() > until {
                return Err(self.overdue(session).await);
            }
        }
    }

    async fn answer(&mut self, session: Session) -> Result<Answer, Stop> {
        let asked_us = now_us();
        let came = self.came(session).await?;
        let to_us = now_us();
        let from_us = self.open(session).await?.sent_us.take().unwrap_or(to_us);
        self.evidence.answered(session.replica, name(session), reply(&came));
        let mistake = |message: &str| Mistake { message: message.to_owned(), ..Mistake::default() };
        match came {
            Came::Rows { rows, .. } => Ok(Answer { rows, from_us, to_us }),
            Came::Refused(refusal) if session.own => {
                Err(Stop::Lab(format!("the grader's statement: {}", refusal.message)))
            }
            Came::Refused(refusal) => {
                let passed = Duration::from_micros((asked_us - from_us).unsigned_abs());
                Err(self.not_theirs(&refusal, session, passed).unwrap_or_else(|| self.mistake(refusal, session)))
            }
            Came::Copy => Err(Stop::Mistake(mistake("COPY reads from or writes to the client, and nobody answers"))),
            Came::TooLong => {
                Err(Stop::Mistake(mistake("the answer was longer than 1 MB, and was not read to its end")))
            }
            Came::Closed => Err(Stop::Died),
        }
    }

    /// What came of what a session was sent; a session that does not answer is ended.
    async fn came(&mut self, session: Session) -> Result<Came, Stop> {
        let open = self.open(session).await?;
        match timeout(DEADLINE, open.wire.answer()).await {
            Ok(came) => Ok(came),
            Err(_) => Err(self.overdue(session).await),
        }
    }

    /// A statement was out of time, and that is not the fault of whoever wrote it.
    fn not_theirs(&self, refusal: &Refusal, session: Session, passed: Duration) -> Option<Stop> {
        // NOWAIT is refused with a time-out's code, and at once.
        let timed_out = TIMED_OUT.contains(&refusal.code.as_str()) && refusal.message.contains("timeout");
        let open = self.sessions.get(&session).filter(|_| timed_out)?;
        let why = kept_waiting(open.wire.pid(), open.had);
        why.or_else(|| late(passed, self.waited.saturating_sub(open.waited))).map(Stop::Lab)
    }

    async fn overdue(&mut self, session: Session) -> Stop {
        let (pid, had) = match self.sessions.get(&session) {
            Some(open) => (open.wire.pid(), open.had),
            None => (0, None),
        };
        if let Some(why) = kept_waiting(pid, had) {
            return Stop::Lab(why);
        }
        // One that does not end is killed with its cluster.
        let ended = self.sandbox.terminate(pid).await;
        let how = if ended { "its session was ended" } else { "its whole server was killed" };
        Stop::Mistake(Mistake {
            message: format!("your statement was not over after {} s; {how}", DEADLINE.as_secs()),
            still_running: Some(running(session)),
            ..Mistake::default()
        })
    }

    /// A refusal, in the store's own words, with the place in the learner's text.
    fn mistake(&self, refusal: Refusal, session: Session) -> Stop {
        let place = refusal.position.map(|position| place(self.submission, position));
        let timed_out = TIMED_OUT.contains(&refusal.code.as_str());
        Stop::Mistake(Mistake {
            message: short(&refusal.message),
            line: place.map(|(line, _)| line),
            column: place.map(|(_, column)| column),
            still_running: timed_out.then(|| running(session)),
            code: Some(refusal.code),
            ..Mistake::default()
        })
    }

    /// A statement begins and ends no transaction, and leaves its session as it was.
    fn check_sessions(&self) -> Result<(), Stop> {
        let answered = self.sessions.iter().filter(|(_, open)| open.sent_us.is_none());
        for (session, open) in answered {
            if open.wire.is_over() || open.wire.in_transaction() != open.begun {
                let message = "your statement began or ended a transaction".to_owned();
                return Err(Stop::Mistake(Mistake {
                    message: format!("{message} ({}'s)", session.replica),
                    ..Mistake::default()
                }));
            }
        }
        Ok(())
    }

    /// Statements of the grader's own on the whole.
    async fn admin(&mut self, sql: &str) -> Result<(), Stop> {
        let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(self.sandbox.admin()).await;
        done.map(drop).map_err(|error| self.lost(error.to_string()))
    }

    /// What was committed since this was asked last.
    async fn changes(&mut self) -> Result<Vec<Change>, Stop> {
        let rows = sqlx::query(
            "with seen as (delete from audit.change returning seq, name, old::text as old, new::text as new) \
             select name, old, new from seen order by seq",
        );
        let rows = rows.fetch_all(self.sandbox.admin()).await.map_err(|error| self.lost(error.to_string()))?;
        let mut changes = Vec::new();
        for row in rows {
            let side =
                |name: &str| -> Option<RowMap> { serde_json::from_str(&row.try_get::<String, _>(name).ok()?).ok() };
            let change = Change { table: row.try_get("name").unwrap_or_default(), old: side("old"), new: side("new") };
            let key = key(self.tables, &change.table, change.new.as_ref().or(change.old.as_ref()));
            self.evidence.row(&change.table, &key, change.new.as_ref());
            self.told.insert((change.table.clone(), key), change.new.clone().unwrap_or_default());
            changes.push(change);
        }
        Ok(changes)
    }

    /// Write down the rows that somebody else than the learner made or changed.
    fn tell_rows(&mut self, state: &[RowMap]) {
        let Some((table, _)) = self.tables.keys.first() else { return };
        for row in state {
            let key = key(self.tables, table, Some(row));
            let told = self.told.get(&((*table).to_owned(), key.clone()));
            if told != Some(row) {
                self.evidence.row(table, &key, Some(row));
                self.told.insert(((*table).to_owned(), key), row.clone());
            }
        }
    }

    async fn state(&mut self) -> Result<Vec<RowMap>, Stop> {
        let rows = sqlx::query_scalar::<_, String>(self.tables.read).fetch_all(self.sandbox.admin()).await;
        let rows = rows.map_err(|error| self.lost(error.to_string()))?;
        Ok(rows.iter().filter_map(|text| serde_json::from_str(text).ok()).collect())
    }
}

/// What names a row.
fn key(tables: &Tables, table: &str, row: Option<&RowMap>) -> String {
    let column = tables.keys.iter().find(|(name, _)| *name == table);
    column.zip(row).and_then(|((_, column), row)| row.get(*column)).map(plain_text).unwrap_or_default()
}

/// The wall clock, in microseconds since the Unix epoch: the database's too, which runs on this machine.
pub fn now_us() -> i64 {
    chrono::Utc::now().timestamp_micros()
}

/// A value without quotes.
pub fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn name(session: Session) -> &'static str {
    if session.own { GRADER } else { "submission" }
}

fn running(session: Session) -> String {
    format!("{}'s statement", session.replica)
}

fn reply(came: &Came) -> Reply {
    match came {
        Came::Rows { rows, tag } => {
            let count = tag.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0);
            let value = |value: &Option<String>| value.as_deref().map_or(Param::Null, |text| Param::Text(short(text)));
            let row = rows.first().map(|row| row.iter().map(value).collect()).unwrap_or_default();
            Reply::Rows { affected: count, row }
        }
        Came::Refused(refusal) => Reply::Refused { code: refusal.code.clone(), message: short(&refusal.message) },
        Came::Copy | Came::TooLong | Came::Closed => Reply::Unknown,
    }
}

/// Line and column of a character, both from 1.
fn place(text: &str, position: usize) -> (u32, u32) {
    let before: String = text.chars().take(position.saturating_sub(1)).collect();
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    (line as u32, column as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_lines_and_columns() {
        assert_eq!(place("select\n  x", 1), (1, 1));
        assert_eq!(place("select\n  x", 10), (2, 3));
        assert_eq!(place("ä\nb", 3), (2, 1));
    }
}
