//! Sessions on a Redis node: one pinned connection, named first so that its link knows it, scripts loaded
//! before it counts as open. A call is exactly one request on the wire, but for a script that the node has
//! forgotten meanwhile. How long an answer may take is the session's affair: the client's own limits are off.

use std::rc::Rc;
use std::time::Duration;

use locks::event::{Param, Reply};
use locks::ids::Endpoint;
use locks::strategy::Language;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, RedisConnectionInfo, RedisError, Script, Value};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::{Client, within};
use crate::replica::me::Me;

/// What Redis calls a script that it does not know.
const FORGOTTEN: &str = "NOSCRIPT";
/// The one policy under which a node keeps every key.
const KEEPS_ALL: &str = "noeviction";

/// How sessions on a node are opened.
pub(in crate::replica) struct Redis {
    me: Rc<Me>,
    endpoint: Endpoint,
    port: u16,
    name: String,
    login: RedisConnectionInfo,
    /// Each with its hash, by which it is called.
    scripts: Vec<(&'static str, String)>,
    needs_all_keys: bool,
}

/// A command or a script, and its parameters.
pub(in crate::replica) struct Call {
    /// How the text is to be read; never SQL.
    pub(in crate::replica) language: Language,
    /// The command's words, or the script.
    pub(in crate::replica) text: &'static str,
    /// Its parameters, none of them `WallClock` or `Key`: a script's keys first.
    pub(in crate::replica) params: Vec<Param>,
    /// How many of them are a script's keys.
    pub(in crate::replica) keys: usize,
}

/// An open connection. Dropping it closes it at once.
pub(in crate::replica) struct Conn {
    redis: MultiplexedConnection,
    io: JoinHandle<()>,
}

impl Drop for Conn {
    fn drop(&mut self) {
        self.io.abort();
    }
}

impl Redis {
    /// Sessions of that name within the replica; `None` without a link to the node.
    pub(in crate::replica) fn new(
        me: &Rc<Me>,
        endpoint: Endpoint,
        session: &str,
        scripts: Vec<&'static str>,
        needs_all_keys: bool,
    ) -> Option<Redis> {
        let (port, user) = (me.port(endpoint)?, me.redis_user(endpoint));
        let mut login = RedisConnectionInfo::default().set_skip_set_lib_name().set_db(user.database);
        if let Some(user) = user.user {
            login = login.set_username(user);
        }
        if let Some(password) = user.password {
            login = login.set_password(password);
        }
        let scripts = scripts.into_iter().map(|text| (text, Script::new(text).get_hash().to_owned())).collect();
        Some(Redis { me: me.clone(), endpoint, port, name: me.wire_name(session), login, scripts, needs_all_keys })
    }

    /// A node that may throw keys away loses locks: the replica does not start on it. One that does not tell
    /// is trusted, as managed nodes do not.
    async fn check_policy(&self, redis: &mut MultiplexedConnection, limit: Duration) -> Result<(), String> {
        let mut ask = redis::cmd("CONFIG");
        ask.arg("GET").arg("maxmemory-policy");
        let told: Vec<String> = match within(limit, ask.query_async(redis)).await {
            Ok(told) => told,
            Err(error) => {
                tracing::debug!("{}: {error}", self.endpoint);
                return Ok(());
            }
        };
        match told.get(1).filter(|policy| *policy != KEEPS_ALL) {
            Some(policy) => self.me.refuse(format!(
                "{} does not start: {} may evict keys (maxmemory-policy {policy}), and with a lock's key the lock. \
                 It must be {KEEPS_ALL}",
                self.me.name, self.endpoint
            )),
            None => Ok(()),
        }
    }
}

impl Client for Redis {
    type Conn = Conn;
    type Call = Call;
    type Answer = Reply;
    const NOT_SENT: Reply = Reply::NotSent;
    const UNKNOWN: Reply = Reply::Unknown;

    async fn open(&self, limit: Duration) -> Result<Conn, String> {
        let stream = within(limit, TcpStream::connect(("127.0.0.1", self.port))).await?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        let config = AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(None);
        let made = MultiplexedConnection::new_with_config(&self.login, stream, config);
        let (redis, io) = within(limit, made).await?;
        let mut conn = Conn { redis, io: tokio::task::spawn_local(io) };
        let redis = &mut conn.redis;
        within(limit, redis::cmd("CLIENT").arg("SETNAME").arg(&self.name).query_async::<()>(redis)).await?;
        if self.needs_all_keys {
            self.check_policy(redis, limit).await?;
        }
        for (script, _) in &self.scripts {
            within(limit, redis::cmd("SCRIPT").arg("LOAD").arg(script).query_async::<()>(redis)).await?;
        }
        Ok(conn)
    }

