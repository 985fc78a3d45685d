//! The lesson over HTTP: every page is there, a prediction is kept and stays its learner's own, a task is ticked by
//! the run that proves it, and progress outlives the server and goes into a file and back.

use std::io::Write;
use std::time::Duration;

use serde_json::Value;

use crate::common::learner::{FORM, Learner};
use crate::common::served::Served;
use crate::common::{processes_of, until};

/// Two slots, a replica to start, and a busy machine.
const PROVED: Duration = Duration::from_secs(60);

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
    let said = learner.press("/lesson/1", "choice=one&predict=p1");
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
        let refused = learner.press("/lesson/1", body);
        assert_eq!(refused.status, 422, "{body}");
        assert!(refused.body.contains(says), "{body}: {}", refused.body);
    }
    assert_eq!(learner.press("/lesson/1", "do=b/0").status, 409, "nothing runs yet");
}

#[tokio::test]
async fn a_task_is_proved_by_a_run_and_progress_outlives_the_server() {
    let mut lab = Served::start();
    let (cookie, file) = {
        let learner = Learner::new(&lab);
        assert_eq!(learner.press("/lesson/1", "open=one-replica").status, 303);
        assert!(learner.page("/lesson/1").contains("id=\"stage-data\""), "the stage stands beside the text");
        let added = learner.press("/lesson/1", "do=b/0");
        assert_eq!((added.status, added.header("location")), (303, Some("/lesson/1#task-b")), "{}", added.body);
        let proved = || learner.page("/lesson/1/parts").contains("event #");
        until("two settled one slot", PROVED, proved).await;
        assert!(learner.page("/lesson").contains("1 of 3 tasks"));
        assert!(learner.page("/lesson/certificate").contains("Two settlements for one slot"));
        let file = learner.page("/api/lesson/progress");
        // A prediction after the run is kept as what it is.
        learner.press("/lesson/1", "choice=two&predict=p1");
        assert!(learner.page("/lesson/1").contains("You said what was measured"));
        (learner.cookie.clone(), file)
    };
    lab.restart();
    let learner = Learner { lab: &lab, cookie };
    let page = learner.page("/lesson/1");
    assert!(page.contains("1 of 3 done") && page.contains("event #"), "{page}");
    // The run behind it was stored when the server ended.
    let proofs: Value = serde_json::from_str(&file).unwrap();
    let run = proofs["proofs"][0]["run"].as_str().unwrap();
    assert_eq!(lab.get(&format!("/runs/{run}")).status, 200);

    // To somebody else, by file: all of it, or nothing with a reason.
    let other = Learner::new(&lab);
    let import = |file: &str| other.ask("POST", "/api/lesson/progress", "application/json", file);
    for (wrong, says) in [
        (file.replace("1/b/done", "1/x/done"), "no task that"),
        (file.replace("\"version\":1", "\"version\":7"), "of version 7"),
        ("[]".to_owned(), "no file of progress"),
        (file.replace(run, "no run"), "no event of a run"),
    ] {
        let refused = import(&wrong);
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert!(refused.body.contains(says), "{says}: {}", refused.body);
        assert!(other.page("/lesson").contains("0 of 3 tasks"));
    }
    let taken = import(&file);
    assert_eq!(taken.status, 204, "{}", taken.body);
    assert!(other.page("/lesson").contains("1 of 3 tasks"));
}

/// A step that was begun stays begun, whatever is ended meanwhile: what is said then is said late.
#[test]
fn what_is_said_after_a_restart_of_a_step_that_was_begun_is_late() {
    let mut lab = Served::start();
    let cookie = {
        let learner = Learner::new(&lab);
        assert_eq!(learner.press("/lesson/3", "open=look-then-take").status, 303);
        learner.cookie
    };
    lab.restart();
    let learner = Learner { lab: &lab, cookie };
    let page = learner.page("/lesson/3");
    assert!(page.contains("Nothing runs any more") && page.contains("value=\"look-then-take\""), "{page}");
    assert_eq!(learner.press("/lesson/3", "choice=4&predict=p1").status, 303);
    assert!(learner.page("/lesson/3").contains("after a run had begun"));
    assert_eq!(learner.press("/lesson/4", "choice=a&predict=p1").status, 303);
    assert!(!learner.page("/lesson/4").contains("after a run had begun"), "step 4 was not begun");
    assert!(learner.page("/runs").contains("Lesson 3: Look first, take second"), "its run can be told from others");
}

