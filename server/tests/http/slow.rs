//! Whoever sends half of something and goes silent holds no connection for ever.

use std::io::{Read, Write};
use std::time::Instant;

use crate::common::served::Served;

#[test]
fn half_a_request_is_not_waited_for() {
    let lab = Served::start();
    let host = format!("localhost:{}", lab.port);
    let whole = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n");
    // The first of a connection, one after another, and none at all.
    let begun = ["GET / HTTP/1.1\r\nHo".to_owned(), format!("{whole}GET / HT"), String::new()];
    let began = Instant::now();
    let open = begun.map(|sent| {
        let mut connection = lab.connect();
        connection.write_all(sent.as_bytes()).unwrap();
        connection
    });
    for mut connection in open {
        let mut answer = Vec::new();
        // Reading has a limit of its own, which is an error.
        let ended = connection.read_to_end(&mut answer);
        assert!(ended.is_ok(), "it was still open after {:?}: {ended:?}", began.elapsed());
    }
    assert_eq!(lab.get("/healthz").status, 200);
}
