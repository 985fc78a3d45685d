//! What a Redis node says of its keys: each is read, with its time to live, whenever the node itself tells
//! that something happened to it, on direct connections that no fault touches.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use locks::event::{Kind, Source};
use locks::ids::Endpoint;
use redis::aio::MultiplexedConnection;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_stream::StreamExt;

use crate::arena::Arena;
use crate::clock;
use crate::lab::LabError;
use crate::run::log::Recorder;

/// How soon a node that does not answer is tried again.
const AGAIN: Duration = Duration::from_millis(20);

/// Observe one node, for ever; `told` hears of each key and what happened to it, `beginning` is dropped when it
/// began. One that is down is tried again:
/// nothing tells when it answers.
pub(super) async fn observe(
    arena: Arc<Arena>,
    node: u8,
    recorder: Recorder,
    told: impl Fn(&str, &str),
    beginning: mpsc::Sender<()>,
) {
    let mut beginning = Some(beginning);
    let mut known = BTreeSet::new();
    loop {
        if let Err(error) = follow(&arena, node, &recorder, &told, &mut beginning, &mut known).await {
            tracing::debug!(node, %error, "a node is not observed");
        }
        sleep(AGAIN).await;
    }
}

/// Until the connection is lost. Nobody tells of keys that a node lost with its memory, so those that are known
/// are read first.
async fn follow(
    arena: &Arena,
    node: u8,
    recorder: &Recorder,
    tell: &impl Fn(&str, &str),
    beginning: &mut Option<mpsc::Sender<()>>,
    known: &mut BTreeSet<String>,
) -> Result<(), LabError> {
    let mut telling = arena.redis_client(node)?.get_async_pubsub().await?;
    telling.psubscribe(format!("__keyspace@*__:{}*", arena.key_prefix())).await?;
    let mut reading = arena.connect_redis(node).await?;
    beginning.take();
    for key in std::mem::take(known) {
        read(&mut reading, node, &key, recorder, known).await?;
        // What happened to it meanwhile nobody told.
        tell(&key, "");
    }
    let mut told = telling.on_message();
    while let Some(message) = told.next().await {
        if let Some((_, key)) = message.get_channel_name().split_once(':') {
            let event: String = message.get_payload().unwrap_or_default();
            read(&mut reading, node, key, recorder, known).await?;
            tell(key, &event);
        }
    }
    Ok(())
}

/// Read a key, and remember it as long as it is there.
async fn read(
    reading: &mut MultiplexedConnection,
    node: u8,
    key: &str,
    recorder: &Recorder,
    known: &mut BTreeSet<String>,
) -> Result<(), LabError> {
    let before_us = clock::now_us();
    let read = redis::pipe().get(key).pttl(key).query_async::<(Option<String>, i64)>(reading).await;
    let after_us = clock::now_us();
    match read {
        Ok((value, pttl_ms)) => {
            match value {
                Some(_) => known.insert(key.to_owned()),
                None => known.remove(key),
            };
            let kind = Kind::Key { key: key.to_owned(), value, pttl_ms };
            recorder.record(before_us, Some(after_us), Source::Store(Endpoint::Redis(node)), kind);
            Ok(())
        }
        // Lists and hashes have no one value to show.
        Err(error) if error.code() == Some("WRONGTYPE") => Ok(()),
        Err(error) => Err(error.into()),
    }
}
