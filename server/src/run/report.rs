//! What `aegis run` prints of a run: how it came out, the verdict's figures, each expectation with what was
//! observed, and the first event that broke one.

use std::fmt::{self, Display, Write};
use std::sync::Arc;

use locks::event::Event;
use locks::judge::{Finding, Verdict};
use locks::scenario::Checked;
use locks::setup::Gated;
use serde_json::{Value, json};

use super::runner::{Finished, Outcome};

/// A run as text for people.
pub fn text(file: &str, run: &Finished) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_text(&mut text, file, run);
    text
}

fn write_text(out: &mut String, file: &str, run: &Finished) -> fmt::Result {
    let setup = &run.scenario.setup;
    let guards: Vec<String> = setup.guard.iter().map(ToString::to_string).collect();
    let guards = if guards.is_empty() { "none".to_owned() } else { guards.join(" + ") };
    let (word, why) = said(run);
    let strategies: Vec<String> = run.scenario.strategies().into_iter().map(ToString::to_string).collect();
    let strategies = strategies.join(", then ");
    writeln!(out, "{word}  {file}  {} under {strategies}, guard {guards}", run.scenario.name)?;
    if let Some(why) = why {
        writeln!(out, "    {why}")?;
    }
    if !run.events.is_empty() {
        writeln!(out, "    {}", figures(&run.verdict))?;
    }
    for check in &run.checks {
        let mark = if check.holds { "ok  " } else { "FAIL" };
        writeln!(out, "    {mark} {}: wanted {}, observed {}", check.what, check.expected, check.observed)?;
        if let Some(event) = broke(run, check) {
            writeln!(out, "         first broken by event {}", line(event))?;
        }
    }
    Ok(())
}

/// A run as one JSON object.
pub fn json(file: &str, run: &Finished) -> Value {
    let (_, why) = said(run);
    json!({
        "file": file,
        "name": run.scenario.name,
        "strategy": run.scenario.setup.strategy,
        "guard": run.scenario.setup.guard,
        "outcome": self::word(run).replace(' ', "_"),
        "why": why,
        "verdict": run.verdict,
        "checks": run.checks.iter().map(|check| json!({
            "what": check.what,
            "wanted": check.expected,
            "observed": check.observed,
            "held": check.holds,
            "broken_by": broke(run, check),
        })).collect::<Vec<_>>(),
    })
}

/// What is said of a run that nothing was expected of.
const NOTHING: &str = "it expects nothing, so this proves nothing: say under [expect] what must hold (aegis format)";

/// The same of one without gates, which may expect nothing.
const REPLAYED: &str = "without gates its timing is left to luck, so this proves nothing: it was only played";

/// Many runs in one line: how many held, and what did not by name.
pub fn sum(runs: usize, held: usize, others: &[String]) -> String {
    let others = if others.is_empty() { String::new() } else { format!("; not: {}", others.join(", ")) };
    format!("{held} of {runs} runs held{others}")
}

/// What a run came to, in a word.
pub fn word(run: &Finished) -> String {
    said(run).0.trim_end().to_lowercase()
}

fn said(run: &Finished) -> (&'static str, Option<&str>) {
    match &run.outcome {
        Outcome::Held if !run.scenario.expects_something() => {
            ("RAN         ", Some(if run.scenario.setup.gated == Gated::No { REPLAYED } else { NOTHING }))
        }
        Outcome::Held => ("HELD        ", None),
        Outcome::Failed => ("FAILED      ", None),
        Outcome::BadScenario(why) => ("BAD SCENARIO", Some(why)),
        Outcome::Inconclusive(why) => ("INCONCLUSIVE", Some(why)),
        Outcome::LabFailed(why) => ("LAB FAILED  ", Some(why)),
        Outcome::Interrupted => ("INTERRUPTED ", None),
    }
}

fn figures(verdict: &Verdict) -> impl Display {
    let mut text = format!(
        "overlaps {}, effects per slot {}, stale effects {}, foreign releases {}, missed slots {}",
        counted(&verdict.overlaps),
        verdict.most_effects(),
        counted(&verdict.stale_effects),
        counted(&verdict.foreign_releases),
        verdict.missed_slots.len(),
    );
    for (replica, outcomes) in &verdict.outcomes {
        let outcomes: Vec<_> = outcomes.iter().map(|outcome| outcome.name()).collect();
        let _ = write!(text, "; {replica} {}", outcomes.join(", "));
    }
    text
}

fn counted(findings: &[Finding]) -> String {
    let certain = findings.iter().filter(|finding| finding.certain).count();
    match findings.len() - certain {
        0 => certain.to_string(),
        undecided => format!("{certain} (and {undecided} undecided)"),
    }
}

fn broke<'a>(run: &'a Finished, check: &Checked) -> Option<&'a Arc<Event>> {
    let seq = check.first_event?;
    run.events.iter().find(|event| event.seq == seq)
}

/// One event in one line: number, who says so, what.
fn line(event: &Event) -> String {
    let what = serde_json::to_string(&event.kind).unwrap_or_default();
    format!("{} ({}): {what}", event.seq, event.source)
}
