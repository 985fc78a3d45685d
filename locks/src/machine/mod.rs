//! The two state machines that every picture shows: the lock as the store sees it, the task as the
//! replica sees it. Each has its legal transitions in one table, from which code, docs, pictures and
//! tests come.

mod lock;
mod task;

pub use lock::{LOCK_TRANSITIONS, LockState};
pub use task::{Outcome, TASK_TRANSITIONS, TaskState};
