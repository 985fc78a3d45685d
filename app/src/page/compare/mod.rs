//! Two runs side by side: what they were set up with, what the judge found in each, and both timelines on one scale.
//! Plain text from the server: it works without a script.

use locks::setup::Setup;
use serde_json::Value;

use crate::data::{Compared, RunLine};
use crate::html::{Html, escaped};
use crate::matrix::Joint;
use crate::matrix::picture::settled;
use crate::matrix::table::joint;
use crate::stage::era;
use crate::stage::view::caption::{Figure, whole_figures};
use crate::stage::view::words;

mod lines;

/// `/runs/compare?run=ID&run=ID`
pub(crate) fn page(runs: [Compared; 2]) -> String {
    let runs = runs.map(|run| Compared { stage: settled(run.stage), ..run });
    let mut html = Html::new();
    html.class("main", "mx cmp").attr("id", "main").class("header", "mx-h").class("div", "grow");
    html.element("h1", "", "Two runs side by side").element("p", "ink2", &in_a_sentence(&runs)).close();
    html.class("a", "btn").attr("href", &href([&runs[1].id, &runs[0].id])).text("Swap").close();
    html.class("a", "btn").attr("href", "/runs").text("All runs").close().close();
    html.class("section", "panel scroll-x").attr("tabindex", "0").attr("aria-label", "Set-ups and verdicts");
    table(&mut html, &runs);
    html.close();
    lines::lines(&mut html, &runs);
    html.finish()
}

/// `/runs/compare?run=ID`: which other run.
pub(crate) fn choose(run: &Compared, others: &[RunLine]) -> String {
    let mut html = Html::new();
    html.class("main", "plain").attr("id", "main").element("h1", "", "Compare with which run?");
    html.open("p").text("The other one is ").open("a").attr("href", &format!("/runs/{}", run.id));
    html.text(&run.stage.title).close().text(" ").element("code", "muted", short(&run.id)).text(", ");
    html.element("code", "", &era::listed(&run.stage.history)).text(".").close();
    let others: Vec<_> = others.iter().filter(|other| other.id != run.id).collect();
    if others.is_empty() {
        html.element(
            "p",
            "ink2",
            "No other run is stored. A lab session is stored a minute after its last page was closed.",
        );
        html.open("p").class("a", "btn btn-main").attr("href", "/lab").text("Open the lab").close().close();
    } else {
        html.class("ul", "panel picks");
        for other in others {
            html.open("li").open("a").attr("href", &href([&run.id, &other.id])).text(&other.title).close();
            html.text(" ").element("code", "muted", short(&other.id));
            html.element("code", "", &other.strategy)
                .element("span", "num muted", &words::date(other.began_ms))
                .close();
        }
        html.close();
    }
    html.finish()
}

fn href(ids: [&str; 2]) -> String {
    format!("/runs/compare?run={}&run={}", ids[0], ids[1])
}

fn short(id: &str) -> &str {
    id.get(..4).unwrap_or(id)
}

/// What differs, counted.
fn in_a_sentence(runs: &[Compared; 2]) -> String {
    let figures = figures(runs).filter(|(a, b)| a.value != b.value).count();
    let setups = differences(&runs[0].stage.setup, &runs[1].stage.setup).len();
    let of = |n: usize, one: &str| match n {
        0 => format!("no {one}"),
        1 => format!("one {one}"),
        n => format!("{n} {one}s"),
    };
    format!("They differ in {} of the set-up and in {} of the verdict.", of(setups, "value"), of(figures, "figure"))
}

fn figures(runs: &[Compared; 2]) -> impl Iterator<Item = (Figure, Figure)> {
    let [a, b] = runs.each_ref().map(|run| whole_figures(&run.stage));
    a.into_iter().zip(b)
}

