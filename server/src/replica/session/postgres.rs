//! Sessions on Postgres. Everything that a session will ever send is prepared when it is opened, so that a
//! call is exactly one request on the wire: a reply that a link holds back belongs to a command that was
//! executed.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use locks::event::{Param, Reply};
use locks::ids::Endpoint;
use locks::setup::Setup;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection, PgRow, PgSslMode, PgStatement, PgValueRef};
use sqlx::{Arguments, AssertSqlSafe, Column, ConnectOptions, Either, Executor, Row, Statement, TypeInfo, ValueRef};
use tokio_stream::StreamExt;

use super::peer::Peer;
use super::{Client, within};
use crate::replica::me::Me;

/// How sessions on Postgres are opened.
pub(in crate::replica) struct Postgres {
    me: Rc<Me>,
    port: u16,
    options: PgConnectOptions,
    settings: String,
    prepare: Vec<&'static str>,
}

/// A statement and its parameters.
pub(in crate::replica) struct Call {
    /// One of the texts that were prepared.
    pub(in crate::replica) text: &'static str,
    /// Its parameters, none of them `WallClock` or `Key`.
    pub(in crate::replica) params: Vec<Param>,
}

/// An open connection.
pub(in crate::replica) struct Conn {
    postgres: PgConnection,
    statements: HashMap<&'static str, PgStatement>,
    peer: Option<Peer>,
}

/// What differs from replica to replica.
#[derive(Clone, Debug, Default)]
pub(in crate::replica) struct Settings {
    /// Time zone of the session.
    pub(in crate::replica) time_zone: Option<String>,
    /// Isolation level of its transactions.
    pub(in crate::replica) isolation: Option<String>,
    /// What the strategy wants for the session.
    pub(in crate::replica) of_strategy: Vec<(&'static str, String)>,
}

impl Postgres {
    /// Sessions of that name within the replica; `None` without a link to Postgres.
    pub(in crate::replica) fn new(
        me: &Rc<Me>,
        session: &str,
        settings: &Settings,
        prepare: Vec<&'static str>,
    ) -> Option<Postgres> {
        let port = me.port(Endpoint::Postgres)?;
        let login = &me.postgres;
        let mut options = PgConnectOptions::new_without_pgpass()
            .host("127.0.0.1")
            .port(port)
            .ssl_mode(PgSslMode::Disable)
            .username(&login.user)
            .database(&login.database)
            .application_name(&me.wire_name(session))
            .disable_statement_logging();
        if let Some(password) = &login.password {
            options = options.password(password);
        }
        Some(Postgres { me: me.clone(), port, options, settings: settings.sql(), prepare })
    }
}

impl Settings {
    /// What the set-up says of a replica.
    pub(in crate::replica) fn of(setup: &Setup, replica: &str) -> Settings {
        let own = setup.replica.get(replica);
        Settings {
            time_zone: own.and_then(|own| own.time_zone.clone()),
            isolation: own.and_then(|own| own.isolation.clone()),
            of_strategy: Vec::new(),
        }
    }

    /// One request that makes all settings. A backend whose replica is gone must not keep what it waits for.
    fn sql(&self) -> String {
        let own = [("TimeZone", &self.time_zone), ("default_transaction_isolation", &self.isolation)];
        let own = own.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        let usual = [("statement_timeout", "30s"), ("client_connection_check_interval", "1s")];
        let of_strategy = self.of_strategy.iter().map(|(name, value)| (*name, value.as_str()));
        let all = own.chain(usual).chain(of_strategy);
        let set = |(name, value): (&str, &str)| format!("set_config('{name}', '{}', false)", value.replace('\'', "''"));
        format!("select {}", all.map(set).collect::<Vec<_>>().join(", "))
    }
}

impl Client for Postgres {
    type Conn = Conn;
    type Call = Call;
    type Answer = Reply;
    const NOT_SENT: Reply = Reply::NotSent;
    const UNKNOWN: Reply = Reply::Unknown;

    async fn open(&self, limit: Duration) -> Result<Conn, String> {
        let (mut postgres, peer) = {
            let _alone = self.me.connecting.lock().await;
            let before = Peer::all(self.port);
            let postgres = within(limit, self.options.connect()).await?;
            let peer = Peer::all(self.port).difference(&before).next().copied();
            (postgres, peer)
        };
        // Every value was quoted above; none comes from outside the run's own set-up.
        within(limit, postgres.execute(sqlx::raw_sql(AssertSqlSafe(self.settings.as_str())))).await?;
        let mut statements = HashMap::new();
        for &text in &self.prepare {
            let statement = within(limit, (&mut postgres).prepare(sqlx::SqlSafeStr::into_sql_str(text))).await?;
            statements.insert(text, statement);
        }
        Ok(Conn { postgres, statements, peer })
    }

