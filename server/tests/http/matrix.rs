//! The matrix over HTTP: a cell shows what `aegis matrix` shows, what was said and measured is kept, cancelling
//! leaves nothing running, and what cannot be is refused with a reason.

use std::io::{BufRead, BufReader, Write};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::learner::{FORM, Learner};
use crate::common::served::Served;
use crate::common::{aegis, data_dir, processes_of, until};

/// How long a cell may take on a busy machine.
const CELL: Duration = Duration::from_secs(90);
const GONE: Duration = Duration::from_secs(20);

impl Learner<'_> {
    /// What the interface says of the cells behind a guard.
    fn cells(&self, guard: &str) -> Vec<Value> {
        let answer = self.page(&format!("/api/matrix?guard={guard}"));
        let Value::Array(cells) = serde_json::from_str::<Value>(&answer).unwrap()["cells"].take() else {
            panic!("no cells: {answer}")
        };
        cells
    }

    fn cell(&self, name: &str) -> Value {
        self.cells("none").into_iter().find(|cell| cell["cell"] == name).unwrap()
    }

    /// The cell, once nothing of it is under way.
    async fn measured(&self, name: &str) -> Value {
        until("it is measured", CELL, || {
            let cell = self.cell(name);
            cell["under_way"].is_null() && !cell["measured"].is_null()
        })
        .await;
        self.cell(name)
    }
}

/// `aegis matrix` for one cell.
fn by_command(fault: &str, strategy: &str) -> Value {
    let data = data_dir();
    let mut command = Command::new(aegis());
    command.args(["matrix", "--json", "--faults", fault, "--strategies", strategy, "--data-dir"]).arg(data.path());
    let told: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    told["cells"][0].clone()
}

