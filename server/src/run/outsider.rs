//! Statements that somebody who is no replica puts to the stores: faults that are done by statements, and
//! those of a script. Each stands in the log with what the store answered, verbatim.

use std::time::Duration;

use locks::event::Kind;
use locks::ids::Endpoint;
use redis::aio::MultiplexedConnection;
use serde_json::Value;

use super::error::ActError;
use super::rig::Rig;
use crate::stores::{reader, redis_node};

/// How long a statement may take.
pub const LIMIT: Duration = Duration::from_secs(5);

/// Say what was asked and answered.
pub fn note(rig: &Rig, to: Endpoint, text: impl Into<String>, answer: impl Into<String>) {
    rig.recorder.note(Kind::Outsider { to, text: text.into(), answer: answer.into() });
}

/// A connection to a Redis node or to its replica, past all links.
pub async fn connect(rig: &Rig, to: Endpoint) -> Result<MultiplexedConnection, ActError> {
    rig.stores.check_runs(to)?;
    match to {
        Endpoint::Redis(node) => rig.arena.connect_redis(node).await.map_err(ActError::lab),
        _ => {
            let store = rig.stores.private(to)?;
            redis_node::connect(redis_node::unix(&store.socket())).await.map_err(ActError::lab)
        }
    }
}

/// The same for who may only read.
pub async fn connect_reader(rig: &Rig, to: Endpoint) -> Result<MultiplexedConnection, ActError> {
    rig.stores.check_runs(to)?;
    match to {
        Endpoint::Redis(node) => rig.arena.connect_redis_reader(node).await.map_err(ActError::lab),
        _ => {
            let socket = redis_node::unix(&rig.stores.private(to)?.socket());
            reader::redis(socket, reader::READER_ROLE, reader::READER_ROLE, "").await.map_err(ActError::lab)
        }
    }
}

/// Put a command to a Redis node and say so.
pub async fn redis(rig: &Rig, to: Endpoint, words: &[&str]) -> Result<Value, ActError> {
    let text = words.join(" ");
    let mut connection = connect(rig, to).await?;
    let answer = command(words)?.query_async(&mut connection).await;
    match answer {
        Ok(answer) => {
            let answer = json(answer);
            note(rig, to, text, answer.to_string());
            Ok(answer)
        }
        Err(error) => {
            note(rig, to, text.clone(), error.to_string());
            Err(refused(&text, &error))
        }
    }
}

/// What an error of a node makes of the run: what the node refuses is the command's fault; that it did not
/// answer, or went away, proves nothing of anybody.
pub fn refused(command: &str, error: &redis::RedisError) -> ActError {
    let text = format!("{command:?}: {error}");
    let of_the_moment = error.is_timeout() || error.is_io_error() || error.is_connection_dropped();
    if of_the_moment { ActError::Missed(text) } else { ActError::BadValue(text) }
}

/// A command of these words.
pub fn command(words: &[&str]) -> Result<redis::Cmd, ActError> {
    let (name, arguments) =
        words.split_first().ok_or_else(|| ActError::BadValue("an empty Redis command".to_owned()))?;
    let mut command = redis::cmd(name);
    for word in arguments {
        command.arg(*word);
    }
    Ok(command)
}

/// The words of a command's text. Those with spaces stand in quotes, `'...'` or `"..."`.
pub fn words(text: &str) -> Result<Vec<String>, ActError> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, behind) = match first {
            '"' | '\'' => rest[1..]
                .split_once(first)
                .ok_or_else(|| ActError::BadValue(format!("a quote is opened in {text:?} and never closed")))?,
            _ => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        words.push(word.to_owned());
        rest = behind.trim_start();
    }
    Ok(words)
}

/// An answer of Redis, as JSON.
pub fn json(answer: redis::Value) -> Value {
    match answer {
        redis::Value::Nil => Value::Null,
        redis::Value::Int(n) => n.into(),
        redis::Value::Boolean(is) => is.into(),
        redis::Value::Okay => "OK".into(),
        redis::Value::SimpleString(text) => text.into(),
        redis::Value::BulkString(bytes) => String::from_utf8_lossy(&bytes).into(),
        redis::Value::Array(all) | redis::Value::Set(all) => all.into_iter().map(json).collect(),
        other => format!("{other:?}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_spaces_stand_in_quotes() {
        assert_eq!(words("SET  k 'a b' \"\" PX 5").unwrap(), ["SET", "k", "a b", "", "PX", "5"]);
        assert!(words("SET k 'a").is_err());
        assert!(words("  ").unwrap().is_empty());
    }
}
