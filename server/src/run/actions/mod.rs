//! What a click or a step does to a run, one action a file. An action returns when what it says is really
//! so: a pause when every thread is stopped, a kill when the process is gone, a start when the replica is
//! ready. What it cannot do it refuses in words; it never does something else instead.

use locks::action::Action;
use locks::event::Kind;

use super::error::ActError;
use super::rig::Rig;

mod add;
mod advance;
mod assert;
mod cancel;
mod clock;
mod cut;
mod delay;
mod fire;
mod heal;
mod hold;
mod kill;
mod let_go;
mod pause;
mod remove;
mod resume;
mod set;
mod start;
mod wait;

/// Do one action as step number `step` of the run's script, and log when it began and ended.
pub async fn step(rig: &Rig, step: u32, action: &Action) -> Result<(), ActError> {
    rig.recorder.note(Kind::StepBegan { step, action: action.clone() });
    let done = perform(rig, action).await;
    let problem = done.as_ref().err().map(ActError::problem);
    rig.recorder.note(Kind::StepEnded { step, problem });
    done
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
        Action::Cut(links) => cut::run(rig, links),
        Action::Heal { links, drop } => heal::run(rig, links, *drop),
        Action::Delay { links, ms, jitter_ms } => delay::run(rig, links, *ms, *jitter_ms),
        Action::Hold { links, what } => hold::run(rig, links, *what),
        Action::LetGo { links, what } => let_go::run(rig, links, *what),
        Action::Clock { replica, shift_ms } => clock::run(rig, replica, *shift_ms),
        other => Err(ActError::NotSupported { action: other.name() }),
    }
}
