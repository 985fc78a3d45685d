//! Nothing of the lab's outlives it, whatever dies first, and in whatever state the rest is.

mod common;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{aegis, data_dir, lab, processes_of, until};
use locks::ids::Endpoint;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use server::warden::limits::Limits;
use server::warden::{Exit, Io, Spawn, Spawned, Warden, WardenError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Everything has to be gone within this.
const GONE: Duration = Duration::from_secs(5);

fn shell(folder: &Path, script: &str) -> Spawn {
    Spawn {
        program: "/bin/sh".into(),
        args: vec!["-c".to_owned(), script.to_owned()],
        env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
        folder: folder.to_owned(),
        user: None,
        limits: Limits::default(),
        io: Io::Pipes,
        errors: File::create(folder.join("errors")).unwrap(),
    }
}

async fn said(spawned: &mut Spawned) -> String {
    let mut text = [0; 64];
    let out = &mut spawned.pipes.as_mut().unwrap().1;
    let length = tokio::time::timeout(GONE, out.read(&mut text)).await.unwrap().unwrap();
    String::from_utf8_lossy(&text[..length]).trim().to_owned()
}

fn state(pid: u32) -> Option<char> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(") ")?.1.chars().next()
}

#[tokio::test]
async fn pipes_lead_to_the_process_and_its_end_is_told() {
    let folder = data_dir();
    let warden = Warden::start(&aegis(), &folder.path().join("processes")).await.unwrap();
    let mut spawned = warden.spawn(shell(folder.path(), "read line; echo \"got $line\"; exit 7")).await.unwrap();
    spawned.pipes.as_mut().unwrap().0.write_all(b"this\n").await.unwrap();
    assert_eq!(said(&mut spawned).await, "got this");
    assert_eq!(spawned.process.exited().await, Exit::Status(7));
    // What is gone is not signalled, but killing it is no error.
    assert!(matches!(spawned.process.signal(Signal::SIGTERM).await, Err(WardenError::Refused(_))));
    spawned.process.kill().await.unwrap();
    let missing = Spawn { program: "/no/such/program".into(), ..shell(folder.path(), "") };
    let error = warden.spawn(missing).await.unwrap_err().to_string();
    assert!(error.starts_with("/no/such/program: No such file"), "{error}");
    warden.close().await.unwrap();
}

#[tokio::test]
async fn a_stop_reaches_all_and_ends_when_all_are_stopped() {
    let folder = data_dir();
    let warden = Warden::start(&aegis(), &folder.path().join("processes")).await.unwrap();
    let busy = "while :; do :; done";
    let mut spawned =
        warden.spawn(shell(folder.path(), &format!("setsid sh -c '{busy}' & echo $!; {busy}"))).await.unwrap();
    let child: u32 = said(&mut spawned).await.parse().unwrap();
    for _ in 0..20 {
        spawned.process.stop().await.unwrap();
        assert_eq!((state(spawned.process.pid()), state(child)), (Some('T'), Some('T')));
        spawned.process.cont().await.unwrap();
        until("both go on", GONE, || state(spawned.process.pid()) != Some('T') && state(child) != Some('T')).await;
    }
    // A kill reaches both too, although one has a session of its own and both are stopped.
    spawned.process.stop().await.unwrap();
    spawned.process.kill().await.unwrap();
    assert_eq!((state(spawned.process.pid()), state(child)), (None, None));
    assert_eq!(spawned.process.exit(), Some(Exit::Signal(Signal::SIGKILL as i32)));
    warden.close().await.unwrap();
}

#[tokio::test]
async fn what_a_process_leaves_behind_goes_with_it() {
    let folder = data_dir();
    let warden = Warden::start(&aegis(), &folder.path().join("processes")).await.unwrap();
    let mut spawned = warden.spawn(shell(folder.path(), "setsid sleep 1000 >&2 & echo $!; exit 0")).await.unwrap();
    let orphan: u32 = said(&mut spawned).await.parse().unwrap();
    assert_eq!(spawned.process.exited().await, Exit::Status(0));
    assert_eq!(state(orphan), None);
    warden.close().await.unwrap();
}

