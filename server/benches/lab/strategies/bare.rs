//! The same commands without a machine, a driver, gates or events: prepared statements by sqlx, commands by
//! the Redis client, one connection a session as the replica has.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use locks::event::{Param, StoreCommand};
use locks::ids::Endpoint;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, RedisConnectionInfo, Script, Value};
use server::arena::Arena;
use server::link::Links;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgRow, PgSslMode};
use sqlx::{Arguments, ConnectOptions, Either, Executor, PgConnection, SqlSafeStr};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_stream::StreamExt;

use super::{Attempt, Recorded};
use crate::Failure;

/// One connection, and how long it waits for an answer.
enum Session {
    Postgres(Box<PgConnection>),
    Redis(MultiplexedConnection),
}

/// One contender.
pub(crate) struct Bare {
    name: String,
    recorded: Recorded,
    sessions: BTreeMap<(Endpoint, String), Session>,
}

impl Bare {
    pub async fn connect(arena: &Arena, links: &Links, name: &str, recorded: &Recorded) -> Result<Bare, Failure> {
        let ports = links.add(name)?;
        let mut sessions = BTreeMap::new();
        for command in recorded.commands() {
            if let Entry::Vacant(place) = sessions.entry((command.to, command.session.clone())) {
                place.insert(match command.to {
                    Endpoint::Postgres => Session::Postgres(Box::new(postgres(arena, ports[&command.to]).await?)),
                    _ => Session::Redis(node(arena, command.to, ports[&command.to], recorded).await?),
                });
            }
        }
        Ok(Bare { name: name.to_owned(), recorded: recorded.clone(), sessions })
    }

    /// From now on its attempts are these.
    pub fn goes_on_with(&mut self, recorded: &Recorded) {
        self.recorded = recorded.clone();
    }

    /// One attempt at a slot. Whoever is told busy gives back what it may have.
    pub async fn attempt(&mut self, fire_ms: i64) -> Result<Attempt, Failure> {
        let (recorded, mut commands) = (self.recorded.clone(), 0);
        let (mut acquired, began) = (true, Instant::now());
        for step in &recorded.acquiring {
            commands += step.len();
            acquired = self.step(step, fire_ms).await?;
        }
        let took = began.elapsed();
        let mut rest = Duration::ZERO;
        if acquired || recorded.has_quorum() {
            for step in &recorded.behind {
                commands += step.len();
                let began = Instant::now();
                self.step(step, fire_ms).await?;
                rest += began.elapsed();
            }
        } else if recorded.commands().any(|command| command.name == "begin") {
            commands += 1;
            for session in self.sessions.values_mut() {
                if let Session::Postgres(postgres) = session {
                    sqlx::raw_sql("rollback").execute(&mut **postgres).await?;
                }
            }
        }
        Ok(Attempt { acquired: acquired.then_some(took), rest, commands })
    }

    /// What is sent at once; did most of it take effect?
    async fn step(&mut self, step: &[StoreCommand], fire_ms: i64) -> Result<bool, Failure> {
        let Bare { name, recorded, sessions } = self;
        let commands: Vec<(&StoreCommand, Vec<Param>)> = step
            .iter()
            .map(|command| {
                let params = command.params.iter().map(|param| recorded.param(param, name, fire_ms));
                (command, params.collect())
            })
            .collect();
        if let [(command, params)] = &commands[..] {
            let key = (command.to, command.session.clone());
            return ask(sessions.get_mut(&key).ok_or("no such session")?, command, params).await;
        }
        // Several at once go to several nodes.
        let asked = sessions.iter_mut().filter_map(|(key, session)| {
            let (command, params) =
                commands.iter().find(|(command, _)| (command.to, &command.session) == (key.0, &key.1))?;
            Some(ask(session, command, params))
        });
        let took = join_all(asked).await.into_iter().collect::<Result<Vec<bool>, _>>()?;
        Ok(took.iter().filter(|took| **took).count() > step.len() / 2)
    }
}

