//! What is true now, in one sentence, and the judge's six figures. The sentence is about the schedule
//! that the stage looks at; the figures count from when the strategy and guard were last changed, so
//! that one sees what the change did.

use locks::event::EffectAnswer;
use locks::ids::Slot;
use locks::judge::{Finding, Verdict};
use locks::machine::{LockState, Outcome};
use locks::strategy;

use super::{epoch_words, listed, words};
use crate::html::Html;
use crate::stage::Stage;
use crate::stage::era;
use crate::stage::lock::HoldEnd;
use crate::stage::replica::{Attempt, Process};
use crate::stage::track::Effect;

/// What the figure means.
pub const TAKEOVER: &str = "From the latest fault on a holder to the next grant of its lock by another replica";
/// What the figure means.
pub const MISSED: &str = "Slots that were due and of which no effect was accepted, once no attempt can bring one";

/// The caption.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caption {
    /// A violation of the slot at hand, in a word.
    pub chip: Option<&'static str>,
    /// The first half of the sentence, bold.
    pub what: String,
    /// The second half.
    pub why: String,
}

/// One figure of the judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The number, with its unit.
    pub value: String,
    /// What it counts.
    pub name: &'static str,
    /// What that means, where the name does not say it.
    pub title: &'static str,
    /// It is a violation.
    pub harm: bool,
    /// The event that proves the latest of them.
    pub event: Option<u64>,
}