fn table(html: &mut Html, runs: &[Compared; 2]) {
    html.class("table", "cmp-t").element("caption", "sr", "What both runs were set up with, and what was judged");
    html.open("thead").open("tr").open("td").close();
    head(html, &runs[0]);
    html.open("td").close();
    head(html, &runs[1]);
    html.close().close().open("tbody");
    group(html, "What they were");
    let eras = runs.each_ref().map(|run| era::listed(&run.stage.history));
    row(html, "strategies and guards", &eras, true);
    for (name, values) in differences(&runs[0].stage.setup, &runs[1].stage.setup) {
        row(html, &name, &values, true);
    }
    row(html, "replicas at the end", &runs.each_ref().map(|run| run.stage.replicas.len().to_string()), false);
    row(
        html,
        "took",
        &runs.each_ref().map(|run| words::short(run.stage.at_us.saturating_sub(run.stage.origin_us))),
        false,
    );
    row(html, "events", &runs.each_ref().map(|run| words::grouped(run.stage.seq)), false);
    group(html, "What the judge found in the whole of each");
    for (a, b) in figures(runs) {
        let name = if a.name.len() >= b.name.len() { a.name } else { b.name };
        let differs = a.value != b.value;
        html.open("tr").open("th").attr("scope", "row").text(name).close();
        figure(html, &runs[0], &a);
        html.class("td", "cmp-j");
        joint(html, Some(if differs { Joint::Differs } else { Joint::Agrees }));
        html.close();
        figure(html, &runs[1], &b);
        html.close();
    }
    html.close().close();
}

fn head(html: &mut Html, run: &Compared) {
    html.open("th").attr("scope", "col").open("a").attr("href", &format!("/runs/{}", run.id));
    html.text(&run.stage.title).close().text(" ").element("code", "muted", short(&run.id));
    let ended = run.stage.ended.map_or("goes on", words::ended);
    html.element("span", "muted", &format!("{} UTC, {ended}", words::date(run.stage.wall_ms))).close();
}

fn group(html: &mut Html, text: &str) {
    html.class("tr", "grp").open("th").attr("colspan", "4").attr("scope", "rowgroup").text(text).close().close();
}

/// One value of each. What two runs differ in by nature is no difference that is marked.
fn row(html: &mut Html, name: &str, values: &[String; 2], marked: bool) {
    let differs = values[0] != values[1];
    html.open("tr").open("th").attr("scope", "row").text(name).close();
    html.element("td", if marked && differs { "b" } else { "" }, &values[0]).class("td", "cmp-j");
    if marked {
        joint(html, Some(if differs { Joint::Differs } else { Joint::Agrees }));
    }
    html.close().element("td", if marked && differs { "b" } else { "" }, &values[1]).close();
}

fn figure(html: &mut Html, run: &Compared, figure: &Figure) {
    html.class("td", if figure.harm { "num bad b" } else { "num" });
    if figure.harm {
        html.icon("oct", true);
    }
    match figure.event {
        Some(seq) => {
            html.open("a").attr("href", &format!("/runs/{}?at={seq}", run.id));
            html.attr("title", &format!("the event that proves the latest, #{seq}")).text(&figure.value).close()
        }
        None => html.text(&figure.value),
    };
    html.close();
}

/// Values of the set-up that are not the same, under the names that scenario files have for them. Strategy and guard
/// are told with when they were changed.
fn differences(a: &Setup, b: &Setup) -> Vec<(String, [String; 2])> {
    let values = |setup: &Setup| match serde_json::to_value(setup) {
        Ok(Value::Object(values)) => values,
        _ => serde_json::Map::new(),
    };
    let (a, b) = (values(a), values(b));
    let names = a.keys().filter(|name| !matches!(name.as_str(), "strategy" | "guard"));
    let both = names.map(|name| (name, [a.get(name), b.get(name)]));
    both.filter(|(_, [a, b])| a != b).map(|(name, both)| (name.clone(), both.map(in_words))).collect()
}

fn in_words(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "–".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(yes)) => if *yes { "yes" } else { "no" }.to_owned(),
        Some(Value::Array(all)) if all.is_empty() => "none".to_owned(),
        Some(Value::Array(all)) => all.iter().map(|one| in_words(Some(one))).collect::<Vec<_>>().join(", "),
        Some(Value::Object(parts)) => {
            let part = |(name, value): (&String, &Value)| match value {
                Value::Array(all) if all.is_empty() => name.clone(),
                value => format!("{name}: {}", in_words(Some(value))),
            };
            parts.iter().map(part).collect::<Vec<_>>().join(", ")
        }
        Some(other) => other.to_string(),
    }
}