/// One command; did it take effect? What is not answered within the command's own limit did not.
async fn ask(session: &mut Session, command: &StoreCommand, params: &[Param]) -> Result<bool, Failure> {
    let limit = Duration::from_millis(command.timeout_ms);
    match session {
        Session::Postgres(postgres) => match timeout(limit, statement(postgres, &command.text, params)).await {
            Ok(affected) => affected,
            Err(_) => Err(format!("{} took longer than {limit:?}", command.name).into()),
        },
        Session::Redis(redis) => {
            let command = words(&command.text, params);
            match timeout(limit, redis.send_packed_command(&command)).await {
                Ok(answer) => Ok(!matches!(answer?, Value::Nil | Value::Int(0))),
                Err(_) => Ok(false),
            }
        }
    }
}

async fn statement(postgres: &mut PgConnection, text: &str, params: &[Param]) -> Result<bool, Failure> {
    let mut arguments = PgArguments::default();
    for param in params {
        match param {
            Param::Int(int) => arguments.add(*int),
            Param::Text(text) => arguments.add(text.as_str()),
            Param::Bool(truth) => arguments.add(*truth),
            other => return Err(format!("a bare statement cannot bind {other:?}").into()),
        }
        .map_err(|error| error.to_string())?;
    }
    // The replica's own text, which it had from its strategy.
    let text = sqlx::AssertSqlSafe(text.to_owned()).into_sql_str();
    let mut results = postgres.fetch_many(sqlx::query_with(text, arguments));
    let mut affected = 0;
    while let Some(result) = results.next().await {
        match result {
            Ok(Either::Left(done)) => affected += done.rows_affected(),
            Ok(Either::Right(row)) => drop::<PgRow>(row),
            // Lost races: lock not available, serialisation, deadlock.
            Err(sqlx::Error::Database(refused))
                if matches!(refused.code().as_deref(), Some("55P03" | "40001" | "40P01")) =>
            {
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(affected > 0)
}

/// A command's words, or the call of a script that the node knows.
fn words(text: &str, params: &[Param]) -> Cmd {
    let said = |param: &Param| match param {
        Param::Int(n) => n.to_string(),
        Param::Text(text) => text.clone(),
        _ => String::new(),
    };
    let mut command = Cmd::new();
    if is_script(text) {
        command.arg("EVALSHA").arg(Script::new(text).get_hash()).arg(1);
        for param in params {
            command.arg(said(param));
        }
        return command;
    }
    for word in text.split(' ') {
        let place = word.strip_prefix('$').and_then(|n| n.parse::<usize>().ok());
        match place.and_then(|n| params.get(n - 1)) {
            Some(param) => command.arg(said(param)),
            None => command.arg(word),
        };
    }
    command
}

fn is_script(text: &str) -> bool {
    text.contains("redis.call")
}

async fn postgres(arena: &Arena, port: u16) -> Result<PgConnection, Failure> {
    let login = arena.postgres_login();
    let options = PgConnectOptions::new_without_pgpass()
        .host("127.0.0.1")
        .port(port)
        .ssl_mode(PgSslMode::Disable)
        .username(&login.user)
        .database(&login.database)
        .password(login.password.as_deref().unwrap_or_default())
        .disable_statement_logging();
    Ok(options.connect().await?)
}

async fn node(arena: &Arena, node: Endpoint, port: u16, recorded: &Recorded) -> Result<MultiplexedConnection, Failure> {
    let user = arena.redis_login().nodes.get(&node).cloned().unwrap_or_default();
    let mut login = RedisConnectionInfo::default().set_skip_set_lib_name().set_db(user.database);
    if let Some(name) = user.user {
        login = login.set_username(name);
    }
    if let Some(password) = user.password {
        login = login.set_password(password);
    }
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.set_nodelay(true)?;
    let config = AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(None);
    let (mut redis, io) = MultiplexedConnection::new_with_config(&login, stream, config).await?;
    tokio::task::spawn_local(io);
    for command in recorded.commands().filter(|command| command.to == node && is_script(&command.text)) {
        redis::cmd("SCRIPT").arg("LOAD").arg(&command.text).query_async::<()>(&mut redis).await?;
    }
    Ok(redis)
}
