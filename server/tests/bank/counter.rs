//! What all tests of the bank share: an arena, a bank beside it, and somebody who sends settlements.

use std::sync::Arc;
use std::time::Duration;

use locks::guard::Guard;
use locks::ids::{AttemptId, Slot, Token};
use server::arena::Arena;
use server::bank::wire::{Reply, SETTLEMENTS, Settlement};
use server::bank::{Bank, Settled, database_of};
use server::lab::Lab;
use server::link::Upstream;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::common::{data_dir, lab};

/// Long enough for anything that happens at all.
pub const LIMIT: Duration = Duration::from_secs(15);

pub struct Counter {
    pub bank: Bank,
    pub settled: mpsc::UnboundedReceiver<Settled>,
    pub arena: Arena,
    lab: Arc<Lab>,
    _data: tempfile::TempDir,
}

impl Counter {
    pub async fn open(guards: &[Guard]) -> Counter {
        let data = data_dir();
        let lab = lab(data.path()).await;
        let arena = lab.arena(&Default::default()).await.unwrap();
        let (sender, settled) = mpsc::unbounded_channel();
        let bank = Bank::start(arena.postgres_options(), guards, sender).await.unwrap();
        Counter { bank, settled, arena, lab, _data: data }
    }

    pub fn port(&self) -> u16 {
        match self.bank.upstream() {
            Upstream::Tcp { port, .. } => port,
            Upstream::Unix(path) => panic!("the bank listens on {}", path.display()),
        }
    }

    /// Sends a settlement and waits for its answer.
    pub async fn send(&self, settlement: &Settlement) -> Option<Reply> {
        post(self.port(), settlement).await
    }

    /// What the bank told of the next arrival.
    pub async fn told(&mut self) -> Settled {
        timeout(LIMIT, self.settled.recv()).await.expect("told within the limit").expect("the bank is open")
    }

    /// Somebody in the arena's database.
    pub async fn in_arena(&self) -> PgConnection {
        self.arena.connect_postgres().await.unwrap()
    }

    /// Somebody in the bank's own database.
    pub async fn in_bank(&self) -> PgConnection {
        database_of(&self.arena.postgres_options()).connect().await.unwrap()
    }

    /// A newer grant of a lock.
    pub async fn grant(&self, lock: &str, epoch: u64) {
        sqlx::query(
            "insert into lock_epochs (name, epoch) values ($1, $2)
             on conflict (name) do update set epoch = excluded.epoch",
        )
        .bind(lock)
        .bind(i64::try_from(epoch).unwrap())
        .execute(&mut self.in_arena().await)
        .await
        .unwrap();
    }

    pub async fn close(self) {
        self.bank.close().await;
        self.arena.close().await;
        self.lab.close().await;
    }
}

/// An effect of a lock's slot under an epoch; `who` is the replica.
pub fn effect(who: &str, lock: &str, fire_ms: i64, epoch: Option<u64>) -> Settlement {
    Settlement {
        attempt: AttemptId { replica: who.to_owned(), incarnation: 1, n: 1 },
        lock: lock.to_owned(),
        slot: Slot { schedule: lock.to_owned(), fire_ms },
        epoch,
        token: Some(Token("5e".repeat(20))),
    }
}

pub async fn post(port: u16, settlement: &Settlement) -> Option<Reply> {
    let (status, body) = request(port, "POST", SETTLEMENTS, &serde_json::to_string(settlement).unwrap()).await;
    Reply::read(status, &body)
}

/// One request on a connection of its own.
pub async fn request(port: u16, method: &str, path: &str, body: &str) -> (u16, Vec<u8>) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(head(method, path, body.len()).as_bytes()).await.unwrap();
    // A body that is too long is refused before it is read.
    stream.write_all(body.as_bytes()).await.unwrap_or_default();
    let mut answer = Vec::new();
    timeout(LIMIT, stream.read_to_end(&mut answer)).await.expect("an answer within the limit").unwrap();
    let text = String::from_utf8_lossy(&answer);
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let body = text.split_once("\r\n\r\n").expect("a head").1.as_bytes().to_vec();
    (status, body)
}

pub fn head(method: &str, path: &str, length: usize) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: bank\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
}

/// Waits until so many of the bank's sessions wait for a lock.
pub async fn until_blocked(watcher: &mut PgConnection, count: i64) {
    let blocked = async {
        loop {
            let now: i64 = sqlx::query_scalar(
                "select count(*) from pg_stat_activity where application_name = 'bank' and wait_event_type = 'Lock'",
            )
            .fetch_one(&mut *watcher)
            .await
            .unwrap();
            if now == count {
                return;
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LIMIT, blocked).await.expect("the bank's sessions wait within the limit");
}

pub async fn run(connection: &mut PgConnection, sql: &str) {
    sqlx::query(AssertSqlSafe(sql)).execute(connection).await.unwrap();
}
