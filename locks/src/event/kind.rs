//! The kinds of events: everything that can happen in a run, by who says it. What an event carries and
//! does not explain itself has a module of its own beside this one.

use borsh::{BorshDeserialize, BorshSerialize};
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{EffectAnswer, Fault, Param, Problem, ProcessName, ProcessState, Reply, Schedule, StoreCommand, WorkEnd};
use crate::action::{Action, Direction};
use crate::ids::{AttemptId, CommandId, Endpoint, Gate, LockName, SinkName, Slot, Token};
use crate::machine::{LockState, Outcome, TaskState};
use crate::setup::{Setup, SetupChange};

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    // ---- the runner ----
    /// The run began. Always the first event.
    Began {
        /// 128-bit identity, hexadecimal.
        run: String,
        /// The scenario's name, or `live`.
        name: String,
        /// The scenario's title.
        title: String,
        /// What the run belongs to: a lesson step, an exercise, a matrix cell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tag: Option<String>,
        /// SHA-256 of the script, hexadecimal.
        script: String,
        /// Wall-clock time at `at_us`, in milliseconds since the Unix epoch.
        wall_ms: i64,
        /// The complete set-up.
        setup: Box<Setup>,
        /// The catalog of schedules.
        catalog: Vec<Schedule>,
    },
    /// The set-up was changed.
    Set {
        /// What was changed.
        change: SetupChange,
        /// The complete set-up from now on.
        setup: Box<Setup>,
    },
    /// The catalog was changed (its cadence).
    CatalogChanged {
        /// The complete catalog from now on.
        catalog: Vec<Schedule>,
    },
    /// A step began; for a live session, an action was asked for.
    StepBegan {
        /// Number of the step, from 1.
        step: u32,
        /// What it does.
        action: Action,
    },
    /// A step ended.
    StepEnded {
        /// Number of the step, from 1.
        step: u32,
        /// What went wrong, if anything did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<Problem>,
    },
    /// A slot was given to replicas by `fire`.
    SlotFired {
        /// The slot.
        slot: Slot,
        /// The lock that its attempts compete for.
        lock: LockName,
        /// To which replicas.
        to: Vec<String>,
    },
    /// A process of the arena began, changed or ended.
    Process {
        /// Which.
        process: ProcessName,
        /// Its process id.
        pid: u32,
        /// Which process of that name, from 1.
        incarnation: u32,
        /// What became of it.
        state: ProcessState,
    },
    /// A fault takes hold from now on.
    FaultBegan {
        /// Number of the fault, from 1.
        fault: u32,
        /// What it is.
        what: Fault,
    },
    /// A fault is over.
    FaultEnded {
        /// Number of the fault.
        fault: u32,
        /// What it was.
        what: Fault,
    },
    /// Somebody who is no replica put a statement to a store: a step of the script, or a fault that is done
    /// by statements.
    Outsider {
        /// The store.
        to: Endpoint,
        /// Verbatim SQL or Redis text.
        text: String,
        /// What the store answered, in words.
        answer: String,
    },
    /// Something that the reader must know: an error of the lab, of the file, of a command.
    Trouble {
        /// What.
        problem: Problem,
    },
    /// The run ended. Always the last event.
    Ended {
        /// Why.
        why: EndReason,
    },

    // ---- replicas: what they believe ----
    /// The replica has its sessions, its statements are prepared, its timers are set.
    Ready,
    /// How the replica's clocks stand against the machine's from now on.
    ClockSet {
        /// Offset of its wall clock, in milliseconds.
        shift_ms: i64,
        /// How far its lease clock was moved ahead, in milliseconds.
        elapsed_ms: u64,
    },
    /// A session was opened. Its link knows it by the same name, which travels in the connection's first
    /// bytes. While a set-up is changed, two of one name may be open: count them.
    SessionOpened {
        /// Where it leads.
        endpoint: Endpoint,
        /// Its name within the replica: `settle-invoices/lock`; `audit` for the replica's own.
        session: String,
        /// What the strategy set for it, by name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        #[borsh(deserialize_with = "crate::packed::map::read")]
        settings: BTreeMap<String, String>,
    },
    /// A session was lost or thrown away.
    SessionClosed {
        /// Where it led.
        endpoint: Endpoint,
        /// Its name within the replica.
        session: String,
        /// Why.
        why: String,
    },
    /// A slot became due: an attempt begins.
    SlotDue {
        /// The attempt.
        attempt: AttemptId,
        /// Its slot.
        slot: Slot,
        /// The lock that it competes for.
        lock: LockName,
        /// By the replica's own timer; otherwise by `fire`.
        by_timer: bool,
    },
    /// The task moved.
    Task {
        /// The attempt.
        attempt: AttemptId,
        /// From.
        from: TaskState,
        /// To.
        to: TaskState,
    },
    /// The strategy's machine moved.
    Strategy {
        /// The attempt that it moved for, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<AttemptId>,
        /// The schedule whose lock it handles.
        schedule: String,
        /// From, a state of the strategy's transition table.
        from: String,
        /// On which input.
        on: String,
        /// To.
        to: String,
        /// For how long it stays there, in milliseconds, unless something comes before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timer_ms: Option<u64>,
    },
    /// An attempt waits at a gate.
    GateReached {
        /// The attempt.
        attempt: AttemptId,
        /// The gate.
        gate: Gate,
        /// What it will send behind the gate, verbatim; empty where it sends nothing.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// Parameters of that.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        params: Vec<Param>,
    },
    /// It was let pass, or the gate opened by itself.
    GatePassed {
        /// The attempt.
        attempt: AttemptId,
        /// The gate.
        gate: Gate,
    },
    /// A command is sent (written before its first byte leaves).
    Sent {
        /// The attempt that it is sent for, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<AttemptId>,
        /// The lock that it is about.
        lock: LockName,
        /// The command.
        #[serde(flatten)]
        command: StoreCommand,
    },
    /// A command was answered, or its timeout was over.
    Answered {
        /// The attempt that it was sent for, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<AttemptId>,
        /// The lock that it is about.
        lock: LockName,
        /// The command's number.
        command: CommandId,
        /// The command's name.
        name: String,
        /// The answer.
        reply: Reply,
        /// From sent to answered, in microseconds.
        took_us: u64,
    },
    /// The strategy took a reply for a grant.
    Granted {
        /// The attempt.
        attempt: AttemptId,
        /// The lock.
        lock: LockName,
        /// Its token.
        token: Token,
        /// Its epoch, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epoch: Option<u64>,
        /// Until when the replica trusts it, in microseconds of the monotonic clock; `None`: no expiry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trusted_until_us: Option<u64>,
        /// The stores that granted it.
        nodes: Vec<Endpoint>,
    },
    /// The grant was extended.
    Extended {
        /// The attempt.
        attempt: AttemptId,
        /// Until when the replica trusts it now, in microseconds of the monotonic clock.
        trusted_until_us: u64,
    },
    /// The critical section was entered: the replica believes that it holds.
    Entered {
        /// The attempt.
        attempt: AttemptId,
        /// The lock.
        lock: LockName,
        /// The epoch that it believes in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epoch: Option<u64>,
    },
    /// The handler was told to stop.
    StopAsked {
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
    /// The effect is sent to the sink (written before its first byte leaves).
    EffectSent {
        /// The attempt.
        attempt: AttemptId,
        /// Its slot.
        slot: Slot,
        /// The sink.
        sink: SinkName,
        /// The epoch that it carries.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epoch: Option<u64>,
        /// The session in whose open transaction it is sent; `None`: on the sink's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        within: Option<String>,
        /// The request, verbatim.
        text: String,
    },
    /// The sink's answer arrived, or its timeout was over.
    EffectAnswered {
        /// The attempt.
        attempt: AttemptId,
        /// The answer.
        answer: EffectAnswer,
        /// From sent to answered, in microseconds.
        took_us: u64,
    },
    /// The critical section was left (written before any release is sent).
    Left {
        /// The attempt.
        attempt: AttemptId,
        /// The lock.
        lock: LockName,
        /// Why.
        why: String,
    },
    /// The attempt is final.
    Finished {
        /// The attempt.
        attempt: AttemptId,
        /// Its slot.
        slot: Slot,
        /// How it ended.
        outcome: Outcome,
        /// Why, in a few words.
        why: String,
    },

    // ---- links: what passed ----
    /// The first byte of a message was passed on.
    LinkPassed {
        /// The session that the connection belongs to, once known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// The command that was passed, if one is outstanding on that session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<CommandId>,
        /// The command's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The attempt that it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attempt: Option<AttemptId>,
        /// Which way.
        direction: Direction,
        /// How long the link kept it, in microseconds.
        kept_us: u64,
    },

    // ---- stores: what they say ----
    /// What a store says of a lock (an interval: read between `at_us` and `until_us`).
    StoreSays {
        /// The lock.
        lock: LockName,
        /// Its state.
        state: LockState,
        /// The token that stands.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<Token>,
        /// Whose token that is, as the log knows it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<AttemptId>,
        /// The published epoch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epoch: Option<u64>,
        /// Time to live by the store's clock at the reading, in milliseconds; `None`: none set.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ttl_ms: Option<i64>,
    },
    /// A row changed, as the database itself reports.
    Row {
        /// The table.
        table: String,
        /// Its key, as text.
        key: String,
        /// The row from now on; `None`: deleted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[borsh(
            serialize_with = "crate::packed::maybe_fields::write",
            deserialize_with = "crate::packed::maybe_fields::read"
        )]
        row: Option<BTreeMap<String, Value>>,
    },
    /// A key of a Redis node, as read.
    Key {
        /// The key.
        key: String,
        /// Its value; `None`: absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<String>,
        /// PTTL as Redis answers it, in milliseconds (-1: none).
        pttl_ms: i64,
    },
    /// An audit row was committed.
    Audited {
        /// The attempt.
        attempt: AttemptId,
        /// Its slot.
        slot: Slot,
        /// The outcome that the row states.
        outcome: Outcome,
        /// The epoch that the row states.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epoch: Option<u64>,
    },

    // ---- sinks: what they took ----
    /// The sink accepted or rejected an effect.
    EffectSettled {
        /// The attempt that sent it.
        attempt: AttemptId,
        /// The lock that it was sent under.
        lock: LockName,
        /// Its slot.
        slot: Slot,
        /// The epoch that it carried.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epoch: Option<u64>,
        /// The answer: accepted, or which guard rejected it.
        answer: EffectAnswer,
        /// Accepted effects of this slot, this one included.
        nth: u32,
    },
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The script is through.
    Done,
    /// A live session was closed, or suspended because nobody watched.
    Closed,
    /// A live session goes on in a new segment.
    Segment,
    /// A precondition was missed or a limit ran out: the run proves nothing.
    Inconclusive,
    /// The lab failed.
    LabFailed,
    /// The lab was ended while the run went on.
    Interrupted,
}
