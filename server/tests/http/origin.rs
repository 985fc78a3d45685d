//! Requests that are not for us, or not from us.

use crate::common::served::Served;

#[test]
fn another_host_name_or_another_sites_page_is_refused() {
    let lab = Served::start();
    let ours = format!("localhost:{}", lab.port);
    let own_page = format!("http://{ours}");
    let post = |headers: &[(&str, &str)]| lab.ask("POST", "/api/runs/0/actions", headers, "{\"pause\":\"A\"}").status;
    let json = ("Content-Type", "application/json");

    for host in ["evil.example", "evil.example:3000", "localhost.evil.example", "127.0.0.1.evil.example"] {
        let answer = lab.ask("GET", "/lab", &[("Host", host)], "");
        assert_eq!(answer.status, 403, "{host}");
        assert!(answer.body.contains("AEGIS_ALLOWED_HOSTS"), "it says what to do: {}", answer.body);
    }
    assert!(matches!(lab.ask("GET", "/lab", &[], "").status, 400 | 403), "no host at all");
    for path in ["/", "/lab", "/healthz", "/metrics", "/api/runs", "/pkg/aegis.js"] {
        assert_eq!(lab.ask("GET", path, &[("Host", "evil.example")], "").status, 403, "{path}");
    }

    assert_eq!(post(&[("Host", &ours), json, ("Origin", "http://evil.example")]), 403);
    assert_eq!(post(&[("Host", &ours), json, ("Origin", "null")]), 403);
    assert_eq!(post(&[("Host", &ours), json, ("Sec-Fetch-Site", "cross-site")]), 403);
    assert_eq!(post(&[("Host", &ours), json, ("Origin", &own_page)]), 404, "allowed, and there is no such run");
    assert_eq!(post(&[("Host", &ours), json]), 404, "curl says nothing of itself");
}

#[test]
fn bodies_have_a_limit_and_a_shape() {
    let lab = Served::start();
    let host = format!("localhost:{}", lab.port);
    let json = ("Content-Type", "application/json");
    let large = format!("{{\"pause\":\"{}\"}}", "A".repeat(100_000));
    let post = |headers: &[(&str, &str)], body: &str| lab.ask("POST", "/api/runs/0/actions", headers, body).status;
    assert_eq!(post(&[("Host", &host), json], &large), 413);
    assert_eq!(post(&[("Host", &host), json], "{"), 400);
    assert_eq!(post(&[("Host", &host)], "{}"), 415, "a form of another site has no such type");
    let import = lab.ask("POST", "/api/runs/import", &[("Host", &host), json], "{\"format\":\"other\"}");
    assert_eq!(import.status, 422);
    assert!(import.body.contains("no exported run"), "{}", import.body);
}
