//! A live session over HTTP: commands, the stream, whose it is.

use std::io::{BufRead, BufReader, Write};

use serde_json::Value;

use crate::common::served::{Answer, Served};

/// A learner with a lab of their own.
struct Learner<'a> {
    lab: &'a Served,
    host: String,
    cookie: String,
    run: String,
}

impl<'a> Learner<'a> {
    fn new(lab: &'a Served) -> Self {
        let host = format!("localhost:{}", lab.port);
        let page = lab.get("/lab");
        let cookie = page.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        let link = page.body.split("href=\"/runs/").nth(1).expect("a link to the run");
        let run = link.split('"').next().unwrap().to_owned();
        Learner { lab, host, cookie, run }
    }

    fn ask(&self, method: &str, what: &str, body: &str) -> Answer {
        let headers = [("Host", &*self.host), ("Cookie", &self.cookie), ("Content-Type", "application/json")];
        self.lab.ask(method, &format!("/api/runs/{}/{what}", self.run), &headers, body)
    }

    fn act(&self, action: &str) -> Answer {
        self.ask("POST", "actions", action)
    }

    /// The events of the stream from `headers` on, until one of that kind.
    fn stream_until(&self, query: &str, header: &str, kind: &str) -> Vec<Value> {
        let mut connection = self.lab.connect();
        write!(
            connection,
            "GET /api/runs/{}/events{query} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n{header}\r\n",
            self.run, self.host, self.cookie
        )
        .unwrap();
        let mut events: Vec<Value> = Vec::new();
        for line in BufReader::new(connection).lines() {
            let line = line.expect("the stream says nothing more");
            let Some(data) = line.strip_prefix("data: ") else { continue };
            events.extend(serde_json::from_str::<Vec<Value>>(data).unwrap());
            if events.iter().any(|event| event["kind"] == kind) {
                return events;
            }
        }
        panic!("the stream ended before {kind}");
    }
}

fn seqs(events: &[Value]) -> Vec<u64> {
    events.iter().map(|event| event["seq"].as_u64().unwrap()).collect()
}

#[test]
fn the_stream_has_no_gaps_and_goes_on_where_it_was_left() {
    let lab = Served::start();
    let learner = Learner::new(&lab);
    let first = learner.stream_until("?after=0", "", "effect_settled");
    assert_eq!(seqs(&first), (1..=first.len() as u64).collect::<Vec<_>>());

    let left_at = first.len() as u64 - 3;
    // What the browser sends when it connects again wins over what the page had asked for first.
    let again = learner.stream_until("?after=0", &format!("Last-Event-ID: {left_at}\r\n"), "effect_settled");
    assert_eq!(seqs(&again)[0], left_at + 1);
    assert_eq!(again[..3], first[first.len() - 3..]);
    // What is yet to come was told to nobody.
    let headers = [("Host", &*learner.host), ("Cookie", &learner.cookie), ("Last-Event-ID", "1000000")];
    let refused = lab.ask("GET", &format!("/api/runs/{}/events", learner.run), &headers, "");
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.body.contains("none after 1000000"), "{}", refused.body);
}

#[test]
fn actions_are_steps_of_the_scenario_and_refusals_say_why() {
    let lab = Served::start();
    let learner = Learner::new(&lab);
    let done = learner.act("{\"set\":{\"strategy\":\"pg-lease\"}}");
    assert_eq!((done.status, done.body.as_str()), (202, "{\"step\":1}"));
    assert_eq!(learner.act("{\"pause\":\"A\"}").status, 202);

    let cases = [
        ("{\"pause\":\"A\"}", 409, "paused"),
        ("{\"pause\":\"Z\"}", 409, "A, B, C"),
        ("{\"set\":{\"strategy\":\"pg-leese\"}}", 422, "pg-lease"),
        ("{\"set\":{\"lease_ms\":0}}", 422, "allowed: 1 to"),
        ("{\"set\":{\"work_ms\":700000}}", 422, "0 to 600000"),
        ("{\"set\":{\"every_s\":4000}}", 422, "1 to 3600"),
        ("{\"session\":{\"replica\":\"A\",\"do\":\"begin\"}}", 422, "a step of homework"),
        ("{\"sql\":\"select 1\"}", 422, "scenario files"),
        ("{\"node\":{\"start\":\"redis-3\"}}", 409, "runs already"),
        ("{\"assert\":{\"sql\":\"select 1\",\"is\":2}}", 409, "is 1, and must be 2"),
        ("{\"assert\":{\"sql\":\"select pg_read_file('PG_VERSION')\",\"is\":\"\"}}", 422, "permission denied"),
        ("{\"assert\":{\"redis\":\"FLUSHALL\",\"node\":\"redis-1\",\"is\":\"OK\"}}", 422, "no permissions"),
        ("{\"wait\":{\"ms\":60000}}", 422, "scenario files"),
        ("{\"chaos\":{\"seed\":1,\"faults\":9,\"limit_ms\":86400000}}", 422, "25000 or less"),
        ("{\"dance\":\"A\"}", 422, "dance"),
        ("[]", 422, ""),
    ];
    for (action, status, says) in cases {
        let refused = learner.act(action);
        assert_eq!(refused.status, status, "{action}: {}", refused.body);
        assert!(
            refused.body.contains(says) && refused.body.contains("\"whose\":\"yours\""),
            "{action}: {}",
            refused.body
        );
    }
    assert_eq!(learner.act("{\"assert\":{\"sql\":\"select 1\",\"is\":1}}").status, 202);
    assert_eq!(learner.act("{\"resume\":\"A\"}").status, 202);
    let scenario = learner.ask("GET", "scenario", "").body;
    assert!(scenario.contains("pause = \"A\"") && scenario.contains("timed = true"), "{scenario}");
    assert!(!scenario.contains("Z"), "what was refused is no step: {scenario}");
}