/// A line's name for those who do not see it.
fn says(run: &Compared) -> String {
    escaped(&format!("{}, under {}", run.stage.title, era::listed(&run.stage.history)))
}

#[cfg(test)]
mod tests {
    use locks::event::{Event, Kind};
    use locks::guard::Guard;
    use locks::setup::Gated;
    use serde::Deserialize;

    use super::*;
    use crate::stage::Stage;

    #[derive(Deserialize)]
    struct Recorded {
        events: Vec<Event>,
    }

    /// The recorded run, with its beginning changed.
    fn run(id: &str, change: impl FnOnce(&mut Setup)) -> Compared {
        let mut recorded: Recorded = serde_json::from_str(include_str!("../start/collision.json")).unwrap();
        let Kind::Began { setup, .. } = &mut recorded.events[0].kind else { panic!("it does not begin") };
        change(setup);
        Compared { id: id.repeat(16), stage: Stage::of(&recorded.events) }
    }

    /// Of an imported log the times are whatever somebody wrote.
    #[test]
    fn what_goes_on_for_a_century_is_drawn_on_a_page_of_ordinary_size() {
        let mut recorded: Recorded = serde_json::from_str(include_str!("../start/collision.json")).unwrap();
        let century_us = 1 << 52;
        let apart = century_us / recorded.events.len() as u64;
        for (event, nth) in recorded.events.iter_mut().zip(0..) {
            event.at_us = nth * apart;
        }
        let long = || Compared { id: "a1".repeat(16), stage: Stage::of(&recorded.events) };
        let size = page([long(), run("b2", |_| ())]).len();
        assert!(size < 1_000_000, "{size} bytes");
    }

    #[test]
    fn what_differs_is_named_and_what_does_not_is_left_out() {
        let other = run("b2", |setup| {
            setup.lease_ms = 9000;
            setup.guard = vec![Guard::UniqueSlot];
            setup.gated = Gated::Yes(vec!["look".to_owned()]);
        });
        let page = page([run("a1", |_| ()), other]);
        let row = |name: &str, a: &str, b: &str| {
            let is = format!("<th scope=\"row\">{name}</th><td class=\"b\">{a}</td>");
            assert!(page.contains(&is), "{is} is not in {page}");
            assert!(page.contains(&format!("<td class=\"b\">{b}</td>")), "{b} is not in {page}");
        };
        row("lease_ms", "3000", "9000");
        row("gated", "yes", "yes: look");
        row("strategies and guards", "none", "none, guard unique-slot");
        assert!(!page.contains(">work_ms<"), "it is the same in both");
        assert!(page.contains("differ in 2 values of the set-up and in no figure of the verdict"), "{page}");
    }

    #[test]
    fn both_timelines_begin_at_the_same_place_and_each_opens_its_run() {
        let page = page([run("a1", |_| ()), run("b2", |_| ())]);
        let first_bars: Vec<&str> =
            page.split("<svg width=").skip(1).filter(|svg| svg.contains("class=\"twice\"")).collect();
        assert_eq!(first_bars.len(), 2);
        assert_eq!(first_bars[0].split("class=\"twice\"").next(), first_bars[1].split("class=\"twice\"").next());
        for id in ["a1", "b2"] {
            assert!(page.contains(&format!("href=\"/runs/{}\">Open the run", id.repeat(16))), "{page}");
        }
        assert!(page.contains("/runs/a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1?at="), "a figure leads to what proves it");
    }

    #[test]
    fn the_other_one_is_chosen_from_those_that_are_left() {
        let line = |id: &str| RunLine {
            id: id.repeat(16),
            name: "live".to_owned(),
            title: "A <session>".to_owned(),
            strategy: "none".to_owned(),
            began_ms: 0,
            events: 9,
            ended: None,
            counted: None,
        };
        let page = choose(&run("a1", |_| ()), &[line("a1"), line("b2")]);
        assert_eq!(page.matches("/runs/compare?run=").count(), 1);
        assert!(page.contains("A &lt;session&gt;"));
        assert!(choose(&run("a1", |_| ()), &[]).contains("No other run"));
    }
}
