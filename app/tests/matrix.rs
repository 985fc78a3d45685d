//! The matrix page as text: what stands in it, and the race's one scale.

mod sample;

use std::sync::Arc;

use app::matrix::strip::{Shared, strip};
use app::matrix::{Cell, CellName, Line, MatrixPage, Measured, Opened, Place, Race, Row, Run, Said, Tally, UnderWay};
use app::matrix::{page, picture};
use locks::matrix::{Coverage, Figures};
use sample::{collision, dead_holder, paused_holder, rejected_effect};

fn stages() -> Vec<Arc<Run>> {
    [collision(), paused_holder(), rejected_effect(), dead_holder()]
        .iter()
        .map(|log| Arc::new(Run::of(&log.events)))
        .collect()
}

fn cell(strategy: &str) -> Cell {
    Cell { strategy: strategy.to_owned(), applies: true, said: None, measured: None, under_way: None }
}

fn measured(coverage: Coverage) -> Option<Measured> {
    let figures = Some(Figures { overlaps: 1, effects_per_slot: 2, ..Figures::default() });
    Some(Measured { coverage, why: None, figures, run: Some("c51e".repeat(8)) })
}

fn said(covered: bool) -> Option<Said> {
    Some(Said { covered, at_ms: 1_795_986_000_000 })
}

/// One row: n/a, to predict, to run, wrong, right, inconclusive, under way.
fn matrix() -> MatrixPage {
    let cells = vec![
        Cell { applies: false, ..cell("none") },
        cell("pg-lease"),
        Cell { said: said(true), ..cell("pg-claim") },
        Cell { said: said(true), measured: measured(Coverage::NotCovered), ..cell("pg-row-lock") },
        Cell { said: said(false), measured: measured(Coverage::NotCovered), ..cell("redis-set-nx") },
        Cell { said: said(false), measured: measured(Coverage::Inconclusive), ..cell("redlock") },
        Cell { under_way: Some(UnderWay::Runs), ..cell("k8s-lease") },
    ];
    let stage = stages().swap_remove(1);
    let line = |cell: &Cell| Line {
        strategy: cell.strategy.clone(),
        summary: "a <lock>".to_owned(),
        cell: cell.clone(),
        stage: cell.measured.as_ref().map(|_| stage.clone()),
    };
    let name = CellName::new("pg-row-lock", "pause-past-lease");
    MatrixPage {
        place: Place { cell: Some(name.clone()), ..Place::default() },
        strategies: cells.iter().map(|cell| cell.strategy.clone()).collect(),
        tally: Tally { predicted: 4, revealed: 2, right: 1 },
        opened: Some(Opened {
            title: "Pause past the lease".to_owned(),
            name,
            cell: cells[3].clone(),
            expected: Some((Coverage::Covered, "the session <is> lost".to_owned())),
            stage: Some(stage.clone()),
        }),
        race: Race {
            script: "pause-past-lease".to_owned(),
            title: "Pause past the lease".to_owned(),
            terms: "one scale".to_owned(),
            lines: cells.iter().map(line).collect(),
        },
        rows: vec![Row {
            fault: "pause-past-lease".to_owned(),
            title: "Pause past the lease".to_owned(),
            group: "Processes".to_owned(),
            cells,
        }],
    }
}

fn row(html: &str) -> Vec<&str> {
    let row = html.split("<th scope=\"row\">").nth(1).unwrap().split("</tr>").next().unwrap();
    row.split("<td ").skip(1).collect()
}

#[test]
fn each_cell_offers_what_can_be_done() {
    let html = page::main(&matrix());
    let cells = row(&html);
    assert!(cells[0].contains("n/a") && !cells[0].contains("<button"));
    assert!(cells[1].contains("predict first") && cells[1].contains("value=\"pg-lease/pause-past-lease/not-covered\""));
    assert!(cells[2].contains("run to reveal") && cells[2].contains("name=\"run\""));
    assert!(cells[3].contains("disagrees with") && cells[3].contains("class=\"mx-b open\""));
    assert!(cells[4].contains("agrees with") && !cells[4].contains("disagrees"));
    assert!(cells[5].contains("not known yet") && cells[5].contains("inconclusive"));
    assert!(cells[6].contains("runs …") && !cells[6].contains("<button"));
    assert!(cells.iter().all(|cell| !cell.contains("harm")), "a wrong guess harms nobody");
    assert!(html.contains("data-busy=\"true\"") && html.contains("1 running, 0 waiting"));
}

