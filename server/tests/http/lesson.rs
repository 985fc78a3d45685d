//! The lesson over HTTP: every page is there, a prediction is kept and stays its learner's own, a task is ticked by
//! the run that proves it, and progress outlives the server and goes into a file and back.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::served::{Answer, Served, serve};
use crate::common::until;

/// Two slots, a replica to start, and a busy machine.
const PROVED: Duration = Duration::from_secs(60);
const FORM: &str = "application/x-www-form-urlencoded";

struct Learner<'a> {
    lab: &'a Served,
    cookie: String,
}

impl<'a> Learner<'a> {
    fn new(lab: &'a Served) -> Learner<'a> {
        let page = lab.get("/lesson");
        assert_eq!(page.status, 200, "{}", page.body);
        Learner { lab, cookie: page.header("set-cookie").unwrap().split(';').next().unwrap().to_owned() }
    }

    fn ask(&self, method: &str, path: &str, kind: &str, body: &str) -> Answer {
        let host = format!("localhost:{}", self.lab.port);
        let headers = [("Host", &*host), ("Cookie", &self.cookie), ("Content-Type", kind)];
        self.lab.ask(method, path, &headers, body)
    }

    /// A button of a step's page, as a browser without scripts sends it.
    fn press(&self, step: u8, body: &str) -> Answer {
        self.ask("POST", &format!("/lesson/{step}"), FORM, body)
    }

    fn page(&self, path: &str) -> String {
        let page = self.ask("GET", path, "text/plain", "");
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        page.body
    }
}

#[test]
fn every_page_is_there_and_closes() {
    let lab = Served::start();
    let learner = Learner::new(&lab);
    let agenda = learner.page("/lesson");
    for step in locks::lesson::STEPS {
        assert!(agenda.contains(&format!("href=\"/lesson/{}\"", step.number)));
        let page = learner.page(&format!("/lesson/{}", step.number));
        for task in step.tasks {
            assert!(
                page.contains(&format!("id=\"task-{}\"", task.id)) && page.contains(&format!("id=\"t-{}\"", task.id))
            );
        }
        assert_eq!(page.matches("<main").count(), 1);
        assert_eq!(page.matches("<h1").count(), 1);
    }
    assert!(learner.page("/lesson/glossary").contains("id=\"slot\""));
    assert!(learner.page("/lesson/certificate").contains("Nothing yet"));
    for missing in ["/lesson/0", "/lesson/9", "/lesson/x"] {
        assert_eq!(lab.get(missing).status, 404, "{missing}");
    }
}

#[test]
fn a_prediction_is_kept_and_is_its_learners_own() {
    let lab = Served::start();
    let (learner, other) = (Learner::new(&lab), Learner::new(&lab));
    let said = learner.press(1, "choice=one&predict=p1");
    assert_eq!((said.status, said.header("location")), (303, Some("/lesson/1#q-p1")), "{}", said.body);
    let page = learner.page("/lesson/1");
    assert!(page.contains("class=\"mine\"") && page.contains("Kept at"), "{page}");
    assert!(!page.contains("measured</span>"), "what is measured is not told beforehand");
    assert!(!other.page("/lesson/1").contains("class=\"mine\""));
    for (body, says) in [
        ("choice=three&predict=p1", "Choose one"),
        ("predict=p1", "Choose one"),
        ("choice=one&predict=p9", "no such question"),
        ("open=m1@pg-lease", "no such stage"),
        ("do=b/9", "no such button"),
        ("jump=high", "no button"),
    ] {
        let refused = learner.press(1, body);
        assert_eq!(refused.status, 422, "{body}");
        assert!(refused.body.contains(says), "{body}: {}", refused.body);
    }
    assert_eq!(learner.press(1, "do=b/0").status, 409, "nothing runs yet");
}

#[tokio::test]
async fn a_task_is_proved_by_a_run_and_progress_outlives_the_server() {
    let mut lab = Served::start();
    let (cookie, file) = {
        let learner = Learner::new(&lab);
        assert_eq!(learner.press(1, "open=one-replica").status, 303);
        assert!(learner.page("/lesson/1").contains("id=\"stage-data\""), "the stage stands beside the text");
        let added = learner.press(1, "do=b/0");
        assert_eq!((added.status, added.header("location")), (303, Some("/lesson/1#task-b")), "{}", added.body);
        let proved = || learner.page("/lesson/1/parts").contains("event #");
        until("two settled one slot", PROVED, proved).await;
        assert!(learner.page("/lesson").contains("1 of 3 tasks"));
        assert!(learner.page("/lesson/certificate").contains("Two settlements for one slot"));
        let file = learner.page("/api/lesson/progress");
        // A prediction after the run is kept as what it is.
        learner.press(1, "choice=two&predict=p1");
        assert!(learner.page("/lesson/1").contains("You said what was measured"));
        (learner.cookie.clone(), file)
    };
    lab.signal(Signal::SIGTERM);
    lab.process.wait().unwrap();
    let mut process = serve(lab.data.path(), lab.port).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    lab.process = process;
    let learner = Learner { lab: &lab, cookie };
    let page = learner.page("/lesson/1");
    assert!(page.contains("1 of 3 done") && page.contains("event #"), "{page}");
    // The run behind it was stored when the server ended.
    let proofs: Value = serde_json::from_str(&file).unwrap();
    let run = proofs["proofs"][0]["run"].as_str().unwrap();
    assert_eq!(lab.get(&format!("/runs/{run}")).status, 200);

    // To somebody else, by file.
    let other = Learner::new(&lab);
    let taken = other.ask("POST", "/api/lesson/progress", "application/json", &file);
    assert_eq!(taken.status, 204, "{}", taken.body);
    assert!(other.page("/lesson").contains("1 of 3 tasks"));
    let wrong = file.replace("1/b/done", "1/x/done");
    assert_eq!(other.ask("POST", "/api/lesson/progress", "application/json", &wrong).status, 422);
}
