//! The connection pool for reads.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use domain::ErrorKind;
use rusqlite::Connection;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::connections;
use super::failure::{Failure, Outcome};

/// A pool of read connections, opened when first needed.
pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
    most: usize,
}

impl Readers {
    pub(super) fn new(path: PathBuf, most: usize) -> Readers {
        let most = most.max(1);
        Readers {
            path,
            idle: Mutex::default(),
            permits: Arc::new(Semaphore::new(most)),
            most,
        }
    }

    /// Runs `job` on a blocking thread as soon as a connection is free.
    pub(super) async fn run_off_runtime<T, F>(self: &Arc<Readers>, job: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    {
        let closed_error = |_| Failure::Refused(ErrorKind::Unavailable, "the store is closed".to_owned());
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(closed_error)?;
        let readers = Arc::clone(self);
        let span = tracing::Span::current();
        let work = spawn_blocking(move || {
            let _permit = permit;
            span.in_scope(|| readers.run_here(job))
        });
        work.await
            .unwrap_or_else(|error| Err(Failure::Refused(ErrorKind::Internal, error.to_string())))
    }

    /// Runs `job` on this thread, in one read transaction.
    pub(super) fn run_here<T>(&self, job: impl FnOnce(&Connection) -> Outcome<T>) -> Outcome<T> {
        let idle = self.lock_idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connections::open_reader(&self.path)?,
        };
        let outcome = run_in_transaction(&connection, job);
        let mut idle = self.lock_idle();
        if idle.len() < self.most {
            idle.push(connection);
        }
        outcome
    }

    fn lock_idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn run_in_transaction<T>(connection: &Connection, job: impl FnOnce(&Connection) -> Outcome<T>) -> Outcome<T> {
    let transaction = connection.unchecked_transaction()?;
    let value = job(&transaction)?;
    transaction.finish()?;
    Ok(value)
}