#[tokio::test]
async fn a_process_that_nobody_waited_for_is_killed() {
    let folder = data_dir();
    let warden = Warden::start(&aegis(), &folder.path().join("processes")).await.unwrap();
    let spawn = warden.spawn(Spawn { io: Io::Nothing, ..shell(folder.path(), "exec sleep 1000") });
    // Polled once, which sends the request, and dropped before the answer can have been read.
    {
        let mut spawn = std::pin::pin!(spawn);
        let waker = std::task::Waker::noop();
        assert!(spawn.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    }
    // Later requests are answered later, so by then it was started.
    let marker = warden.spawn(shell(folder.path(), "exit 0")).await.unwrap();
    marker.process.exited().await;
    until("it is gone", GONE, || processes_of(folder.path()).is_empty()).await;
    warden.close().await.unwrap();
}

#[tokio::test]
async fn a_program_that_is_no_warden_is_an_error_in_words() {
    let folder = data_dir();
    let error = Warden::start(Path::new("/bin/true"), &folder.path().join("processes")).await.unwrap_err().to_string();
    assert_eq!(error, "the warden (/bin/true) could not be started: it did not report");
}

/// What the server in the tests below has going on, said on its standard output when all of it is.
const READY: &str = "ready, warden ";
const BROKEN: &str = "broken";

/// Say something to whoever started this process.
fn tell(text: &str) {
    use std::io::Write;
    writeln!(std::io::stderr().lock(), "\n{text}").unwrap();
}

/// Not a test: the server that the tests below start and kill.
#[tokio::test]
#[ignore = "started by other tests"]
async fn server_to_kill() {
    let Ok(data) = std::env::var("TEST_DATA_DIR") else { return };
    let lab = lab(Path::new(&data)).await;
    let arena = lab.arena(&BTreeMap::new()).await.unwrap();
    lab.control().await.unwrap().set_progress("learner", "step", &serde_json::json!(3)).await.unwrap();
    let busy = [
        "select pg_sleep(1000)",
        "do $$ begin loop end loop; end $$",
        "select count(*) from generate_series(1, 100000000000)",
    ];
    for sql in busy {
        let mut connection = arena.connect_postgres().await.unwrap();
        tokio::spawn(async move { sqlx::query(sql).execute(&mut connection).await });
    }
    let mut looking = arena.connect_postgres().await.unwrap();
    let count = "select count(*) from pg_stat_activity where state = 'active' and pid <> pg_backend_pid()";
    while sqlx::query_scalar::<_, i64>(count).fetch_one(&mut looking).await.unwrap() < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let replica = arena.spawn_replica("A", 1).await.unwrap();
    replica.process.stop().await.unwrap();
    for node in [1, 2] {
        arena.store(Endpoint::Redis(node)).unwrap().stop().await.unwrap();
    }
    tell(&format!("{READY}{}", lab.warden_pid()));
    lab.broken().await;
    tell(BROKEN);
    std::future::pending::<()>().await;
}

struct Server {
    child: Child,
    errors: BufReader<std::process::ChildStderr>,
}

impl Server {
    /// Start [`server_to_kill`] and wait until it is ready. Returns the warden's pid too.
    fn start(data: &Path) -> (Server, u32) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "server_to_kill", "--ignored", "--nocapture"])
            .env("TEST_DATA_DIR", data)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let mut server = Server { child, errors };
        let line = server.until(READY);
        let pid = line.strip_prefix(READY).unwrap().parse().unwrap();
        (server, pid)
    }

    /// Read on until a line begins so.
    fn until(&mut self, begin: &str) -> String {
        let mut seen = String::new();
        loop {
            let mut line = String::new();
            assert!(self.errors.read_line(&mut line).unwrap() > 0, "the server ended:\n{seen}");
            if line.starts_with(begin) {
                return line.trim().to_owned();
            }
            seen.push_str(&line);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn sigkill(pid: u32) {
    kill(Pid::from_raw(pid as i32), Signal::SIGKILL).unwrap();
}

#[tokio::test]
async fn a_killed_server_leaves_nothing() {
    let data = data_dir();
    let (mut server, warden) = Server::start(data.path());
    assert!(processes_of(data.path()).len() > 10, "{:#?}", processes_of(data.path()));
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    until("nothing of the lab is left", GONE, || processes_of(data.path()).is_empty() && state(warden).is_none()).await;
}

#[tokio::test]
async fn a_killed_warden_leaves_nothing_and_the_server_says_so() {
    let data = data_dir();
    let (mut server, warden) = Server::start(data.path());
    sigkill(warden);
    until("nothing of the lab is left", GONE, || {
        let mut left = processes_of(data.path());
        left.retain(|(pid, _)| *pid != server.child.id());
        left.is_empty() && state(warden).is_none()
    })
    .await;
    assert_eq!(server.until(BROKEN), BROKEN);
}

#[tokio::test]
async fn what_even_the_warden_could_not_kill_the_next_lab_does() {
    let data = data_dir();
    let (mut server, warden) = Server::start(data.path());
    // Neither can react: the warden is stopped while the server dies, and dies without going on.
    kill(Pid::from_raw(warden as i32), Signal::SIGSTOP).unwrap();
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    sigkill(warden);
    until("the warden is gone", GONE, || state(warden).is_none_or(|state| state == 'Z')).await;
    let left = processes_of(data.path());
    assert!(left.len() > 10, "the test has nothing to clean: {left:#?}");
    let lab = lab(data.path()).await;
    assert_eq!(std::fs::read_dir(data.path().join("labs")).unwrap().count(), 2, "its own folder and the lock");
    // The control plane recovers, and has forgotten nothing.
    let progress = lab.control().await.unwrap().progress("learner").await.unwrap();
    assert_eq!(progress, [("step".to_owned(), serde_json::json!(3))]);
    lab.close().await;
    until("nothing of the lab is left", GONE, || processes_of(data.path()).is_empty()).await;
}
