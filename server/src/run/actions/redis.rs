//! `redis`: a command by somebody who is no replica. What only an administrator may do, and what never ends,
//! is refused: Redis itself says which commands those are.

use locks::ids::Endpoint;

use crate::run::error::ActError;
use crate::run::outsider;
use crate::run::rig::Rig;

/// Flags of commands that are refused.
const REFUSED: [&str; 4] = ["admin", "blocking", "pubsub", "no_multi"];

pub(super) async fn run(rig: &Rig, node: Endpoint, command: &str) -> Result<(), ActError> {
    if rig.arena.is_shared() {
        // Its keys are those of all arenas, and only the arena's own are its to change.
        return Err(ActError::NotHere("commands to shared nodes"));
    }
    let words = outsider::words(command)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some(name) = words.first() else { return Err(ActError::BadValue("an empty Redis command".to_owned())) };
    let sub = words.get(1).map(|sub| format!("{name}|{sub}"));
    let mut connection = outsider::connect(rig, node).await?;
    let mut info = redis::cmd("COMMAND");
    info.arg("INFO").arg(name).arg(sub.as_deref().unwrap_or(name));
    let known: redis::Value = info.query_async(&mut connection).await.map_err(ActError::lab)?;
    let known = outsider::json(known).to_string();
    if let Some(why) = REFUSED.iter().find(|flag| known.contains(&format!("\"{flag}\""))) {
        return Err(ActError::BadValue(format!("{command:?} is not for an outsider ({why})")));
    }
    outsider::redis(rig, node, &words).await.map(drop)
}
