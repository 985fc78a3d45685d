//! The replica's own session: it writes what became of each attempt into the audit table, and reads the
//! catalog. Best effort and on the side: nothing that a strategy does ever waits for it.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use locks::event::{Kind, Param, Reply, Schedule, StoreCommand};
use locks::ids::{AttemptId, CommandId, Endpoint, LockName, Slot};
use locks::machine::Outcome;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::me::Me;
use super::process::Error;
use super::session::postgres::{Call, Postgres, Settings};
use super::session::{self, Session};
use crate::clock::now_us;

/// Its name within the replica.
const SESSION: &str = "audit";
/// The command's name in the log.
const NAME: &str = "audit";
/// Numbers of its commands begin here, far from any strategy's.
const FIRST: u32 = 1_000_000_000;

const INSERT: &str = "insert into audit (attempt, schedule, fire_at, replica, epoch, outcome)\n\
                      values ($1::text, $2::text, $3::timestamptz, $4::text, $5::bigint, $6::text)";

const CATALOG: &str = "select coalesce(json_agg(json_build_object('name', name, 'cron', cron, 'time_zone', time_zone, \
                       'handler', handler) order by position), '[]')::text from schedules";

/// The replica's own session.
#[derive(Clone)]
pub(super) struct Audit {
    me: Rc<Me>,
    session: Session<Postgres>,
    commands: Rc<Cell<u32>>,
    timeout: Duration,
}

impl Audit {
    /// Open it. The receiver hears when it is open for the first time.
    pub(super) fn open(me: &Rc<Me>, store_timeout: Duration) -> Result<(Audit, oneshot::Receiver<()>), Error> {
        let client = Postgres::new(me, SESSION, &Settings::default(), vec![INSERT, CATALOG])
            .ok_or(Error::NoLink(Endpoint::Postgres))?;
        let spec = session::Spec {
            endpoint: Endpoint::Postgres,
            name: SESSION.to_owned(),
            limit: store_timeout,
            settings: Default::default(),
            lost: Box::new(|| {}),
        };
        let (session, opened) = Session::begin(me.clone(), client, spec);
        // It hinders nobody, so it may take its time.
        let timeout = (store_timeout * 10).max(Duration::from_secs(2));
        Ok((Audit { me: me.clone(), session, commands: Rc::new(Cell::new(FIRST)), timeout }, opened))
    }

    /// Write what became of an attempt.
    pub(super) fn write(
        &self,
        attempt: &AttemptId,
        lock: &LockName,
        slot: &Slot,
        outcome: Outcome,
        epoch: Option<u64>,
    ) {
        let command = CommandId(self.commands.replace(self.commands.get() + 1));
        let params = vec![
            Param::Text(attempt.to_string()),
            Param::Text(slot.schedule.clone()),
            Param::Time(slot.fire_ms.saturating_mul(1000)),
            Param::Text(attempt.replica.clone()),
            epoch.map_or(Param::Null, |epoch| Param::Int(i64::try_from(epoch).unwrap_or(i64::MAX))),
            Param::Text(outcome.name().to_owned()),
        ];
        let sent_us = self.me.say(Kind::Sent {
            attempt: Some(attempt.clone()),
            lock: lock.clone(),
            command: StoreCommand {
                command,
                name: NAME.to_owned(),
                to: Endpoint::Postgres,
                session: SESSION.to_owned(),
                text: INSERT.to_owned(),
                params: params.clone(),
                timeout_ms: u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX),
            },
        });
        let (me, attempt, lock) = (self.me.clone(), attempt.clone(), lock.clone());
        self.call(INSERT, params, move |reply| {
            let took_us = now_us().saturating_sub(sent_us);
            me.say(Kind::Answered { attempt: Some(attempt), lock, command, name: NAME.to_owned(), reply, took_us });
        });
    }

    /// Read the catalog; the error says why it could not be read.
    pub(super) async fn catalog(&self) -> Result<Vec<Schedule>, String> {
        let (answer, answered) = oneshot::channel();
        self.call(CATALOG, Vec::new(), move |reply| drop(answer.send(reply)));
        match answered.await {
            Ok(Reply::Rows { row, .. }) => match row.first() {
                Some(Param::Text(json)) => serde_json::from_str(json).map_err(|error| error.to_string()),
                _ => Err("the catalog has another shape".to_owned()),
            },
            Ok(reply) => Err(format!("{reply:?}")),
            Err(_) => Err("the session ended".to_owned()),
        }
    }

    fn call(&self, text: &'static str, params: Vec<Param>, answered: impl FnOnce(Reply) + 'static) {
        let session = self.session.clone();
        self.session.call(Call { text, params }, Instant::now() + self.timeout, move |reply| {
            if reply == Reply::Unknown {
                session.discard();
            }
            answered(reply);
        });
    }
}