#[test]
fn what_differs_from_the_lab_is_harm_and_what_was_guessed_is_not() {
    let html = page::main(&matrix());
    let facts = html.split("class=\"facts\"").nth(1).unwrap().split("</dl>").next().unwrap();
    assert_eq!(facts.matches("tr2 cut harm").count(), 1);
    let (guessed, expected) = facts.split_once("lab expects").unwrap();
    assert!(guessed.contains("class=\"tr2 cut\"") && guessed.contains("tr2 cut harm"), "{guessed}");
    assert!(expected.contains("from the model"));
    assert!(html.contains("The session &lt;is&gt; lost.") && html.contains("a &lt;lock&gt;"));
    assert!(html.contains("Open run at #") && html.contains("?at="));
}

#[test]
fn every_element_that_opens_closes() {
    let html = page::main(&matrix());
    for tag in
        ["main", "form", "table", "tr", "td", "th", "button", "a", "details", "aside", "figure", "svg", "g", "text"]
    {
        let opened = html.matches(&format!("<{tag} ")).count() + html.matches(&format!("<{tag}>")).count();
        assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    let ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let mut once = ids.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), ids.len(), "an identity stands twice");
    assert!(!html.contains("NaN") && !html.contains("inf\""));
}

#[test]
fn all_lines_of_a_race_share_one_scale() {
    let stages = stages();
    let shared = Shared::new(stages.iter().map(|run| &***run), 1032.0);
    for stage in &stages {
        let (from, to) = picture::span(stage, &picture::look(stage));
        assert!(to - from <= shared.length_us);
    }
    let ticks = |svg: &str| svg.split("class=\"axl\"").count();
    let lines: Vec<String> = stages.iter().map(|stage| strip(stage, shared, true, "a line")).collect();
    assert!(lines.iter().all(|line| ticks(line) == ticks(&lines[0])));
}

#[test]
fn a_line_shows_what_happened() {
    let stages = stages();
    let shared = Shared::new(stages.iter().map(|run| &***run), 1032.0);
    let line = |nth: usize| strip(&stages[nth], shared, true, "a line");
    assert!(line(0).contains("no lock") && line(0).contains("× for this slot") && line(0).contains("url(#vi)"));
    assert!(line(1).contains("class=\"hollow s-a\"") && line(1).contains("class=\"frost\""));
    assert!(line(2).contains("rejected by current-epoch"));
    assert!(!strip(&stages[0], shared, false, "a line").contains("<text"), "on a phone labels are off");
}

/// A has three nodes of five and B two: a quorum and what is none, each node's own word.
#[test]
fn a_quorum_is_seen_node_by_node() {
    use locks::event::{Kind, Param, Source, StoreCommand};
    use locks::ids::{CommandId, Endpoint};
    let mut log = sample::Log::new(locks::setup::Setup { strategy: "redlock".into(), ..locks::setup::Setup::live() });
    let key = format!("{}{}", Param::KEY, sample::SETTLE);
    for (name, token) in [("A", "aaaa"), ("B", "bbbb")] {
        let go = log.due(1000.0, name, sample::SETTLE);
        let command = StoreCommand {
            command: CommandId(1),
            name: "acquire".to_owned(),
            to: Endpoint::Redis(1),
            session: "lock".to_owned(),
            text: "SET $1 $2 NX PX $3".to_owned(),
            params: vec![Param::Text(key.clone()), Param::Text(token.to_owned()), Param::Int(1500)],
            timeout_ms: 100,
        };
        log.replica(1001.0, name, Kind::Sent { attempt: Some(go.id), lock: sample::SETTLE.to_owned(), command });
    }
    for (node, token) in [(1, "aaaa"), (2, "aaaa"), (3, "aaaa"), (4, "bbbb"), (5, "bbbb")] {
        let value = Some(token.to_owned());
        log.say(1002.0, Source::Store(Endpoint::Redis(node)), Kind::Key { key: key.clone(), value, pttl_ms: 1500 });
    }
    log.say(1400.0, Source::Store(Endpoint::Redis(4)), Kind::Key { key: key.clone(), value: None, pttl_ms: -2 });
    let run = Run::of(&log.events);
    assert_eq!(run.quorum.nodes, 5);
    let of = |name: &str| run.quorum.stood.iter().filter(|one| one.replica.as_deref() == Some(name)).count();
    assert_eq!((of("A"), of("B")), (3, 2));
    let ended: Vec<u8> = run.quorum.stood.iter().filter(|one| one.span.1.is_some()).map(|one| one.node).collect();
    assert_eq!(ended, [4], "given back there, and only there");
    let (names, drawn) = picture::picture(&run, 306.0, "a run");
    assert!(names.contains("nodes") && drawn.matches("has the token of A").count() == 3);
    assert!(strip(&run, Shared::new([&*run], 1032.0), true, "a line").contains("redis-4 has the token of B"));
    assert_eq!(Run::of(&paused_holder().events).quorum.nodes, 0, "one store has no quorum");
}
