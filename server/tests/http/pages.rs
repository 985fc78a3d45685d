//! Pages.

use std::time::Duration;

use crate::common::served::Served;

/// A page that is not whole by then hangs.
const WHOLE: Duration = Duration::from_secs(5);

#[test]
fn every_page_is_whole_in_time_and_carries_its_policy() {
    let lab = Served::start();
    let cases = [
        ("/", 200),
        ("/lab", 200),
        ("/lab/moves?do=fire+%3D+%7B+schedule+%3D+%22settle-invoices%22+%7D%3B+A", 200),
        ("/lab/moves?do=dance", 422),
        ("/runs", 200),
        ("/runs/00000000000000000000000000000000", 404),
        ("/matrix", 200),
        ("/lesson", 200),
        ("/lesson/glossary", 200),
        ("/lesson/certificate", 200),
        ("/no", 404),
    ];
    let steps = locks::lesson::STEPS.iter().map(|step| (format!("/lesson/{}", step.number), 200));
    for (path, status) in cases.map(|(path, status)| (path.to_owned(), status)).into_iter().chain(steps) {
        let answer = lab.get(&path);
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.body.contains("</html>"), "{path} is not whole");
        assert!(answer.took < WHOLE, "{path} took {:?}", answer.took);
        let policy = answer.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("script-src 'self' "), "{path}: {policy}");
        assert!(!policy.contains("unsafe-inline"), "{path}: {policy}");
        assert!(!answer.body.contains(" style=\""), "{path} has a style that its policy forbids");
        assert!(!answer.body.contains("<script>"), "{path} has a script that its policy forbids");
    }
}

#[test]
fn an_address_that_cannot_be_read_is_told_as_it_is_asked() {
    let lab = Served::start();
    let host = format!("localhost:{}", lab.port);
    for path in ["/runs/%ff", "/homework/lease?attempt=-1"] {
        for (accept, kind) in [("text/html,*/*;q=0.8", "text/html"), ("*/*", "application/problem+json")] {
            let answer = lab.ask("GET", path, &[("Host", &host), ("Accept", accept)], "");
            assert_eq!(answer.status, 400, "{path}: {}", answer.body);
            let told = answer.header("content-type").unwrap_or_default();
            assert!(told.starts_with(kind), "{path} asked as {accept} is told as {told}");
            assert!(answer.body.contains("Look at the request"), "{path}: {}", answer.body);
        }
    }
}

#[test]
fn who_watches_the_lab_gets_figures() {
    let lab = Served::start();
    assert!(lab.get("/healthz").body.contains("ok"));
    lab.get("/");
    let metrics = lab.get("/metrics");
    assert_eq!(metrics.status, 200);
    assert!(
        metrics.body.contains("aegis_http_requests_total{method=\"GET\",route=\"/\",status=\"200\"} 1"),
        "{}",
        metrics.body
    );
    assert!(metrics.body.contains("aegis_live_sessions 0"), "{}", metrics.body);
}

/// The run that the start page replays, stored as somebody's; its address.
fn imported(lab: &Served, headers: &[(&str, &str)]) -> String {
    let file = include_str!("../../../app/src/page/start/collision.json");
    let made = lab.ask("POST", "/api/runs/import", headers, file);
    assert_eq!(made.status, 201, "{}", made.body);
    made.body.split('"').nth(3).unwrap().to_owned()
}

#[test]
fn two_runs_are_compared_without_a_script() {
    let lab = Served::start();
    let host = format!("localhost:{}", lab.port);
    let cookie = "aegis_learner=0123456789abcdef0123456789abcdef";
    let headers = [("Host", &*host), ("Cookie", cookie), ("Content-Type", "application/json")];
    let (a, b) = (imported(&lab, &headers), imported(&lab, &headers));
    let get = |path: &str| lab.ask("GET", path, &headers, "");

    // From the list, as its form sends it; and from a run.
    let list = get("/runs").body;
    assert!(
        list.contains("action=\"/runs/compare\"") && list.contains(&format!("name=\"run\" value=\"{a}\"")),
        "{list}"
    );
    assert!(get(&format!("/runs/{a}")).body.contains(&format!("/runs/compare?run={a}")));
    let choice = get(&format!("/runs/compare?run={a}"));
    assert!(choice.body.contains(&format!("/runs/compare?run={a}&amp;run={b}")), "{}", choice.body);
    let both = get(&format!("/runs/compare?run={a}&run={b}"));
    assert_eq!((both.status, both.body.matches("class=\"twice\"").count()), (200, 2), "{}", both.body);

    for (path, status, says) in [
        ("/runs/compare".to_owned(), 422, "0 are chosen"),
        (format!("/runs/compare?run={a}&run={b}&run={a}"), 422, "3 are chosen"),
        (format!("/runs/compare?run={a}&run=0"), 404, "no such run"),
    ] {
        let refused = get(&path);
        assert_eq!(refused.status, status, "{path}");
        assert!(refused.body.contains(says), "{path}: {}", refused.body);
    }
}
