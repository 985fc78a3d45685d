//! A commit whose answer is lost: the effect stands, so it has to be told, and answered as accepted.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use locks::ids::Endpoint;
use server::bank::Bank;
use server::bank::wire::Reply;
use server::link::Upstream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::counter::{Counter, LIMIT, effect, post, run, until_blocked};

/// Stands before Postgres and, when armed, hangs up on whoever is answered next.
struct Doorman {
    folder: tempfile::TempDir,
    armed: Arc<AtomicBool>,
}

impl Doorman {
    fn before(postgres: PathBuf) -> Doorman {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(postgres.file_name().unwrap())).unwrap();
        let armed = Arc::new(AtomicBool::new(false));
        let doorman = Doorman { folder, armed: armed.clone() };
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&postgres).await.unwrap();
                tokio::spawn(carry(client, server, armed.clone()));
            }
        });
        doorman
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }
}

async fn carry(mut client: UnixStream, mut server: UnixStream, armed: Arc<AtomicBool>) {
    let (mut asked, mut answered) = (vec![0; 16 << 10], vec![0; 16 << 10]);
    loop {
        tokio::select! {
            Ok(count @ 1..) = client.read(&mut asked) => server.write_all(&asked[..count]).await.unwrap_or_default(),
            Ok(count @ 1..) = server.read(&mut answered) => {
                if armed.swap(false, Ordering::Relaxed) {
                    return;
                }
                client.write_all(&answered[..count]).await.unwrap_or_default();
            }
            else => return,
        }
    }
}

#[tokio::test]
async fn a_commit_whose_answer_was_lost_is_looked_up_and_told() {
    let counter = Counter::open(&[]).await;
    let Some(Upstream::Unix(socket)) = counter.arena.upstream(Endpoint::Postgres) else { panic!("a Unix socket") };
    let doorman = Doorman::before(socket);
    let (sender, mut settled) = mpsc::unbounded_channel();
    let options = counter.arena.postgres_options().socket(doorman.folder());
    let bank = Bank::start(options, &[], sender).await.unwrap();
    let Upstream::Tcp { port, .. } = bank.upstream() else { panic!("a port") };

    let mut barrier = counter.in_bank().await;
    let wait = "create function wait() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock(1); return null; end $$";
    run(&mut barrier, wait).await;
    let trigger = "create constraint trigger wait after insert on settlements
        deferrable initially deferred for each row execute function wait()";
    run(&mut barrier, trigger).await;
    run(&mut barrier, "select pg_advisory_lock(1)").await;
    let sending = tokio::spawn(async move { post(port, &effect("A", "x", 1, None)).await });
    until_blocked(&mut counter.in_bank().await, 1).await;
    doorman.armed.store(true, Ordering::Relaxed);
    run(&mut barrier, "select pg_advisory_unlock(1)").await;

    let answer = timeout(LIMIT, sending).await.unwrap().unwrap();
    assert!(!doorman.armed.load(Ordering::Relaxed), "the answer to the commit was lost");
    assert_eq!(answer, Some(Reply::Accepted { accepted: true, nth: 1 }));
    let told = timeout(LIMIT, settled.recv()).await.unwrap().unwrap();
    assert_eq!(told.nth, 1);
    assert!(settled.try_recv().is_err(), "and told once");
    bank.close().await;
    counter.close().await;
}
