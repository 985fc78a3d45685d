//! What a click or a step does to a run, one action a file. An action returns when what it says is really
//! so: a pause when every thread is stopped, a kill when the process is gone, a start when the replica is
//! ready. What it cannot do it refuses in words; it never does something else instead.

use locks::action::{Action, Links};
use locks::event::Kind;

use super::error::ActError;
use super::pair;
use super::rig::Rig;

mod add;
mod advance;
mod assert;
mod cancel;
mod chaos;
mod clock;
mod cut;
mod delay;
mod elapse;
mod failover;
mod fire;
mod heal;
mod hold;
mod kill;
mod let_go;
mod node;
mod pause;
mod postgres;
mod process;
mod redis;
mod remove;
mod reset;
mod resume;
mod set;
mod sql;
mod start;
mod terminate_backend;
mod wait;

/// Do one action as step number `step` of the run's script, and log when it began and ended.
pub async fn step(rig: &Rig, step: u32, action: &Action) -> Result<(), ActError> {
    rig.recorder.note(Kind::StepBegan { step, action: action.clone() });
    let done = if rig.is_live() {
        perform(rig, action).await
    } else {
        tokio::select! {
            done = perform(rig, action) => done,
            // Nothing that waits for it would end well.
            why = rig.stores.fell() => Err(ActError::Lab(why)),
        }
    };
    let problem = done.as_ref().err().map(ActError::problem);
    rig.recorder.note(Kind::StepEnded { step, problem });
    done
}

/// The pairs whose replication links are meant are there.
async fn pairs(rig: &Rig, links: &Links) -> Result<(), ActError> {
    for node in links.pairs() {
        pair::ready(rig, node).await?;
    }
    Ok(())
}

async fn perform(rig: &Rig, action: &Action) -> Result<(), ActError> {
    match action {
        Action::Fire(fire) => fire::run(rig, fire),
        Action::Advance(advance) => advance::run(rig, advance).await,
        Action::Wait(wait) => wait::run(rig, wait).await,
        Action::Assert(assert) => assert::run(rig, assert).await,
        Action::Pause(names) => pause::run(rig, names).await,
        Action::Resume(names) => resume::run(rig, names).await,
        Action::Kill(names) => kill::run(rig, names).await,
        Action::Start(names) => start::run(rig, names).await,
        Action::Cancel(names) => cancel::run(rig, names),
        Action::Add(names) => add::run(rig, names).await,
        Action::Remove(names) => remove::run(rig, names).await,
        Action::Set(change) => set::run(rig, change).await,
        Action::Cut(links) => cut::run(rig, links).await,
        Action::Heal { links, drop } => heal::run(rig, links, *drop).await,
        Action::Delay { links, ms, jitter_ms } => delay::run(rig, links, *ms, *jitter_ms).await,
        Action::Hold { links, what } => hold::run(rig, links, *what).await,
        Action::LetGo { links, what } => let_go::run(rig, links, *what).await,
        Action::Clock { replica, shift_ms } => clock::run(rig, replica, *shift_ms).await,
        Action::Node(node) => node::run(rig, node).await,
        Action::Failover(node) => failover::run(rig, *node).await,
        Action::Postgres(what) => postgres::run(rig, *what).await,
        Action::TerminateBackend(names) => terminate_backend::run(rig, names).await,
        Action::Elapse { ms } => elapse::run(rig, *ms).await,
        Action::Reset => reset::run(rig).await,
        Action::Chaos { seed, faults, limit_ms } => chaos::run(rig, *seed, *faults, *limit_ms).await,
        Action::Sql(statement) => sql::run(rig, statement).await,
        Action::Redis { command, node } => redis::run(rig, *node, command).await,
        Action::Session(_) => Err(ActError::NotSupported { action: action.name() }),
    }
}
