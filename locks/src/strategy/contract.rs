//! The contract between a strategy and the driver that performs what it says. Read the life of an
//! attempt in the parent module first.

use std::fmt::Debug;
use std::hash::Hash;

use super::Info;
pub use crate::event::{EffectAnswer, Param, Reply, WorkEnd};
use crate::ids::{At, AttemptId, CommandId, Endpoint, LockName, Slot, Token};
use crate::machine::Outcome;
use crate::setup::Setup;

/// Name of a session within a strategy: one pinned connection, never pooled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Session(pub &'static str);

/// A session that must be open, with every statement prepared, before the replica reports ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSpec {
    /// Its name.
    pub session: Session,
    /// Where it leads.
    pub to: Endpoint,
    /// Texts of all commands that it will ever carry and that are made ready first: SQL to prepare, Lua to
    /// load. Plain Redis commands need nothing.
    pub prepare: Vec<&'static str>,
    /// Settings of Postgres that hold for the whole session: name and value.
    pub settings: Vec<(&'static str, String)>,
    /// Refuse a store that may throw keys away: the replica does not start on one.
    pub needs_all_keys: bool,
}

/// One value per (replica, schedule): it outlives attempts. At most one attempt at a time is given to it.
pub trait Strategy: Clone + Eq + Hash + Debug + Send + 'static {
    /// Its commands.
    type Op: Op;
    /// What is known of it without running it.
    fn info() -> &'static Info;
    /// A value for one replica. `setup` is the set-up as that replica sees it; `host` is the name it goes by.
    fn new(setup: &Setup, mutant: Option<&'static str>, host: &str) -> Self;
    /// The sessions that it needs.
    fn sessions(&self) -> Vec<SessionSpec>;
    /// The only entrance. Never panics; inputs of attempts or commands that it does not know are ignored.
    fn on(&mut self, now: At, input: Input) -> Vec<Output<Self::Op>>;
    /// Its present state: one that stands in `info().transitions`.
    fn state(&self) -> &'static str;
    /// When it wants a [`Input::Tick`]; recomputed after each input, so that there are no timers to name.
    fn next_timer(&self) -> Option<At>;
}

/// A store command: wire text and meaning side by side, in the strategy's file.
pub trait Op: Clone + Eq + Hash + Debug + Send + 'static {
    /// The model of the store; the driver never names it.
    type Store: Clone + Eq + Hash + Debug + Default;
    /// What goes over the wire.
    fn wire(&self) -> Wire;
    /// What it means, at a time of the store's clock.
    fn apply(&self, store: &mut Self::Store, store_now: At) -> Reply;
}

/// How a command's text is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// A statement with places `$1`, `$2` and so on.
    Sql,
    /// The words of a Redis command, parted by blanks; a word may be a place: `SET $1 $2 NX PX $3`.
    Redis,
    /// A script for Redis: the first parameter is `KEYS[1]`, the others are `ARGV`. It is called by its hash,
    /// and sent whole where the node does not know it (any more).
    Lua,
    /// The same, but called by its hash only.
    LuaByHash,
}

/// What goes over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// The command's name: `acquire`, `renew`, `release` and so on; gives the gate `send:<name>`.
    pub name: &'static str,
    /// How the text is to be read.
    pub language: Language,
    /// SQL, a Redis command's words, or a Lua script.
    pub text: &'static str,
    /// Its parameters.
    pub params: Vec<Param>,
}

/// What a strategy is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A slot is due.
    Due {
        /// The attempt.
        attempt: AttemptId,
        /// Its slot.
        slot: Slot,
        /// The lock's name, by the strategy's scope.
        lock: LockName,
        /// A fresh token, for this acquisition only.
        token: Token,
        /// A random number for jitter.
        jitter: u16,
    },
    /// What became of a command. A reply that arrived late is still a reply: the strategy judges it.
    Reply {
        /// Which.
        command: CommandId,
        /// When it was sent: behind the gate, before the first byte.
        sent: At,
        /// The answer.
        reply: Reply,
    },
    /// [`Strategy::next_timer`] is over.
    Tick,
    /// Behind gate `enter`, stamped: the critical section is entered and the handler works.
    Entered {
        /// The attempt.
        attempt: AttemptId,
    },
    /// `not_after` was over behind gate `enter`.
    EnterRefused {
        /// The attempt.
        attempt: AttemptId,
    },
    /// The handler ended.
    WorkEnded {
        /// The attempt.
        attempt: AttemptId,
        /// How.
        how: WorkEnd,
    },
    /// Behind gate `effect`: the effect is being sent.
    EffectSent {
        /// The attempt.
        attempt: AttemptId,
    },
    /// `not_after` was over at the last check, immediately before gate `effect`.
    EffectRefused {
        /// The attempt.
        attempt: AttemptId,
    },
    /// The sink answered, or the effect's timeout was over.
    EffectAnswered {
        /// The attempt.
        attempt: AttemptId,
        /// The answer.
        answer: EffectAnswer,
    },
    /// Behind gate `leave`, stamped: the critical section is left.
    Left {
        /// The attempt.
        attempt: AttemptId,
    },
    /// The attempt is cancelled. It gives back what it holds (C13). The driver withdraws what of it waits at
    /// a gate and answers in the usual way, behind this input: a `Send` with `Reply::NotSent`, an `Enter`
    /// with `EnterRefused`, an `Effect` with `EffectRefused`; a `Leave` passes.
    Cancel {
        /// The attempt.
        attempt: AttemptId,
    },
    /// A session's connection was lost; the driver opens it again by itself. The command under way on it is
    /// answered `Reply::Unknown`.
    SessionLost {
        /// Which.
        session: Session,
    },
    /// The replica is to end: give back what is held. Otherwise as `Cancel`.
    Shutdown,
}

