//! Every page of the lab, with something on it: what its tests visit and its pictures show.

use std::time::Duration;

use serde_json::{Value, json};

use crate::chrome::Chrome;
use crate::common::served::Served;

/// A real run, as somebody imports it.
const RECORDED: &str = include_str!("../../../app/src/page/start/collision.json");
/// How long a cell's run may take on a busy machine.
const MEASURED: Duration = Duration::from_secs(90);

/// A slot, and a step.
const MOVES: &str = "fire+%3D+%7B+schedule+%3D+%22settle-invoices%22+%7D%3B+A";

/// A page.
pub struct Place {
    pub name: &'static str,
    pub path: String,
    /// What is true once it is there.
    pub whole: &'static str,
    /// Done to it before it is looked at.
    pub first: &'static str,
    /// It is no page: its status is an error, and the browser says so.
    pub refused: bool,
}

const HEADING: &str = "return document.querySelector('main h1') !== null";
const EDITOR: &str = "return document.querySelector('.editor.live .paint .ln') !== null";
const STAGE: &str = "return document.querySelector('.tl svg') !== null && hydrated()";

/// All of them, for a learner who has two stored runs and one measured cell.
pub async fn places(chrome: &Chrome, lab: &Served) -> Vec<Place> {
    chrome.client.goto(&format!("{}/runs", lab.url)).await.unwrap();
    let (a, b) = (import(chrome).await, import(chrome).await);
    measure(chrome, "none/two-at-once").await;
    hand_in(chrome, "keep", locks::homework::keep::EXERCISE.starter).await;
    hand_in(chrome, "redlock", locks::homework::redlock::EXERCISE.model).await;
    let place = |name, path: String, whole| Place { name, path, whole, first: "", refused: false };
    let refused = |name, path: &str| Place { refused: true, ..place(name, path.to_owned(), HEADING) };
    vec![
        place("start", "/".to_owned(), HEADING),
        Place {
            first: "document.getElementById('help-b').click()",
            ..place("help", "/".to_owned(), "return document.getElementById('help') !== null")
        },
        place("lab", "/lab".to_owned(), STAGE),
        Place { first: "document.querySelector('[id^=menu-]').click()", ..place("menu", "/lab".to_owned(), STAGE) },
        place("moves", format!("/lab/moves?do={MOVES}"), HEADING),
        place("matrix", "/matrix".to_owned(), HEADING),
        place("cell", "/matrix?cell=none/two-at-once&race=two-at-once".to_owned(), HEADING),
        place("runs", "/runs".to_owned(), HEADING),
        place("run", format!("/runs/{a}"), STAGE),
        place("compare", format!("/runs/compare?run={a}&run={b}"), HEADING),
        place("choose", format!("/runs/compare?run={a}"), HEADING),
        place("agenda", "/lesson".to_owned(), HEADING),
        place("step", "/lesson/1".to_owned(), HEADING),
        place("editor", "/lesson/7".to_owned(), HEADING),
        place("quiz", "/lesson/8".to_owned(), HEADING),
        place("homework", "/homework".to_owned(), HEADING),
        place("failed", "/homework/keep".to_owned(), EDITOR),
        place("passed", "/homework/redlock".to_owned(), EDITOR),
        place("exercise", "/homework/claim".to_owned(), EDITOR),
        place("glossary", "/lesson/glossary".to_owned(), HEADING),
        place("certificate", "/lesson/certificate".to_owned(), HEADING),
        refused("problem", "/matrix?guard=luck"),
        refused("missing", "/no-such-page"),
    ]
}

/// Store the recorded run as this learner's; its identity.
pub async fn import(chrome: &Chrome) -> String {
    let made = chrome.fetched("/api/runs/import", "POST", RECORDED).await;
    made["run"].as_str().unwrap_or_else(|| panic!("the run was not imported: {made}")).to_owned()
}

/// Predict a cell and let it be measured.
pub async fn measure(chrome: &Chrome, cell: &str) {
    chrome.fetched("/api/matrix/predictions", "POST", &json!({ "cell": cell, "covered": true }).to_string()).await;
    let begun = chrome.fetched("/api/matrix/runs", "POST", &json!({ "cell": cell }).to_string()).await;
    assert_eq!(begun["started"], 1, "{begun}");
    let measured = format!(
        "if (!window.asking) {{
           window.asking = true;
           fetch('/api/matrix').then(answer => answer.json()).then(({{ cells }}) => {{
             window.asking = false;
             window.measured = cells.find(({{ cell }}) => cell === '{cell}').measured;
           }});
         }}
         return window.measured"
    );
    chrome.until_within(MEASURED, "the cell is measured", &measured).await;
}

/// Hand something in for an exercise.
async fn hand_in(chrome: &Chrome, exercise: &str, text: &str) {
    let script = "const [exercise, text, done] = arguments, body = new URLSearchParams({ text, do: 'grade' });
        fetch(`/homework/${exercise}`, { method: 'POST', body, headers: { 'x-parts': '1' } })
          .then(answer => done(answer.status), error => done(String(error)));";
    let status = chrome.client.execute_async(script, vec![json!(exercise), json!(text)]).await.expect(exercise);
    assert_eq!(status, json!(200), "{exercise}");
}

impl Chrome {
    /// Ask the lab as the page would; the answer's JSON.
    pub async fn fetched(&self, path: &str, method: &str, body: &str) -> Value {
        let script = "const [path, method, body, done] = arguments;
            fetch(path, { method, body, headers: { 'content-type': 'application/json' } })
              .then(answer => answer.text()).then(text => done(text ? JSON.parse(text) : null), error => done(String(error)));";
        let arguments = vec![json!(path), json!(method), json!(body)];
        self.client.execute_async(script, arguments).await.expect(path)
    }

    /// Open a page and bring it to where it is looked at.
    pub async fn visit(&self, lab: &Served, place: &Place) {
        self.client.goto(&format!("{}{}", lab.url, place.path)).await.unwrap();
        self.until(place.name, place.whole).await;
        if place.refused {
            let said = self.console().await;
            assert!(said.iter().all(|line| line.contains("Failed to load resource")), "{}: {said:?}", place.name);
        }
        self.script(place.first).await;
    }

    /// Light or dark, as somebody chose it; once every colour has changed.
    pub async fn theme(&self, theme: &str) {
        self.script(&format!("document.documentElement.dataset.theme = '{theme}'")).await;
        let changed = "return !document.getAnimations().some(a => a.transitionProperty === 'background-color')";
        self.until("the colours have changed", changed).await;
    }
}
