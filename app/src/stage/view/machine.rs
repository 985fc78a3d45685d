//! The pictures of the two state machines: the path taken in solid ink, the present state ringed in the
//! replica's colour, the rest grey.

use std::fmt::Write;

use locks::machine::{LockState, TaskState};

use super::hue;
use crate::stage::lock::{HoldEnd, Lock};
use crate::stage::replica::Attempt;

/// Size of the task's picture.
pub const TASK_BOX: &str = "0 0 322 46";
/// Size of the lock's picture.
pub const LOCK_BOX: &str = "0 0 294 54";

const LINE: [(TaskState, u32); 5] = [
    (TaskState::Scheduled, 24),
    (TaskState::Due, 75),
    (TaskState::Acquiring, 125),
    (TaskState::Running, 175),
    (TaskState::Releasing, 224),
];
const ENDS: [(TaskState, &str); 4] =
    [(TaskState::Executed, "5.5"), (TaskState::Skipped, "17"), (TaskState::Lost, "28.5"), (TaskState::Failed, "40")];

/// A task's machine. Without an attempt the timer is set.
pub fn task(attempt: Option<&Attempt>, replica: &str) -> String {
    const SCHEDULED: &[TaskState] = &[TaskState::Scheduled];
    let path = attempt.map_or(SCHEDULED, |attempt| &attempt.path);
    let now = attempt.map_or(TaskState::Scheduled, |attempt| attempt.state);
    let took = |state: &TaskState| path.contains(state);
    let mut svg = String::new();

    let last = LINE.iter().rposition(|(state, _)| took(state)).unwrap_or(0);
    for (i, pair) in LINE.windows(2).enumerate() {
        let class = if i < last { "sm-l took" } else { "sm-l" };
        _ = write!(svg, r#"<path d="M{} 15H{}" class="{class}"/>"#, pair[0].1 + 5, pair[1].1 - 5);
    }
    for (state, y) in ENDS {
        let class = if took(&state) && took(&TaskState::Releasing) { "sm-l took" } else { "sm-l" };
        _ = write!(svg, r#"<path d="M229 15H252V{y}H258" class="{class}"/>"#);
    }
    if now == TaskState::Skipped {
        let from = LINE[last].1;
        _ = write!(svg, r#"<path d="M{from} 10V2.5H246V17H258" class="sm-l took"/>"#);
    }
    for (state, y) in ENDS {
        let y: f32 = y.parse().unwrap_or_default();
        if now == state {
            let hue = hue(replica);
            _ = write!(
                svg,
                r#"<circle cx="262" cy="{y}" r="4" class="sm-n lit"/><circle cx="262" cy="{y}" r="2.4" class="f-{hue}"/>"#
            );
        } else {
            _ = write!(svg, r#"<circle cx="262" cy="{y}" r="2.8" class="sm-n"/>"#);
        }
        let class = if now == state { "sm-t lit" } else { "sm-t" };
        _ = write!(svg, r#"<text x="270" y="{}" class="{class}">{}</text>"#, y + 3.5, state.name());
    }
    for (state, x) in LINE {
        let class = match (now == state, took(&state)) {
            (true, _) => "lit",
            (_, true) => "took",
            _ => "",
        };
        if now == state {
            let hue = hue(replica);
            _ = write!(
                svg,
                r#"<circle cx="{x}" cy="15" r="8" class="sm-n lit"/><circle cx="{x}" cy="15" r="4.5" class="f-{hue}"/>"#
            );
        } else {
            _ = write!(svg, r#"<circle cx="{x}" cy="15" r="4.5" class="sm-n {class}"/>"#);
        }
        _ = write!(svg, r#"<text x="{x}" y="37" class="sm-t {class}" text-anchor="middle">{}</text>"#, state.name());
    }
    svg
}

/// A lock's machine. `None`: no store is asked, nothing is lit. `was_taken`: nobody gave back what was held before.
pub fn lock(lock: Option<&Lock>, was_taken: bool) -> String {
    let now = lock.map(|lock| lock.state);
    let before = lock.and_then(|lock| lock.before.as_ref()).map(|before| before.end);
    let held = now == Some(LockState::Held);
    let grant = held && before != Some(HoldEnd::Expired);
    let release = before == Some(HoldEnd::Released) && now.is_some() && !was_taken;
    let over = before == Some(HoldEnd::Expired) && now.is_some();
    let take_over = over && held;

    let mut svg = String::new();
    let mut arrow = |took: bool, d: &str, x: u32, y: u32, text: &str| {
        let (class, end) = if took { (" took", "ar") } else { ("", "ar0") };
        _ = write!(
            svg,
            r#"<path d="{d}" class="sm-l{class}" marker-end="url(#{end})"/><text x="{x}" y="{y}" class="sm-t{class}" text-anchor="middle">{text}</text>"#
        );
    };
    arrow(grant, "M66 24H112", 89, 18, "grant");
    arrow(over, "M182 20H226", 204, 14, "ttl over");
    arrow(take_over, "M226 29H182", 204, 43, "take over");
    arrow(release, "M146 36C140 52 60 52 42 38", 92, 45, "release");

    let owner = lock.and_then(|lock| lock.owner.as_ref()).map(|owner| owner.replica.as_str());
    for (state, x, width) in [(LockState::Free, 4, 60), (LockState::Held, 114, 66), (LockState::Expired, 228, 62)] {
        let lit = now == Some(state);
        let class = if lit { "sm-n lit" } else { "sm-n" };
        _ = write!(svg, r#"<rect x="{x}" y="12" width="{width}" height="24" rx="12" class="{class}"/>"#);
        let middle = x + width / 2;
        match owner.filter(|_| lit && state == LockState::Held) {
            Some(owner) => {
                let hue = hue(owner);
                _ = write!(
                    svg,
                    r#"<rect x="{x}" y="12" width="{width}" height="24" rx="12" class="f-{hue} lit-e"/><rect x="{x}" y="12" width="{width}" height="24" rx="12" fill="url(#h{hue})"/><text x="{middle}" y="28.5" class="t t-7 i-{hue} h-{hue}" text-anchor="middle">Held · {}</text>"#,
                    crate::html::escaped(owner)
                );
            }
            None => {
                let class = if lit { "t t-b" } else { "t" };
                _ = write!(
                    svg,
                    r#"<text x="{middle}" y="28" class="{class}" text-anchor="middle">{}</text>"#,
                    state.name()
                );
            }
        }
    }
    svg
}

/// Where the lock stands, in words, for those who do not see the picture.
pub fn lock_words(lock: Option<&Lock>) -> String {
    match lock {
        None => "Lock: no store is asked.".to_owned(),
        Some(lock) => match &lock.owner {
            Some(owner) if lock.state == LockState::Held => format!("Lock: held by {}.", owner.replica),
            _ => format!("Lock: {}.", lock.state.name()),
        },
    }
}
