//! The bank: an external HTTP service with a store of its own, where effects land. It knows nothing of
//! strategies; whether it checks anything at all is up to its guards. It must never deduplicate or
//! repair what no guard told it to.
//!
//! | file | job |
//! |---|---|
//! | `wire` | what a replica and the bank say to each other |
//! | `http` | routes and their limits |
//! | `desk` | what becomes of a settlement that arrived |
//! | `books` | its own tables |
//! | `epochs` | asking the arena's database who holds a lock now, and keeping it so |
//! | `spare` | connections that are kept for the next one |

mod books;
mod desk;
mod epochs;
mod http;
mod spare;
pub mod wire;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use locks::event::EffectAnswer;
use locks::guard::Guard;
use locks::ids::{AttemptId, LockName, Slot};
use sqlx::postgres::PgConnectOptions;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use books::{MIGRATIONS, database_of, prepare};

use crate::link::Upstream;
use desk::Desk;

/// How long the bank waits, when it closes, for what is under way.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

/// An effect was accepted or rejected, and that stands in the bank's books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// When it was committed, in microseconds of the machine's monotonic clock. Under guard current-epoch
    /// no newer grant can have been answered before.
    pub at_us: u64,
    /// The attempt that sent it.
    pub attempt: AttemptId,
    /// The lock under which it was sent.
    pub lock: LockName,
    /// Its slot.
    pub slot: Slot,
    /// The epoch that it carried.
    pub epoch: Option<u64>,
    /// What was answered.
    pub answer: EffectAnswer,
    /// Accepted effects of the slot, this one included if it was.
    pub nth: u32,
}

/// What can go wrong in the bank.
#[derive(Debug, thiserror::Error)]
pub enum BankError {
    /// No port to listen on.
    #[error("the bank has no port: {0}")]
    Listen(#[source] std::io::Error),
    /// Its store answered with an error.
    #[error("the bank's store: {0}")]
    Store(#[from] sqlx::Error),
    /// Its tables could not be made.
    #[error("the bank's tables: {0}")]
    Tables(#[from] sqlx::migrate::MigrateError),
    /// Its store did not answer in time.
    #[error("the bank's store did not answer in time")]
    Silent,
    /// A number that its store cannot keep.
    #[error("epoch {0} is out of range")]
    Epoch(u64),
}

/// A bank that is open. Closed, or when dropped, it takes no more settlements.
pub struct Bank {
    address: SocketAddr,
    desk: Arc<Desk>,
    closing: CancellationToken,
    tasks: TaskTracker,
}

impl Bank {
    /// Opens a bank beside an arena, whose database `arena` leads to: its epochs stand there, and the bank's
    /// own database is made next to it if it is not there yet. What is settled is told to `settled`.
    pub async fn start(
        arena: PgConnectOptions,
        guards: &[Guard],
        settled: mpsc::UnboundedSender<Settled>,
    ) -> Result<Bank, BankError> {
        let own = prepare(&arena).await?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(BankError::Listen)?;
        let address = listener.local_addr().map_err(BankError::Listen)?;
        let (closing, tasks) = (CancellationToken::new(), TaskTracker::new());
        let desk = Arc::new(Desk::new(own, arena, guards, settled));
        let service = axum::serve(listener, http::router(desk.clone(), tasks.clone()));
        let service = service.with_graceful_shutdown(closing.clone().cancelled_owned());
        tasks.spawn({
            let closing = closing.clone();
            async move {
                tokio::select! {
                    ended = service => if let Err(error) = ended {
                        tracing::error!(%error, "the bank has stopped listening");
                    },
                    // Connections that a link keeps silent do not keep the bank open.
                    () = async { closing.cancelled().await; tokio::time::sleep(CLOSE_LIMIT / 2).await } => {}
                }
            }
        });
        Ok(Bank { address, desk, closing, tasks })
    }

    /// Where links to the bank lead.
    pub fn upstream(&self) -> Upstream {
        Upstream::Tcp { host: self.address.ip().to_string(), port: self.address.port() }
    }

    /// Checks this from now on. A settlement under way is checked by the guards that stood when it was read.
    pub fn set_guards(&self, guards: &[Guard]) {
        self.desk.set_guards(guards);
    }

    /// Forgets every settlement, as if it had just been opened.
    pub async fn empty(&self) -> Result<(), BankError> {
        self.desk.empty().await
    }

    /// Takes no more settlements, and waits (not for ever) until those under way are settled and told.
    pub async fn close(&self) {
        self.closing.cancel();
        self.tasks.close();
        if timeout(CLOSE_LIMIT, self.tasks.wait()).await.is_err() {
            tracing::warn!("the bank was closed with settlements under way");
        }
    }
}

impl Drop for Bank {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}