    async fn call(&self, conn: &mut Conn, call: Call) -> Result<Reply, String> {
        let Call { language, text, params, keys } = call;
        let whole = match language {
            Language::Redis | Language::Sql => {
                return reply(conn.redis.send_packed_command(&command(text, &params)).await);
            }
            Language::Lua => true,
            Language::LuaByHash => false,
        };
        // Every script that is called was made ready; one that was not is as good as forgotten.
        let hash = self.scripts.iter().find(|(known, _)| *known == text).map_or("", |(_, hash)| hash);
        let answer = reply(conn.redis.send_packed_command(&script("EVALSHA", hash, &params, keys)).await);
        match answer {
            Ok(Reply::Refused { code, .. }) if code == FORGOTTEN && whole => {
                reply(conn.redis.send_packed_command(&script("EVAL", text, &params, keys)).await)
            }
            answer => answer,
        }
    }

    async fn closed(&self, conn: &mut Conn) -> String {
        // The task ends when the connection does.
        let _ = (&mut conn.io).await;
        "closed by the store".to_owned()
    }
}

/// A command's words, with parameters in their places.
fn command(text: &str, params: &[Param]) -> Cmd {
    let mut command = Cmd::new();
    for word in text.split(' ') {
        let place = word.strip_prefix('$').and_then(|n| n.parse::<usize>().ok());
        match place.and_then(|n| params.get(n.checked_sub(1)?)) {
            Some(param) => command.arg(said(param)),
            None => command.arg(word),
        };
    }
    command
}

/// A script's call: its keys, then its other parameters.
fn script(how: &str, which: &str, params: &[Param], keys: usize) -> Cmd {
    let mut command = redis::cmd(how);
    command.arg(which).arg(keys);
    for param in params {
        command.arg(said(param));
    }
    command
}

fn said(param: &Param) -> String {
    match param {
        Param::Null | Param::WallClock => String::new(),
        Param::Int(n) | Param::Time(n) => n.to_string(),
        Param::Text(text) | Param::Key(text) => text.clone(),
        Param::Bool(truth) => i64::from(*truth).to_string(),
    }
}

/// What an answer means; an error if the connection is gone.
fn reply(answer: Result<Value, RedisError>) -> Result<Reply, String> {
    let refused = |code: &str, message: Option<&str>| Reply::Refused {
        code: code.to_owned(),
        message: message.unwrap_or_default().to_owned(),
    };
    match answer {
        Ok(Value::ServerError(error)) => Ok(refused(error.code(), error.details())),
        Ok(value) => Ok(Reply::Redis(param(value))),
        Err(error) => match error.code() {
            Some(code) => Ok(refused(code, error.detail())),
            None => Err(error.to_string()),
        },
    }
}

/// A value. What has no `Param` of its own is told as text.
fn param(value: Value) -> Param {
    match value {
        Value::Nil => Param::Null,
        Value::Int(n) => Param::Int(n),
        Value::Okay => Param::Text("OK".to_owned()),
        Value::SimpleString(text) => Param::Text(text),
        Value::BulkString(bytes) => Param::Text(String::from_utf8_lossy(&bytes).into_owned()),
        Value::Boolean(truth) => Param::Bool(truth),
        other => Param::Text(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(command: &Cmd) -> String {
        String::from_utf8(command.get_packed_command()).unwrap()
    }

    #[test]
    fn parameters_stand_in_their_places_whatever_is_in_them() {
        let params = [Param::Text("a b $3".to_owned()), Param::Text("t".to_owned()), Param::Int(3000)];
        let set = command("SET $1 $2 NX PX $3", &params);
        assert_eq!(
            packed(&set),
            "*6\r\n$3\r\nSET\r\n$6\r\na b $3\r\n$1\r\nt\r\n$2\r\nNX\r\n$2\r\nPX\r\n$4\r\n3000\r\n"
        );
    }

    #[test]
    fn a_script_is_told_its_keys() {
        let call = script("EVALSHA", "abc", &[Param::Text("lock:s".to_owned()), Param::Int(7)], 1);
        assert_eq!(packed(&call), "*5\r\n$7\r\nEVALSHA\r\n$3\r\nabc\r\n$1\r\n1\r\n$6\r\nlock:s\r\n$1\r\n7\r\n");
    }
}
