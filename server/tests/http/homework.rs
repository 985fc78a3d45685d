//! The homework over HTTP: pages, drafts that outlive the server, results that are kept and never confused, and what is
//! refused before anything is graded.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use locks::homework::{EXERCISES, keep, redlock};
use locks::scenario::Scenario;
use nix::sys::signal::Signal;

use crate::common::served::{Answer, Served, serve};

const FORM: &str = "application/x-www-form-urlencoded";

struct Learner<'a> {
    lab: &'a Served,
    cookie: String,
}

impl<'a> Learner<'a> {
    fn new(lab: &'a Served) -> Learner<'a> {
        let page = lab.get("/homework");
        assert_eq!(page.status, 200, "{}", page.body);
        Learner { lab, cookie: page.header("set-cookie").unwrap().split(';').next().unwrap().to_owned() }
    }

    fn ask(&self, method: &str, path: &str, kind: &str, body: &str) -> Answer {
        let host = format!("localhost:{}", self.lab.port);
        let headers = [("Host", &*host), ("Cookie", &self.cookie), ("Content-Type", kind)];
        self.lab.ask(method, path, &headers, body)
    }

    fn page(&self, path: &str) -> String {
        let page = self.ask("GET", path, "text/plain", "");
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        page.body
    }

    /// Hand in, as a browser without scripts does; the page that it is sent to.
    fn grade(&self, exercise: &str, text: &str) -> String {
        let answer = self.ask("POST", &format!("/homework/{exercise}"), FORM, &form(text, "grade"));
        let to = format!("/homework/{exercise}#h-result");
        assert_eq!((answer.status, answer.header("location")), (303, Some(&*to)), "{}", answer.body);
        self.page(&format!("/homework/{exercise}"))
    }

    fn draft(&self, exercise: &str, text: &str) -> Answer {
        self.ask("PUT", &format!("/api/homework/{exercise}/draft"), "text/plain", text)
    }
}

fn form(text: &str, button: &str) -> String {
    let coded: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!("text={coded}&do={button}")
}

#[test]
fn every_exercise_has_a_page_that_closes() {
    let lab = Served::start();
    let learner = Learner::new(&lab);
    let list = learner.page("/homework");
    for exercise in EXERCISES {
        assert!(list.contains(&format!("href=\"/homework/{}\"", exercise.slug)));
        let page = learner.page(&format!("/homework/{}", exercise.slug));
        assert_eq!((page.matches("<main").count(), page.matches("<h1").count()), (1, 1));
        assert!(page.contains("Nearly the answer") && page.contains("<textarea"), "{}", exercise.slug);
        assert!(!page.contains("An answer of ours"), "the answer is told before it was passed");
    }
    for missing in ["/homework/x", "/homework/keep?attempt=1"] {
        assert_eq!(lab.get(missing).status, 404, "{missing}");
    }
    assert_eq!(learner.ask("POST", "/homework/x", FORM, "text=a&do=grade").status, 404);
}

#[test]
fn a_table_is_graded_wrong_then_broken_then_right_and_all_of_it_is_kept() {
    let lab = Served::start();
    let (learner, other) = (Learner::new(&lab), Learner::new(&lab));
    let wrong = learner.grade("keep", keep::EXERCISE.starter);
    assert!(wrong.contains("went on") && wrong.contains("8 moves") && wrong.contains("class=\"viol-chip\""), "{wrong}");
    let broken = learner.grade("keep", "margin = one");
    assert!(broken.contains("Line 1, column 10.") && broken.contains("not TOML"), "{broken}");
    let right = learner.grade("keep", keep::EXERCISE.model);
    assert!(right.contains("No violation in") && right.contains("An answer of ours"), "{right}");
    assert!(right.contains("?attempt=1#h-result") && right.contains("?attempt=3#h-result"), "{right}");
    let first = learner.page("/homework/keep?attempt=1");
    assert!(first.contains("zero = &quot;Holding&quot;") && first.contains("class=\"viol-chip\""), "{first}");
    assert!(learner.page("/homework").contains("passed, 3 attempts"));
    let certificate = learner.page("/lesson/certificate");
    assert!(certificate.contains("1 of 8 exercises") && certificate.contains("Keep it, or let go"), "{certificate}");
    let answer = "?attempt=3#h-result\">the answer</a> passed: no violation in";
    assert!(certificate.contains(answer), "{certificate}");
    assert!(!other.page("/homework").contains("attempts"), "it is its learner's own");
    // The parts, for the script.
    let host = format!("localhost:{}", lab.port);
    let headers = [("Host", &*host), ("Cookie", &learner.cookie), ("Content-Type", FORM), ("X-Parts", "1")];
    let parts = lab.ask("POST", "/homework/redlock", &headers, &form(redlock::EXERCISE.starter, "grade"));
    assert_eq!(parts.status, 200, "{}", parts.body);
    assert!(parts.body.contains("id=\"h-result\"") && parts.body.contains("two disjoint quorums"), "{}", parts.body);
    assert!(!parts.body.contains("<main"), "{}", parts.body);
}

#[test]
fn a_script_that_failed_on_a_real_store_is_a_run_that_opens_at_its_event() {
    let lab = Served::start();
    let learner = Learner::new(&lab);
    let wrong = learner.grade("release", locks::homework::release::EXERCISE.starter);
    assert!(wrong.contains("class=\"viol-chip\"") && wrong.contains("Open at event #"), "{wrong}");
    let link = wrong.split("href=\"").find(|rest| rest.starts_with("/runs/") && rest.contains("?at=")).unwrap();
    let run = learner.page(link.split('"').next().unwrap());
    assert!(run.contains("id=\"sessions\"") && run.contains("runs the answer with lock:settle"), "{run}");
    let file =
        wrong.split("href=\"").find(|rest| rest.starts_with("/api/runs/") && rest.contains("/scenario")).unwrap();
    let file = learner.page(file.split('"').next().unwrap());
    let scenario = Scenario::parse(&file).unwrap();
    assert_eq!(scenario.homework.unwrap().schedule, "3");
    let right = learner.grade("release", locks::homework::release::EXERCISE.model);
    assert!(right.contains("No violation in 2"), "{right}");
}

#[test]
fn a_draft_outlives_a_crash() {
    let mut lab = Served::start();
    let cookie = {
        let learner = Learner::new(&lab);
        assert_eq!(learner.draft("release", "return 7 -- ü").status, 204);
        assert!(learner.page("/homework/release").contains("return 7 -- ü"));
        learner.cookie
    };
    lab.signal(Signal::SIGKILL);
    lab.process.wait().unwrap();
    let mut again = serve(lab.data.path(), lab.port).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(again.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("http://")));
    lab.process = again;
    let learner = Learner { lab: &lab, cookie };
    let page = learner.page("/homework/release");
    assert!(page.contains("return 7 -- ü") && page.contains("Draft kept"), "{page}");
    // Asked for, the starter stands there, and the draft is not lost.
    assert!(!learner.page("/homework/release?text=starter").contains("return 7 -- ü"));
    assert!(learner.page("/homework/release").contains("return 7 -- ü"));
}

