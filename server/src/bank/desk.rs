//! What becomes of a settlement: locked against others of its slot and lock, checked by the guards, written
//! down, committed, told. Once begun it is carried through, whoever has hung up meanwhile: an effect that
//! arrived has arrived.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use locks::guard::{self, Guard, Seen};
use sqlx::postgres::PgConnectOptions;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::epochs::{Epochs, Pinned};
use super::spare::{Loan, Spares};
use super::wire::{Listed, Reply, Settlement};
use super::{BankError, Settled, books};
use crate::clock::now_us;

/// How long guard current-epoch waits for the arena's answer before it rejects.
const GUARD_LIMIT: Duration = Duration::from_secs(2);
/// How long the bank's own store may take for anything but a commit. Replicas wait for an answer somewhat longer.
const STORE_LIMIT: Duration = Duration::from_secs(3);
/// How long a commit may take, and after one without an answer the search for what became of it. A store
/// that was paused goes on with the commit when it is resumed, and then that has to be told.
const COMMIT_LIMIT: Duration = Duration::from_secs(60);

/// See the module.
#[derive(Debug)]
pub(super) struct Desk {
    books: Spares,
    epochs: Epochs,
    guards: Mutex<Vec<Guard>>,
    settled: mpsc::UnboundedSender<Settled>,
}

impl Desk {
    pub(super) fn new(
        own: PgConnectOptions,
        arena: PgConnectOptions,
        guards: &[Guard],
        settled: mpsc::UnboundedSender<Settled>,
    ) -> Desk {
        let guards = Mutex::new(guards.to_vec());
        Desk { books: Spares::new(own), epochs: Epochs::new(arena), guards, settled }
    }

    pub(super) fn set_guards(&self, guards: &[Guard]) {
        *self.guards.lock().unwrap_or_else(PoisonError::into_inner) = guards.to_vec();
    }

    fn guards(&self) -> Vec<Guard> {
        self.guards.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Settles one.
    pub(super) async fn settle(&self, settlement: &Settlement) -> Result<Reply, BankError> {
        let opened = within(STORE_LIMIT, async {
            let mut books = self.books.take().await?;
            sqlx::query("begin").execute(&mut *books).await?;
            let seen = books::seen(&mut books, &settlement.slot, &settlement.lock).await?;
            Ok((books, seen))
        });
        let guards = self.guards();
        let (mut books, seen) = match opened.await {
            Ok(opened) => opened,
            // Where the bank's store is gone, so is what it would have to ask: nothing is written down.
            Err(error) if guards.contains(&Guard::CurrentEpoch) => {
                tracing::warn!(%error, attempt = %settlement.attempt, "rejected, and not written down");
                return Ok(Reply::Unreachable { guard_unreachable: Guard::CurrentEpoch });
            }
            Err(error) => return Err(error),
        };
        let (verdict, pinned) = self.check(settlement, &guards, seen).await;
        let answer = verdict.answer();
        let written = within(STORE_LIMIT, books::write(&mut books, settlement, &answer)).await;
        let (id, nth) = match written {
            Ok(written) => written,
            Err(error) => {
                release(pinned).await;
                return Err(error);
            }
        };
        let committed = self.commit(books, id).await;
        let at_us = now_us();
        // Told before the epoch may change: what is told later of a newer grant has a later stamp.
        if committed.is_ok() {
            let Settlement { attempt, lock, slot, epoch, .. } = settlement.clone();
            // Nobody listening is no reason not to settle.
            self.settled.send(Settled { at_us, attempt, lock, slot, epoch, answer, nth }).unwrap_or_default();
        }
        release(pinned).await;
        committed?;
        Ok(match verdict {
            Reply::Accepted { .. } => Reply::Accepted { accepted: true, nth },
            rejected => rejected,
        })
    }

    /// What the guards say. An epoch that was asked for stays as it is until it is released.
    async fn check(&self, settlement: &Settlement, guards: &[Guard], seen: Seen) -> (Reply, Option<Pinned<'_>>) {
        let others: Vec<Guard> = guards.iter().copied().filter(|guard| *guard != Guard::CurrentEpoch).collect();
        if let Some(rejected_by) = guard::rejects(&others, settlement.epoch, &seen) {
            return (Reply::Rejected { rejected_by }, None);
        }
        if !guards.contains(&Guard::CurrentEpoch) {
            return (Reply::Accepted { accepted: true, nth: 0 }, None);
        }
        let pinned = match timeout(GUARD_LIMIT, self.epochs.pin(&settlement.lock)).await {
            Ok(Ok(pinned)) => pinned,
            failed => {
                let error = failed.map(|failed| failed.err());
                tracing::info!(?error, lock = settlement.lock, "the epoch could not be asked for");
                return (Reply::Unreachable { guard_unreachable: Guard::CurrentEpoch }, None);
            }
        };
        let seen = Seen { current_epoch: pinned.epoch, ..seen };
        let reply = match guard::rejects(&[Guard::CurrentEpoch], settlement.epoch, &seen) {
            Some(rejected_by) => Reply::Rejected { rejected_by },
            None => Reply::Accepted { accepted: true, nth: 0 },
        };
        (reply, Some(pinned))
    }

    /// Commits. If the store's answer is lost with the connection, the books say what became of it.
    async fn commit(&self, mut books: Loan<'_>, id: i64) -> Result<(), BankError> {
        let committing = sqlx::query("commit").execute(&mut *books);
        let lost = match timeout(COMMIT_LIMIT, committing).await {
            Ok(Ok(_)) => {
                books.give_back();
                return Ok(());
            }
            Ok(Err(error)) => BankError::from(error),
            Err(_) => BankError::Silent,
        };
        drop(books);
        let search = async {
            loop {
                match within(STORE_LIMIT, async { Ok(books::stands(&mut *self.books.take().await?, id).await?) }).await
                {
                    Ok(stands) => return stands,
                    Err(_) => sleep(Duration::from_millis(50)).await,
                }
            }
        };
        match timeout(COMMIT_LIMIT, search).await {
            Ok(true) => Ok(()),
            _ => Err(lost),
        }
    }

    /// Forgets every settlement.
    pub(super) async fn empty(&self) -> Result<(), BankError> {
        within(STORE_LIMIT, async {
            let mut books = self.books.take().await?;
            books::empty(&mut books).await?;
            books.give_back();
            Ok(())
        })
        .await
    }

    /// The latest settlements, newest first.
    pub(super) async fn list(&self, limit: u32) -> Result<Vec<Listed>, BankError> {
        within(STORE_LIMIT, async {
            let mut books = self.books.take().await?;
            let listed = books::list(&mut books, limit).await?;
            books.give_back();
            Ok(listed)
        })
        .await
    }
}

async fn release(pinned: Option<Pinned<'_>>) {
    if let Some(pinned) = pinned
        && timeout(GUARD_LIMIT, pinned.release()).await.is_err()
    {
        tracing::debug!("the bank's question was left with its connection");
    }
}

async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, BankError>>) -> Result<T, BankError> {
    timeout(limit, work).await.unwrap_or(Err(BankError::Silent))
}