#[tokio::test]
async fn a_cell_shows_what_the_command_shows_and_outlives_the_server() {
    let mut lab = Served::start();
    let name = "none/two-at-once";
    let cookie = {
        let learner = Learner::new(&lab);
        assert_eq!(learner.post("/api/matrix/predictions", &json!({ "cell": name, "covered": true })).status, 204);
        assert!(learner.page("/matrix").contains("run to reveal"));
        let begun = learner.post("/api/matrix/runs", &json!({ "cell": name }));
        assert_eq!((begun.status, begun.body.as_str()), (202, r#"{"started":1}"#));
        let cell = learner.measured(name).await;
        let by_command = by_command("two-at-once", "none");
        for field in ["measured", "inconclusive_because"] {
            assert_eq!(cell[field], by_command[field], "{cell} {by_command}");
        }
        assert_eq!(cell["figures"]["effects_per_slot"], by_command["figures"]["effects_per_slot"]);
        // What was shown cannot be predicted any more, and what was said before stays.
        let late = learner.post("/api/matrix/predictions", &json!({ "cell": name, "covered": false }));
        assert_eq!(late.status, 409, "{}", late.body);
        let unsaid = learner.post("/api/matrix/runs", &json!({ "cell": "pg-lease/two-at-once" }));
        assert_eq!(unsaid.status, 202, "{}", unsaid.body);
        learner.measured("pg-lease/two-at-once").await;
        let late = json!({ "cell": "pg-lease/two-at-once", "covered": true });
        assert_eq!(learner.post("/api/matrix/predictions", &late).status, 409);
        assert!(learner.cell("pg-lease/two-at-once")["predicted"].is_null());
        // The run behind it is stored like any other, and another learner's page knows nothing of the cell.
        assert_eq!(lab.get(&format!("/runs/{}", cell["run"].as_str().unwrap())).status, 200);
        assert!(learner.page("/runs").contains(cell["run"].as_str().unwrap()));
        assert!(Learner::new(&lab).cells("none").iter().all(|cell| cell["measured"].is_null()));
        let table = learner.page("/api/matrix/export?form=markdown");
        assert!(table.contains("| Two replicas at once | not covered: 2 effects"), "{table}");
        let exported: Value = serde_json::from_str(&learner.page("/api/matrix/export?form=json")).unwrap();
        assert_eq!(exported["cells"][0]["differs"], false);
        learner.cookie
    };

    lab.restart();
    let learner = Learner { lab: &lab, cookie };
    let cell = learner.cell(name);
    assert_eq!((&cell["predicted"], &cell["measured"]), (&json!(true), &json!("not-covered")), "{cell}");
    let page = learner.page("/matrix?cell=none/two-at-once&race=two-at-once");
    for said in [
        "You predicted <b class=\"num\">1</b> cell",
        "disagrees with",
        "Run again",
        "Open run at #",
        "2× for this slot",
    ] {
        assert!(page.contains(said), "{said} is not on the page");
    }
}

#[tokio::test]
async fn cancelling_leaves_nothing_running() {
    let lab = Served::start();
    let learner = Learner::new(&lab);
    // The page's own button, as a browser without scripts sends it.
    let pressed = learner.press("/matrix?guard=max-seen&race=failover", "run-all=all");
    assert_eq!((pressed.status, pressed.header("location")), (303, Some("/matrix?guard=max-seen&race=failover")));
    let running = || learner.cells("max-seen").iter().any(|cell| cell["under_way"] == "runs");
    let replicas = || processes_of(lab.data.path()).iter().any(|(_, command)| command.contains("aegis replica"));
    until("a cell runs", CELL, || running() && replicas()).await;
    let page = learner.page("/matrix?guard=max-seen");
    assert!(page.contains("data-busy=\"true\"") && page.contains(" running, "));

    let cancelled = learner.ask("DELETE", "/api/matrix/runs", FORM, "");
    let cancelled: Value = serde_json::from_str(&cancelled.body).unwrap();
    assert!(cancelled["cancelled"].as_u64().unwrap() > 20, "{cancelled}");
    until("nothing is under way", GONE, || learner.cells("max-seen").iter().all(|cell| cell["under_way"].is_null()))
        .await;
    until("no replica is left", GONE, || !replicas()).await;
    assert!(learner.page("/matrix?guard=max-seen").contains("data-busy=\"false\""));
}

#[tokio::test]
async fn a_change_is_told_on_the_stream_and_a_race_runs_each_strategy() {
    let lab = Served::start();
    let learner = Learner::new(&lab);
    let mut connection = lab.connect();
    let (host, cookie) = (format!("localhost:{}", lab.port), &learner.cookie);
    write!(connection, "GET /api/matrix/events HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n").unwrap();
    let begun = learner.post("/api/matrix/runs", &json!({ "cell": "pg-lease/two-at-once" }));
    assert_eq!(begun.status, 202, "{}", begun.body);
    let mut lines = BufReader::new(connection).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line == "event: changed")));
    let run = learner.measured("pg-lease/two-at-once").await["run"].as_str().unwrap().to_owned();

    // The scenario of that run, under all of them.
    let begun = learner.post("/api/matrix/runs", &json!({ "race": run }));
    assert_eq!(begun.status, 202, "{}", begun.body);
    let all = locks::strategy::ALL.len();
    assert_eq!(begun.body, format!("{{\"started\":{all}}}"));
    let address = format!("/matrix?race={run}");
    until("the race ends", CELL, || !learner.page(&address).contains("data-busy=\"true\"")).await;
    let page = learner.page(&address);
    assert_eq!(page.matches("class=\"race-v").count() - 1, all, "a verdict at each line's end, and the axis");
    assert!(page.contains("none: Overlap") && page.contains("pg-lease: No overlap"), "{page}");
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let lab = Served::start();
    let learner = Learner::new(&lab);
    let runs = "/api/matrix/runs";
    for (path, body, says) in [
        (runs, json!({ "cell": "pg-lease" }), "no cell"),
        (runs, json!({ "cell": "pg-leese/two-at-once" }), "there are none, pg-lease"),
        (runs, json!({ "cell": "pg-lease/earthquake" }), "two-at-once"),
        (runs, json!({ "cell": "none/failover" }), "cannot happen to none"),
        (runs, json!({ "cell": "pg-lease/two-at-once", "guard": "luck" }), "current-epoch"),
        (runs, json!({ "row": "earthquake" }), "earthquake"),
        (runs, json!({ "column": "pg-leese" }), "pg-leese"),
        (runs, json!({}), "Name one of"),
        (runs, json!({ "all": true, "row": "failover" }), "no other"),
        (runs, json!({ "race": "earthquake" }), "earthquake"),
        ("/api/matrix/predictions", json!({ "cell": "none/failover", "covered": true }), "cannot happen"),
    ] {
        let refused = learner.post(path, &body);
        let problem: Value = serde_json::from_str(&refused.body).unwrap();
        assert_eq!((refused.status, &problem["whose"]), (422, &json!("yours")), "{body}: {problem}");
        assert!(problem["detail"].as_str().unwrap().contains(says), "{body}: {problem}");
    }
    let unknown = learner.post(runs, &json!({ "race": "0".repeat(32) }));
    assert_eq!(unknown.status, 404, "{}", unknown.body);
    for (path, status) in [("/matrix?guard=luck", 422), ("/matrix?cell=none/failover", 422), ("/matrix?race=x", 422)] {
        let page = lab.get(path);
        assert_eq!(
            (page.status, page.header("content-type").unwrap().starts_with("text/html")),
            (status, true),
            "{path}"
        );
    }
    let host = format!("localhost:{}", lab.port);
    let foreign = lab.ask("POST", "/matrix", &[("Host", &host), ("Origin", "http://evil.example")], "run-all=all");
    assert_eq!(foreign.status, 403);
}
