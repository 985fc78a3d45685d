//! Connections that are kept for the next one who needs one. Only a connection whose work ended well is
//! given back; one that was left in the middle, by an error or a limit, is closed, and its server-side
//! session ends with it. (A pool would take it back and perhaps wait for it.)

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection};

/// See the module.
#[derive(Debug)]
pub(super) struct Spares {
    options: PgConnectOptions,
    idle: Mutex<Vec<PgConnection>>,
}

/// A connection on loan; closed when dropped, unless it is given back.
#[derive(Debug)]
pub(super) struct Loan<'a> {
    spares: &'a Spares,
    connection: PgConnection,
}

impl Spares {
    pub(super) fn new(options: PgConnectOptions) -> Spares {
        Spares { options, idle: Mutex::default() }
    }

    /// One that answers.
    pub(super) async fn take(&self) -> sqlx::Result<Loan<'_>> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(mut connection) = idle else {
                return Ok(Loan { spares: self, connection: self.options.connect().await? });
            };
            // The store may have been restarted since.
            if connection.ping().await.is_ok() {
                return Ok(Loan { spares: self, connection });
            }
        }
    }
}

impl Loan<'_> {
    pub(super) fn give_back(self) {
        self.spares.idle.lock().unwrap_or_else(PoisonError::into_inner).push(self.connection);
    }
}

impl Deref for Loan<'_> {
    type Target = PgConnection;
    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Loan<'_> {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}