#[test]
fn a_session_is_its_learners_alone() {
    let lab = Served::start();
    let learner = Learner::new(&lab);
    let stranger =
        Learner { cookie: "aegis_learner=0123456789abcdef0123456789abcdef".to_owned(), ..Learner::new(&lab) };
    let stranger = Learner { run: learner.run.clone(), ..stranger };
    assert_eq!(stranger.act("{\"pause\":\"A\"}").status, 404);
    for what in ["events", "log", "scenario", "export"] {
        assert_eq!(stranger.ask("GET", what, "").status, 404, "{what}");
    }
    assert_eq!(learner.ask("GET", "log", "").status, 200);
}

#[test]
fn an_imported_run_never_takes_the_place_of_another() {
    let lab = Served::start();
    let learner = Learner::new(&lab);
    learner.stream_until("?after=0", "", "effect_settled");
    let mut file: Value = serde_json::from_str(&learner.ask("GET", "export", "").body).unwrap();
    let events = file["events"].as_array_mut().unwrap();
    let (seq, at_us) = (events.len() + 1, events.last().unwrap()["at_us"].clone());
    events.push(serde_json::json!({ "seq": seq, "at_us": at_us, "source": "runner", "kind": "ended", "why": "done" }));
    let headers = [("Host", &*learner.host), ("Cookie", &learner.cookie), ("Content-Type", "application/json")];
    let import = |file: &Value| lab.ask("POST", "/api/runs/import", &headers, &file.to_string());

    let imported = import(&file);
    assert_eq!(imported.status, 201, "{}", imported.body);
    let id = serde_json::from_str::<Value>(&imported.body).unwrap()["run"].as_str().unwrap().to_owned();
    assert_ne!(id, learner.run, "the live run keeps its own identity");
    let page = lab.ask("GET", &format!("/runs/{id}"), &headers, "");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("</html>"));

    let forged = |path: &str, value: Value| {
        let mut file = file.clone();
        *file.pointer_mut(path).unwrap() = value;
        import(&file)
    };
    for (path, value) in [
        ("/events/0/wall_ms", serde_json::json!(i64::MAX)),
        ("/events/1/at_us", serde_json::json!(u64::MAX)),
        ("/events/0/title", serde_json::json!("\u{0}")),
        ("/events/0/setup/strategy", serde_json::json!("\u{0}")),
    ] {
        let refused = forged(path, value);
        assert_eq!(refused.status, 422, "{path}: {}", refused.body);
    }

    let other = Learner::new(&lab);
    let theirs = [("Host", &*other.host), ("Cookie", &other.cookie)];
    let delete = |id: &str, headers: &[(&str, &str)]| lab.ask("DELETE", &format!("/api/runs/{id}"), headers, "").status;
    assert_eq!(delete(&id, &theirs), 404, "somebody else's");
    assert_eq!(delete(&learner.run, &headers), 404, "a live one ends by itself");
    assert_eq!(delete(&id, &headers), 204);
    assert_eq!(lab.ask("GET", &format!("/api/runs/{id}/log"), &headers, "").status, 404);
}

#[test]
fn one_learner_cannot_take_all_streams() {
    let lab = Served::start();
    let (learner, other) = (Learner::new(&lab), Learner::new(&lab));
    let stream = |learner: &Learner| {
        let mut connection = lab.connect();
        let (run, host, cookie) = (&learner.run, &learner.host, &learner.cookie);
        write!(connection, "GET /api/runs/{run}/events HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n").unwrap();
        let mut connection = BufReader::new(connection);
        let mut status = String::new();
        connection.read_line(&mut status).unwrap();
        assert!(status.contains("200"), "{status}");
        connection
    };
    let mut open: Vec<_> = (0..8).map(|_| stream(&learner)).collect();
    let refused = learner.ask("GET", "events", "");
    assert_eq!((refused.status, refused.header("content-type")), (429, Some("application/problem+json")));
    assert!(refused.body.contains("Close one") && refused.body.contains("\"whose\":\"yours\""), "{}", refused.body);
    open.push(stream(&other));
}

#[test]
fn what_no_handler_reads_is_refused_in_the_same_form() {
    let lab = Served::start();
    let host = format!("localhost:{}", lab.port);
    let json = ("Content-Type", "application/json");
    let long = "x".repeat(70_000);
    let actions = "/api/runs/00000000000000000000000000000000/actions";
    let cases = [
        ("POST", actions, Some(json), "{", 400, "address and body"),
        ("POST", actions, None, "{}", 415, "application/json"),
        ("POST", actions, Some(json), long.as_str(), 413, "64 kB"),
        ("DELETE", "/api/runs", None, "", 405, "Allow"),
        ("GET", "/api/nothing", None, "", 404, "/api/runs"),
        ("GET", "/api/runs/0/log?after=x", None, "", 400, "address and body"),
    ];
    for (method, path, header, body, status, says) in cases {
        let headers: Vec<_> = [("Host", &*host)].into_iter().chain(header).collect();
        let refused = lab.ask(method, path, &headers, body);
        assert_eq!(refused.status, status, "{method} {path}: {}", refused.body);
        assert_eq!(refused.header("content-type"), Some("application/problem+json"), "{method} {path}");
        let problem: Value = serde_json::from_str(&refused.body).unwrap();
        assert!(problem["detail"].as_str().unwrap().contains(says), "{method} {path}: {problem}");
        assert_eq!(problem["status"], status, "{problem}");
    }
}