#[test]
fn what_is_no_answer_is_refused_before_it_is_graded() {
    let lab = Served::start();
    let learner = Learner::new(&lab);
    let long = form(&"x".repeat(4097), "grade");
    let longer = form(&"x".repeat(16 * 1024 + 1), "grade");
    for (exercise, body, says) in [
        ("release", long.as_str(), "takes 4096"),
        ("keep", longer.as_str(), "takes 16384"),
        ("keep", "text=a%00b&do=grade", "Byte 2 is 0"),
        ("keep", "text=%FF&do=grade", "not UTF-8"),
        ("keep", "text=%0D%0A&do=grade", "nothing"),
        ("keep", "text=a", "no button"),
    ] {
        let answer = learner.ask("POST", &format!("/homework/{exercise}"), FORM, body);
        assert_eq!(answer.status, 422, "{says}: {}", answer.body);
        assert!(answer.body.contains(says), "{says}: {}", answer.body);
    }
    // At the limit it is read.
    assert!(learner.grade("keep", &"#".repeat(16 * 1024)).contains("Error in your code"));
    assert_eq!(learner.draft("release", "a\0b").status, 422);
    assert_eq!(learner.draft("release", &"x".repeat(4097)).status, 422);
    assert_eq!(learner.draft("x", "a").status, 404);
    assert!(learner.page("/homework").contains("not passed yet, 1 attempt<"), "what is refused is no attempt");
}

#[test]
fn submissions_are_taken_one_after_the_other_and_not_without_end() {
    let lab = Served::start();
    let learner = Learner::new(&lab);
    let answers: Vec<u16> = (0..16)
        .map(|_| learner.ask("POST", "/homework/keep", FORM, &form(keep::EXERCISE.starter, "grade")).status)
        .collect();
    assert_eq!(answers.first(), Some(&303));
    assert!(answers.contains(&429), "{answers:?}");
    // Pages go on.
    learner.page("/homework/keep");
}