/// What is true now of a schedule.
pub fn caption(stage: &Stage, schedule: &str, now_us: u64) -> Caption {
    let attempts: Vec<(&str, &Attempt, Process)> = stage
        .replicas
        .iter()
        .filter_map(|(name, replica)| Some((name.as_str(), replica.attempts.get(schedule)?, replica.process)))
        .collect();
    let inside: Vec<_> = attempts.iter().filter(|(_, attempt, _)| attempt.is_inside()).collect();
    let names: Vec<&str> = inside.iter().map(|(name, ..)| *name).collect();
    let lock = stage.locks.get(&stage.lock_of(schedule));
    let slot = stage.slots.get(schedule);
    let slot_words = slot.map(|slot| words::clock(slot.fire_ms)).unwrap_or_default();
    let settled: Vec<&Effect> = stage
        .track
        .effects
        .iter()
        .filter(|effect| Some(&effect.slot) == slot && effect.answer == EffectAnswer::Accepted)
        .collect();

    if let Some(why) = stage.ended.map(words::ended) {
        let events = words::grouped(stage.seq);
        return plain("The run is over.", format!("{events} events, {why}. Scrub back to see how it went."));
    }
    if names.len() > 1 {
        let all = if names.len() == 2 { "are both inside" } else { "are inside at the same time" };
        let why = denied(stage, &inside, now_us).or_else(|| begun_under(stage, &inside)).unwrap_or_else(|| match stage
            .asks_a_store()
        {
            true => format!("Slot {slot_words}: {} let them in together.", stage.setup.strategy),
            false => format!("Slot {slot_words}: no lock keeps them apart."),
        });
        return Caption { chip: Some("Overlap"), what: format!("{} {all}.", listed(&names)), why };
    }
    // What an earlier strategy left behind is said to be its own.
    let left_by = |effects: &[&Effect]| {
        let mut left = attempts.iter().filter(|(_, own, _)| effects.iter().any(|effect| effect.attempt == own.id));
        let under = left.find_map(|(name, attempt, _)| Some((name, stage.begun_under(attempt)?)));
        under.map(|(name, under)| format!(" {name} began under {under}.")).unwrap_or_default()
    };
    if settled.len() > 1 {
        let under = left_by(&settled);
        let senders: Vec<&str> = settled.iter().map(|effect| effect.attempt.replica.as_str()).collect();
        return Caption {
            chip: Some(if settled.len() == 2 { "Settled twice" } else { "Settled again" }),
            what: format!("Slot {slot_words} was settled {} times.", settled.len()),
            why: format!("{} each posted it; the {} accepted all of them.{under}", listed(&senders), stage.setup.sink),
        };
    }
    let late: Vec<&Effect> = settled.iter().copied().filter(|effect| stage.is_stale(effect.seq)).collect();
    if let Some(effect) = late.last() {
        let name = &effect.attempt.replica;
        let under = left_by(&[effect]);
        return Caption {
            chip: Some("Stale effect"),
            what: format!("The {} accepted {name}’s effect{}.", stage.setup.sink, epoch_words(effect.epoch)),
            why: format!("A newer grant had been answered before.{under}"),
        };
    }
    if let Some((name, attempt, process)) = inside.first() {
        let holds = lock.is_some_and(|lock| lock.is_held_by(&attempt.id));
        let what = format!("{name} is inside{}.", attempt.epoch().map(|e| format!(", epoch {e}")).unwrap_or_default());
        if let Some(why) = begun_under(stage, &inside) {
            return plain(what, why);
        }
        if !stage.asks_a_store() {
            return plain(what, "It asked nobody, and nobody else is inside at the moment.");
        }
        if !holds && let Some(why) = denied(stage, &inside, now_us) {
            return plain(
                format!("{name} believes that it holds{}; the store denies it.", epoch_words(attempt.epoch())),
                why,
            );
        }
        let busy: Vec<&str> = attempts
            .iter()
            .filter(|(_, other, _)| other.busy > 0 && other.slot == attempt.slot)
            .map(|(n, ..)| *n)
            .collect();
        let stopped = if *process == Process::Stopped { "It is stopped; its lease is not. " } else { "" };
        let told = match busy.as_slice() {
            [] => String::new(),
            [one] => format!("{one} was told “busy”."),
            many => format!("{} were told “busy”.", listed(many)),
        };
        let store = if holds { "The store agrees." } else { "What the store says is older." };
        return plain(what, format!("{stopped}{store} {told}").trim_end().to_owned());
    }
    let waiting: Vec<&str> = attempts
        .iter()
        .filter(|(_, attempt, process)| attempt.outcome.is_none() && *process != Process::Dead && !attempt.is_inside())
        .map(|(name, ..)| *name)
        .collect();
    if let Some(lock) = lock.filter(|lock| lock.state == LockState::Held)
        && let Some(owner) = &lock.owner
        && stage.replicas.get(&owner.replica).is_none_or(|replica| replica.process == Process::Dead)
    {
        let left = lock.expires_us.map(|expires| expires.saturating_sub(now_us)).unwrap_or(0);
        return plain(
            format!("{} is gone; the store still holds its lock.", owner.replica),
            format!("Others can take over in {}.", words::ms(left)),
        );
    }
    match (slot, settled.first()) {
        (None, _) => plain("Nobody is inside.", format!("No slot of {schedule} was due yet.")),
        (Some(_), Some(effect)) => {
            let name = &effect.attempt.replica;
            plain(format!("Slot {slot_words} was settled once."), format!("{name} did it; nobody is inside."))
        }
        (Some(_), None) if !waiting.is_empty() => {
            let verb = if waiting.len() == 1 { "is" } else { "are" };
            plain("Nobody is inside.", format!("Slot {slot_words}: {} {verb} at it.", listed(&waiting)))
        }
        (Some(slot), None) => {
            let lost = attempts.iter().any(|(_, attempt, _)| attempt.outcome == Some(Outcome::Lost));
            // Only the judge knows that nobody else comes with it, as one whose clock is behind does.
            let why = match (stage.verdict.missed_slots.contains(slot), lost) {
                (true, true) => "was not settled: its holder gave up at its deadline",
                (true, false) => "was not settled: no effect was accepted",
                (false, true) => "is not settled yet; its holder gave up at its deadline",
                (false, false) => "is not settled yet",
            };
            plain("Nobody is inside.", format!("Slot {slot_words} {why}."))
        }
    }
}

fn plain(what: impl Into<String>, why: impl Into<String>) -> Caption {
    Caption { chip: None, what: what.into(), why: why.into() }
}

/// Who of those inside began under an earlier strategy: the present one answers for none of it.
fn begun_under(stage: &Stage, inside: &[&(&str, &Attempt, Process)]) -> Option<String> {
    inside.iter().find_map(|(name, attempt, _)| {
        let under = stage.begun_under(attempt)?;
        Some(format!("{name} began under {under}; {} does not answer for it.", stage.setup.strategy))
    })
}