impl Input {
    /// The attempt that it is about, where it names one.
    pub fn attempt(&self) -> Option<&AttemptId> {
        match self {
            Input::Due { attempt, .. }
            | Input::Entered { attempt }
            | Input::EnterRefused { attempt }
            | Input::WorkEnded { attempt, .. }
            | Input::EffectSent { attempt }
            | Input::EffectRefused { attempt }
            | Input::EffectAnswered { attempt, .. }
            | Input::Left { attempt }
            | Input::Cancel { attempt } => Some(attempt),
            Input::Reply { .. } | Input::Tick | Input::SessionLost { .. } | Input::Shutdown => None,
        }
    }
}

/// What a strategy wants done, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Output<O> {
    /// Send a command. Behind gate `send:<name>` unless `retry`. Answered by `Reply`.
    Send {
        /// Its number.
        command: CommandId,
        /// For which attempt.
        attempt: Option<AttemptId>,
        /// Where it goes.
        to: Endpoint,
        /// On which session.
        session: Session,
        /// The command.
        op: O,
        /// Its timeout, counted from behind the gate.
        timeout_ms: u64,
        /// A repetition: it waits at no gate unless the set-up names it.
        retry: bool,
    },
    /// Close a session's connection and never use it again; the driver opens a new one.
    Discard {
        /// Which.
        session: Session,
    },
    /// Enter the critical section. Answered by `Entered` or `EnterRefused`.
    Enter {
        /// The attempt.
        attempt: AttemptId,
        /// The grant's token; `None` where nothing was granted (`none`).
        token: Option<Token>,
        /// The grant's epoch, where there is one.
        epoch: Option<u64>,
        /// Until when the grant is trusted; `None`: no expiry.
        not_after: Option<At>,
        /// The stores that granted it.
        nodes: Vec<Endpoint>,
    },
    /// The grant was extended: it is trusted until then.
    Extended {
        /// The attempt.
        attempt: AttemptId,
        /// Until when.
        not_after: At,
    },
    /// Tell the handler to stop. Answered by `WorkEnded`, whatever the handler does with it.
    Stop {
        /// The attempt.
        attempt: AttemptId,
    },
    /// Send the effect. Answered by `EffectSent` or `EffectRefused`, then `EffectAnswered`.
    Effect {
        /// The attempt.
        attempt: AttemptId,
        /// The epoch that it carries.
        epoch: Option<u64>,
        /// The last check; `None`: do not check (stubborn handlers, no expiry).
        not_after: Option<At>,
        /// For sink `ledger`: within the transaction that is open on this session. If its connection was lost
        /// since its latest command, the effect is not sent.
        within: Option<Session>,
    },
    /// Leave the critical section. Answered by `Left`. A command of the attempt that still waits at its gate
    /// is withdrawn (`Reply::NotSent`).
    Leave {
        /// The attempt.
        attempt: AttemptId,
        /// Gate `leave` holds it at most until then; `None`: no limit.
        not_after: Option<At>,
        /// Deadline, cancel or lost session: pass the gate at once.
        forced: bool,
        /// Why, in a few words.
        why: &'static str,
    },
    /// The attempt is final.
    Finish {
        /// The attempt.
        attempt: AttemptId,
        /// How it ended.
        outcome: Outcome,
        /// Why, in a few words.
        why: &'static str,
    },
}

/// What is done with a strategy's type, chosen by name: see [`super::dispatch`].
pub trait Visitor {
    /// What comes of it.
    type Out;
    /// Called with the type.
    fn visit<S: Strategy>(self, mutant: Option<&'static str>) -> Self::Out;
}
