//! A real protocol through a link: sessions are learnt, and held replies belong to their commands.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use locks::action::Direction;
use locks::ids::Endpoint;
use server::link::{Links, Upstream};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::lab::{A, LIMIT, SILENCE};

/// A Redis of this test alone, killed when dropped.
struct Redis(Child);

impl Redis {
    async fn start(folder: &Path) -> Redis {
        let socket = folder.join("redis");
        let child = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--unixsocket"])
            .arg(&socket)
            .arg("--dir")
            .arg(folder)
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is installed");
        let begun = Instant::now();
        while tokio::net::UnixStream::connect(&socket).await.is_err() {
            assert!(begun.elapsed() < LIMIT, "redis-server does not answer");
            sleep(Duration::from_millis(5)).await;
        }
        Redis(child)
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        self.0.wait().ok();
    }
}

#[tokio::test]
async fn redis_names_its_session_and_a_held_reply_is_that_of_the_next_command() {
    let folder = tempfile::tempdir().unwrap();
    let _redis = Redis::start(folder.path()).await;
    let (sender, mut passed) = mpsc::unbounded_channel();
    let links = Links::start(|_| Upstream::Unix(folder.path().join("redis")), sender).unwrap();
    let node = Endpoint::Redis(3);
    let port = links.add(A).unwrap()[&node];
    let client = redis::Client::open(("127.0.0.1", port)).unwrap();
    // The library's own timeout is off: a reply may be held for as long as the test likes.
    let config = redis::AsyncConnectionConfig::new().set_response_timeout(None);
    let mut connection = client.get_multiplexed_async_connection_with_config(&config).await.unwrap();
    redis::cmd("CLIENT").arg("SETNAME").arg("A.1/x/lock").exec_async(&mut connection).await.unwrap();
    // The link learnt the name from the request; the reply may be reported a moment after it was read.
    loop {
        let seen = timeout(LIMIT, passed.recv()).await.unwrap().unwrap();
        if (seen.direction, seen.session.as_deref()) == (Direction::Reply, Some("A.1/x/lock")) {
            break;
        }
    }

    links.hold(A, node, Direction::Reply).unwrap();
    let set = redis::cmd("SET").arg("lock").arg("token").arg("NX").to_owned();
    let mut held = tokio::spawn({
        let mut connection = connection.clone();
        async move { set.query_async::<String>(&mut connection).await }
    });
    let request = timeout(LIMIT, passed.recv()).await.unwrap().unwrap();
    assert_eq!((request.direction, request.session.as_deref()), (Direction::Request, Some("A.1/x/lock")));
    assert!(timeout(SILENCE, &mut held).await.is_err(), "the reply is held");
    let direct = redis::Client::open(format!("unix://{}", folder.path().join("redis").display())).unwrap();
    let mut direct = direct.get_multiplexed_async_connection().await.unwrap();
    let stands: String = redis::cmd("GET").arg("lock").query_async(&mut direct).await.unwrap();
    assert_eq!(stands, "token", "the command was executed, only its reply waits");
    links.let_go(A, node, Direction::Reply).unwrap();
    assert_eq!(timeout(LIMIT, held).await.unwrap().unwrap().unwrap(), "OK");
    let reply = timeout(LIMIT, passed.recv()).await.unwrap().unwrap();
    assert_eq!((reply.direction, reply.connection), (Direction::Reply, request.connection));
    assert!(reply.at_us > request.at_us && reply.kept_us >= 50_000);
}