/// Whom of those inside the store denies, and why.
fn denied(stage: &Stage, inside: &[&(&str, &Attempt, Process)], now_us: u64) -> Option<String> {
    inside.iter().find_map(|(name, attempt, process)| {
        let lock = stage.locks.get(&attempt.lock)?;
        if !stage.concerns(attempt) || lock.is_held_by(&attempt.id) || !attempt.had_grant_at(lock.read_us) {
            return None;
        }
        let stopped = if *process == Process::Stopped { " while it was stopped" } else { "" };
        let before = lock.before.as_ref().filter(|before| before.owner.as_ref() == Some(&attempt.id));
        Some(match before {
            Some(before) if before.end == HoldEnd::Expired => {
                format!("{name}’s lease ended {} ago{stopped}.", words::short(now_us.saturating_sub(before.at_us)))
            }
            Some(_) => format!("The store no longer names {name}."),
            None => format!("The store does not name {name}."),
        })
    })
}

/// The judge's six figures, since the strategy and guard are what they are.
pub fn figures(stage: &Stage) -> Vec<Figure> {
    figures_of(&stage.verdict, again(stage, &stage.verdict))
}

/// The six figures of the whole run, whatever was changed meanwhile.
pub fn whole_figures(stage: &Stage) -> Vec<Figure> {
    let verdict = stage.whole_verdict();
    figures_of(&verdict, again(stage, &verdict))
}

fn figures_of(verdict: &Verdict, again: Option<u64>) -> Vec<Figure> {
    let count = |found: &[Finding]| found.iter().filter(|found| found.certain).count() as u64;
    let figure = |n: u64, one: &'static str, many: &'static str, most: u64, event: Option<u64>| Figure {
        value: words::grouped(n),
        title: "",
        name: if n == 1 { one } else { many },
        harm: n > most,
        event: event.filter(|_| n > most),
    };
    let found = |one, many, found: &[Finding]| {
        let latest = found.iter().rev().find(|found| found.certain);
        figure(count(found), one, many, 0, latest.and_then(|found| found.events.last().copied()))
    };
    let takeover = verdict.takeover_ms.last().copied().flatten();
    vec![
        found("overlap", "overlaps", &verdict.overlaps),
        figure(u64::from(verdict.most_effects()), "effect per slot", "effects per slot", 1, again),
        found("stale effect", "stale effects", &verdict.stale_effects),
        found("foreign release", "foreign releases", &verdict.foreign_releases),
        Figure {
            value: takeover.map_or_else(|| "–".to_owned(), |ms| words::short(ms * 1000)),
            name: "takeover",
            title: TAKEOVER,
            harm: false,
            event: None,
        },
        Figure { title: MISSED, ..figure(verdict.missed_slots.len() as u64, "missed", "missed", 0, None) },
    ]
}

/// Slots that were settled more than once, since the strategy and guard are what they are.
pub fn settled_twice(stage: &Stage) -> usize {
    twice(stage).count()
}

fn twice(stage: &Stage) -> impl Iterator<Item = &Slot> {
    stage.verdict.effects_per_slot.iter().filter(|(_, effects)| **effects > 1).map(|(slot, _)| slot)
}

/// The schedules of slots that were settled more than once, in words.
fn of_schedules(stage: &Stage) -> String {
    let mut names: Vec<&str> = twice(stage).map(|slot| slot.schedule.as_str()).collect();
    names.dedup();
    listed(&names)
}

/// The latest event that settled a slot once more, if it is still in view.
fn again(stage: &Stage, verdict: &Verdict) -> Option<u64> {
    let counts = |effect: &Effect| verdict.effects_per_slot.get(&effect.slot).is_some_and(|n| *n > 1);
    let again = |effect: &&Effect| effect.nth > 1 && effect.answer == EffectAnswer::Accepted && counts(effect);
    stage.track.effects.iter().rev().find(again).map(|effect| effect.seq)
}

