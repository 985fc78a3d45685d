//! What a link itself costs: the same statement sent bare over the store's own socket and through a link,
//! in turns, so that whatever else the machine does falls on both alike. For `scripts/bench`; never judged.

use std::io;
use std::time::{Duration, Instant};

use locks::ids::Endpoint;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{ConnectOptions, PgConnection};
use tokio::sync::mpsc;

use super::{LinkError, Links, Upstream};
use crate::replica::control::PostgresLogin;

/// Medians of one round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Bare.
    pub bare: Duration,
    /// Through a link.
    pub linked: Duration,
}

impl Cost {
    /// What the link added.
    pub fn added(&self) -> Duration {
        self.linked.saturating_sub(self.bare)
    }
}

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
pub enum CostError {
    /// The link.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The store.
    #[error("Postgres: {0}")]
    Store(#[from] sqlx::Error),
}

/// Sends `select 1`, prepared, `rounds` times each way.
pub async fn of_a_statement(postgres: Upstream, login: &PostgresLogin, rounds: usize) -> Result<Cost, CostError> {
    let (sender, passed) = mpsc::unbounded_channel();
    // The other endpoints' links are never used.
    let links = Links::start(|_| postgres.clone(), sender)?;
    let port = links.add("bench")?[&Endpoint::Postgres];
    let options = PgConnectOptions::new_without_pgpass()
        .username(&login.user)
        .database(&login.database)
        .password(login.password.as_deref().unwrap_or_default())
        .ssl_mode(PgSslMode::Disable);
    let mut bare = reach(options.clone(), &postgres)?.connect().await?;
    let mut linked = options.host("127.0.0.1").port(port).connect().await?;
    let (mut of_bare, mut of_linked) = (Vec::with_capacity(rounds), Vec::with_capacity(rounds));
    for _ in 0..rounds {
        of_bare.push(round_trip(&mut bare).await?);
        of_linked.push(round_trip(&mut linked).await?);
    }
    drop(passed);
    Ok(Cost { bare: median(of_bare), linked: median(of_linked) })
}

/// The way past all links.
fn reach(options: PgConnectOptions, postgres: &Upstream) -> sqlx::Result<PgConnectOptions> {
    match postgres {
        Upstream::Tcp { host, port } => Ok(options.host(host).port(*port)),
        Upstream::Unix(socket) => {
            // Postgres names its socket `.s.PGSQL.<port>`.
            let port = socket.extension().and_then(|port| port.to_str()?.parse().ok());
            let (Some(folder), Some(port)) = (socket.parent(), port) else {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a socket of Postgres").into());
            };
            Ok(options.socket(folder).port(port))
        }
    }
}

async fn round_trip(connection: &mut PgConnection) -> sqlx::Result<Duration> {
    let begun = Instant::now();
    sqlx::query("select 1").execute(connection).await?;
    Ok(begun.elapsed())
}

fn median(mut each: Vec<Duration>) -> Duration {
    each.sort();
    each.get(each.len() / 2).copied().unwrap_or_default()
}
