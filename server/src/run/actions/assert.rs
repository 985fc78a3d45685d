//! `assert`: compare what the stores say now with what they must say. A difference is a failed expectation
//! and not a failure of the run. Statements are put by who may only read.

use locks::action::Assert;
use locks::ids::Endpoint;
use locks::machine::LockState;
use serde_json::Value;

use crate::run::error::ActError;
use crate::run::outsider;
use crate::run::rig::Rig;

pub(super) async fn run(rig: &Rig, assert: &Assert) -> Result<(), ActError> {
    match assert {
        Assert::Lock(state) => {
            let (lock, standing) = lock(rig).await?;
            same(&format!("lock {lock}"), standing.0.name(), state.name())
        }
        Assert::Holder(name) => {
            let (lock, (state, owner)) = lock(rig).await?;
            let holder = owner.filter(|_| state == LockState::Held).unwrap_or_else(|| "nobody".to_owned());
            same(&format!("the holder of lock {lock}"), &holder, name)
        }
        Assert::Sql { sql, is } => {
            let found = rig.observer.sql(sql).await?;
            same(sql, &text(&found), &text(is))
        }
        Assert::Redis { redis, node, is } => {
            let found = ask(rig, *node, redis).await?;
            same(redis, &text(&found), &text(is))
        }
    }
}

/// The latest lock's state and holder, as read now.
async fn lock(rig: &Rig) -> Result<(String, (LockState, Option<String>)), ActError> {
    let lock = rig.board.look(|standing| standing.latest_lock.clone()).ok_or(ActError::NothingFired)?;
    rig.observer.read_now().await?;
    let standing = rig.board.look(|standing| {
        let lock = standing.locks.get(&lock);
        lock.map(|lock| (lock.state, lock.owner.as_ref().map(|attempt| attempt.replica.clone()))).unwrap_or_default()
    });
    Ok((lock, standing))
}

/// A command's answer, as JSON.
async fn ask(rig: &Rig, node: Endpoint, command: &str) -> Result<Value, ActError> {
    let words = outsider::words(command)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let request = outsider::command(&words)?;
    let mut connection = outsider::connect_reader(rig, node).await?;
    let answer = request.query_async(&mut connection).await;
    answer.map(outsider::json).map_err(|error| outsider::refused(command, &error))
}

fn same(what: &str, is: &str, wanted: &str) -> Result<(), ActError> {
    if is == wanted {
        return Ok(());
    }
    Err(ActError::Differs(format!("{what} is {is}, and must be {wanted}")))
}

fn text(value: &Value) -> String {
    value.to_string()
}