/// Who hangs up while a stage is opened has a stage all the same, looked at and played: no lab is left to nobody.
#[tokio::test]
async fn a_stage_whose_click_hung_up_is_there_and_is_watched() {
    let lab = Served::start();
    let learner = Learner::new(&lab);
    let body = "open=m2@pg-lease";
    let host = format!("Host: localhost:{}\r\nCookie: {}", lab.port, learner.cookie);
    let mut connection = lab.connect();
    write!(
        connection,
        "POST /lesson/2 HTTP/1.1\r\n{host}\r\nContent-Type: {FORM}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    // As soon as it has begun, and long before its script has come to anything. Stores are kept ready for everybody, but
    // replicas are this lab's own.
    let replicas = || processes_of(lab.data.path()).iter().any(|(_, command)| command.contains(" replica"));
    until("a lab is being opened", PROVED, replicas).await;
    drop(connection);
    until("its script proves its cell", PROVED, || learner.page("/lesson/2/parts").contains("event #")).await;
    let sessions = |lab: &Served| lab.get("/metrics").body.contains("aegis_live_sessions 1\n");
    assert!(sessions(&lab), "one lab is open, and not two");
    assert!(learner.page("/lesson/2").contains("id=\"stage-data\""));
}

/// Two clicks at once are one run; and only the step that has a place for a scenario takes one.
#[tokio::test]
async fn one_scenario_of_ones_own_runs_at_a_time() {
    let lab = Served::start();
    let learner = Learner::new(&lab);
    let script = "name = \"own\"\ntitle = \"t\"\n[setup]\nreplicas = [\"A\"]\n[[step]]\nwait = { ms = 700 }\n[expect]\noverlaps = 0\n";
    let coded: String = script.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let body = format!("run=own&strategy=pg-lease&script={coded}");
    let elsewhere = learner.press("/lesson/1", &body);
    assert_eq!(elsewhere.status, 422, "{}", elsewhere.body);
    assert!(elsewhere.body.contains("step 7"), "{}", elsewhere.body);
    let mut taken: Vec<u16> = std::thread::scope(|scope| {
        let clicks: Vec<_> = (0..6).map(|_| scope.spawn(|| learner.press("/lesson/7", &body).status)).collect();
        clicks.into_iter().map(|click| click.join().unwrap()).collect()
    });
    taken.sort_unstable();
    assert_eq!(taken, [303, 422, 422, 422, 422, 422]);
    until("it is over", PROVED, || learner.page("/lesson/7").contains("Under pg-lease: all held")).await;
    let runs: Value = serde_json::from_str(&learner.page("/api/runs")).unwrap();
    assert_eq!(runs.as_array().unwrap().len(), 1);
}

/// One that waits for hours is ended by whoever empties the box; then the next one has its turn.
#[tokio::test]
async fn a_scenario_of_ones_own_is_ended_when_told() {
    let lab = Served::start();
    let learner = Learner::new(&lab);
    let run = |wait: &str| {
        let script = format!(
            "name = \"own\"\ntitle = \"t\"\n[setup]\nreplicas = [\"A\"]\n[[step]]\nfire = {{ schedule = \"settle-invoices\" }}\n\
             [[step]]\nwait = {wait}\n[expect]\noverlaps = 0\n"
        );
        let coded: String = script.bytes().map(|byte| format!("%{byte:02X}")).collect();
        learner.press("/lesson/7", &format!("run=own&strategy=pg-lease&script={coded}")).status
    };
    assert_eq!(run("{ lock = \"expired\", limit_ms = 86400000 }"), 303);
    assert!(learner.page("/lesson/7").contains("It runs under pg-lease"));
    assert_eq!(learner.press("/lesson/7", "run=own&strategy=pg-lease&script=").status, 303);
    until("it is over", PROVED, || learner.page("/lesson/7").contains("Under pg-lease: ended by you")).await;
    assert_eq!(run("{ ms = 10 }"), 303);
    until("the next is over", PROVED, || learner.page("/lesson/7").contains("Under pg-lease: all held")).await;
}
