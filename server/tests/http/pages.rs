//! Pages.

use std::time::Duration;

use crate::common::served::Served;

/// A page that is not whole by then hangs.
const WHOLE: Duration = Duration::from_secs(5);

#[test]
fn every_page_is_whole_in_time_and_carries_its_policy() {
    let lab = Served::start();
    let cases =
        [("/", 200), ("/lab", 200), ("/runs", 200), ("/runs/00000000000000000000000000000000", 404), ("/no", 404)];
    for (path, status) in cases {
        let answer = lab.get(path);
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