/// What the figures count from, when that is not the run's beginning.
pub fn since(stage: &Stage) -> Option<String> {
    let guard = match stage.setup.guard.as_slice() {
        [] => String::new(),
        guards => format!(", guard {}", words::guards(guards)),
    };
    (stage.guard_us > stage.origin_us).then(|| format!("since {}{guard}", stage.setup.strategy))
}

impl Caption {
    /// The caption as markup.
    pub fn html(&self) -> String {
        let mut html = Html::new();
        if let Some(word) = self.chip {
            html.class("span", "viol-chip").icon("oct", false).text(word).close();
        }
        html.open("p").element("b", "", &self.what).text(" ").text(&self.why);
        html.finish()
    }
}

/// How the strategy works, in its own sentence, as markup; of a variant, what differs. Before it, what no run can go
/// well with.
pub fn strategy_html(stage: &Stage) -> String {
    let setup = &stage.setup;
    let Ok((info, mutant)) = strategy::find(&setup.strategy) else { return String::new() };
    let mut html = Html::new();
    let text = mutant.map_or(info.text, |mutant| mutant.text);
    html.class("p", "how").attr("title", text);
    if info.has_lease && !setup.renew && setup.work_ms >= setup.lease_ms {
        html.element("b", "", "Work outlasts the lease, and nothing renews it.").text(" ");
    }
    html.element("code", "", &setup.strategy.to_string()).text(": ");
    if mutant.is_some_and(|mutant| mutant.broken) {
        html.element("b", "", "broken on purpose").text(". ");
    }
    html.text(text);
    html.finish()
}

/// The judge's figures as markup.
pub fn figures_html(stage: &Stage) -> String {
    let mut html = Html::new();
    html.class("p", "since");
    let since = since(stage);
    match stage.catalog.len() > 1 {
        true => html.text("all schedules").text(&since.map(|since| format!(", {since}")).unwrap_or_default()),
        false => html.text(&since.unwrap_or_default()),
    };
    let twice = settled_twice(stage);
    if twice > 0 {
        let slots = if twice == 1 { "slot" } else { "slots" };
        let text = format!("{} settled {twice} {slots} of {} more than once", stage.setup.sink, of_schedules(stage));
        html.class("span", "viol").icon("oct", true).text(&text).close();
    }
    html.close();
    tally(&mut html, "Verdict so far, judged from the log", figures(stage));
    html.finish()
}

/// What a stored run is: its title, its strategies, and the verdict of the whole of it, as markup.
pub fn run_html(id: &str, stage: &Stage) -> String {
    let mut html = Html::new();
    html.element("h2", "", &stage.title).element("code", "", &era::listed(&stage.history));
    html.class("a", "btn btn-s").attr("href", &format!("/runs/compare?run={id}")).text("Compare with …").close();
    html.element("span", "grow", "").element("span", "muted", "the whole run");
    tally(&mut html, "Verdict of the whole run", whole_figures(stage));
    html.finish()
}

/// What is said over a lab that was begun because the one before, that run, had ended with nobody looking at it.
pub fn after_html(run: &str) -> String {
    let mut html = Html::new();
    html.element("h2", "", "A new lab").open("span");
    html.text("The one before was closed, because nobody looked at it for a minute. Its run is kept: ");
    html.open("a").attr("href", &format!("/runs/{run}")).text("watch it").close().text(".").close();
    html.finish()
}

fn tally(html: &mut Html, label: &str, figures: Vec<Figure>) {
    html.class("dl", "tally").attr("aria-label", label);
    for figure in figures {
        html.class("div", if figure.harm { "harm" } else { "" });
        if !figure.title.is_empty() {
            html.attr("title", figure.title);
        }
        html.element("dt", "", figure.name).open("dd");
        if figure.harm {
            html.icon("oct", true);
        }
        match figure.event {
            Some(seq) => {
                let title = format!("Show the stage at the event that proves the latest, #{seq}");
                html.class("button", "link num").attr("title", &title).attr("data-seq", &seq.to_string());
                html.text(&figure.value).close()
            }
            None => html.text(&figure.value),
        };
        html.close().close();
    }
    html.close();
}