    async fn call(&self, conn: &mut Conn, call: Call) -> Result<Reply, String> {
        let Some(statement) = conn.statements.get(call.text) else {
            return Ok(refused("unprepared", "the session never prepared this statement"));
        };
        let arguments = match arguments(statement, &call.params) {
            Ok(arguments) => arguments,
            Err(message) => return Ok(refused("parameter", &message)),
        };
        let mut results = conn.postgres.fetch_many(statement.query_with(arguments));
        let (mut affected, mut first) = (0, None);
        loop {
            match results.next().await {
                Some(Ok(Either::Left(done))) => affected += done.rows_affected(),
                Some(Ok(Either::Right(row))) => {
                    first.get_or_insert(row);
                }
                Some(Err(error)) => return failed(error),
                None => break,
            }
        }
        Ok(Reply::Rows { affected, row: first.map(|row| values(&row)).unwrap_or_default() })
    }

    async fn closed(&self, conn: &mut Conn) -> String {
        match conn.peer {
            Some(peer) => peer.closed().await,
            None => std::future::pending().await,
        }
    }
}

fn refused(code: &str, message: &str) -> Reply {
    Reply::Refused { code: code.to_owned(), message: message.to_owned() }
}

/// What an error makes of its command; an error if the connection is gone.
fn failed(error: sqlx::Error) -> Result<Reply, String> {
    let sqlx::Error::Database(refusal) = &error else { return Err(error.to_string()) };
    let code = refusal.code().unwrap_or_default();
    match &*code {
        "40001" | "40P01" | "55P03" => Ok(Reply::Busy),
        // The backend ends, or never got the whole of it: the connection is gone.
        gone if gone.starts_with("08") || gone.starts_with("57P") || gone == "25P03" => {
            Err(refusal.message().to_owned())
        }
        _ => Ok(refused(&code, refusal.message())),
    }
}

/// Bind the parameters as the types that the statement was prepared with.
fn arguments(statement: &PgStatement, params: &[Param]) -> Result<PgArguments, String> {
    let Some(Either::Left(types)) = statement.parameters() else { return Err("no types are known".to_owned()) };
    if types.len() != params.len() {
        return Err(format!("{} parameters for {} places", params.len(), types.len()));
    }
    let mut arguments = PgArguments::default();
    for (param, wanted) in params.iter().zip(types) {
        let unfit = || format!("{param:?} is not {}", wanted.name());
        let added = match (param, wanted.name()) {
            (Param::Null, _) => arguments.add(None::<i64>),
            (Param::Int(int), "INT8") => arguments.add(*int),
            (Param::Int(int), "INT4") => arguments.add(i32::try_from(*int).map_err(|_| unfit())?),
            (Param::Int(int), "INT2") => arguments.add(i16::try_from(*int).map_err(|_| unfit())?),
            (Param::Text(text), "TEXT" | "VARCHAR" | "NAME") => arguments.add(text.as_str()),
            (Param::Bool(truth), "BOOL") => arguments.add(*truth),
            (Param::Time(us), "TIMESTAMPTZ") => {
                arguments.add(DateTime::<Utc>::from_timestamp_micros(*us).ok_or_else(unfit)?)
            }
            _ => return Err(unfit()),
        };
        added.map_err(|error| error.to_string())?;
    }
    Ok(arguments)
}

fn values(row: &PgRow) -> Vec<Param> {
    (0..row.columns().len()).map(|at| value(row, at)).collect()
}

/// A column's value. What has no `Param` of its own is told as text, with its type.
fn value(row: &PgRow, at: usize) -> Param {
    let null = row.try_get_raw(at).map_or(true, |raw: PgValueRef<'_>| raw.is_null());
    if null {
        return Param::Null;
    }
    let kind = row.column(at).type_info().name();
    let read = match kind {
        "INT8" => row.try_get(at).map(Param::Int),
        "INT4" => row.try_get::<i32, _>(at).map(|int| Param::Int(int.into())),
        "INT2" => row.try_get::<i16, _>(at).map(|int| Param::Int(int.into())),
        "BOOL" => row.try_get(at).map(Param::Bool),
        "TIMESTAMPTZ" => row.try_get::<DateTime<Utc>, _>(at).map(|time| Param::Time(time.timestamp_micros())),
        _ => row.try_get(at).map(Param::Text),
    };
    read.unwrap_or_else(|_| Param::Text(format!("({kind})")))
}
